"""Offsets of all elements of a shape at once, as arrays.

`Layout.offset` is what they mean; what is found by them is replayed in plain integers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from layoutdsl.language.integers.conditions import COMPARISONS
from layoutdsl.language.integers.expr import Add, MixedRadix
from layoutdsl.language.integers.grids import Bounded, over, plain
from layoutdsl.language.meaning.model import Condition, Layout
from layoutdsl.language.offsets.one_by_one import Offsets, Order

Numbers: TypeAlias = Any
"""An integer, or an array of them."""

NO_SLOT = -1
"""In the place of an offset, where an index is not in the domain."""

POINTS = 4096
"""Elements of a sample."""

COST = 1
"""How many times longer than here an element takes."""


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
    return COMPARISONS[condition.operator](left, right)


def first_difference(
    one: Layout, other: Layout, values: Mapping[str, int], most: int
) -> tuple[int, ...] | None:
    """Return the first index that lies elsewhere, of all or where they are too many, of some."""
    extents = one.shape_of(values)
    if prod(extents) > most:
        drawn = sample(extents)
        differ = slots(one, values, drawn) != slots(other, values, drawn)
        return tuple(int(axis[np.argmax(differ)]) for axis in drawn) if differ.any() else None
    grids = np.indices(extents, dtype=np.int64, sparse=True)
    differ = np.broadcast_to(slots(one, values, grids) != slots(other, values, grids), extents)
    if not differ.any():
        return None
    return tuple(int(each) for each in np.unravel_index(int(np.argmax(differ)), extents))


def orders_in(one: Offsets, other: Offsets, axis: int, block: int) -> tuple[Order, Order] | None:
    """Return which element of the first block lies first, second, ... in either of two maps.

    ``None`` where their elements do not lie in the same places, or in the same order.
    """
    first, second = (
        np.moveaxis(each, axis, 0).reshape(each.shape[axis], -1)[:block, 0] for each in (one, other)
    )
    if not np.array_equal(np.sort(first), np.sort(second)) or bool((first == second).all()):
        return None
    return _order(first), _order(second)


def exchanged_in(one: Offsets, other: Offsets, axis: int, orders: tuple[Order, Order]) -> bool:
    """Return whether two maps are equal once the elements of each block are exchanged."""
    moved = _moved(orders, one.shape[axis])
    return np.array_equal(one, np.take(other, moved, axis=axis))


def _order(run: NDArray[np.int64]) -> Order:
    return tuple(map(int, np.argsort(run, kind="stable")))


def _moved(orders: tuple[Order, Order], extent: int) -> NDArray[np.int64]:
    """Which element of the second layout lies where each one of the first does."""
    first, second = (np.array(each) for each in orders)
    within = np.empty(len(first), dtype=np.int64)
    within[first] = second
    every = np.arange(extent)
    return every // len(first) * len(first) + within[every % len(first)]
