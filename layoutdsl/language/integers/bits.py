"""Bitwise operations in words of arithmetic: bits are remainders by two of quotients.

`arithmetic` rewrites `^`, `|` and `&` into sums, products, quotients and remainders with the same
value, wherever `assumed` holds: one side of each operation stays below a power of two. Proofs state
the operations like this, so this file is trusted with them. Numbers are two's complement without
end, as in Python.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from layoutdsl.language.integers.bounds import at_least, reach
from layoutdsl.language.integers.expr import (
    Add,
    BitAnd,
    BitOr,
    BitXor,
    Constant,
    Coordinate,
    Expr,
    Extent,
    FloorDiv,
    Index,
    MixedRadix,
    Mod,
    Mul,
    indices,
    walk,
)

WIDEST = 24
"""Bits of the widest side that is spelled out."""

ZERO, TWO = Constant(0), Constant(2)


def masked(left: Expr, right: Expr) -> Expr:
    """Return ``left & right``: by a mask of low bits a remainder, by -16 and its like a multiple.

    The mask is the right side where that is free of indices, as in natural extents.
    """
    value, mask = (left, right) if not indices(right) else (right, left)
    if isinstance(mask, Constant) and mask.value >= 0 and mask.value & (mask.value + 1) == 0:
        return Mod(value, Constant(mask.value + 1))
    if isinstance(mask, Constant) and mask.value < 0 and -mask.value & (-mask.value - 1) == 0:
        return Mul(FloorDiv(value, Constant(-mask.value)), Constant(-mask.value))
    return BitAnd(left, right)


@dataclass(frozen=True, slots=True)
class Bounded:
    """The sides of a bitwise operation: ``0 <= small < 2**width``.

    ``evident`` says that this holds whatever the names in it stand for.
    """

    other: Expr
    small: Expr
    width: int
    evident: bool


def bounded(operation: BitOr | BitXor | BitAnd, axes: Mapping[str, Expr]) -> Bounded | None:
    """Return the sides, the one that stays below a power of two told apart; `None` if none does.

    Args:
        operation: over indices and extents.
        axes: the extent of each index that has one.
    """
    sides = ((operation.left, operation.right), (operation.right, operation.left))
    found: list[Bounded] = []
    for other, small in sides:
        most = largest(small)
        if most is not None:
            found.append(Bounded(other, small, most.bit_length(), evident=True))
        elif indices(small) <= axes.keys():
            high = reach(small, axes)
            if high is not None and isinstance(high.high, Constant) and at_least(high.low, 0):
                width = max(high.high.value - 1, 0).bit_length()
                found.append(Bounded(other, small, width, evident=False))
    found = [each for each in found if each.width <= WIDEST]
    return min(found, key=lambda each: (not each.evident, each.width), default=None)


def largest(expr: Expr) -> int | None:
    """Return a number that ``expr`` never exceeds, and is never below zero, whatever its names."""
    match expr:
        case Constant(value):
            return value if value >= 0 else None
        case Mod(_, Constant(radix)) if radix > 0:
            return radix - 1
        case BitAnd(_, Constant(mask)) | BitAnd(Constant(mask), _) if mask >= 0:
            return mask
        case FloorDiv(left, Constant(divisor)) if divisor > 0:
            most = largest(left)
            return None if most is None else most // divisor
        case Add(left, right) | Mul(left, right) | BitOr(left, right) | BitXor(left, right):
            one, other = largest(left), largest(right)
            if one is None or other is None:
                return None
            if isinstance(expr, BitOr | BitXor):
                return (1 << max(one, other).bit_length()) - 1
            return one + other if isinstance(expr, Add) else one * other
        case _:
            return None


def assumed(expr: Expr, axes: Mapping[str, Expr]) -> Iterator[tuple[Expr, int]]:
    """Yield each ``small`` with its ``limit`` such that `arithmetic` needs ``0 <= small < limit``.

    Sides of which that is evident are left out.
    """
    for each in walk(expr):
        if isinstance(each, BitOr | BitXor | BitAnd) and _mask(each) is None:
            sides = bounded(each, axes)
            if sides is not None and not sides.evident:
                yield sides.small, 1 << sides.width


def arithmetic(expr: Expr, axes: Mapping[str, Expr]) -> Expr | None:
    """Return ``expr`` without bitwise operations, or ``None`` where a side has no known width."""
    match expr:
        case Index() | Extent() | Constant():
            return expr
        case MixedRadix(parts):
            spelled = [
                (arithmetic(part.value, axes), arithmetic(part.extent, axes)) for part in parts
            ]
            kept = [Coordinate(v, e) for v, e in spelled if v is not None and e is not None]
            return MixedRadix(tuple(kept)) if len(kept) == len(parts) else None
        case BitOr() | BitXor() | BitAnd():
            masked = _mask(expr) if isinstance(expr, BitAnd) else None
            return _bitwise(expr, axes) if masked is None else _masked(*masked, axes)
        case _:
            left, right = arithmetic(expr.left, axes), arithmetic(expr.right, axes)
            return None if left is None or right is None else type(expr)(left, right)


def _mask(expr: Expr) -> tuple[Expr, int] | None:
    match expr:
        case BitAnd(other, Constant(mask)) | BitAnd(Constant(mask), other) if mask >= 0:
            return other, mask
    return None


def _masked(other: Expr, mask: int, axes: Mapping[str, Expr]) -> Expr | None:
    """``other & mask`` as one digit for each run of set bits."""
    plain = arithmetic(other, axes)
    if plain is None:
        return None
    runs = _runs([bool(mask >> place & 1) for place in range(mask.bit_length())])
    return _sum([_run(plain, low, high) for low, high, kept in runs if kept])


def _bitwise(expr: BitOr | BitXor | BitAnd, axes: Mapping[str, Expr]) -> Expr | None:
    sides = bounded(expr, axes)
    plain = None if sides is None else arithmetic(sides.other, axes)
    if sides is None or plain is None:
        return None
    small = [bit(sides.small, place, axes) for place in range(sides.width)]
    other = [bit(sides.other, place, axes) for place in range(sides.width)]
    terms: list[Expr] = []
    if isinstance(expr, BitAnd):
        for place, (one, two) in enumerate(zip(small, other, strict=True)):
            if one is None or two is None:
                return None
            terms.append(_times(Mul(one, two), 1 << place))
        return _sum(terms)
    for low, high, untouched in _runs([each == ZERO for each in small]):
        if untouched:
            terms.append(_run(plain, low, high))
            continue
        for place in range(low, high):
            moved = bit(expr, place, axes)
            if moved is None:
                return None
            terms.append(_times(moved, 1 << place))
    top = 1 << sides.width
    return _sum([_times(FloorDiv(plain, Constant(top)), top), *terms])


def bit(expr: Expr, place: int, axes: Mapping[str, Expr]) -> Expr | None:
    """Return bit number ``place`` of ``expr``, 0 or 1, without bitwise operations."""
    match expr:
        case Constant(value):
            return Constant(value >> place & 1)
        case BitXor():
            bits = [bit(each, place, axes) for each in operands(expr)]
            known = [each for each in bits if each is not None]
            return _parity(known) if len(known) == len(bits) else None
        case BitOr(left, right):
            return _either(bit(left, place, axes), bit(right, place, axes))
        case BitAnd():
            masked = _mask(expr)
            if masked is not None:
                return bit(masked[0], place, axes) if masked[1] >> place & 1 else ZERO
        case FloorDiv(left, Constant(divisor)) if _is_power(divisor):
            return bit(left, place + divisor.bit_length() - 1, axes)
        case Mod(left, Constant(divisor)) if _is_power(divisor):
            return bit(left, place, axes) if place < divisor.bit_length() - 1 else ZERO
        case Mul(left, Constant(factor)) | Mul(Constant(factor), left) if _is_power(factor):
            lower = place - factor.bit_length() + 1
            return bit(left, lower, axes) if lower >= 0 else ZERO
    plain = arithmetic(expr, axes)
    return None if plain is None else Mod(_over(plain, 1 << place), TWO)


def operands(expr: Expr) -> tuple[Expr, ...]:
    """Return what a chain of exclusive ors joins."""
    if isinstance(expr, BitXor):
        return (*operands(expr.left), *operands(expr.right))
    return (expr,)


def _is_power(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0


def _parity(bits: list[Expr]) -> Expr:
    left = [each for each in bits if each != ZERO]
    total = _sum(left)
    return total if len(left) < 2 else Mod(total, TWO)


def _either(one: Expr | None, other: Expr | None) -> Expr | None:
    if one is None or other is None:
        return None
    if ZERO in (one, other):
        return one if other == ZERO else other
    return FloorDiv(Add(Add(one, other), Constant(1)), TWO)  # linear, as the solver likes it


def _runs(flags: list[bool]) -> Iterator[tuple[int, int, bool]]:
    """Yield stretches of equal flags: where each begins, where it ends, and its flag."""
    low = 0
    for place in range(1, len(flags) + 1):
        if place == len(flags) or flags[place] != flags[low]:
            yield low, place, flags[low]
            low = place


def _run(plain: Expr, low: int, high: int) -> Expr:
    """The bits from ``low`` up to ``high``, in their places."""
    return _times(Mod(_over(plain, 1 << low), Constant(1 << (high - low))), 1 << low)


def _over(expr: Expr, divisor: int) -> Expr:
    return expr if divisor == 1 else FloorDiv(expr, Constant(divisor))


def _times(expr: Expr, factor: int) -> Expr:
    return expr if factor == 1 else Mul(expr, Constant(factor))


def _sum(terms: list[Expr]) -> Expr:
    total: Expr = terms[0] if terms else ZERO
    for each in terms[1:]:
        total = Add(total, each)
    return total
