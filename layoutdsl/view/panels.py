"""A tensor as tables of its last two axes, one for each index along the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from layoutdsl.language.meaning.counterexample import named_text
from layoutdsl.view.cells import Entry, Panel
from layoutdsl.view.folding import kept
from layoutdsl.view.places import Named

WIDTH = 32
"""Columns of a table; a longer axis goes on in the next one."""

Write = Callable[[tuple[int, ...]], Entry | None]


def panels(axes: Named, entry: Write, most: int, width: int = WIDTH) -> tuple[Panel, ...]:
    """Return the tables, of axes with more than one element where there are such.

    Args:
        axes: with their extents.
        entry: writes the element at an index.
        most: cells of all tables; of a larger tensor the ends along each axis are drawn.
        width: columns of a table.
    """
    return tuple(_panels(axes, entry, most, width))


def _panels(axes: Named, entry: Write, most: int, width: int) -> Iterator[Panel]:
    positions = kept([extent for _, extent in axes], most)
    long = [k for k, (_, extent) in enumerate(axes) if extent > 1]
    long = long or list(range(len(axes)))
    across, down = long[-1:], long[-2:-1]
    others = [k for k in range(len(axes)) if k not in (*across, *down)]
    for outer in product(*(positions[k] for k in others)):
        fixed = dict(zip(others, outer, strict=True))
        title = named_text(tuple((axes[k][0], at) for k, at in fixed.items() if axes[k][1] > 1))
        columns = positions[across[0]] if across else (0,)
        rows = positions[down[0]] if down else (0,)
        for low in range(0, len(columns), width):
            part = columns[low : low + width]
            cells = tuple(
                tuple(entry(_index(len(axes), fixed, down, across, row, at)) for at in part)
                for row in rows
            )
            yield Panel(title, (_name(axes, across), part), (_name(axes, down), rows), cells)


def _name(axes: Named, which: list[int]) -> str:
    return axes[which[0]][0] if which else ""


def _index(
    rank: int, fixed: dict[int, int], down: list[int], across: list[int], row: int, column: int
) -> tuple[int, ...]:
    found = {**fixed, **dict.fromkeys(down, row), **dict.fromkeys(across, column)}
    return tuple(found[k] for k in range(rank))
