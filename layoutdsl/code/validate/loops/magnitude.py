"""That no number of C leaves 64 bits, where both buffers are below 2^52 bytes. Trusted.

Each part of each expression has a bound: a sum of products of extents, and of quotients that are
not below 1. A product that divides one of the size of a buffer, in bytes, is no larger; so the
bound is at most so many times such a size. Processors address no more than 2^52 bytes. Where a text
asks first whether a sum of products is below 2^62, that serves as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from layoutdsl.code.validate.loops.words import said
from layoutdsl.code.validate.normal import Normal
from layoutdsl.code.validate.terms import Meaningless
from layoutdsl.language.integers.expr import (
    Constant,
    Expr,
    Extent,
    FloorDiv,
    Index,
    MixedRadix,
    Mod,
    Mul,
    children,
    indices,
    text,
)
from layoutdsl.proof.kernel.checker import Term

MOST_BYTES = 2**52
"""Of a buffer."""
MOST_GUARDED = 2**62 + 2**32
"""Of what is below 2^62 in floating point, where each sum and product is rounded."""

Bound = dict[tuple[Term, ...], Fraction]
"""A sum of products with numbers before them, none negative."""

_ONE: Bound = {(): Fraction(1)}


@dataclass(slots=True)
class Magnitudes:
    """How large numbers get, of one function.

    Attributes:
        known: what names of extents stand for.
        counts: below what each index stays.
        limits: products that are known to be below a number.
    """

    known: Mapping[str, Term]
    counts: Mapping[str, Expr]
    limits: list[tuple[tuple[Term, ...], Fraction]]
    _found: dict[Expr, Bound] = field(default_factory=dict)
    _within: dict[tuple[Term, ...], Fraction | None] = field(default_factory=dict)

    def check(self, spoken: Iterable[Expr]) -> None:
        """Say whether all of some expressions have 64 bits, on the way too.

        Raises:
            Meaningless: one may have more.
        """
        for each in spoken:
            self._bound(each)
        for expr, bound in self._found.items():
            if sum(self._most(*each) for each in bound.items()) >= 2**63:
                raise Meaningless(f"a number may leave 64 bits: `{text(expr)}`")

    def _most(self, factors: tuple[Term, ...], number: Fraction) -> Fraction:
        """What a product is at most."""
        if not factors:
            return number
        if factors not in self._within:
            found = (
                times * limit
                for whole, limit in self.limits
                if (times := _times_within(factors, whole)) is not None
            )
            self._within[factors] = min(found, default=None)
        most = self._within[factors]
        return Fraction(2**63) if most is None else number * most

    def _bound(self, expr: Expr) -> Bound:
        if expr not in self._found:
            self._found[expr] = self._of_extents(expr) or self._of_parts(expr)
        return self._found[expr]

    def _of_extents(self, expr: Expr) -> Bound | None:
        """The expression itself, where it is a sum of products that are not negative."""
        if indices(expr):
            return None
        for part in children(expr):
            self._bound(part)
        return bound_of(said(expr, self.known))

    def _of_parts(self, expr: Expr) -> Bound:
        match expr:
            case Index(name):
                return self._bound(self.counts[name])
            case Constant(value):
                return {(): Fraction(abs(value))}
            case Extent() | MixedRadix():
                raise Meaningless("a number without a bound")
        left, right = self._bound(expr.left), self._bound(expr.right)
        match expr:
            case Mul():
                return _times(left, right)
            case FloorDiv(_, Constant(value)):  # it may be one more where that is negative
                return _plus({each: number / value for each, number in left.items()}, _ONE)
            case Mod():
                return right
        return _plus(left, right)


def limits(term: Term, most: int) -> list[tuple[tuple[Term, ...], Fraction]]:
    """Return what the products of a sum are at most, where the sum is at most a number.

    Nothing is known of them where one is negative, or has a quotient that is rounded down.
    """
    found = Normal().polynomial(term)
    if any(n < 0 or None in map(_part_of, each) for each, n in found.items()):
        return []
    return [(each, Fraction(most, number)) for each, number in found.items()]


def bound_of(term: Term) -> Bound | None:
    """Return what a term over extents is at most, where no product of it is negative."""
    found: Bound = {}
    for factors, number in Normal().polynomial(term).items():
        bound: Bound = {(): Fraction(number)}
        for factor in factors:
            alone: Bound = {(factor,): Fraction(1)}
            own = _quotient(factor) if _part_of(factor) is None else alone
            if own is None or number < 0:
                return None
            bound = _times(bound, own)
        found = _plus(found, bound)
    return found


def _quotient(factor: Term) -> Bound | None:
    match factor:
        case ("div", whole, int(block)):
            found = bound_of(whole)
            return None if found is None else {each: n / block for each, n in found.items()}
    return None


def _part_of(factor: Term) -> tuple[str, int] | None:
    """Extent and block, of an extent that is divided by a block and rounded up; not below 1."""
    match factor:
        case str():
            return factor, 1
        case ("div", ("+", str(extent), int(more)), int(block)) if more == block - 1:
            return extent, block
    return None


def _times_within(factors: tuple[Term, ...], whole: tuple[Term, ...]) -> int | None:
    """How many times another product a product is at most, factor by factor."""
    left, times = [_part_of(each) for each in whole], 1
    for extent, block in sorted(each for each in map(_part_of, factors) if each is not None):
        blocks = [each[1] for each in left if each is not None and each[0] == extent]
        if not blocks:
            return None
        other = min(blocks, key=lambda each: -(-each // block))
        left.remove((extent, other))
        times *= -(-other // block)
    return times


def _times(left: Bound, right: Bound) -> Bound:
    found: Bound = {}
    for one, first in left.items():
        for other, second in right.items():
            product = tuple(sorted((*one, *other), key=repr))
            found[product] = found.get(product, Fraction(0)) + first * second
    return found


def _plus(left: Bound, right: Bound) -> Bound:
    return {
        each: left.get(each, Fraction(0)) + right.get(each, Fraction(0))
        for each in dict.fromkeys((*left, *right))
    }
