"""Which layout each tensor of a file gets, and all that does not fit, before a byte is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from layoutdsl.meaning.elements import ELEMENT_TYPES, ElementType, FillValue
from layoutdsl.meaning.model import Layout
from layoutdsl.meaning.rule import FromWords, Rule
from layoutdsl.meaning.storage import STORAGES
from layoutdsl.texts.faults import did_you_mean
from layoutdsl.weights.bounds import shown
from layoutdsl.weights.faults import Problem, UnfitError
from layoutdsl.weights.form import Entry
from layoutdsl.weights.words import NoShapeError, shape_of_words

Unruled: TypeAlias = Literal["keep", "refuse"]
"""What becomes of a tensor that no rule is for."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A tensor, and what becomes of it.

    Attributes:
        entry: the tensor.
        layout: that it gets; `None` where it is kept.
        shape: its extents; those of the elements where they are stored as words.
        stored: how it is packed already, where it is.
    """

    entry: Entry
    layout: Layout | None
    shape: tuple[int, ...]
    stored: FromWords | None = None


def chosen(entries: Sequence[Entry], rules: Sequence[Rule], unruled: Unruled) -> tuple[Chosen, ...]:
    """Return what becomes of each tensor: the first rule that fits its name holds.

    Raises:
        UnfitError: with all that does not fit.
    """
    found = [next((rule for rule in rules if rule.fits(each.name)), None) for each in entries]
    problems = [*_idle(entries, rules, found)]
    taken: list[Chosen] = []
    for entry, rule in zip(entries, found, strict=True):
        if rule is None and unruled == "refuse":
            words = f"no rule is for the tensor {shown(entry.name)}"
            problems.append(Problem("rule", words, f'add `tensor "{entry.name}" = keep`'))
        made = _made(entry, rule)
        if isinstance(made, Problem):
            problems.append(made)
        else:
            taken.append(made)
    if problems:
        raise UnfitError(problems)
    return tuple(taken)


def _idle(
    entries: Sequence[Entry], rules: Sequence[Rule], found: Sequence[Rule | None]
) -> Iterator[Problem]:
    """Rules that no tensor gets."""
    used = {id(each) for each in found}
    names = [each.name for each in entries]
    for rule in rules:
        if id(rule) in used:
            continue
        taken = next((number for number, name in enumerate(names) if rule.fits(name)), None)
        if taken is not None:
            earlier = found[taken]
            assert earlier is not None
            words = f"every tensor that it fits, {shown(names[taken])} first, has the rule before"
            message = f"{rule.place}: `{rule.pattern}` is given to none: {words}"
            yield Problem("rule", f"{message} ({earlier.place})", "put it first, or take it out")
        else:
            message = f"{rule.place}: no tensor is called `{rule.pattern}`"
            yield Problem("rule", message, _nearest(rule.pattern, names))


def _nearest(pattern: str, names: Sequence[str]) -> str:
    """What was perhaps meant: the closest name, or one with the same last part."""
    close = did_you_mean(pattern, names)
    if close is not None:
        return close.rstrip("?")
    last = pattern.rpartition("*")[2].rpartition(".")[2]
    alike = [each for each in names if last and each.endswith(last)]
    some = ", ".join(shown(each) for each in (alike or names)[:3])
    return f"there are {some}" if some else "the file has no tensor"


def _made(entry: Entry, rule: Rule | None) -> Chosen | Problem:
    if rule is None or rule.layout is None:
        return Chosen(entry, None, entry.shape)
    layout, name = rule.layout, shown(entry.name)
    if entry.type is None:
        words = f"the tensor {name} is of {entry.native}, whose items are no elements"
        return Problem("tensor", words, f'write `tensor "{entry.name}" = keep` before {rule.place}')
    element = ELEMENT_TYPES[entry.type]
    words = f"the tensor {name} of {entry.native} and shape {_text(entry.shape)} does not fit"
    head = f"{words} {rule.place}"
    if rule.stored is not None:
        return _converted(entry, layout, rule.stored, element, head)
    why = _unfit(layout, entry.shape, element)
    if why is not None:
        return Problem("tensor", f"{head}: {why}", "keep it, or give it another layout")
    return Chosen(entry, layout, entry.shape)


def _converted(
    entry: Entry, layout: Layout, stored: FromWords, element: ElementType, head: str
) -> Chosen | Problem:
    bits = STORAGES[stored.word].bits
    if element.kind not in ("i", "u") or element.bits != bits:
        return Problem("tensor", f"{head}: words of {stored.word} are integers of {bits} bits")
    try:
        shape = shape_of_words(stored.layout, stored.word, entry.shape)
    except NoShapeError as why:
        return Problem("tensor", f"{head}: {why}")
    wrong = _undefined(layout, shape)
    if wrong is not None:
        return Problem("tensor", f"{head}: as elements it is {_text(shape)}, and {wrong}")
    return Chosen(entry, layout, shape, stored)


def _unfit(layout: Layout, shape: tuple[int, ...], element: ElementType) -> str | None:
    """Why a layout takes no such tensor, where it does not."""
    if len(shape) != layout.rank:
        axes = ", ".join(axis.name for axis in layout.axes)
        return f"`{layout.name}` takes one of rank {layout.rank}: {axes}"
    wanted = layout.tensor_element
    if wanted is not None and not _travels_as(wanted, element):
        return f"`{layout.name}` is of {wanted.name}"
    return _undefined(layout, shape) or _unfilled(layout, element)


def _travels_as(wanted: ElementType, element: ElementType) -> bool:
    """Whether items of a file may be elements of a layout: of its type, or of one narrower."""
    if wanted.item != element.item:
        return False
    return not wanted.fills_item or wanted == element or wanted.name in ("f8", element.kind + "8")


def _undefined(layout: Layout, shape: tuple[int, ...]) -> str | None:
    """Why a layout has no such shape; of an empty tensor what it would say of extents of 1."""
    try:
        layout.bind([each or 1 for each in shape])
    except ValueError as wrong:
        return str(wrong)
    return None


def _unfilled(layout: Layout, element: ElementType) -> str | None:
    """Why padding cannot hold the fill."""
    if not isinstance(layout.fill, FillValue) or layout.fill.value == 0:
        return None
    value, kind = layout.fill.value, element.item[0]
    if kind == "u" and element.kind != "u":
        words = f"`{layout.name}` fills with {value}, and {element.name} moves as bare bits"
        return f"{words}, of which only 0 is a number"
    low, high = element.values or (-2048, 2048)
    if kind == "b":
        low, high = 0, 1
    if not low <= value <= high:
        return f"`{layout.name}` fills with {value}, which is none of {element.name}"
    return None


def _text(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape)) or "()"
