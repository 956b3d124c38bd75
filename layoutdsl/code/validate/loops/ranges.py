"""Normal forms that know how far digits go, so that a quotient or remainder of digits is digits.

What is below a number says so in its name: ``v.3.16`` is not negative and below 16. Whoever makes
such a name states that wherever it occurs, or asks for it. Trusted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from math import gcd, inf, prod

from layoutdsl.code.validate.normal import Normal
from layoutdsl.proof.kernel.checker import Polynomial, Term, total
from layoutdsl.proof.tactics.polynomials import canonical

Range = tuple[float, float]
"""The least and the largest value: whole numbers, or infinite where they are not known."""

_NAMED = re.compile(r"[vq]\.[0-9]+\.([0-9]+)")


def below(name: str, count: Term) -> str:
    """Return a name for what is not negative and below a count."""
    return f"{name}.{count}" if isinstance(count, int) and count > 0 else name


@dataclass(frozen=True)
class InRanges(Normal):
    """Normal forms by which digits are taken out of sums of digits.

    ``(a + 4*b) div 8`` is ``b div 2``, and ``(a + 4*b) mod 8`` is ``a + 4*(b mod 2)``, where ``a``
    is not negative and below 4.
    """

    def polynomial(self, term: Term) -> Polynomial:
        """Return a term as a polynomial in names, quotients, remainders and extremes."""
        match term:
            case ("div" | "mod" as word, left, int(block)) if block > 0:
                return _parted(word, self.polynomial(left), block)
        return super().polynomial(term)


def _parted(word: str, value: Polynomial, block: int) -> Polynomial:
    """Whole blocks are taken out, and what stays below the steps of all that is over it."""
    whole = {each: number // block for each, number in value.items() if number // block}
    rest = {each: number % block for each, number in value.items() if number % block}
    steps = {1, block, *(gcd(number, block) for number in rest.values())}
    for step in sorted(steps, reverse=True):
        low = {each: number % step for each, number in rest.items() if number % step}
        least, most = _sum(low)
        if least >= 0 and most < step:
            break
    high = {each: number // step for each, number in rest.items() if number // step}
    left: Polynomial = {}
    if set(high) - {()}:
        left = {((word, canonical(high), block // step),): 1}
    elif word == "mod":  # a number below the block
        left = high
    return total([(whole, 1), (left, 1)]) if word == "div" else total([(left, step), (low, 1)])


def _sum(value: Polynomial) -> Range:
    """The range of a sum of products of what is not negative."""
    least: float = 0
    most: float = 0
    for factors, number in value.items():
        ranges = [_range(each) for each in factors]
        if number < 0 or any(low < 0 for low, _ in ranges):
            return -inf, inf
        highs = [high for _, high in ranges]
        least += number * prod(low for low, _ in ranges)
        most += 0 if 0 in highs else number * prod(highs)
    return least, most


@lru_cache(maxsize=20_000)
def _range(term: Term) -> Range:
    match term:
        case int():
            return term, term
        case str():
            named = _NAMED.fullmatch(term)
            return (0, int(named[1]) - 1) if named else (-inf, inf)
        case ("mod", left, int(block)) if block > 0:
            least, most = _range(left)
            return (0, min(most, block - 1)) if least >= 0 else (0, block - 1)
        case ("div", left, int(block)) if block > 0:
            least, most = _range(left)
            low = least if least == -inf else least // block
            return low, most if most == inf else most // block
        case ("+", left, right):
            (one, two), (three, four) = _range(left), _range(right)
            return one + three, two + four
        case ("*", left, right):
            return _sum({(left, right): 1})
    return -inf, inf
