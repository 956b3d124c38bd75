"""How a layout with a domain is read: digits first, then rows that begin where the last one ended.

A coordinate that is no digit is given an axis of its own; what is left is a layout of digits, which
is inverted as ever. From the number on such a coordinate the other indices are found: a *row* whose
start is at most that number while the next row's start is above it, and the place in the row.
Nothing here is trusted: what is proved says that the reading is right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice, product

from layoutdsl.language.digits.inverse import Inverse, invert
from layoutdsl.language.digits.network import Network, NotDigits, network
from layoutdsl.language.digits.solving import bounds, least, sign_of, told_by_domain
from layoutdsl.language.integers.bounds import ONE, ZERO, at_least, simplify
from layoutdsl.language.integers.digit import read, same
from layoutdsl.language.integers.expr import (
    Add,
    CeilDiv,
    Constant,
    Coordinate,
    Expr,
    Extent,
    FloorDiv,
    Index,
    MixedRadix,
    Mod,
    Mul,
    Sub,
    children,
    indices,
    substitute,
    text,
)
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.model import Axis, Layout
from layoutdsl.language.meaning.shapes import bind_index, small
from layoutdsl.language.meaning.shapes import indices as elements


def blocks_of(layout: Layout) -> dict[str, int]:
    """Return the size of the blocks of each axis that occurs as blocks, and places in them, only.

    Only axes count that are part of a coordinate which is no digit; others are digits as ever.
    """
    found: dict[str, set[Expr]] = {}
    mixed: set[str] = set()
    for each in layout.coordinates:
        for name, block in _cuts(each.value):
            found.setdefault(name, set()).add(block)
            if block != ONE and not is_digit(each.value):
                mixed.add(name)
    sizes = {name: next(iter(blocks)) for name, blocks in found.items() if len(blocks) == 1}
    return {
        name: size.value
        for name, size in sizes.items()
        if name in mixed and isinstance(size, Constant)
    }


def _cuts(expr: Expr) -> Iterator[tuple[str, Expr]]:
    """Each index in an expression, and by what it is divided; by 1 where it is not."""
    match expr:
        case FloorDiv(Index(name), block) | Mod(Index(name), block):
            yield name, block
        case Index(name):
            yield name, ONE
        case _:
            for part in children(expr):
                yield from _cuts(part)


def replaced(expr: Expr, cut: Mapping[Expr, Expr]) -> Expr:
    """Return the expression with some of its parts replaced."""
    if expr in cut:
        return cut[expr]
    match expr:
        case Index() | Extent() | Constant():
            return expr
        case MixedRadix(parts):
            return MixedRadix(
                tuple(
                    replace(
                        part, value=replaced(part.value, cut), extent=replaced(part.extent, cut)
                    )
                    for part in parts
                )
            )
        case _:
            return type(expr)(replaced(expr.left, cut), replaced(expr.right, cut))


def is_digit(value: Expr) -> bool:
    """Whether a coordinate is a digit of an axis or a tuple, or a number."""
    return read(value) is not None or not indices(value)


TRIED = 600
"""Elements of small shapes at which a reading is tried in plain integers before it is proved."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows, each of which begins at ``start`` and ends where the next begins.

    Attributes:
        row: the name of the number of a row.
        start: over that name and extents; it has a value for the row after the last one too.
        own: the row of an element, over its index.
        count: how many there are.
    """

    row: str
    start: Expr
    own: Expr
    count: Expr


@dataclass(frozen=True, slots=True)
class Window:
    """The indices along an axis, which are no more than a ring has places: ``t%c``.

    Attributes:
        axis: its name.
        sign: -1 where the coordinate counts down.
        rest: what the coordinate adds to the index: 3 in ``(t + 3)%c``.
        first: the least index of the domain, ``T - c`` where ``T <= t + c``.
        ring: how many places there are.
    """

    axis: str
    sign: int
    rest: Expr
    first: Expr
    ring: Expr

    def index(self, place: Expr) -> Expr:
        """Return the index that lies in a place of the ring."""
        steps = Sub(place, self.rest) if self.sign == 1 else Sub(self.rest, place)
        return Add(self.first, Mod(Sub(steps, self.first), self.ring))


@dataclass(frozen=True, slots=True)
class Read:
    """How one number is found: an index, or a part of one.

    Attributes:
        axis: whose index it is.
        value: over the numbers found before, and the number on ``coordinate``.
        coordinate: the coordinate, by its number in the layout; ``None`` where the numbers found
            before, or the domain alone, tell it.
        rows: where a row has to be found first.
        window: where the coordinate is a ring through which the index runs.
    """

    axis: str
    value: Expr
    coordinate: int | None = None
    rows: Rows | None = None
    window: Window | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """A layout of digits that has one axis for each coordinate that is none, and what follows.

    Attributes:
        outer: the layout of digits.
        network: its digits.
        own_inverse: its inverse.
        inverse: the same, over the extents of the layout that is read.
        extents: what the extents of the layout of digits stand for, where they are no extents here.
        parts: blocks of an index and places in them, by name, over the index.
        reads: the other numbers, in the order in which they are found.
    """

    outer: Layout
    network: Network
    own_inverse: Inverse
    inverse: Inverse
    extents: tuple[tuple[str, Expr], ...]
    parts: tuple[tuple[str, Expr], ...]
    reads: tuple[Read, ...]


def block_of(axis: str) -> str:
    """Return the name of the number of the block in which an index lies."""
    return f"{axis}.1"


def place_in(axis: str) -> str:
    """Return the name of the place of an index in its block."""
    return f"{axis}.0"


def number_on(coordinate: int) -> str:
    """Return the name of the axis that stands for the number on a coordinate."""
    return f"w.{coordinate}"


def reading_of(layout: Layout) -> Reading | NotDigits:
    """Return how a layout with a domain is read, or why that is not known."""
    return _Finder(layout).reading()


class _Finder:
    """What is known of the numbers in a layout: its indices, some cut into blocks and places."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.blocks = blocks_of(layout)
        self.windows = dict(_windows(layout))
        self.parts: dict[str, Expr] = {}
        self.counts: dict[str, Expr] = {axis.name: axis.extent for axis in layout.axes}
        cut: dict[Expr, Expr] = {}
        for axis, block in self.blocks.items():
            whole, size = Index(axis), Constant(block)
            above, place = block_of(axis), place_in(axis)
            self.parts |= {above: FloorDiv(whole, size), place: Mod(whole, size)}
            self.counts |= {above: CeilDiv(self.counts.pop(axis), size), place: size}
            cut |= {self.parts[above]: Index(above), self.parts[place]: Index(place)}
        self.values = [replaced(each.value, cut) for each in layout.coordinates]

    def reading(self) -> Reading | NotDigits:
        special = [
            number
            for number, each in enumerate(self.values)
            if number in self.windows or not is_digit(each)
        ]
        digits = [each for number, each in enumerate(self.values) if number not in special]
        found = {name for each in digits for name in indices(each)}
        reads: list[Read] = []
        left = list(special)
        while left:
            number = next((n for n in left if len(self._unknown(n, found)) == 1), left[0])
            left.remove(number)
            here = self._read(number, self._unknown(number, found))
            if here is None:
                written = text(self.layout.coordinates[number].value)
                return NotDigits(f"no rows of indices were found in `{written}`", "free", (number,))
            reads.append(here)
            found |= {here.axis} | ({here.rows.row} if here.rows else set())
        for name, count in self.counts.items():
            if name not in found and count != ONE:
                told = told_by_domain(self.layout, name)
                if told is None:
                    return NotDigits(f"axis `{name}` takes no part", "unused")
                reads.append(Read(name, told))
        for axis, block in self.blocks.items():
            joined = Add(Mul(Index(block_of(axis)), Constant(block)), Index(place_in(axis)))
            reads.append(Read(axis, joined))
        return self._with_outer(special, reads)

    def _unknown(self, number: int, known: set[str]) -> list[str]:
        spoken = indices(self.values[number])
        return [name for name in self.counts if name in spoken - known]

    def _with_outer(self, special: list[int], reads: list[Read]) -> Reading | NotDigits:
        solved = {each.axis for each in reads} | {each.rows.row for each in reads if each.rows}
        axes: list[Axis] = []
        extents: dict[str, Expr] = {}

        def add(name: str, count: Expr) -> Axis:
            """An extent that is an expression gets a name of its own."""
            plain = count if isinstance(count, Extent | Constant) else Extent(name.upper())
            if plain != count and isinstance(plain, Extent):
                extents[plain.name] = count
            axes.append(Axis(name, plain))
            return axes[-1]

        for name, count in self.counts.items():
            if name not in solved:
                add(name, count)
        coordinates = [
            replace(each, value=value)
            for each, value in zip(self.layout.coordinates, self.values, strict=True)
        ]
        for number in special:
            axis = add(number_on(number), coordinates[number].extent)
            coordinates[number] = Coordinate(Index(axis.name), axis.extent)
        outer = replace(self.layout, axes=tuple(axes), coordinates=tuple(coordinates), domain=())
        wires, inverse = network(outer), invert(outer)
        if isinstance(wires, NotDigits):
            return wires
        assert isinstance(inverse, Inverse)
        over = _over(inverse, extents)
        named, parts = tuple(extents.items()), tuple(self.parts.items())
        return Reading(outer, wires, inverse, over, named, parts, tuple(reads))

    def _read(self, number: int, unknown: list[str]) -> Read | None:
        value, here = self.values[number], Index(number_on(number))
        window = self.windows.get(number)
        if window is not None:
            return Read(window.axis, window.index(here), number, window=window)
        match unknown:
            case [axis]:
                sign = sign_of(value, axis)
                if sign is None:
                    return None
                rest = substitute(value, {axis: Constant(0)})
                return Read(axis, Sub(here, rest) if sign == 1 else Sub(rest, here), number)
            case [one, other]:
                found = (self._ragged(number, *pair) for pair in ((one, other), (other, one)))
                return next((each for each in found if each is not None), None)
        return None

    def _ragged(self, number: int, row: str, column: str) -> Read | None:
        """A row is as long as to the start of the next, and begins at the first column it holds."""
        value = self.values[number]
        if sign_of(value, column) != 1 or indices(value) != {row, column}:
            return None
        same = (Index(row), Add(Index(row), ONE)) if row in self.parts else ()
        for first in (*least(self.layout, row, column), *same, ZERO):
            start = substitute(value, {column: first})
            place = Add(Sub(Index(number_on(number)), start), first)
            own = self.parts.get(row, Index(row))
            rows = Rows(row, start, own, self.counts[row])
            if _holds_at_small_shapes(self.layout, number, rows):
                return Read(column, place, number, rows)
        return None


