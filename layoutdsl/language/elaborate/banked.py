"""The rules for what threads read: how many, how much each, and where each begins."""

from __future__ import annotations

from collections.abc import Iterator

from layoutdsl.language.elaborate.elements import element_of
from layoutdsl.language.elaborate.rules import twice
from layoutdsl.language.elaborate.scope import Scope
from layoutdsl.language.integers.expr import Constant, Expr
from layoutdsl.language.meaning.banks import MOST_THREADS, WIDTHS, Reading
from layoutdsl.language.meaning.elements import ElementType
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.syntax import ast
from layoutdsl.language.texts.faults import did_you_mean, fault


def reading_of(claim: ast.Reads, layout: Layout, scope: Scope) -> Reading:
    """Return what each thread reads.

    Args:
        claim: as it was written.
        layout: of what is read.
        scope: its extents and parameters; indices are those of a thread, and none of its own.

    Raises:
        Fault: there are no such threads, or they begin at no element.
    """
    number, threads = claim.bytes, claim.threads
    if number.value not in WIDTHS:
        known = ", ".join(map(str, WIDTHS[:-1]))
        message = f"a thread reads {known} or {WIDTHS[-1]} bytes at once"
        raise fault("L301", message, number.span)
    if not 1 <= threads.value <= MOST_THREADS:
        raise fault("L301", f"there are 1 to {MOST_THREADS} threads", threads.span)
    index = dict(_index(claim, layout, _threads(claim, scope)))
    missing = [axis.name for axis in layout.axes if axis.name not in index]
    if missing:
        message = f"the start index along `{missing[0]}` is missing"
        raise fault("L301", message, claim.span, help=f"add `{missing[0]} = 0`, or another value")
    ordered = tuple((axis.name, index[axis.name]) for axis in layout.axes)
    return Reading(number.value, claim.thread.text, threads.value, ordered, _element(claim, layout))


def _threads(claim: ast.Reads, scope: Scope) -> Scope:
    """The names in the index of a thread: its number, extents and parameters."""
    name = claim.thread
    if name.text != name.text.lower() or not name.text[0].isalpha():
        hint = f"write `{name.text.lower().lstrip('_') or 't'}`"
        raise fault("L301", f"the thread `{name.text}` is not in lower case", name.span, help=hint)
    if name.text in scope.axes or name.text in scope.symbols:
        message = f"the layout already has the name `{name.text}`"
        raise fault("L301", message, name.span, help="call the thread otherwise, as `t`")
    return Scope({name.text: Constant(claim.threads.value)}, scope.symbols, "the thread")


def _index(claim: ast.Reads, layout: Layout, scope: Scope) -> Iterator[tuple[str, Expr]]:
    names = [axis.name for axis in layout.axes]
    seen: dict[str, ast.Name] = {}
    for entry in claim.index:
        name = entry.axis
        if name.text not in names:
            hint = did_you_mean(name.text, names)
            raise fault("L301", f"`{layout.name}` has no axis `{name.text}`", name.span, help=hint)
        if name.text in seen:
            raise twice("axis", name, seen[name.text])
        seen[name.text] = name
        yield name.text, scope.value(entry.value)


def _element(claim: ast.Reads, layout: Layout) -> ElementType:
    if claim.element is not None:
        return element_of(claim.element)
    if layout.element is None:
        message = f"`{layout.name}` does not say how wide an element is"
        raise fault("L301", message, claim.bytes.span, help="add `of f16` behind `bytes`")
    return layout.element
