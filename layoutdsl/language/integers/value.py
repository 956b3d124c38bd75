"""What an expression means: the interpreter, in plain Python integers, and bounds over a box."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, assert_never

from layoutdsl.language.integers.expr import (
    Add,
    Binary,
    BitAnd,
    BitOr,
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
)


def evaluate(expr: Expr, values: Mapping[str, int]) -> int:
    """Return the value of ``expr`` where each index and extent has the value named.

    Raises:
        ZeroDivisionError: a divisor is not positive, where the text has no meaning.
    """
    match expr:
        case Index(name) | Extent(name):
            return values[name]
        case Constant(value):
            return value
        case MixedRadix(parts):
            return horner(parts, values)
        case _:
            left, right = evaluate(expr.left, values), evaluate(expr.right, values)
            return apply(expr, left, right)


def horner(coordinates: tuple[Coordinate, ...], values: Mapping[str, int]) -> int:
    """Return the mixed-radix value of ``coordinates``, most major first."""
    total = 0
    for coordinate in coordinates:
        total = total * evaluate(coordinate.extent, values) + evaluate(coordinate.value, values)
    return total


def apply(operation: Binary, left: int, right: int) -> int:
    """Return what ``operation`` makes of two integers; its own operands are not looked at."""
    match operation:
        case Add():
            return left + right
        case Sub():
            return left - right
        case Mul():
            return left * right
        case FloorDiv():
            return left // _positive(right)
        case CeilDiv():
            return -(-left // _positive(right))
        case Mod():
            return left % _positive(right)
        case BitAnd():
            return left & right
        case BitOr():
            return left | right
        case BitXor():
            return left ^ right
        case Min():
            return min(left, right)
        case Max():
            return max(left, right)
        case _:
            assert_never(operation)


def _positive(divisor: int) -> int:
    if divisor <= 0:
        raise ZeroDivisionError(f"the divisor is {divisor}, and must be positive")
    return divisor


Interval: TypeAlias = tuple[int, int]


def enclose(expr: Expr, boxes: Mapping[str, Interval]) -> Interval:
    """Return bounds, both included, of ``expr`` where each name runs over an interval.

    The bounds hold always and are exact where a name occurs once; the search that inverts a layout
    prunes by them.
    """
    match expr:
        case Index(name) | Extent(name):
            return boxes[name]
        case Constant(value):
            return value, value
        case MixedRadix(parts):
            low = high = 0
            for part in parts:
                radix, value_box = enclose(part.extent, boxes), enclose(part.value, boxes)
                low, high = _corners(Mul(part.value, part.extent), (low, high), radix)
                low, high = low + value_box[0], high + value_box[1]
            return low, high
        case _:
            left, right = enclose(expr.left, boxes), enclose(expr.right, boxes)
            return _enclose_binary(expr, left, right)


def _enclose_binary(expr: Binary, left: Interval, right: Interval) -> Interval:
    match expr:
        case Sub():
            return left[0] - right[1], left[1] - right[0]
        case Mod():
            block = right[0]
            if right[0] == right[1] and block > 0 and left[0] // block == left[1] // block:
                return left[0] % block, left[1] % block
            return 0, max(right[1] - 1, 0)
        case BitAnd() | BitOr() | BitXor():
            if left[0] == left[1] and right[0] == right[1]:
                value = apply(expr, left[0], right[0])
                return value, value
            if left[0] < 0 or right[0] < 0:
                reach = 1 << max(abs(bound).bit_length() for bound in (*left, *right))
                return -reach, reach
            return 0, (1 << max(left[1].bit_length(), right[1].bit_length())) - 1
        case _:
            return _corners(expr, left, right)


def _corners(expr: Binary, left: Interval, right: Interval) -> Interval:
    values = [apply(expr, one, other) for one in left for other in right]
    return min(values), max(values)


def widest(expr: Expr) -> int:
    """Return bits that every value of ``expr`` fits in, an index or an extent taken as 64."""
    match expr:
        case Index() | Extent():
            return 64
        case Constant(value):
            return value.bit_length()
        case MixedRadix(parts):
            return sum(max(widest(part.value), widest(part.extent)) for part in parts)
        case _:
            left, right = widest(expr.left), widest(expr.right)
            return left + right if isinstance(expr, Mul) else max(left, right) + 1
