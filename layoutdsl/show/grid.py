"""The buffer as a grid: a row per position of the major coordinates, a cell per slot.

A cell names its element by the axes that change along a row; the others stand at the row's head.
Only the slots that are shown are worked out. Nothing is printed here; `ansi` writes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from math import prod
from typing import Literal, TypeAlias

from layoutdsl.bounds import ONE
from layoutdsl.digits import read
from layoutdsl.expr import Coordinate, coordinate_text, evaluate, indices
from layoutdsl.model import Layout, Shape
from layoutdsl.show.places import Named

MOST_CELLS = 64
_PLAIN = 1
Kind: TypeAlias = Literal["element", "padding", "shared"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A slot: what is written in it, and the number of its block in the order of appearance."""

    kind: Kind
    label: str
    block: int


@dataclass(frozen=True, slots=True)
class Row:
    """Slots side by side from ``offset`` on; ``head`` has a number per major coordinate."""

    offset: int
    head: tuple[int, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """Some rows of a buffer.

    Attributes:
        major: the coordinates that number the rows; those of one position are left out.
        minor: the coordinates that number the cells of a row.
        axes: the axes whose index is written in a cell.
        blocks: what tells the blocks apart, and its value for each block that is shown.
        start: slots before the first.
        start: slots before the first.
        rows_in_all: how many rows the buffer has.
        wrapped: the most minor coordinate is too long for a row, and goes on in the next.
    """

    layout: Layout
    shape: Named
    size: int
    major: tuple[str, ...]
    minor: tuple[str, ...]
    axes: tuple[str, ...]
    block_of: tuple[str, ...]
    blocks: tuple[tuple[int, ...], ...]
    start: int
    rows: tuple[Row, ...]
    rows_in_all: int
    wrapped: bool


def grid(layout: Layout, shape: Shape, *, width: int, most_rows: int) -> Grid:
    """Return the first rows of the buffer.

    Args:
        width: characters that a row may take.
        most_rows: rows that are worked out.

    Raises:
        ValueError: the shape does not fit the layout.
    """
    values = layout.bind(shape)
    box = layout.box(shape)
    cut = _cut(layout, shape, width)
    names = tuple(map(coordinate_text, layout.coordinates))
    shown = [k for k in range(cut) if box[k] > 1]
    axes = _changing(layout, layout.coordinates[cut:], shape)
    told_by = _told_by(layout, box)
    start = evaluate(layout.start, values)
    painter = _Cells(layout, shape, axes, told_by, box, start)
    cells = prod(box[cut:])
    columns = _columns(cells, _room(layout, axes, shape, width, shown))
    starts = (
        first for row in range(0, prod(box), cells) for first in range(row, row + cells, columns)
    )
    rows = []
    for first in islice(starts, most_rows):
        place = _place(first, box)
        count = min(columns, cells - first % cells)
        found = tuple(painter.cell(start + first + k) for k in range(count))
        rows.append(Row(start + first, tuple(place[k] for k in shown), found))
    return Grid(
        layout,
        tuple(values.items()),
        layout.size(shape),
        tuple(names[k] for k in shown),
        tuple(names[k] for k in range(cut, len(box)) if box[k] > 1),
        axes,
        tuple(names[k] for k in told_by),
        tuple(painter.blocks),
        start,
        tuple(rows),
        prod(box[:cut]) * -(-cells // columns),
        columns < cells,
    )


class _Cells:
    """Works out cells, and numbers blocks as they appear."""

    def __init__(
        self,
        layout: Layout,
        shape: Shape,
        axes: tuple[str, ...],
        told_by: tuple[int, ...],
        box: tuple[int, ...],
        start: int,
    ) -> None:
        self._layout, self._shape, self._box, self._start = layout, shape, box, start
        self._told_by = told_by
        self._written = [k for k, axis in enumerate(layout.axes) if axis.name in axes]
        self.blocks: dict[tuple[int, ...], int] = {}

    def cell(self, slot: int) -> Cell:
        place = _place(slot - self._start, self._box)
        key = tuple(place[k] for k in self._told_by)
        block = self.blocks.setdefault(key, len(self.blocks))
        found = tuple(islice(self._layout.holders(slot, self._shape), 2))
        if not found:
            return Cell("padding", ".", block)
        label = ",".join(str(found[0][k]) for k in self._written) or "*"
        return Cell("element" if len(found) == 1 else "shared", label, block)


def _place(rest: int, box: tuple[int, ...]) -> tuple[int, ...]:
    place = []
    for extent in reversed(box):
        rest, digit = divmod(rest, extent)
        place.append(digit)
    return tuple(reversed(place))


def _columns(cells: int, room: int) -> int:
    """How many cells stand side by side; a row that is wrapped breaks at a power of two."""
    return cells if cells <= room else 1 << room.bit_length() - 1


def _cut(layout: Layout, shape: Shape, width: int) -> int:
    """How many coordinates number the rows: as few as leave a row that fits, one cell at least."""
    box = layout.box(shape)
    cut = len(box) - 1
    while cut > 0 and prod(box[cut:]) == 1:
        cut -= 1
    for further in range(cut - 1, -1, -1):
        axes = _changing(layout, layout.coordinates[further:], shape)
        shown = [k for k in range(further) if box[k] > 1]
        cells = prod(box[further:])
        if cells > min(MOST_CELLS, _room(layout, axes, shape, width, shown)):
            break
        cut = further
    return cut


def _changing(layout: Layout, minor: tuple[Coordinate, ...], shape: Shape) -> tuple[str, ...]:
    """The axes of more than one element that occur in the minor coordinates."""
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


def _room(layout: Layout, axes: tuple[str, ...], shape: Shape, width: int, shown: list[int]) -> int:
    """How many cells a row has room for, after its offset and its head; one at least."""
    names = [coordinate_text(layout.coordinates[k]) for k in shown]
    box = layout.box(shape)
    head = sum(2 + max(len(name), len(str(box[k]))) for name, k in zip(names, shown, strict=True))
    left = width - head - max(len("offset"), len(str(layout.size(shape)))) - 3
    return max(1, min(MOST_CELLS, left // (label_width(layout, axes, shape) + 1)))


def _told_by(layout: Layout, box: tuple[int, ...]) -> tuple[int, ...]:
    """The coordinates that number blocks: quotients; without any, the most major coordinate."""
    found = [
        k
        for k, each in enumerate(layout.coordinates)
        if (digit := read(each.value)) is not None
        and digit.radix is None
        and digit.divisor != ONE
        and box[k] > 1
    ]
    return tuple(found) or tuple([k for k, extent in enumerate(box) if extent > 1][:1])
