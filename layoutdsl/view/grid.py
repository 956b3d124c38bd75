"""The buffer as a grid: a row per position of the major coordinates, a cell per slot.

A cell names its element by the axes that change along a row; the others stand at the row's head.
Only the slots that are shown are worked out. Nothing is printed here; `ansi` writes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from math import prod
from typing import Literal, TypeAlias

from layoutdsl.language.integers.expr import coordinate_text
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.model import Layout, Shape
from layoutdsl.view.grounds import told_by
from layoutdsl.view.places import Named
from layoutdsl.view.rows import changing, cut_of, place_of

Kind: TypeAlias = Literal["element", "padding", "shared"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A slot: what is written in it, and the number of its block in the order of appearance.

    Padding belongs to no block; its number is 0.
    """

    kind: Kind
    label: str
    block: int


@dataclass(frozen=True, slots=True)
class Row:
    """Slots side by side from ``offset`` on.

    ``head`` has a number, or a range of numbers, per coordinate of `Grid.major`.
    """

    offset: int
    head: tuple[str, ...]
    cells: tuple[Cell, ...]
    chunk: int


@dataclass(frozen=True, slots=True)
class Grid:
    """Some rows of a buffer.

    Attributes:
        major: the coordinates at the head of a row; those of one position are left out.
        minor: the coordinates that number the cells of a row; where not all of the first of them
            fits in a row, it stands at the head too, with the range that does.
        axes: the axes whose index is written in a cell.
        block_of: what tells the blocks apart.
        blocks: its value for each block that is shown.
        start: slots before the first.
        rows_in_all: how many rows the buffer has.
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
    cut = cut_of(layout, shape, width)
    names = tuple(map(coordinate_text, layout.coordinates))
    axes = changing(layout, layout.coordinates[cut.at :], shape)
    by = told_by(layout, box)
    start = evaluate(layout.start, values)
    painter = _Cells(layout, shape, axes, by, box, start)
    inside = prod(box[layout.chunk_rank or 0 :])
    rows = []
    for first, count in islice(cut.rows(), most_rows):
        found = tuple(painter.cell(start + first + k) for k in range(count))
        rows.append(Row(start + first, cut.head(first), found, first // inside))
    return Grid(
        layout,
        tuple(values.items()),
        layout.size(shape),
        tuple(names[k] for k in cut.shown),
        tuple(names[k] for k in range(cut.at, len(box)) if box[k] > 1),
        axes,
        tuple(names[k] for k in by),
        tuple(painter.blocks),
        start,
        tuple(rows),
        prod(box[: cut.at]) * -(-box[cut.at] // cut.per),
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
        found = tuple(islice(self._layout.holders(slot, self._shape), 2))
        if not found:
            return Cell("padding", ".", 0)
        place = place_of(slot - self._start, self._box)
        key = tuple(place[k] for k in self._told_by)
        block = self.blocks.setdefault(key, len(self.blocks))
        label = ",".join(str(found[0][k]) for k in self._written) or "*"
        return Cell("element" if len(found) == 1 else "shared", label, block)
