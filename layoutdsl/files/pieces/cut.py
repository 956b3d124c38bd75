"""A tensor of some shape cut into pieces that fit into some room. Plain integers, and no files.

Which pieces there are follows from the layout, the shape and the room alone, so a later run finds
the same ones by their numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import gcd, prod

from layoutdsl.code.seams import Seam, extent_of, flat
from layoutdsl.files.pieces.proof import lies_alike, seam_at
from layoutdsl.language.integers.expr import Extent
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.model import Layout

Values = dict[str, int]
Cost = Callable[[int, int], int]
"""The bytes that a piece of so many elements and slots takes while it is moved."""


class TooLargeError(ValueError):
    """The smallest piece does not fit into the room.

    Attributes:
        needed: the bytes that it takes.
        reason: why there is no smaller one.
    """

    def __init__(self, needed: int, reason: str) -> None:
        super().__init__(f"the smallest piece takes {needed} bytes: {reason}")
        self.needed, self.reason = needed, reason


@dataclass(frozen=True, slots=True)
class Piece:
    """A box of the tensor, and the slots of the buffer that it fills alone.

    Attributes:
        starts: the first index along each axis.
        extents: the shape of the piece.
        first: the first slot, counted from the first of the layout.
        slots: how many follow it.
    """

    starts: tuple[int, ...]
    extents: tuple[int, ...]
    first: int
    slots: int

    @property
    def box(self) -> tuple[slice, ...]:
        """What it is of the tensor."""
        pairs = zip(self.starts, self.extents, strict=True)
        return tuple(slice(start, start + extent) for start, extent in pairs)

    @property
    def stretch(self) -> slice:
        """What it is of the buffer, where that is of one dimension."""
        return slice(self.first, self.first + self.slots)


@dataclass(frozen=True, slots=True)
class Pieces:
    """All pieces of a tensor, in the order of the buffer.

    Attributes:
        layout: a flat one.
        values: the shape.
        cuts: seams, and the units between two of them; each cuts what those before it leave.
    """

    layout: Layout
    values: Values
    cuts: tuple[tuple[Seam, int], ...]

    @property
    def count(self) -> int:
        """How many there are."""
        return prod(self._counts())

    @property
    def largest(self) -> Piece:
        """The first: only the last along an axis is smaller."""
        return self.piece(0)

    @property
    def units(self) -> tuple[int, ...]:
        """The units between two seams of each cut, as `cut_by` takes them."""
        return tuple(units for _, units in self.cuts)

    def _counts(self) -> list[int]:
        return [
            -(-self.values[extent_of(self.layout, seam.axis).name] // (seam.unit * units))
            for seam, units in self.cuts
        ]

    def piece(self, number: int) -> Piece:
        """Return a piece by its number, from 0 on."""
        values, starts, first = dict(self.values), dict[str, int](), 0
        left = self.count
        for (seam, units), count in zip(self.cuts, self._counts(), strict=True):
            left //= count
            place, number = divmod(number, left)
            name, start = extent_of(self.layout, seam.axis).name, seam.unit * units * place
            block = prod(box(self.layout, values)[seam.coordinate + 1 :])
            first += seam.blocks * units * place * block
            values[name] = min(seam.unit * units, values[name] - start)
            starts[seam.axis] = start
        slots = prod(box(self.layout, values))
        extents = self.layout.shape_of(values)
        return Piece(
            tuple(starts.get(axis.name, 0) for axis in self.layout.axes), extents, first, slots
        )


def values_of(layout: Layout, shape: tuple[int, ...]) -> Values:
    """Return the value of every extent, without a look at the range of shapes."""
    pairs = zip(layout.axes, shape, strict=True)
    return {axis.extent.name: n for axis, n in pairs if isinstance(axis.extent, Extent)}


def lead_of(layout: Layout, shape: tuple[int, ...]) -> int:
    """Return the slots before the first of the layout."""
    return evaluate(layout.start, values_of(layout, shape))


def box(layout: Layout, values: Values) -> list[int]:
    """Return the extents of the coordinates."""
    return [evaluate(each.extent, values) for each in layout.coordinates]


def cut(layout: Layout, shape: tuple[int, ...], room: int, cost: Cost, whole: int = 1) -> Pieces:
    """Return the pieces, each as large as the room allows.

    Args:
        layout: any; one that cannot be taken apart is one piece.
        shape: the extents, in axis order, as the layout takes them; an empty tensor is one piece.
        room: bytes that one piece may take.
        cost: what it takes.
        whole: at a multiple of so many slots each begins.

    Raises:
        TooLargeError: the smallest piece does not fit.
    """
    outer = flat(layout)
    values = all_of = values_of(outer, shape)
    cuts: list[tuple[Seam, int]] = []

    def needed(extents: Values) -> int:
        return cost(prod(outer.shape_of(extents)), prod(box(outer, extents)))

    while needed(values) > room:
        seam = _next(layout, outer, values, needed(values))
        name, step = extent_of(outer, seam.axis).name, _together(outer, values, seam, whole)
        one = values | {name: min(seam.unit * step, values[name])}
        if lead_of(layout, shape) % whole:
            raise TooLargeError(needed(values), "its first slot lies within a byte")
        if needed(one) <= room:
            units = _most(values, seam, name, lambda each: needed(each) <= room)
            return Pieces(outer, all_of, (*cuts, (seam, units - units % step)))
        if seam.blocks > 1 or step > 1:
            together = f"{seam.unit * step} indices of axis `{seam.axis}` belong together"
            raise TooLargeError(needed(one), together)
        cuts.append((seam, 1))
        values = one
    return Pieces(outer, all_of, tuple(cuts))


def _together(outer: Layout, values: Values, seam: Seam, whole: int) -> int:
    """How many units have a multiple of so many slots."""
    slots = seam.blocks * prod(box(outer, values)[seam.coordinate + 1 :])
    return whole // gcd(whole, slots)


def cut_by(layout: Layout, shape: tuple[int, ...], units: tuple[int, ...]) -> Pieces:
    """Return the pieces that somebody else has cut, by seams that are proved here.

    Args:
        layout: any.
        shape: the extents, in axis order.
        units: between two seams of each cut, as `Pieces.cuts` has them.

    Raises:
        ValueError: there are no such seams, or so many units are not between them.
    """
    outer = flat(layout)
    values = whole = values_of(outer, shape)
    cuts: list[tuple[Seam, int]] = []
    for number, count in enumerate(units, start=1):
        seam = _next(layout, outer, values, 0)
        name = extent_of(outer, seam.axis).name
        most = -(-values[name] // seam.unit)
        if not 1 <= count <= most or (number < len(units) and (count, seam.blocks) != (1, 1)):
            raise ValueError(f"there are no {count} units of axis `{seam.axis}` to a piece")
        cuts.append((seam, count))
        values = values | {name: min(count * seam.unit, values[name])}
    return Pieces(outer, whole, tuple(cuts))


def _next(layout: Layout, outer: Layout, values: Values, needed: int) -> Seam:
    """The seam of the outermost coordinate that has more than one value."""
    number = next((n for n, extent in enumerate(box(outer, values)) if extent > 1), None)
    if number is None:
        raise TooLargeError(needed, "it is one slot")
    seam = seam_at(outer, number)
    if isinstance(seam, str):
        raise TooLargeError(needed, seam)
    if outer != layout and not lies_alike(layout):
        raise TooLargeError(needed, "its outermost tuple may be another number")
    return seam


def _most(values: Values, seam: Seam, name: str, fits: Callable[[Values], bool]) -> int:
    """The most units that fit; one does, and all do not."""
    low, high = 1, -(-values[name] // seam.unit)
    while high - low > 1:
        middle = (low + high) // 2
        if fits(values | {name: min(middle * seam.unit, values[name])}):
            low = middle
        else:
            high = middle
    return low
