"""Ranges of few shapes, decided by trying every index of every shape in plain integers.

Where the range bounds every extent, and all its shapes together have few elements, nothing needs to
be proved: it can be looked at. This is what decides fixed shapes whose coordinates are no digits.
"""

from __future__ import annotations

from itertools import product
from math import prod

from layoutdsl.expr import Expr, evaluate
from layoutdsl.model import Layout
from layoutdsl.prove.refute import At, Examples
from layoutdsl.prove.shapes import Values, bind_index, ceilings, in_range, indices, volume

MOST_SHAPES = 4096
MOST_ELEMENTS = 40_000


def whole_range(layout: Layout) -> tuple[Values, ...] | None:
    """Return every shape of the range, the smallest first; ``None`` where they are too many."""
    most = ceilings(layout)
    names = layout.symbols
    if not set(names) <= set(most) or prod(most[name] for name in names) > MOST_SHAPES:
        return None
    boxes = product(*(range(1, most[name] + 1) for name in names))
    shapes = [dict(zip(names, extents, strict=True)) for extents in boxes]
    within = [values for values in shapes if in_range(layout, values)]
    if sum(volume(layout, values) for values in within) > MOST_ELEMENTS:
        return None
    return tuple(sorted(within, key=lambda values: volume(layout, values)))


def everywhere(shapes: tuple[Values, ...], at: At) -> Examples:
    """Return what fails at the smallest shape at which anything does; nothing, if it holds."""
    return next(filter(None, map(at, shapes)), {})


def read_alike(layout: Layout, read: dict[str, Expr], shapes: tuple[Values, ...]) -> bool:
    """Return whether formulas that were read back say what the layout says, at every index."""
    return all(_alike(layout, read, values) for values in shapes)


def _alike(layout: Layout, read: dict[str, Expr], values: Values) -> bool:
    box = tuple(evaluate(each.extent, values) for each in layout.coordinates)
    if evaluate(read["size"], values) != layout.size(values):
        return False
    if any(evaluate(read[f"box.{number}"], values) != extent for number, extent in enumerate(box)):
        return False
    return all(
        evaluate(read["offset"], at) == layout.offset_at(at)
        for at in (bind_index(layout, values, index) for index in indices(layout, values))
    )
