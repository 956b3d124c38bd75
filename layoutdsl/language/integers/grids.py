"""Expressions over grids of indices: the meaning of `expr.evaluate`, for all indices at once.

Each number carries a bound of how large it is. Where one would reach `LARGEST` it is worked out
with Python's integers from there on, which is slow and right; elsewhere in 64 bits.

numpy is imported when it is used: where there is none, `indices` raises.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias, assert_never

from layoutdsl.language.integers.expr import (
    Add,
    Binary,
    BitAnd,
    BitOr,
    BitXor,
    CeilDiv,
    Constant,
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
)

LARGEST = 1 << 62
"""No number of 64 bits reaches it."""

Number: TypeAlias = Any
"""A Python integer, or an array of integers."""


class Bounded(NamedTuple):
    """A number, and what its absolute value nowhere exceeds."""

    number: Number
    most: int


def plain(number: int) -> Bounded:
    """Return a Python integer with its bound."""
    return Bounded(number, abs(number))


def indices(extent: int, place: int, rank: int) -> Bounded:
    """Return the index along an axis: an array of ``rank`` dimensions, along that of ``place``."""
    import numpy as np

    along = np.arange(extent, dtype=np.int64)
    return Bounded(along.reshape([-1 if k == place else 1 for k in range(rank)]), extent)


def over(expr: Expr, values: Mapping[str, Bounded]) -> Bounded:
    """Return the value of an expression; arrays are broadcast against each other.

    Raises:
        ZeroDivisionError: a divisor is not positive somewhere, where the text has no meaning.
    """
    match expr:
        case Index(name) | Extent(name):
            return values[name]
        case Constant(value):
            return plain(value)
        case MixedRadix(parts):
            total = plain(0)
            for part in parts:
                scaled = _apply(Mul(part.value, part.extent), total, over(part.extent, values))
                total = _apply(Add(part.value, part.value), scaled, over(part.value, values))
            return total
        case _:
            return _apply(expr, over(expr.left, values), over(expr.right, values))


def _apply(operation: Binary, left: Bounded, right: Bounded) -> Bounded:
    most = _most(operation, left.most, right.most)
    if max(most, left.most, right.most) >= LARGEST:
        left, right = _exact(left), _exact(right)
    return Bounded(_number(operation, left.number, right.number), most)


def _most(operation: Binary, left: int, right: int) -> int:
    match operation:
        case Mul():
            return left * right
        case Mod():
            return right
        case FloorDiv() | CeilDiv():
            return left
        case Min() | Max():
            return max(left, right)
        case Add() | Sub():
            return left + right
        case BitAnd() | BitOr() | BitXor():  # of negative numbers, too
            return left + right
        case _:
            assert_never(operation)


def _exact(value: Bounded) -> Bounded:
    """The same in Python's integers."""
    import numpy as np

    if isinstance(value.number, np.ndarray):
        return Bounded(value.number.astype(object), value.most)
    return value


def _number(operation: Binary, left: Number, right: Number) -> Number:
    if isinstance(operation, FloorDiv | CeilDiv | Mod):
        _refuse_not_positive(right)
    match operation:
        case Add():
            return left + right
        case Sub():
            return left - right
        case Mul():
            return left * right
        case FloorDiv():
            return left // right
        case CeilDiv():
            return -(-left // right)
        case Mod():
            return left % right
        case BitAnd():
            return left & right
        case BitOr():
            return left | right
        case BitXor():
            return left ^ right
        case Min() | Max():
            return _extreme(operation, left, right)
        case _:
            assert_never(operation)


def _refuse_not_positive(divisor: Number) -> None:
    import numpy as np

    if np.any(np.less_equal(divisor, 0)):
        raise ZeroDivisionError("a divisor is not positive")


def _extreme(operation: Min | Max, left: Number, right: Number) -> Number:
    if isinstance(left, int) and isinstance(right, int):
        return min(left, right) if isinstance(operation, Min) else max(left, right)
    import numpy as np

    return (np.minimum if isinstance(operation, Min) else np.maximum)(left, right)
