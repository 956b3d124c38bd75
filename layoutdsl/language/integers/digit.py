"""Digits: ``whole / divisor % radix``, where the whole is an index or the value of a tuple.

Divisors and radices are products of numbers and extents; they divide each other as such.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from layoutdsl.language.integers.bounds import (
    MOST_TERMS,
    ONE,
    Polynomial,
    from_polynomial,
    polynomial,
    product,
    simplify,
)
from layoutdsl.language.integers.expr import (
    CeilDiv,
    Coordinate,
    Expr,
    FloorDiv,
    Index,
    MixedRadix,
    Mod,
    text,
)

_T = TypeVar("_T")

Whole: TypeAlias = Index | MixedRadix
Factors: TypeAlias = tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Digit:
    """``whole / divisor % radix``; the most major digit of a whole has no radix."""

    whole: Whole
    divisor: Expr
    radix: Expr | None

    @property
    def value(self) -> Expr:
        """The digit as it is written."""
        value = self.whole if self.divisor == ONE else FloorDiv(self.whole, self.divisor)
        return value if self.radix is None else Mod(value, self.radix)

    @property
    def end(self) -> Expr | None:
        """What the next digit of the whole is divided by; the most major digit has no end."""
        return None if self.radix is None else times(self.divisor, self.radix)

    def steps(self, extent: Expr) -> Expr:
        """Return what the digit stays below, where its whole stays below ``extent``."""
        return simplify(CeilDiv(extent, self.divisor)) if self.radix is None else self.radix


def exact_quotient(dividend: Expr, divisor: Expr) -> Expr | None:
    """Return ``dividend / divisor`` where the division of polynomials leaves nothing."""
    top, bottom = polynomial(dividend), polynomial(divisor)
    if bottom == {(): 1}:
        return dividend
    if top == bottom:
        return ONE
    found = _divided(top, bottom)
    return None if found is None else from_polynomial(found)


def _divided(top: Polynomial, bottom: Polynomial) -> Polynomial | None:
    """Divide leading terms, those of most factors first, until nothing is left."""
    factors = sorted({each for terms in (top, bottom) for one in terms for each in one}, key=text)

    def order(term: Factors) -> tuple[int, ...]:
        return len(term), *(term.count(each) for each in factors)

    leading = max(bottom, key=order, default=None)
    if leading is None:
        return None
    found: Polynomial = {}
    rest = dict(top)
    while rest:
        term = max(rest, key=order)
        count, left_over = divmod(rest[term], bottom[leading])
        others = _without(term, leading)
        if left_over or others is None or len(found) == MOST_TERMS:
            return None
        found[others] = count
        for each, coefficient in bottom.items():
            key = tuple(sorted((*others, *each), key=text))
            rest[key] = rest.get(key, 0) - count * coefficient
            if not rest[key]:
                del rest[key]
    return found


def _without(term: Factors, factors: Factors) -> Factors | None:
    """The factors of a term without others, or ``None`` where it lacks one of them."""
    left = list(term)
    for each in factors:
        if each not in left:
            return None
        left.remove(each)
    return tuple(left)


def nested(found: Iterable[_T], size: Callable[[_T], Expr]) -> list[_T] | None:
    """Return things by size, the smallest first, where each size is a multiple of the last."""
    left, ordered = list(found), list[_T]()
    while left:
        sizes = [size(each) for each in left]
        divides = [all(exact_quotient(other, own) is not None for other in sizes) for own in sizes]
        if True not in divides:
            return None
        ordered.append(left.pop(divides.index(True)))
    return ordered


def times(left: Expr, right: Expr) -> Expr:
    """Return the product, simplified."""
    return simplify(product((left, right)))


def same(left: Expr, right: Expr) -> bool:
    """Return whether two expressions over extents are equal as polynomials."""
    return polynomial(left) == polynomial(right)


def read(expr: Expr) -> Digit | None:
    """Return ``expr`` as a digit, or ``None`` where it is none."""
    match expr:
        case Index() | MixedRadix():
            return Digit(expr, ONE, None)
        case FloorDiv(left, divisor):
            digit = read(left)
            return None if digit is None else _divide(digit, left, divisor)
        case Mod(left, divisor):
            digit = read(left)
            return None if digit is None else _remainder(digit, left, divisor)
        case _:
            return None


def _divide(digit: Digit, written: Expr, divisor: Expr) -> Digit:
    if digit.radix is None:
        return Digit(digit.whole, times(digit.divisor, divisor), None)
    radix = exact_quotient(digit.radix, divisor)
    if radix is None:
        return Digit(_as_whole(written, digit.radix), simplify(divisor), None)
    return Digit(digit.whole, times(digit.divisor, divisor), radix)


def _remainder(digit: Digit, written: Expr, divisor: Expr) -> Digit:
    if digit.radix is None or exact_quotient(digit.radix, divisor) is not None:
        return Digit(digit.whole, digit.divisor, simplify(divisor))
    if exact_quotient(divisor, digit.radix) is not None:
        return digit
    return Digit(_as_whole(written, digit.radix), ONE, simplify(divisor))


def _as_whole(value: Expr, extent: Expr) -> MixedRadix:
    """A digit that is cut where its radix has no divisor is a whole of its own."""
    return MixedRadix((Coordinate(value, extent),))


def apart(one: Digit, other: Digit) -> bool:
    """Return whether two digits share no part of a whole: one begins where the other has ended."""
    if one.whole != other.whole:
        return True
    return any(
        below.end is not None and exact_quotient(above.divisor, below.end) is not None
        for below, above in ((one, other), (other, one))
    )


def opened(coordinates: Iterable[Coordinate]) -> tuple[Coordinate, ...]:
    """Return coordinates with each tuple that is whole, and not padded, replaced by its parts."""
    found: list[Coordinate] = []
    for each in coordinates:
        match each.value:
            case MixedRadix(parts) if same(each.extent, product(tuple(p.extent for p in parts))):
                found += opened(parts)
            case _:
                found.append(each)
    return tuple(found)
