"""Offsets of all elements of a shape at once, to see quickly where two layouts differ.

What is found here is a hint: a difference is replayed in plain integers before it is reported, and
that there is none is proved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, combinations, cycle, islice
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from layoutdsl.compare.axes import Paired
from layoutdsl.compare.cuts import numbers_of
from layoutdsl.expr import (
    Add,
    BitAnd,
    BitXor,
    CeilDiv,
    Constant,
    Coordinate,
    Expr,
    Extent,
    FloorDiv,
    Index,
    Max,
    Min,
    MixedRadix,
    Mod,
    Mul,
    Sub,
    evaluate,
)
from layoutdsl.model import Layout
from layoutdsl.prove.shapes import Values, ceilings, in_range, small, telling, volume

Numbers: TypeAlias = Any
"""An integer, or an array of them."""

ELEMENTS = 400_000
"""Elements that are compared in search of a difference, in each of two rounds."""

A_SHAPE = 200
"""What looking at one more shape costs, in elements."""

LARGEST_SHAPE = 1 << 24
"""Elements of the smallest shape of a layout, up to which it is looked at."""

RAGGED = 60_000
"""Elements of the largest shape that is looked at for a hint."""

LARGEST = 2**62
"""Buffers of more elements are not looked at: their offsets may be no 64-bit integers."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Where two layouts differ: at an element, or in nothing but the sizes of their buffers.

    Attributes:
        shape: every extent and parameter with its value.
        index: the first element in row-major order that lies elsewhere; ``None`` if none does.
        offsets: of that element, in either layout.
        sizes: elements of either buffer.
    """

    shape: tuple[tuple[str, int], ...]
    index: tuple[tuple[str, int], ...] | None
    offsets: tuple[int, int] | None
    sizes: tuple[int, int]


def numbers(expr: Expr, values: Mapping[str, Numbers]) -> Numbers:
    """Return the value of an expression, over arrays; `expr.evaluate` is what it means."""
    match expr:
        case Index(name) | Extent(name):
            return values[name]
        case Constant(value):
            return value
        case MixedRadix(parts):
            return mixed(parts, values)
        case _:
            left, right = numbers(expr.left, values), numbers(expr.right, values)
    if isinstance(expr, FloorDiv | CeilDiv | Mod) and not np.all(np.greater(right, 0)):
        raise ZeroDivisionError("a divisor is not positive")
    match expr:
        case FloorDiv():
            return left // right
        case CeilDiv():
            return -(-left // right)
        case Mod():
            return left % right
        case Min():
            return np.minimum(left, right)
        case Max():
            return np.maximum(left, right)
        case BitAnd():
            return left & right
        case BitXor():
            return left ^ right
        case _:
            return _plain(expr, left, right)


def _plain(expr: Expr, left: Numbers, right: Numbers) -> Numbers:
    match expr:
        case Add():
            return left + right
        case Sub():
            return left - right
        case Mul():
            return left * right
    raise TypeError(f"{expr} is no operation")


def mixed(coordinates: tuple[Coordinate, ...], values: Mapping[str, Numbers]) -> Numbers:
    """Return the mixed-radix value of coordinates."""
    total: Numbers = 0
    for each in coordinates:
        total = total * numbers(each.extent, values) + numbers(each.value, values)
    return total


def offsets(layout: Layout, values: Mapping[str, int]) -> NDArray[np.int64]:
    """Return the offset of each element, as an array of the shape of the tensor."""
    extents = layout.shape_of(values)
    grids = np.indices(extents, dtype=np.int64, sparse=True)
    names = [axis.name for axis in layout.axes]
    bound: dict[str, Numbers] = {**values, **dict(zip(names, grids, strict=True))}
    found = numbers(layout.start, values) + mixed(layout.coordinates, bound)
    return np.broadcast_to(np.asarray(found, dtype=np.int64), extents)


def size(layout: Layout, values: Mapping[str, int]) -> int:
    """Return the elements of the buffer, of a shape in the range or not."""
    total = 1
    for each in layout.coordinates:
        total *= evaluate(each.extent, values)
    return total + evaluate(layout.start, values)


def same(one: Layout, other: Layout, values: Values) -> bool:
    """Return whether two layouts over the same axes agree at a shape, as far as can be seen."""
    total = size(one, values)
    if total != size(other, values):
        return False
    if total > LARGEST:
        return True
    return bool(np.array_equal(offsets(one, values), offsets(other, values)))


def mismatch(one: Layout, other: Layout, values: Values) -> Mismatch | None:
    """Return where two layouts differ at a shape, replayed in plain integers."""
    sizes = size(one, values), size(other, values)
    shape = tuple(values.items())
    if max(sizes) <= LARGEST:
        differ = offsets(one, values) != offsets(other, values)
        if differ.any():
            place = np.unravel_index(int(np.argmax(differ)), differ.shape)
            names = (axis.name for axis in one.axes)
            index = {name: int(each) for name, each in zip(names, place, strict=True)}
            both = tuple(each.offset_at({**values, **index}) for each in (one, other))
            if both[0] != both[1]:
                return Mismatch(shape, tuple(index.items()), (both[0], both[1]), sizes)
    return Mismatch(shape, None, None, sizes) if sizes[0] != sizes[1] else None


def common(pair: Paired) -> Layout:
    """Return a layout whose shapes are those of both: their extents and ranges."""
    return replace(
        pair.one,
        coordinates=(*pair.one.coordinates, *pair.other.coordinates),
        where=pair.where,
    )


def shapes(pair: Paired) -> Iterator[Values]:
    """Yield shapes of both layouts, the smallest first, as far as the budget goes."""
    both = common(pair)
    for round_ in (small(both, ELEMENTS), telling(both, (), ELEMENTS // A_SHAPE)):
        left = max(ELEMENTS, min(LARGEST_SHAPE, _least(both) + A_SHAPE))
        for values in round_:
            left -= volume(both, values) + A_SHAPE
            if left < 0:
                break
            yield values


def _least(layout: Layout) -> int:
    """Return the elements of any shape: fixed extents make a smallest one large."""
    return volume(layout, dict.fromkeys(layout.symbols, 1))


def first_mismatch(pair: Paired) -> Mismatch | None:
    """Return where two layouts differ at the smallest shape at which they do."""
    found = (mismatch(pair.one, pair.other, values) for values in shapes(pair))
    return next(filter(None, found), None)


def ragged(pair: Paired, most: int = 20) -> Iterator[Values]:
    """Yield a few telling shapes of both layouts, with different extents above one first."""
    both = common(pair)
    found = (
        values
        for values in chain(_uneven(both), telling(both, (), 4000))
        if volume(both, values) <= RAGGED and in_range(both, values)
    )
    return islice(found, most)


def _uneven(layout: Layout) -> Iterator[Values]:
    """Yield shapes of small primes, and shapes of more than two blocks along two axes or all.

    Layouts that differ in the order of blocks only are alike where axes have but one.
    """
    names, cuts, most = layout.symbols, numbers_of(layout), ceilings(layout)
    primes = dict(zip(names, cycle((2, 3, 5, 7, 4, 9, 11, 13)), strict=False))
    blocks = {name: 2 * max(cuts[name], default=0) or primes[name] for name in names}
    large = {name: blocks[name] + primes[name] for name in names}
    shapes = [primes, large, blocks]
    for one, other in combinations(names, 2):
        shapes.append({**dict.fromkeys(names, 2), one: large[one], other: large[other]})
    for values in shapes:
        yield {name: min(value, most.get(name, value)) for name, value in values.items()}
