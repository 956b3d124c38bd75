"""Warnings about legal text that is hardly meant: digits that overlap, idle names, swapped case.

Nearly always such text is a slip of the pen. A coordinate whose extent was declared is meant as it
stands.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

from layoutdsl.language.digits.network import Network, network
from layoutdsl.language.integers.digit import Digit, Whole, read
from layoutdsl.language.integers.expr import (
    Constant,
    Coordinate,
    Expr,
    Extent,
    Index,
    MixedRadix,
    coordinate_text,
    extents,
    indices,
    substitute,
    text,
)
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.syntax import ast
from layoutdsl.language.syntax.printer import print_expression, print_place
from layoutdsl.language.syntax.walk import expressions_of, names_in, nested
from layoutdsl.language.texts.source import Diagnostic, Label


def idle_parameters(
    declaration: ast.LayoutDecl | ast.TableDecl, layout: Layout | None = None
) -> Iterator[Diagnostic]:
    """Yield a warning for each parameter that a declaration uses nowhere.

    Args:
        declaration: of a layout or table.
        layout: that is declared; of a text in another notation it says what is used.
    """
    if not declaration.parameters:
        return
    used = {name.text for each in expressions_of(declaration) for name in names_in(each)}
    for each in layout.coordinates if layout is not None else ():
        used |= extents(each.value) | extents(each.extent)
    for parameter in declaration.parameters:
        if parameter.text not in used:
            message = f"the parameter `{parameter.text}` is not used"
            yield _warning("L213", message, Label(parameter.span), hint="remove it")


def doubts_of_conditions(layout: Layout, clauses: Iterable[ast.Clause]) -> Iterator[Diagnostic]:
    """Yield a warning for each condition on an index that was hardly meant to be one.

    ``where c % 16 == 0`` keeps one element in sixteen, and is written for ``C % 16 == 0``, a range
    of shapes. Conditions on several indices, on an extent too, or with ``<=`` describe domains that
    exist, such as triangles and bands.
    """
    named = {axis.name: axis.extent.name for axis in layout.axes if isinstance(axis.extent, Extent)}
    for clause in clauses:
        for condition in clause.conditions if isinstance(clause, ast.WhereClause) else ():
            equation = _equation_of_index(condition, named)
            if equation is None:
                continue
            index, value, number = equation
            used = {each.text for side in (value, number) for each in names_in(side)}
            if used - {index.text} - set(layout.parameters):
                continue
            extent, written = named[index.text], condition.span.text
            start = index.span.start - condition.span.start
            meant = f"{written[:start]}{extent}{written[start + len(index.text) :]}"
            message = f"`where` keeps only some elements along the axis `{index.text}`"
            label = Label(condition.span, f"`{index.text}` is an index, and `{extent}` its extent")
            value_text, number_text = print_expression(value), print_expression(number)
            only = f"{value_text} in {number_text}..{number_text}"
            hint = f"write `{meant}`; for these elements alone, write `{only}`"
            yield _warning("L219", message, label, hint=hint)


def _equation_of_index(
    condition: ast.Comparison | ast.Within, axes: Container[str]
) -> tuple[ast.Name, ast.Expression, ast.Expression] | None:
    """The index of ``c == 0`` or ``c%16 == 0``, the side that it is on, and the other side."""
    match condition:
        case ast.Comparison((left, right), ("==",)):
            for value, number in ((left, right), (right, left)):
                match value:
                    case (ast.Name(text) as name) | ast.Operation("%", ast.Name(text) as name):
                        if text in axes:
                            return name, value, number
    return None


def doubts_of_coordinates(layout: Layout, body: ast.Coordinates) -> Iterator[Diagnostic]:
    """Yield a warning for each coordinate that is hardly meant as it was written."""
    yield from _without_index(layout, body)
    yield from _overlaps(layout, body)


def _warning(
    code: str, message: str, primary: Label, others: tuple[Label, ...] = (), hint: str | None = None
) -> Diagnostic:
    return Diagnostic(code, message, primary, others, hint, "warning")


def _without_index(layout: Layout, body: ast.Coordinates) -> Iterator[Diagnostic]:
    """Yield the coordinates that speak of extents, and of no index."""
    axes = {axis.name for axis in layout.axes}
    named = {axis.extent.name: axis.name for axis in layout.axes if isinstance(axis.extent, Extent)}
    for place in nested(body.places):
        if place.extent is not None:
            continue
        used = {name.text for name in names_in(place.value)}
        if used & axes or not used & set(named):
            continue
        written = print_place(place)
        meant = re.sub(r"\w+", lambda word: named.get(word[0], word[0]), written)
        hint = f"where that is meant, declare its extent: `{written} : EXTENT`"
        slip = _is_slip(layout, {extent: Index(axis) for extent, axis in named.items()})
        message = f"no index occurs in the coordinate `{written}`"
        label = Label(place.span, "the same for all elements")
        yield _warning("L214", message, label, hint=f"write `{meant}`" if slip else hint)


def _is_slip(layout: Layout, meant: Mapping[str, Expr]) -> bool:
    """Whether all coordinates are digits that follow one another, once extents are indices."""

    def mended(coordinate: Coordinate) -> Coordinate:
        value = coordinate.value
        if isinstance(value, MixedRadix):
            value = MixedRadix(tuple(map(mended, value.parts)))
        elif not indices(value) and not coordinate.declared:
            value = substitute(value, meant)
        return replace(coordinate, value=value)

    digits = replace(layout, coordinates=tuple(map(mended, layout.coordinates)))
    return isinstance(network(digits), Network)


@dataclass(frozen=True, slots=True)
class _Held:
    """What a digit holds of its whole: from ``low`` on, and nothing from ``high`` on.

    Attributes:
        place: of the coordinate that the digit is, or is a part of.
        whole: an index or a tuple.
        low: the divisor.
        high: the divisor times the radix; ``None`` where there is no end.
        meant: whether an extent was declared.
    """

    place: int
    whole: Whole
    low: int
    high: int | None
    meant: bool

    @property
    def text(self) -> str:
        """The digit as the language writes it."""
        radix = None if self.high is None else Constant(self.high // self.low)
        return text(Digit(self.whole, Constant(self.low), radix).value)

    @property
    def words(self) -> str:
        """What it holds, in a few words."""
        if self.high is None:
            return f"steps by {self.low}"
        return f"covers {self.high}" if self.low == 1 else f"covers {self.low} to {self.high}"


def _overlaps(layout: Layout, body: ast.Coordinates) -> Iterator[Diagnostic]:
    """Yield for each whole the first two digits that both hold a part of it."""
    by_whole: dict[Whole, list[_Held]] = {}
    for each in _held(layout):
        by_whole.setdefault(each.whole, []).append(each)
    for whole, held in by_whole.items():
        held.sort(key=lambda each: each.low)
        for below, above in combinations(held, 2):
            if _overlap(below, above):
                yield _overlapping(whole, below, above, held, body)
                break


def _overlap(below: _Held, above: _Held) -> bool:
    """Whether digits overlap, and none of them is meant to: one that holds all is no slip."""
    all_of_it = below.low == 1 and below.high is None
    meant = all_of_it or below.meant or above.meant
    return not meant and (below.high is None or above.low < below.high)


def _held(layout: Layout) -> Iterator[_Held]:
    """Yield the digits whose divisor and radix are numbers, those of tuples' parts included."""
    seen: set[Whole] = set()
    pending = list(enumerate(layout.coordinates))
    while pending:
        place, coordinate = pending.pop(0)
        digit = read(coordinate.value)
        if digit is None:
            continue
        if isinstance(digit.whole, MixedRadix) and digit.whole not in seen:
            seen.add(digit.whole)
            pending += [(place, part) for part in digit.whole.parts]
        match digit.divisor, digit.radix:
            case Constant(low), None:
                yield _Held(place, digit.whole, low, None, coordinate.declared)
            case Constant(low), Constant(radix) if radix > 1:
                yield _Held(place, digit.whole, low, low * radix, coordinate.declared)