def _windows(layout: Layout) -> Iterator[tuple[int, Window]]:
    """Yield the coordinates that are rings, each large enough for all indices of the domain."""
    for number, coordinate in enumerate(layout.coordinates):
        match coordinate.value:
            case Mod(left, ring) if same(ring, coordinate.extent) and len(indices(left)) == 1:
                (axis,) = indices(left)
                others = (each.value for each in layout.coordinates if each is not coordinate)
                sign = sign_of(left, axis)
                if sign is None or any(axis in indices(each) for each in others):
                    continue
                rest = substitute(left, {axis: Constant(0)})
                for first, past in _ends(layout, axis):
                    if at_least(simplify(Sub(ring, Sub(past, first))), 0):
                        yield number, Window(axis, sign, rest, first, ring)
                        break


def _ends(layout: Layout, axis: str) -> Iterator[tuple[Expr, Expr]]:
    """Yield what the domain says of an index: not before the first, and before the second."""
    extent = next(each.extent for each in layout.axes if each.name == axis)
    found = [each for one in layout.domain if (each := bounds(one, axis)) is not None]
    firsts = [low for low, _ in found if low is not None and not indices(low)]
    pasts = [high for _, high in found if high is not None and not indices(high)]
    yield from product(firsts, (extent, *pasts))


def _over(inverse: Inverse, extents: Mapping[str, Expr]) -> Inverse:
    """The same inverse, over the extents of the layout itself."""

    def said(pairs: tuple[tuple[str, Expr], ...]) -> tuple[tuple[str, Expr], ...]:
        return tuple((name, substitute(expr, extents)) for name, expr in pairs)

    return Inverse(
        said(inverse.steps),
        said(inverse.index),
        said(inverse.padded),
        tuple(each.substituted(extents) for each in inverse.guards),
        tuple(substitute(each, extents) for each in inverse.radices),
    )


def _holds_at_small_shapes(layout: Layout, number: int, rows: Rows) -> bool:
    """Whether every element of small shapes lies in its own row, in plain integers."""
    value = layout.coordinates[number].value
    before = substitute(rows.start, {rows.row: rows.own})
    after = substitute(rows.start, {rows.row: Add(rows.own, ONE)})
    tried = (
        bind_index(layout, values, index)
        for values in islice(small(layout, TRIED), 60)
        for index in elements(layout, values)
    )
    return all(
        evaluate(before, bound) <= evaluate(value, bound) < evaluate(after, bound)
        for bound in islice(tried, TRIED)
    )
