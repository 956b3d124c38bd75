"""What a candidate has to write: `Layout.offset` for every element, and nothing of any plan.

The meaning is worked out over whole arrays of indices; a sample of single elements is asked in
plain integers.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutdsl.language.integers.conditions import all_hold
from layoutdsl.language.integers.expr import Add, MixedRadix
from layoutdsl.language.integers.grids import indices, over, plain
from layoutdsl.language.meaning.model import Layout

Array = NDArray[Any]

SAMPLED = 64
"""Elements whose offset is asked for one by one."""


def offsets(layout: Layout, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Return the offset of every element, -1 for one that has no slot."""
    if layout.domain:
        return _one_by_one(layout, shape)
    values = {name: plain(value) for name, value in layout.bind(shape).items()}
    for place, (axis, extent) in enumerate(zip(layout.axes, shape, strict=True)):
        values[axis.name] = indices(extent, place, len(shape))
    found = over(Add(layout.start, MixedRadix(layout.coordinates)), values).number
    whole = np.ascontiguousarray(np.broadcast_to(np.asarray(found, dtype=np.int64), shape))
    for index in _some(shape):
        assert whole[index] == layout.offset(index, shape), (layout.name, index)
    return whole


def _one_by_one(layout: Layout, shape: tuple[int, ...]) -> NDArray[np.int64]:
    found = np.full(shape, -1, dtype=np.int64)
    values = layout.bind(shape)
    names = [axis.name for axis in layout.axes]
    for index in product(*map(range, shape)):
        here = {**values, **dict(zip(names, index, strict=True))}
        if all_hold(layout.domain, here):
            found[index] = layout.offset_at(here)
    return found


def _some(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    draw = random.Random(prod(shape))  # noqa: S311  no secret
    yield tuple(extent - 1 for extent in shape)
    for _ in range(SAMPLED):
        yield tuple(draw.randrange(extent) for extent in shape)


def distinct(shape: tuple[int, ...], dtype: str) -> Array:
    """Return a tensor of random numbers that its type holds exactly; none is 0."""
    kind = np.dtype(dtype)
    most = {"f2": 2**11, "f4": 2**24, "f8": 2**53}.get(kind.str[1:])
    high = int(np.iinfo(kind).max) if most is None else most
    numbers = np.random.default_rng(0).integers(1, high, shape, dtype=np.uint64, endpoint=True)
    return numbers.astype(kind)


def first_difference(got: Array, expected: Array, compared: NDArray[np.bool_] | None) -> str | None:
    """Return where a result is not what it has to be, or ``None``.

    Args:
        got: the result; unsigned integers of the same width will do.
        expected: what it has to be, byte for byte.
        compared: which slots have to be so; all where it is left out.
    """
    width = np.dtype(f"u{expected.dtype.itemsize}")
    if got.dtype not in (expected.dtype, width) or got.size != expected.size:
        held = f"{got.size} of {got.dtype}, not {expected.size} of {expected.dtype}"
        return f"the result has {held}"
    one, other = (each.reshape(-1).view(width) for each in (got, expected))
    wrong = one != other if compared is None else (one != other) & compared.reshape(-1)
    if not wrong.any():
        return None
    slot, count = int(wrong.argmax()), int(wrong.sum())
    has, needs = got.reshape(-1).view(expected.dtype)[slot], expected.reshape(-1)[slot]
    return f"slot {slot} holds {has} and has to hold {needs}; {count} of {wrong.size} are wrong"
