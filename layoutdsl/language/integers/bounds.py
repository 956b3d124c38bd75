"""How far the value of an expression can reach, written in extents: the natural extent.

`reach` follows the table of the language: `c` reaches `C`, `e/k` reaches `ceil(E/k)`, `e%k` reaches
`k`, a tuple the product of its parts, arithmetic what the bounds of its parts allow. Every bound
holds for all positive extents; where none can be given, `reach` says so with `None`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from math import inf, prod

from layoutdsl.language.integers.expr import (
    Add,
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
    indices,
    text,
    walk,
)
from layoutdsl.language.integers.value import apply

ZERO, ONE = Constant(0), Constant(1)

MOST_TERMS = 64
# A size is a product of at most 64 extents, each of a few factors. A square of a square of ... has
# twice the factors each time, so that there has to be an end.
MOST_FACTORS = 256
MOST_NODES = 512
"""Bounds of a polynomial; a sum or product beyond them is one opaque factor."""


@dataclass(frozen=True, slots=True)
class Reach:
    """``low <= value < high`` for every index in the shape; both over extents only."""

    low: Expr
    high: Expr


def reach(expr: Expr, axes: Mapping[str, Expr]) -> Reach | None:
    """Return how far ``expr`` reaches, or ``None`` where no bound can be written.

    Args:
        expr: over indices and extents.
        axes: the extent of each index.
    """
    match expr:
        case Index(name):
            return Reach(ZERO, axes[name])
        case Extent() | Constant():
            return Reach(expr, simplify(Add(expr, ONE)))
        case MixedRadix(parts):
            return Reach(ZERO, product(tuple(part.extent for part in parts)))
        case _:
            left, right = reach(expr.left, axes), reach(expr.right, axes)
            if left is None or right is None:
                return None
            return _binary(expr, left, right)


def _binary(expr: Expr, left: Reach, right: Reach) -> Reach | None:
    match expr:
        case Add():
            return _simple(Add(left.low, right.low), Sub(Add(left.high, right.high), ONE))
        case Sub():
            return _simple(Add(Sub(left.low, right.high), ONE), Sub(left.high, right.low))
        case FloorDiv(_, divisor):
            low = ZERO if at_least(left.low, 0) else FloorDiv(left.low, divisor)
            return _simple(low, CeilDiv(left.high, divisor))
        case Mod(_, divisor):
            return Reach(ZERO, simplify(divisor))
        case Min():
            return _simple(Min(left.low, right.low), Min(left.high, right.high))
        case Max():
            return _simple(Max(left.low, right.low), Max(left.high, right.high))
        case _:
            if not (at_least(left.low, 0) and at_least(right.low, 0)):
                return None
            return _nonnegative(expr, left, right)


def _nonnegative(expr: Expr, left: Reach, right: Reach) -> Reach | None:
    match expr:
        case Mul():
            top = Mul(Sub(left.high, ONE), Sub(right.high, ONE))
            return _simple(Mul(left.low, right.low), Add(top, ONE))
        case CeilDiv(_, divisor):
            return _simple(ZERO, Add(CeilDiv(Sub(left.high, ONE), divisor), ONE))
        case BitAnd():
            return Reach(ZERO, _and(expr, left.high, right.high))
        case BitOr() | BitXor():
            return _joined_bits(left.high, right.high)
    return None


def _and(expr: BitAnd, left: Expr, right: Expr) -> Expr:
    """What is free of indices is the mask; else the side that stays below the smaller number."""
    if not indices(expr.right):
        return right
    if not indices(expr.left):
        return left
    numbers = [each for each in (right, left) if isinstance(each, Constant)]
    return min(numbers, key=lambda each: each.value, default=left)


def _joined_bits(left: Expr, right: Expr) -> Reach | None:
    """An or, exclusive or not, with less than P, a power of two, stays below a multiple of P.

    Of two numbers the smaller gives P: a fixed extent means what a symbol of the same value does.
    """
    if isinstance(left, Constant) and isinstance(right, Constant) and left.value > right.value:
        left, right = right, left
    small, large = (left, right) if isinstance(left, Constant) else (right, left)
    if not isinstance(small, Constant):
        return None
    block = Constant(_power_of_two(small.value))
    match simplify(large):
        case Mul(Constant(done), CeilDiv(inner, Constant(again))) if done == again:
            if done % block.value == 0:
                return Reach(ZERO, large)
            if block.value % done == 0:
                large = inner
    return _simple(ZERO, Mul(CeilDiv(large, block), block))


def joined(left: Expr, right: Expr, axes: Mapping[str, Expr]) -> Expr:
    """Return ``left | right``: the sum if one side is a multiple of 2**k that the other is below.

    Most engineers mean this sum, as in ``(c/4 << 3) | h%8``, and digits and proofs know sums.

    Args:
        left: over indices and extents.
        right: the same.
        axes: the extent of each index.
    """
    for multiple, small in ((left, right), (right, left)):
        if _stays_below(small, _low_zeros(multiple), axes):
            return Add(left, right)
    return BitOr(left, right)


def _low_zeros(expr: Expr) -> float:
    """How many of the lowest bits are 0 in every value of ``expr``."""
    match expr:
        case Constant(value):
            return (value & -value).bit_length() - 1 if value else inf
        case Mul(left, right):
            return _low_zeros(left) + _low_zeros(right)
        case BitAnd(left, right):
            return max(_low_zeros(left), _low_zeros(right))
        case Add(left, right) | Sub(left, right) | BitOr(left, right) | BitXor(left, right):
            return min(_low_zeros(left), _low_zeros(right))
        case Mod(left, right):
            return min(_low_zeros(left), _low_zeros(right))
        case _:
            return 0


def _stays_below(expr: Expr, width: float, axes: Mapping[str, Expr]) -> bool:
    """Whether all values of ``expr`` are from 0 to ``2**width - 1``."""
    tuples = [each for each in walk(expr) if isinstance(each, MixedRadix)]
    if not indices(expr) <= axes.keys():
        return False
    if any(part.declared for each in tuples for part in each.parts):
        return False  # a value may exceed a declared extent, and the sum would be another number
    found = reach(expr, axes)
    if found is None or not isinstance(found.high, Constant) or not at_least(found.low, 0):
        return False
    return (found.high.value - 1).bit_length() <= width


def _power_of_two(least: int) -> int:
    return 1 << max(least - 1, 0).bit_length()


def _simple(low: Expr, high: Expr) -> Reach:
    return Reach(simplify(low), simplify(high))


def product(factors: tuple[Expr, ...]) -> Expr:
    """Return the product, constants folded into one leading factor."""
    constant = prod(each.value for each in factors if isinstance(each, Constant))
    total: Expr = Constant(constant)
    for factor in factors:
        if not isinstance(factor, Constant):
            total = factor if total == ONE else Mul(total, factor)
    return total


def declared(coordinate: Coordinate, axes: Mapping[str, Expr]) -> Coordinate:
    """Return a coordinate that declares its extent wherever that does not follow from its value.

    A text of it, which leaves out extents that are not declared, is read as the same coordinate.

    Args:
        coordinate: its value may have changed since its extent was taken from it.
        axes: the extent of each index.
    """
    value, extent = _with_parts_declared(coordinate.value, axes), coordinate.extent
    if not coordinate.declared:
        bound = reach(value, axes) if indices(value) <= axes.keys() else None
        if bound is not None and (bound.high == extent or simplify(bound.high) == simplify(extent)):
            return Coordinate(value, bound.high)
    return Coordinate(value, simplify(extent), declared=True)


def _with_parts_declared(expr: Expr, axes: Mapping[str, Expr]) -> Expr:
    match expr:
        case Index() | Extent() | Constant():
            return expr
        case MixedRadix(parts):
            return MixedRadix(tuple(declared(each, axes) for each in parts))
        case BitOr(left, right):
            one, other = _with_parts_declared(left, axes), _with_parts_declared(right, axes)
            return joined(one, other, axes)
        case _:
            left, right = (_with_parts_declared(each, axes) for each in (expr.left, expr.right))
            divides = isinstance(
                expr, FloorDiv | CeilDiv | Mod
            )  # by extents alone, read simplified
            return type(expr)(left, simplify(right) if divides else right)


# A sum of products: each product of opaque factors, in order of their text, with its coefficient.
Polynomial = dict[tuple[Expr, ...], int]


@lru_cache(maxsize=1 << 15)  # tactics simplify the same parts of larger and larger terms
def simplify(expr: Expr) -> Expr:
    """Return an equal expression with sums and products collected and constants folded."""
    match expr:
        case Index() | Extent() | Constant():
            return expr
        case Add() | Sub() | Mul():
            return from_polynomial(polynomial(expr))
        case MixedRadix():
            return expr
        case _:
            return _fold(type(expr)(simplify(expr.left), simplify(expr.right)))


def _fold(expr: Expr) -> Expr:
    match expr:
        case CeilDiv(left, Constant(1)) | FloorDiv(left, Constant(1)):
            return left
        case Mod(_, Constant(1)):
            return ZERO
        case Min(left, right) | Max(left, right) if left == right:
            return left
        case CeilDiv(left, right) | FloorDiv(left, right) if isinstance(right, Extent | Mul):
            exact = _exactly(polynomial(left), polynomial(right))
            return expr if exact is None else from_polynomial(exact)
        case Index() | Extent() | Constant() | MixedRadix():
            return expr
        case _:
            if not (isinstance(expr.left, Constant) and isinstance(expr.right, Constant)):
                return expr
            if isinstance(expr, FloorDiv | CeilDiv | Mod) and expr.right.value <= 0:
                return expr
            return Constant(apply(expr, expr.left.value, expr.right.value))


def _exactly(left: Polynomial, right: Polynomial) -> Polynomial | None:
    """The quotient by a product of extents, where nothing is left over."""
    ((factors, number),) = right.items() if len(right) == 1 else (((), 0),)
    if number <= 0 or not all(isinstance(each, Extent) for each in factors):
        return None
    result: Polynomial = {}
    for others, coefficient in left.items():
        kept = list(others)
        for each in factors:
            if each not in kept:
                return None
            kept.remove(each)
        if coefficient % number:
            return None
        result[tuple(kept)] = coefficient // number
    return result


def polynomial(expr: Expr) -> Polynomial:
    """Return ``expr`` as a sum of products of factors that are neither sums nor products."""
    match expr:
        case Constant(value):
            return {(): value} if value else {}
        case Add(left, right) | Sub(left, right) | Mul(left, right):
            one, other = polynomial(left), polynomial(right)
            if isinstance(expr, Mul):
                terms = {} if _too_large(one, other) else _times(one, other)
                kept = bool(terms) or not (one and other)
            else:
                terms = _plus(one, other, 1 if isinstance(expr, Add) else -1)
                kept = len(terms) <= MOST_TERMS
            return terms if kept else {(expr,): 1}
        case _:
            simple = simplify(expr)
            return polynomial(simple) if isinstance(simple, Constant) else {(simple,): 1}


def _too_large(one: Polynomial, other: Polynomial) -> bool:
    """Whether a product stays as it is written: of too many factors, or with too much copied."""
    if max(map(len, one), default=0) + max(map(len, other), default=0) > MOST_FACTORS:
        return True
    if len(one) + len(other) <= 2:
        return False
    return _nodes(one) * len(other) + _nodes(other) * len(one) > MOST_NODES


def _nodes(terms: Polynomial) -> int:
    parts = (part for factors in terms for factor in factors for part in walk(factor))
    return len(terms) + sum(1 for _ in islice(parts, MOST_NODES))


def _plus(one: Polynomial, other: Polynomial, sign: int) -> Polynomial:
    total = dict(one)
    for factors, coefficient in other.items():
        total[factors] = total.get(factors, 0) + sign * coefficient
    return {factors: coefficient for factors, coefficient in total.items() if coefficient}


def _times(one: Polynomial, other: Polynomial) -> Polynomial:
    total: Polynomial = {}
    for factors, coefficient in one.items():
        for others, second in other.items():
            both = (*factors, *others)
            key = tuple(sorted(both, key=_order)) if factors and others else both
            total[key] = total.get(key, 0) + coefficient * second
    return {factors: coefficient for factors, coefficient in total.items() if coefficient}


def _order(factor: Expr) -> str:
    return factor.name if isinstance(factor, Extent) else text(factor)


def from_polynomial(terms: Polynomial) -> Expr:
    """Return a sum of products as an expression, the longest products first."""
    order = sorted(terms.items(), key=lambda term: (-len(term[0]), tuple(map(text, term[0]))))
    positive = [term for term in order if term[1] > 0]
    total: Expr | None = None
    for factors, coefficient in [*positive, *(term for term in order if term[1] < 0)]:
        summand = product((*factors, Constant(abs(coefficient))))
        if total is None:
            total = summand if coefficient > 0 else Sub(ZERO, summand)
        else:
            total = Add(total, summand) if coefficient > 0 else Sub(total, summand)
    return ZERO if total is None else total


def at_least(expr: Expr, least: int) -> bool:
    """Return whether ``expr >= least`` is plain for all indices and extents.

    Indices are at least 0, extents at least 1; False may be unknown.
    """
    low = _lowest(expr)
    return low is not None and low >= least


def _lowest(expr: Expr) -> int | None:
    """A lower bound of an expression; ``None`` stands for unknown."""
    smallest = 0
    for factors, coefficient in polynomial(expr).items():
        lows = [_lowest_factor(factor) for factor in factors]
        if factors and (coefficient < 0 or None in lows):
            return None
        smallest += coefficient * prod(low for low in lows if low is not None)
    return smallest


def _lowest_factor(factor: Expr) -> int | None:
    """A lower bound, 0 or 1, of a factor; ``None`` stands for unknown."""
    match factor:
        case Add() | Mul():
            return _lowest_part(factor)
        case Extent():
            return 1
        case Index() | Mod():
            return 0
        case CeilDiv(left, _):
            return _at_most_one(_lowest(left))
        case FloorDiv(left, _):
            return 0 if at_least(left, 0) else None
        case BitAnd(left, right) | BitOr(left, right) | BitXor(left, right):
            return 0 if at_least(left, 0) and at_least(right, 0) else None
        case Min(left, right):
            one, other = _at_most_one(_lowest(left)), _at_most_one(_lowest(right))
            return None if one is None or other is None else min(one, other)
        case Max(left, right):
            lows = [_at_most_one(_lowest(left)), _at_most_one(_lowest(right))]
            return max((low for low in lows if low is not None), default=None)
        case _:
            return None


def _lowest_part(expr: Expr) -> int | None:
    """The same of a sum or product that is too large to be multiplied out, operand by operand."""
    match expr:
        case Constant(value):
            return _at_most_one(value)
        case Add(left, right) | Mul(left, right):
            one, other = _lowest_part(left), _lowest_part(right)
            if one is None or other is None:
                return None
            return max(one, other) if isinstance(expr, Add) else min(one, other)
        case Sub():
            return None
        case _:
            return _lowest_factor(expr)


def _at_most_one(low: int | None) -> int | None:
    return None if low is None or low < 0 else min(low, 1)
