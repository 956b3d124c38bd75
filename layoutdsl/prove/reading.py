"""How a layout with a domain is read: digits first, then rows that begin where the last one ended.

A coordinate that is no digit is given an axis of its own; what is left is a layout of digits, which
is inverted as ever. From the number on such a coordinate the other indices are found: a *row* whose
start is at most that number while the next row's start is above it, and the place in the row.
Nothing here is trusted: what is proved says that the reading is right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice

from layoutdsl.bounds import ONE, polynomial, simplify
from layoutdsl.conditions import Condition
from layoutdsl.digits import Network, NotDigits, network, read
from layoutdsl.expr import (
    Add,
    Constant,
    Coordinate,
    Expr,
    Extent,
    Index,
    Sub,
    evaluate,
    indices,
    substitute,
    text,
    walk,
)
from layoutdsl.inverse import Inverse, invert
from layoutdsl.model import Axis, Layout
from layoutdsl.prove.shapes import bind_index, small
from layoutdsl.prove.shapes import indices as elements

TRIED = 600
"""Elements of small shapes at which a reading is tried in plain integers before it is proved."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows along the axis ``row``: each begins at ``start``, and ends where the next begins.

    ``start`` is over the row and extents; it has a value for the row after the last one too.
    """

    row: str
    start: Expr


@dataclass(frozen=True, slots=True)
class Read:
    """How one index is found.

    Attributes:
        axis: whose index it is.
        value: over the indices found before, and the number on ``coordinate``.
        coordinate: the coordinate, by its number in the layout; ``None`` where the domain alone
            tells the index.
        rows: where a row has to be found first.
    """

    axis: str
    value: Expr
    coordinate: int | None = None
    rows: Rows | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """A layout of digits that has one axis for each coordinate that is none, and what follows.

    Attributes:
        outer: the layout of digits.
        network: its digits.
        own_inverse: its inverse.
        inverse: the same, over the extents of the layout that is read.
        reads: the other indices, in the order in which they are found.
    """

    outer: Layout
    network: Network
    own_inverse: Inverse
    inverse: Inverse
    reads: tuple[Read, ...]


def number_on(coordinate: int) -> str:
    """Return the name of the axis that stands for the number on a coordinate."""
    return f"w.{coordinate}"


def reading_of(layout: Layout) -> Reading | NotDigits:
    """Return how a layout with a domain is read, or why that is not known."""
    special = [
        number for number, each in enumerate(layout.coordinates) if not _is_digit(each.value)
    ]
    digits = [each for number, each in enumerate(layout.coordinates) if number not in special]
    found = {name for each in digits for name in indices(each.value)}
    reads: list[Read] = []
    left = list(special)
    while left:
        number = next((n for n in left if len(_unknown(layout, n, found)) == 1), left[0])
        left.remove(number)
        read_here = _reads(layout, number, _unknown(layout, number, found))
        if read_here is None:
            written = text(layout.coordinates[number].value)
            return NotDigits(f"no rows of indices were found in `{written}`", "free", (number,))
        reads += read_here
        found |= {each.axis for each in read_here} | {e.rows.row for e in read_here if e.rows}
    for axis in layout.axes:
        if axis.name not in found and axis.extent != ONE:
            told = _told_by_domain(layout, axis.name)
            if told is None:
                return NotDigits(f"axis `{axis.name}` takes no part", "unused")
            reads.append(told)
            found.add(axis.name)
    return _with_outer(layout, special, reads)


def _is_digit(value: Expr) -> bool:
    return read(value) is not None or not indices(value)


def _unknown(layout: Layout, number: int, known: set[str]) -> list[str]:
    spoken = indices(layout.coordinates[number].value)
    return [axis.name for axis in layout.axes if axis.name in spoken - known]


def _with_outer(layout: Layout, special: list[int], reads: list[Read]) -> Reading | NotDigits:
    solved = {each.axis for each in reads} | {each.rows.row for each in reads if each.rows}
    axes = [axis for axis in layout.axes if axis.name not in solved]
    coordinates = list(layout.coordinates)
    extents: dict[str, Expr] = {}
    for number in special:
        name, extent = number_on(number), Extent(number_on(number).upper())
        axes.append(Axis(name, extent))
        extents[extent.name] = coordinates[number].extent
        coordinates[number] = Coordinate(Index(name), extent)
    outer = replace(layout, axes=tuple(axes), coordinates=tuple(coordinates), domain=())
    wires, inverse = network(outer), invert(outer)
    if isinstance(wires, NotDigits):
        return wires
    assert isinstance(inverse, Inverse)
    return Reading(outer, wires, inverse, _over(inverse, extents), tuple(reads))


def _over(inverse: Inverse, extents: Mapping[str, Expr]) -> Inverse:
    """The same inverse, over the extents of the layout itself."""

    def said(pairs: tuple[tuple[str, Expr], ...]) -> tuple[tuple[str, Expr], ...]:
        return tuple((name, substitute(expr, extents)) for name, expr in pairs)

    return Inverse(
        said(inverse.steps),
        said(inverse.index),
        said(inverse.padded),
        tuple(each.substituted(extents) for each in inverse.guards),
    )


def _reads(layout: Layout, number: int, unknown: list[str]) -> list[Read] | None:
    value = layout.coordinates[number].value
    here = Index(number_on(number))
    match unknown:
        case [axis]:
            sign = _sign(value, axis)
            if sign is None:
                return None
            rest = substitute(value, {axis: Constant(0)})
            solved = Sub(here, rest) if sign == 1 else Sub(rest, here)
            return [Read(axis, solved, number)]
        case [one, other]:
            for column, row in ((other, one), (one, other)):
                found = _ragged(layout, number, row, column)
                if found is not None:
                    return [found]
    return None


def _ragged(layout: Layout, number: int, row: str, column: str) -> Read | None:
    """A row is as long as to the start of the next, and begins at the first column it holds."""
    value = layout.coordinates[number].value
    if _sign(value, column) != 1 or indices(value) != {row, column}:
        return None
    for first in (*_least(layout, row, column), Constant(0)):
        start = substitute(value, {column: first})
        place = Add(Sub(Index(number_on(number)), start), first)
        found = Read(column, place, number, Rows(row, start))
        if _holds_at_small_shapes(layout, found):
            return found
    return None


def _sign(value: Expr, axis: str) -> int | None:
    """The coefficient of an index, where it is 1 or -1 and the index occurs nowhere else."""
    terms = polynomial(value)
    factors: tuple[Expr, ...] = (Index(axis),)
    rest = [others for others in terms if others != factors]
    if any(Index(axis) in walk(each) for others in rest for each in others):
        return None
    sign = terms.get(factors, 0)
    return sign if sign in (1, -1) else None


def _least(layout: Layout, row: str, column: str) -> Iterator[Expr]:
    """What the domain says is the first column of a row."""
    for condition in layout.domain:
        found = _bound(condition, column)
        if found is not None and found[0] and indices(found[1]) <= {row}:
            yield found[1]


def _bound(condition: Condition, axis: str) -> tuple[bool, Expr] | None:
    """A bound on an index: whether it is the lower one, and what it is, both ends included."""
    left, right = condition.left, condition.right
    sign = _sign(Sub(left, right), axis)
    if sign is None:
        return None
    rest = substitute(Sub(left, right), {axis: Constant(0)})
    bound = simplify(Sub(Constant(0), rest) if sign == 1 else rest)
    lower = {"<=": sign == -1, "<": sign == -1, ">=": sign == 1, ">": sign == 1}
    match condition.operator:
        case "==":
            return True, bound
        case "!=":
            return None
        case "<" | ">" as operator:
            step = ONE if lower[operator] else Constant(-1)
            return lower[operator], simplify(Add(bound, step))
        case operator:
            return lower[operator], bound


def _told_by_domain(layout: Layout, axis: str) -> Read | None:
    for condition in layout.domain:
        if condition.operator == "==":
            found = _bound(condition, axis)
            if found is not None:
                return Read(axis, found[1])
    return None


def _holds_at_small_shapes(layout: Layout, found: Read) -> bool:
    """Whether every element of small shapes lies in its own row, in plain integers."""
    assert found.coordinate is not None
    assert found.rows is not None
    value, rows = layout.coordinates[found.coordinate].value, found.rows
    after = substitute(rows.start, {rows.row: Add(Index(rows.row), ONE)})
    tried = (
        bind_index(layout, values, index)
        for values in islice(small(layout, TRIED), 60)
        for index in elements(layout, values)
    )
    return all(
        evaluate(rows.start, bound) <= evaluate(value, bound) < evaluate(after, bound)
        for bound in islice(tried, TRIED)
    )
