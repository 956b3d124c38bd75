"""How many elements of an axis lie together by a formula, read off its divisions and its bits.

Along an axis a formula grows by one with each index, everywhere or within blocks of some size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import gcd

from layoutdsl.language.integers.expr import (
    Add,
    BitAnd,
    BitOr,
    BitXor,
    Constant,
    Expr,
    Extent,
    FloorDiv,
    Index,
    MixedRadix,
    Mod,
    Mul,
    Sub,
    children,
    walk,
)
from layoutdsl.language.integers.written_out import horner_expr
from layoutdsl.language.meaning.model import Axis


@dataclass(frozen=True, slots=True)
class _Grown:
    """What becomes of a value as an index grows by less than ``n`` from a multiple of ``n`` on.

    Attributes:
        by: 0, it stays; 1, it grows by as much.
        whole: it starts from a multiple of ``n``.
    """

    by: int
    whole: bool = False


def together(axis: Axis, places: Sequence[Expr], still: Sequence[Expr] = ()) -> int | None:
    """Return how many elements of an axis lie together, from any multiple of that on.

    Args:
        axis: which.
        places: offsets, which grow by one with the index.
        still: what stays as it is meanwhile.

    Returns:
        ``None`` for all of the axis.
    """
    exprs = (*places, *still)
    cuts = {size for expr in exprs for each in walk(expr) for size in _sizes(each)}
    cuts.add(gcd(*cuts))
    for count in (None, *sorted(cuts - {0, 1}, reverse=True)):
        grown = [_grown(expr, axis.name, count) for expr in exprs]
        wanted = [1] * len(places) + [0] * len(still)
        if [None if each is None else each.by for each in grown] == wanted:
            return count
    return 1


def _sizes(expr: Expr) -> Iterator[int]:
    """Sizes that blocks may have: of a number that bits are taken with, its lowest bit."""
    match expr:
        case FloorDiv(_, Constant(size)) | Mod(_, Constant(size)):
            yield size
        case BitAnd(_, Constant(mask)) | BitAnd(Constant(mask), _) if mask > 0:
            yield mask & -mask


def _grown(expr: Expr, name: str, count: int | None) -> _Grown | None:
    """What becomes of an expression, as the index grows; nothing where that is not seen."""
    match expr:
        case Index(other):
            return _Grown(1, whole=True) if other == name else _Grown(0)
        case Extent():
            return _Grown(0)
        case Constant(value):
            return _Grown(0, whole=count is not None and value % count == 0)
        case MixedRadix():
            return _grown(horner_expr(expr.parts), name, count)
        case Mul(factor, Constant(1)) | Mul(Constant(1), factor):
            return _grown(factor, name, count)
        case BitAnd(value, Constant(mask)) | BitAnd(Constant(mask), value) if count is not None:
            return _masked(value, mask, name, count)
    parts = [_grown(each, name, count) for each in children(expr)]
    if any(each is None for each in parts):
        return None
    left, right = (each for each in parts if each is not None)
    return _joined(expr, left, right, count)


def _joined(expr: Expr, left: _Grown, right: _Grown, count: int | None) -> _Grown | None:
    """What becomes of two sides together."""
    both = left.whole and right.whole
    match expr:
        case Add() if left.by + right.by <= 1:
            return _Grown(left.by + right.by, both)
        case Sub() if not right.by:
            return _Grown(left.by, both)
        case Mul() if not left.by and not right.by:
            return _Grown(0, left.whole or right.whole)
        case FloorDiv(_, Constant(block)) if left.by and left.whole and count is not None:
            return _Grown(0) if block % count == 0 else None
        case Mod(_, Constant(block)) if left.by and left.whole and count is not None:
            return _Grown(1, whole=True) if block % count == 0 else None
        case BitOr() | BitXor() if left.by != right.by and both and _is_power(count):
            return _Grown(1, whole=True)
    return None if left.by or right.by else _Grown(0)


def _masked(value: Expr, mask: int, name: str, count: int) -> _Grown | None:
    """Bits of a value: they stay where none of those is taken that the index counts in."""
    block = 1
    match value:
        case FloorDiv(dividend, Constant(divisor)) if _is_power(divisor):
            value, block = dividend, divisor
    grown = _grown(value, name, count)
    if grown is None or (grown.by and not (grown.whole and _is_power(count))):
        return None
    stays = not grown.by or (mask & -mask) * block % count == 0
    return _Grown(0, whole=mask % count == 0) if stays else None


def _is_power(count: int | None) -> bool:
    return count is not None and count & (count - 1) == 0
