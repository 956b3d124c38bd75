"""A grid as text for a terminal, with colours or without."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from math import prod

from layoutdsl.language.meaning.counterexample import named_text
from layoutdsl.view.grid import Cell, Grid, Row
from layoutdsl.view.words import at_shape

MOST_IN_LEGEND = 8
MOST_COUNTED = 1 << 18
"""Indices of the largest shape whose elements are counted, where not all of them are."""
MOST_PADDING = 3
"""Rows of padding in a row that are all shown."""


@dataclass(frozen=True, slots=True)
class Ink:
    """How the parts of a grid are marked: terminal sequences to open each, one to close them.

    Attributes:
        blocks: taken in turn, so that neighbouring blocks differ.
    """

    blocks: tuple[str, ...]
    padding: str
    shared: str
    dim: str
    close: str

    def block(self, number: int, text: str) -> str:
        """Return the text on the ground of a block."""
        return f"{self.blocks[number % len(self.blocks)]}{text}{self.close}"

    def cell(self, cell: Cell, text: str) -> str:
        """Return a cell's text as its kind is marked."""
        match cell.kind:
            case "element":
                return self.block(cell.block, text)
            case "padding":
                return f"{self.padding}{text}{self.close}"
            case "shared":
                return f"{self.shared}{text}{self.close}"

    def faint(self, text: str) -> str:
        """Return text that stays in the background."""
        return f"{self.dim}{text}{self.close}"


PLAIN = Ink(("",), "", "", "", "")
# Black on eight light grounds reads well on dark and on light terminals.
COLOURS = Ink(
    tuple(f"\x1b[38;5;16;48;5;{ground}m" for ground in (153, 223, 157, 219, 229, 189, 159, 216)),
    "\x1b[38;5;244m",
    "\x1b[1;38;5;231;48;5;160m",
    "\x1b[38;5;244m",
    "\x1b[0m",
)


def grid_text(grid: Grid, ink: Ink) -> str:
    """Return the grid with a head, a row per line, and what its marks mean."""
    name = at_shape(grid.layout.name, grid.shape)
    values = dict(grid.shape)
    slots = _plural(grid.size - grid.start, "slot")
    head = f"{name}: {slots}"
    if not grid.layout.domain or prod(grid.layout.shape_of(values)) <= MOST_COUNTED:
        head += f", {_plural(grid.layout.elements(values), 'element')}"
    if grid.layout.copies:
        head += f", each in {_plural(grid.layout.copies_of_each(values), 'slot')}"
    return "\n".join([head, "", *_rows(grid, ink), "", *_legend(grid, ink)])


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _rows(grid: Grid, ink: Ink) -> list[str]:
    columns = max(len(row.cells) for row in grid.rows)
    labels = max(len(cell.label) for row in grid.rows for cell in row.cells)
    cell_width = max(labels, len(str(columns - 1)))
    offsets = max(len("offset"), len(str(grid.rows[-1].offset)))
    widths = [
        max(len(name), *(len(row.head[k]) for row in grid.rows))
        for k, name in enumerate(grid.major)
    ]

    def before(*words: str) -> str:
        pairs = zip(words, [offsets, *widths], strict=True)
        return "  ".join(f"{word:>{width}}" for word, width in pairs) + " |"

    numbers = "".join(f" {k:>{cell_width}}" for k in range(columns))
    lines = [ink.faint(before("offset", *grid.major) + numbers)]
    for (chunk, padding), run in groupby(grid.rows, key=_kind_of_row):
        rows = list(run)
        if chunk != grid.rows[0].chunk and rows[0].offset == _first_of(grid, chunk):
            lines.append("")
        if padding and len(rows) > MOST_PADDING:
            lines.append(ink.faint(f"... {len(rows)} rows of padding"))
            continue
        for row in rows:
            head = ink.faint(before(str(row.offset), *row.head))
            lines.append(head + _cells(row, cell_width, ink))
    return lines


def _kind_of_row(row: Row) -> tuple[int, bool]:
    return row.chunk, all(cell.kind == "padding" for cell in row.cells)


def _first_of(grid: Grid, chunk: int) -> int:
    """Where the chunk starts."""
    return next(row.offset for row in grid.rows if row.chunk == chunk)


def _cells(row: Row, width: int, ink: Ink) -> str:
    runs = groupby(row.cells, key=lambda cell: (cell.kind, cell.block))
    return "".join(
        ink.cell(Cell(kind, "", block), "".join(f" {cell.label:>{width}}" for cell in cells))
        for (kind, block), cells in runs
    )


def _legend(grid: Grid, ink: Ink) -> list[str]:
    kinds = {cell.kind for row in grid.rows for cell in row.cells}
    lines = []
    if grid.axes:
        lines += [f"cells: {', '.join(grid.axes)}", f"columns: {', '.join(grid.minor)}"]
    else:
        lines.append("* is an element")
    if "padding" in kinds:
        lines.append(f"{ink.padding}.{ink.close} is padding")
    if "shared" in kinds:
        lines.append(f"{ink.shared}several elements want the same slot{ink.close}")
    if ink.blocks != PLAIN.blocks and grid.block_of and grid.blocks:
        lines.append(_colours(grid, ink))
    if grid.layout.domain:
        lines.append(f"elements where {', '.join(map(str, grid.layout.domain))}")
    if grid.start:
        lines.append(f"{_plural(grid.start, 'slot')} before the first")
    if grid.rows_in_all > len(grid.rows):
        left_out = grid.rows_in_all - len(grid.rows)
        lines.append(f"left out: {left_out} of {grid.rows_in_all} rows")
    return lines


def _colours(grid: Grid, ink: Ink) -> str:
    shown = [
        ink.block(number, f" {named_text(tuple(zip(grid.block_of, block, strict=True)))} ")
        for number, block in enumerate(grid.blocks[:MOST_IN_LEGEND])
    ]
    more = " and so on" if len(grid.blocks) > MOST_IN_LEGEND else ""
    return f"colours: {' '.join(shown)}{more}"
