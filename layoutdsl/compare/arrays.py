"""Offsets of all elements of a shape at once, as arrays.

`Layout.offset` is what they mean; what is found by them is replayed in plain integers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from layoutdsl.integers.expr import Add, MixedRadix
from layoutdsl.integers.grids import Bounded, over, plain
from layoutdsl.integers.value import evaluate
from layoutdsl.meaning.model import Condition, Layout

Numbers: TypeAlias = Any
"""An integer, or an array of them."""

NO_SLOT = -1
"""In the place of an offset, where an index is not in the domain."""

POINTS = 4096
"""Elements of a sample."""


def offsets(layout: Layout, values: Mapping[str, int]) -> NDArray[np.int64]:
    """Return the offset of each element, as an array of the shape of the tensor."""
    extents = layout.shape_of(values)
    known = _known(layout, values, np.indices(extents, dtype=np.int64, sparse=True))
    return np.broadcast_to(_offsets(layout, known), extents)


def slots(layout: Layout, values: Mapping[str, int], grids: Sequence[Numbers]) -> Numbers:
    """Return the offsets of indices that are given along each axis, `NO_SLOT` where one has none.

    The arrays have to fit one another, as those of `numpy.indices` and `sample` do; what comes out
    has the shape of them all, or fits it.
    """
    known = _known(layout, values, grids)
    found = _offsets(layout, known)
    for condition in layout.domain:
        found = np.where(_holds(condition, known), found, NO_SLOT)
    return found


def _offsets(layout: Layout, known: Mapping[str, Bounded]) -> NDArray[np.int64]:
    """Offsets; those of a layout whose elements leave its buffer may be Python's integers."""
    found = np.asarray(over(Add(layout.start, MixedRadix(layout.coordinates)), known).number)
    if found.dtype == object and -(2**63) <= found.min() <= found.max() < 2**63:
        return found.astype(np.int64)
    return found


def sample(extents: Sequence[int]) -> tuple[NDArray[np.int64], ...]:
    """Return some indices of a shape, the first and last among them, as an array for each axis."""
    wide = np.array(extents, dtype=np.int64)
    drawn = np.random.default_rng(0).integers(0, wide, (POINTS, len(wide)))
    drawn[0], drawn[1] = 0, wide - 1
    return tuple(drawn.T)


def _known(
    layout: Layout, values: Mapping[str, int], grids: Sequence[Numbers]
) -> dict[str, Bounded]:
    known = {name: plain(value) for name, value in values.items()}
    extents = layout.shape_of(values)
    for axis, grid, extent in zip(layout.axes, grids, extents, strict=True):
        known[axis.name] = Bounded(grid, extent)
    return known


def _holds(condition: Condition, known: Mapping[str, Bounded]) -> Numbers:
    left, right = (over(side, known).number for side in (condition.left, condition.right))
    match condition.operator:
        case "==":
            return np.equal(left, right)
        case "!=":
            return np.not_equal(left, right)
        case "<":
            return np.less(left, right)
        case "<=":
            return np.less_equal(left, right)
        case ">":
            return np.greater(left, right)
        case ">=":
            return np.greater_equal(left, right)


def size(layout: Layout, values: Mapping[str, int]) -> int:
    """Return the elements of the buffer, of a shape in the range or not."""
    total = 1
    for each in layout.coordinates:
        total *= evaluate(each.extent, values)
    return total + evaluate(layout.start, values)
