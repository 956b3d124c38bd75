"""What `arrays` does, in plain integers: for small shapes, where numpy is not installed.

Larger shapes are looked at in fewer places; what is found is replayed, as always.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import Any, TypeAlias

from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.model import Layout

Offsets: TypeAlias = Any
"""An offset for each index, in row-major order: here a mapping, in `arrays` an array."""

Order: TypeAlias = tuple[int, ...]

MOST = 20_000
"""Elements of a shape that are all looked at."""

POINTS = 512
"""Elements of a sample of a larger one."""

COST = 20
"""How many times longer than in an array an element takes."""


def size(layout: Layout, values: Mapping[str, int]) -> int:
    """Return the elements of the buffer, of a shape in the range or not."""
    total = 1
    for each in layout.coordinates:
        total *= evaluate(each.extent, values)
    return total + evaluate(layout.start, values)


def offsets(layout: Layout, values: Mapping[str, int]) -> Offsets:
    """Return the offset of each element by its index."""
    every = product(*(range(extent) for extent in layout.shape_of(values)))
    return {index: layout.offset_at(_bound(layout, values, index)) for index in every}


def first_difference(
    one: Layout, other: Layout, values: Mapping[str, int], most: int
) -> tuple[int, ...] | None:
    """Return the first index that lies elsewhere, of all or where they are too many, of some."""
    extents = one.shape_of(values)
    few = prod(extents) <= min(most, MOST)
    every = product(*(range(extent) for extent in extents)) if few else _sample(extents)
    return next((each for each in every if _differs(one, other, values, each)), None)


def _differs(one: Layout, other: Layout, values: Mapping[str, int], index: tuple[int, ...]) -> bool:
    return _slot(one, values, index) != _slot(other, values, index)


def _slot(layout: Layout, values: Mapping[str, int], index: tuple[int, ...]) -> int | None:
    bound = _bound(layout, values, index)
    return layout.offset_at(bound) if layout.holds(bound) else None


def _bound(layout: Layout, values: Mapping[str, int], index: tuple[int, ...]) -> dict[str, int]:
    return {**values, **{axis.name: at for axis, at in zip(layout.axes, index, strict=True)}}


def _sample(extents: Sequence[int]) -> list[tuple[int, ...]]:
    """Return some indices of a shape, the first and last among them."""
    draw = random.Random(0)  # noqa: S311  no secret
    drawn = [tuple(draw.randrange(each) for each in extents) for _ in range(POINTS - 2)]
    return [tuple(0 for _ in extents), tuple(each - 1 for each in extents), *drawn]


def orders_in(one: Offsets, other: Offsets, axis: int, block: int) -> tuple[Order, Order] | None:
    """Return which element of the first block lies first, second, ... in either of two maps.

    ``None`` where their elements do not lie in the same places, or in the same order.
    """
    first, second = (
        [each[index] for index in each if index[axis] < block and not any(_others(index, axis))]
        for each in (one, other)
    )
    if sorted(first) != sorted(second) or first == second:
        return None
    return _order(first), _order(second)


def exchanged_in(one: Offsets, other: Offsets, axis: int, orders: tuple[Order, Order]) -> bool:
    """Return whether two maps are equal once the elements of each block are exchanged."""
    block, within = len(orders[0]), dict(zip(*orders, strict=True))

    def moved(index: tuple[int, ...]) -> tuple[int, ...]:
        at = index[axis]
        return (*index[:axis], at // block * block + within[at % block], *index[axis + 1 :])

    return all(offset == other.get(moved(index)) for index, offset in one.items())


def _others(index: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return index[:axis] + index[axis + 1 :]


def _order(run: Sequence[int]) -> Order:
    return tuple(sorted(range(len(run)), key=run.__getitem__))
