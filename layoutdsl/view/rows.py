"""How a buffer is cut into rows of a grid: which coordinates stand at the head, which in a row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from layoutdsl.language.integers.expr import Coordinate, coordinate_text, indices
from layoutdsl.language.meaning.model import Layout, Shape

MOST_CELLS = 64
SHORT = 4
"""Cells of a row that is too short to show how elements are interleaved."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A row: ``per`` positions of the coordinate ``at``, and all of those after it."""

    at: int
    per: int
    box: tuple[int, ...]

    @property
    def inner(self) -> int:
        """Slots of one position."""
        return prod(self.box[self.at + 1 :])

    @property
    def shown(self) -> list[int]:
        """The coordinates at the head of a row."""
        found = [k for k in range(self.at) if self.box[k] > 1]
        return [*found, self.at] if self.per < self.box[self.at] else found

    def rows(self) -> Iterator[tuple[int, int]]:
        """Yield where each row starts, and how many cells it has."""
        extent = self.box[self.at]
        for group in range(0, prod(self.box), extent * self.inner):
            for low in range(0, extent, self.per):
                yield group + low * self.inner, min(self.per, extent - low) * self.inner

    def head(self, first: int) -> tuple[str, ...]:
        """Return what stands at the head of the row that starts there."""
        place = place_of(first, self.box)
        words = {k: str(place[k]) for k in self.shown}
        if self.at in words:
            last = min(place[self.at] + self.per, self.box[self.at]) - 1
            words[self.at] = _run(place[self.at], last)
        return tuple(words.values())


def _run(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}..{high}"


def cut_of(layout: Layout, shape: Shape, width: int) -> Cut:
    """Return the coordinates of a row: as many as fit wholly in it, one at least.

    Where that leaves a short row, some positions of the next one are joined to it. No row goes
    over the border of a chunk.
    """
    box = layout.box(shape)
    border = layout.chunk_rank or 0
    at = len(box) - 1
    while at > border and prod(box[at - 1 :]) <= _room(layout, shape, width, Cut(at - 1, 1, box)):
        at -= 1
    cells = prod(box[at:])
    if at > border and cells <= SHORT:
        joined = Cut(at - 1, 1, box)
        per = _room(layout, shape, width, joined) // cells
        if per > 1:
            return Cut(at - 1, min(box[at - 1], _power_of_two(per)), box)
    whole = Cut(at, box[at], box)
    if cells <= _room(layout, shape, width, whole):
        return whole
    per = _room(layout, shape, width, Cut(at, 1, box)) // whole.inner
    return Cut(at, _power_of_two(max(1, per)), box)


def _power_of_two(most: int) -> int:
    return 1 << most.bit_length() - 1


def changing(layout: Layout, minor: tuple[Coordinate, ...], shape: Shape) -> tuple[str, ...]:
    """Return the axes of more than one element that occur in the minor coordinates."""
    found = {name for each in minor for name in indices(each.value)}
    extents = layout.shape_of(layout.bind(shape))
    long = [axis.name for axis, extent in zip(layout.axes, extents, strict=True) if extent > 1]
    return tuple(name for name in long if name in found)


def label_width(layout: Layout, axes: tuple[str, ...], shape: Shape) -> int:
    """Return the characters that the widest label may take."""
    extents = layout.shape_of(layout.bind(shape))
    widths = [
        len(str(extent - 1))
        for axis, extent in zip(layout.axes, extents, strict=True)
        if axis.name in axes
    ]
    return max(1, sum(widths) + len(widths) - 1)


def _room(layout: Layout, shape: Shape, width: int, cut: Cut) -> int:
    """How many cells a row has room for, after its offset and its head; one at least."""
    head = 0
    for k in cut.shown:
        last = str(cut.box[k] - 1)
        words = f"{last}..{last}" if k == cut.at else last
        head += 2 + max(len(coordinate_text(layout.coordinates[k])), len(words))
    left = width - head - max(len("offset"), len(str(layout.size(shape)))) - 2
    axes = changing(layout, layout.coordinates[cut.at :], shape)
    return max(1, min(MOST_CELLS, left // (label_width(layout, axes, shape) + 1)))


def place_of(rest: int, box: tuple[int, ...]) -> tuple[int, ...]:
    """Return the position in a box, from its mixed-radix value."""
    place = []
    for extent in reversed(box):
        rest, digit = divmod(rest, extent)
        place.append(digit)
    return tuple(reversed(place))