def _overlapping(
    whole: Whole, below: _Held, above: _Held, held: list[_Held], body: ast.Coordinates
) -> Diagnostic:
    name = f"axis `{text(whole)}`" if isinstance(whole, Index) else _tuple_text(whole)
    ends = [each.high for each in (below, above) if each.high is not None]
    until = f"between {above.low} and {min(ends)}" if ends else f"from {above.low} on"
    first, second = body.places[below.place], body.places[above.place]
    others = (Label(first.span, below.words),) if first is not second else ()
    message = f"the digits of {name} overlap {until}"
    instead = [each.text for each in _instead(below, above, held)]
    hint = f"write {' or '.join(f'`{each}`' for each in instead)}" if instead else None
    return _warning("L212", message, Label(second.span, above.words), others, hint)


def _tuple_text(whole: MixedRadix) -> str:
    return f"`{coordinate_text(Coordinate(whole, Constant(1)))}`"


def _instead(below: _Held, above: _Held, held: list[_Held]) -> Iterator[_Held]:
    """Yield what one of the two may be instead, so that all digits follow one another."""
    if above.low % below.low == 0:
        yield from _following(below, replace(below, high=above.low), held)
    if below.high is not None:
        radix = None if above.high is None else above.high // above.low
        high = None if radix is None else below.high * radix
        yield from _following(above, replace(above, low=below.high, high=high), held)


def _following(old: _Held, new: _Held, held: list[_Held]) -> Iterator[_Held]:
    digits = sorted((new if each is old else each for each in held), key=lambda each: each.low)
    follow = all(one.high == other.low for one, other in pairwise(digits))
    if digits[0].low == 1 and follow and digits[-1].high is None and new.high != new.low:
        yield new
