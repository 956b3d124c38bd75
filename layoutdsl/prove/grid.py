"""All indices of a shape at once: where nothing can fail, nothing has to be tried one by one.

A yes is exact for the whole box of indices, in 64-bit integers that are known not to overflow. A no
says nothing: whoever looks for a counterexample then tries index by index, in plain integers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod
from typing import Any, TypeAlias

import numpy as np

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
from layoutdsl.prove.run_statement import Start

LARGEST = 1 << 62
"""No number on the way may reach it."""

Number: TypeAlias = Any
"""A Python integer, or an array with one for every index of the box."""


_Bounded: TypeAlias = tuple[Number, int]
"""A number, and a bound of how large it is."""


class _Beyond(Exception):  # noqa: N818  an answer: this cannot be told here
    """A number may be too large, or has no value."""


class Grid:
    """The box of indices of one shape.

    Args:
        layout: gives the axes.
        values: the value of every extent.
    """

    def __init__(self, layout: Layout, values: Mapping[str, int]) -> None:
        self._values = dict(values)
        shape = layout.shape_of(values)
        self.count = prod(shape)
        self._indices: dict[str, _Bounded] = {}
        for place, (axis, extent) in enumerate(zip(layout.axes, shape, strict=True)):
            along = np.arange(extent, dtype=np.int64)
            self._indices[axis.name] = along.reshape([-1] + [1] * (len(shape) - place - 1)), extent

    def moved(self, start: Start) -> Grid:
        """The same box, every index at the start of the run that it lies in."""
        steps = self._copy()
        for name, value in start.steps:
            steps._indices[name] = steps._number(value)
        there = self._copy()
        there._indices |= {name: steps._number(value) for name, value in start.index.items()}
        return there

    def _copy(self) -> Grid:
        other = object.__new__(Grid)
        other.count, other._values, other._indices = self.count, self._values, {**self._indices}
        return other

    def offset(self, layout: Layout) -> Number:
        """The offset of every index."""
        parts = MixedRadix(layout.coordinates)
        return self.number(Add(layout.start, parts))

    def number(self, expr: Expr) -> Number:
        """The value of an expression at every index."""
        return self._number(expr)[0]

    def _number(self, expr: Expr) -> _Bounded:
        match expr:
            case Index(name):
                return self._indices[name]
            case Extent(name):
                return _bounded(self._values[name], self._values[name])
            case Constant(value):
                return _bounded(value, abs(value))
            case MixedRadix(parts):
                total: _Bounded = (0, 0)
                for part in parts:
                    total = _times(total, self._number(part.extent))
                    total = _plus(total, self._number(part.value))
                return total
            case _:
                return _combined(expr, self._number(expr.left), self._number(expr.right))


def _bounded(number: Number, bound: int) -> _Bounded:
    if bound >= LARGEST:
        raise _Beyond
    return number, bound


def _plus(left: _Bounded, right: _Bounded) -> _Bounded:
    return _bounded(left[0] + right[0], left[1] + right[1])


def _times(left: _Bounded, right: _Bounded) -> _Bounded:
    if left[1] * right[1] >= LARGEST:
        raise _Beyond
    return left[0] * right[0], left[1] * right[1]


def _combined(expr: Expr, left: _Bounded, right: _Bounded) -> _Bounded:
    (one, most), (two, other) = left, right
    match expr:
        case Add():
            return _plus(left, right)
        case Sub():
            return _bounded(one - two, most + other)
        case Mul():
            return _times(left, right)
        case FloorDiv() | CeilDiv() | Mod():
            return _divided(expr, one, two), max(most, other)
        case BitAnd() | BitXor():
            both = one & two if isinstance(expr, BitAnd) else one ^ two
            return _bounded(both, 1 << max(most, other).bit_length())
        case Min():
            return np.minimum(one, two), max(most, other)
        case Max():
            return np.maximum(one, two), max(most, other)
    raise _Beyond


def _divided(expr: Expr, one: Number, two: Number) -> Number:
    if not isinstance(two, int | np.integer) or two <= 0:
        raise _Beyond
    match expr:
        case FloorDiv():
            return one // two
        case CeilDiv():
            return -(-one // two)
        case _:
            return one % two


def no_fault(layout: Layout, every: Iterable[Coordinate], values: Mapping[str, int]) -> bool:
    """Whether coordinates stay in their extents, offsets in the buffer, and apart."""
    try:
        grid = Grid(layout, values)
        for each in every:
            value, extent = grid.number(each.value), grid.number(each.extent)
            if np.any(value < 0) or np.any(value >= extent):
                return False
        offsets = grid.offset(layout)
    except _Beyond:
        return False
    start, size = evaluate(layout.start, values), layout.size(values)
    if np.any(offsets < start) or np.any(offsets >= size):
        return False
    return len(np.unique(offsets)) == grid.count


def same_offsets(layout: Layout, other: Layout, values: Mapping[str, int]) -> bool:
    """Whether two layouts put every element at the same offset."""
    try:
        grid = Grid(layout, values)
        return not np.any(grid.offset(layout) != grid.offset(other))
    except _Beyond:
        return False


def same_formula(layout: Layout, formula: Expr, values: Mapping[str, int]) -> bool:
    """Whether a formula gives the offset of every element."""
    try:
        grid = Grid(layout, values)
        return not np.any(grid.offset(layout) != grid.number(formula))
    except _Beyond:
        return False


def whole_runs(
    layout: Layout,
    start: Start,
    run: tuple[Coordinate, ...],
    values: Mapping[str, int],
) -> bool:
    """Whether every element lies as far from the start of its run as the run's digits say."""
    try:
        grid = Grid(layout, values)
        first = grid.moved(start).offset(layout)
        return not np.any(grid.offset(layout) != first + grid.number(MixedRadix(run)))
    except _Beyond:
        return False


def aligned_runs(
    layout: Layout,
    start: Start,
    bits: tuple[int, int],
    values: Mapping[str, int],
) -> bool:
    """Whether every run starts at a multiple; ``bits``: of an element, and of the multiple."""
    try:
        first = Grid(layout, values).moved(start).offset(layout)
        return bits[0] < 1 << 20 and not np.any(first % bits[1] * bits[0] % bits[1])
    except _Beyond:
        return False
