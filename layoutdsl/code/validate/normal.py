"""Terms in one normal form: a sum of products in a fixed order. Trusted.

Equal products look alike then to a solver, which knows nothing of them. Of bits a number that takes
them and a number that turns them are known: what they leave alone is written as digits, so that two
such numbers look alike wherever these do. All that stands here holds of integers of either sign, as
quotients are rounded down and a number below 0 has ones above all of its bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import gcd, inf

from layoutdsl.proof.kernel.checker import Polynomial, Term, total
from layoutdsl.proof.kernel.checker import product as product_of
from layoutdsl.proof.tactics.polynomials import canonical


@dataclass(frozen=True)
class Normal:
    """Normal forms; some products of extents have a name, as they are extents of axes read as one.

    Attributes:
        fused: extents that are multiplied, and the name of their product. What is shown for every
            value of the name is shown for that of the product.
    """

    fused: tuple[tuple[tuple[str, ...], str], ...] = ()

    def form(self, term: Term) -> Term:
        """Return the normal form of a term, or of a formula."""
        return _form(self, term)

    def polynomial(self, term: Term) -> Polynomial:
        """Return a term as a polynomial in names, quotients, remainders and extremes."""
        match term:
            case int():
                return {(): term} if term else {}
            case ("+", left, right):
                return total([(self.polynomial(left), 1), (self.polynomial(right), 1)])
            case ("-", left, right):
                return total([(self.polynomial(left), 1), (self.polynomial(right), -1)])
            case ("*", left, right):
                found = product_of(self.polynomial(left), self.polynomial(right))
                return total([(self._named(*each), 1) for each in found.items()])
            case ("div" | "mod" as word, left, int(block)) if block > 0:
                return _divided(word, self.polynomial(left), block)
            case ("&" | "|" | "^" as word, left, right):
                return self._bits(word, self.form(left), self.form(right))
            case (word, left, right):
                return {((word, self.form(left), self.form(right)),): 1}
        return {(term,): 1}

    def _bits(self, word: str, left: Term, right: Term, below: float = inf) -> Polynomial:
        """Bits that are taken by a number, or turned by such bits, as digits of what has them."""
        for value, other in ((left, right), (right, left)):
            if word == "&" and isinstance(other, int) and _is_stretch(other):
                least = other & -other
                return self.polynomial(("*", least, _digit(self, value, least, other // least + 1)))
            taken = _taken(other) if word == "^" else None
            if taken is not None:
                least, radix, turning = taken
                digit = _digit(self, value, least, radix)
                if digit != value and least * radix < below:
                    turned = self._bits("^", digit, turning, least * radix)
                    parts = [(turned, least), (self.polynomial(digit), -least)]
                    return total([(self.polynomial(value), 1), *parts])
        return {((word, left, right),): 1}

    def _named(self, factors: tuple[Term, ...], number: int) -> Polynomial:
        left = list(factors)
        for parts, name in self.fused:
            while all(left.count(each) >= parts.count(each) for each in parts):
                for each in parts:
                    left.remove(each)
                left.append(name)
        return product_of({tuple(left): number}, {(): 1})  # which puts them in order


@lru_cache(maxsize=20_000)
def _form(normal: Normal, term: Term) -> Term:
    match term:
        case (("and" | "or" | "not" | "=>" | "=" | "<=" | "<") as word, *parts):
            return (word, *map(normal.form, parts))
    return canonical(normal.polynomial(term))


def _divided(word: str, value: Polynomial, block: int) -> Polynomial:
    """Whole blocks are taken out: ``(16*a + b) div 16 = a + b div 16``, and leave no remainder."""
    whole = {each: number // block for each, number in value.items() if number // block}
    rest = {each: number % block for each, number in value.items() if number % block}
    if set(rest) <= {()}:
        left: Polynomial = {(): rest[()]} if rest and word == "mod" else {}
    else:
        left = {((word, canonical(rest), block),): 1}
    return left if word == "mod" else total([(whole, 1), (left, 1)])


def _is_stretch(mask: int) -> bool:
    """Whether the bits of a number follow each other."""
    return mask > 0 and (mask // (mask & -mask) + 1) & (mask // (mask & -mask)) == 0


def _taken(term: Term) -> tuple[int, int, Term] | None:
    """Return ``least``, ``radix``, and the digit below it of which a number is ``least`` times."""
    match term:
        case ("*", int() as least, ("mod", _, int() as radix) as digit) | (
            "*",
            ("mod", _, int() as radix) as digit,
            int() as least,
        ):
            return (least, radix, digit) if _is_power(least) and _is_power(radix) else None
        case ("mod", _, int() as radix):
            return (1, radix, term) if _is_power(radix) else None
    return None


def _is_power(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0


def _digit(normal: Normal, value: Term, divisor: int, radix: int) -> Term:
    """``value div divisor mod radix``, whose divisions are as few and as small as can be."""
    found = normal.polynomial(value)
    while True:
        shared = gcd(divisor, *found.values())
        found, divisor = {each: n // shared for each, n in found.items()}, divisor // shared
        match list(found.items()):
            case [((("div", dividend, int(block)),), 1)] if divisor > 1:
                found, divisor = normal.polynomial(dividend), divisor * block
            case _:
                break
    match list(found.items()):
        case [((("mod", dividend, int(block)),), 1)] if divisor == 1:
            if radix % block == 0:
                return ("mod", dividend, block)
            if block % radix == 0:
                found = normal.polynomial(dividend)
    quotient = _divided("div", found, divisor)
    return canonical(_divided("mod", quotient, radix))
