"""The rules of meaning, one by one: what a written name, argument or start stands for.

Each takes a piece of the tree and returns its meaning, or raises the fault with its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from layoutdsl.language.digits.network import NotDigits
from layoutdsl.language.elaborate.scope import MOST_LISTED, Scope
from layoutdsl.language.integers.bounds import at_least
from layoutdsl.language.integers.digit import Digit, read
from layoutdsl.language.integers.expr import Constant, Expr, Extent
from layoutdsl.language.integers.written_out import folded
from layoutdsl.language.meaning.model import Axis, Layout, instantiate
from layoutdsl.language.meaning.unplaced import unknown_name_help
from layoutdsl.language.syntax import ast
from layoutdsl.language.syntax.printer import print_place
from layoutdsl.language.texts.faults import Fault, did_you_mean, fault
from layoutdsl.language.texts.source import Label, Span


def scope_of(axes: Sequence[Axis], parameters: Mapping[str, Expr]) -> Scope:
    """Return the names of a layout: its axes, extents and parameters."""
    symbols: dict[str, Expr] = dict(parameters)
    for axis in axes:
        if isinstance(axis.extent, Extent):
            symbols[axis.extent.name] = axis.extent
    for axis in axes:
        symbols.setdefault(axis.name.upper(), axis.extent)
    return Scope({axis.name: axis.extent for axis in axes}, symbols)


def silent(span: Span) -> Fault:
    """A fault that follows from one already reported."""
    return fault("", "", span)


def twice(kind: str, name: ast.Name, first: ast.Name) -> Fault:
    """Return the fault of a name that is declared again."""
    label = (Label(first.span, "first here"),)
    return fault("L203", f"the {kind} `{name.text}` is declared twice", name.span, others=label)


def refuse_repeats(kind: str, names: Sequence[ast.Name]) -> None:
    """Raise where a name occurs twice in one list."""
    seen: dict[str, ast.Name] = {}
    for name in names:
        if name.text in seen:
            raise twice(kind, name, seen[name.text])
        seen[name.text] = name


def wrong_count(
    reference: ast.Reference, names: Sequence[str], given: int, kind: str = "layout"
) -> str:
    """Return the message for a layout or table with the wrong number of arguments."""
    count = f"{len(names)} parameter{'s' * (len(names) != 1)}" if names else "no parameters"
    return f"the {kind} `{reference.name.text}` takes {count}, not {given}"


def arguments_of(
    reference: ast.Reference,
    names: Sequence[str],
    parameters: Mapping[str, Expr],
    kind: str = "layout",
) -> dict[str, Expr]:
    """Return the value of each parameter that a reference gives."""
    if not reference.arguments:
        return {}
    if len(names) != len(reference.arguments):
        message = wrong_count(reference, names, len(reference.arguments), kind)
        raise fault("L210", message, reference.span)
    values: list[Expr] = []
    for argument in reference.arguments:
        match argument:
            case ast.Number(value, span):
                if value < 1:
                    raise fault("L210", "a parameter is at least 1", span)
                values.append(Constant(value))
            case ast.Name(name, span):
                if name not in parameters:
                    hint = did_you_mean(name, parameters)
                    raise fault("L201", f"`{name}` is no parameter here", span, help=hint)
                values.append(parameters[name])
    return dict(zip(names, values, strict=True))


def with_parameters(layout: Layout, values: Mapping[str, Expr]) -> Layout:
    """Give a library layout, known only as meaning, its arguments."""
    if not values:
        return layout
    return instantiate(layout, values).as_written


def no_layout(name: ast.Name, declared: Iterable[str], library: Iterable[str]) -> Fault:
    """Return the fault of an unknown layout name, or of a notation without a text.

    Args:
        name: names no layout.
        declared: the layouts of the text.
        library: the other layouts that the text may use.
    """
    from layoutdsl.notation.notation import NAMES, notation

    if name.text in NAMES:
        message = f"the notation `{name.text}` needs a text in quotes"
        hint = f'write `{name.text} "{notation(name.text).EXAMPLE}"`'
        return fault("L401", message, name.span, help=hint)
    close = unknown_name_help(name.text, [*declared, *library]) or _declared_names(declared)
    return fault("L201", f"there is no layout `{name.text}`", name.span, help=close)


def _declared_names(declared: Iterable[str]) -> str:
    names = list(declared)
    shown = ", ".join(f"`{name}`" for name in names[:MOST_LISTED])
    more = ", ..." if len(names) > MOST_LISTED else ""
    here = f"the layouts declared here are {shown}{more}; " if names else ""
    return f"{here}`layoutdsl list` shows the library"


def start_of(scope: Scope, value: ast.Expression) -> Expr:
    """Return the slots before the first, which are never negative."""
    start = scope.extent(value)
    if not at_least(start, 0):
        raise fault("L208", "the offset of the first element may be negative", value.span)
    return folded(start)


def gap(found: NotDigits, body: ast.Coordinates, layout: Layout) -> Fault:
    """Return the fault of digits that leave a gap, with both digits marked."""
    above = body.places[found.wires[0]]
    step = read(layout.coordinates[found.wires[0]].value)
    others: tuple[Label, ...] = ()
    hint = _digit_below(above, step) if len(found.wires) == 1 else None
    if len(found.wires) > 1 and step is not None and isinstance(step.divisor, Constant):
        below = body.places[found.wires[1]]
        digit = read(layout.coordinates[found.wires[1]].value)
        if digit is not None and isinstance(digit.radix, Constant):
            others = (Label(below.span, f"covers {digit.radix.value}"),)
            if isinstance(digit.divisor, Constant) and digit.divisor.value == 1:
                name = print_place(below).split("%")[0]
                block = step.divisor.value
                again = f"{name}%{block}/{digit.radix.value}"
                hint = f"write `{name}%{block}`, or cut again with `{again}`"
            elif (
                isinstance(digit.divisor, Constant)
                and step.divisor.value % digit.divisor.value == 0
            ):
                radix = step.divisor.value // digit.divisor.value
                hint = f"write `{print_place(below).rpartition('%')[0]}%{radix}`"
    words = f"steps by {step.divisor.value}" if step and isinstance(step.divisor, Constant) else ""
    return fault("L202", found.reason, above.span, words=words, others=others, help=hint)


def _digit_below(above: ast.Place, step: Digit | None) -> str | None:
    """Return how to write the missing digit below `c/16`."""
    if step is None or not isinstance(step.divisor, Constant):
        return None
    written, divisor = print_place(above), f"/{step.divisor.value}"
    if not written.endswith(divisor):
        return None
    rest = f"{written.removesuffix(divisor)}%{step.divisor.value}"
    return f"add the remainder as a coordinate, as in `{written}, {rest}`"


def unused(found: NotDigits, declaration: ast.LayoutDecl) -> Fault:
    """Return the fault of an axis that no coordinate speaks of, at the axis."""
    axes = [each.name for each in declaration.axes or ()]
    (name,) = [each for each in axes if each.text == found.axis]
    hint = "give it a coordinate, or fix its extent to 1"
    return fault("L209", found.reason, name.span, help=hint)
