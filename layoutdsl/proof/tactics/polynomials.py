"""Polynomials in digits: how they are written, divided, and bounded by numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from layoutdsl.proof.kernel.budget import MOST_TERMS, NoProof
from layoutdsl.proof.kernel.checker import Polynomial, Term, total
from layoutdsl.proof.kernel.polynomial import product


@dataclass(frozen=True, slots=True)
class Bounds:
    """Facts about a number: ``0 <= number`` and ``number < upper``."""

    upper: Term
    low: str
    high: str


def canonical(value: Polynomial) -> Term:
    """Return the polynomial as a term, its products in a fixed order.

    Raises:
        NoProof: it has too many terms.
    """
    if len(value) > MOST_TERMS:
        raise NoProof(f"a sum has more than {MOST_TERMS} terms")
    order = sorted(value.items(), key=lambda item: (-len(item[0]), repr(item[0])))
    terms = [_monomial(factors, coefficient) for factors, coefficient in order]
    if not terms:
        return 0
    result = terms[0]
    for each in terms[1:]:
        result = ("+", result, each)
    return result


def in_terms(term: Term) -> Polynomial:
    """Return a term as a polynomial, in which quotients and remainders are terms themselves."""
    match term:
        case int():
            return {(): term} if term else {}
        case ("+", left, right):
            return total([(in_terms(left), 1), (in_terms(right), 1)])
        case ("-", left, right):
            return total([(in_terms(left), 1), (in_terms(right), -1)])
        case ("*", left, right):
            return product(in_terms(left), in_terms(right))
        case ("div" | "mod" as operator, left, right):
            return {((operator, canonical(in_terms(left)), canonical(in_terms(right))),): 1}
    return {(term,): 1}


def _monomial(factors: tuple[Any, ...], coefficient: int) -> Term:
    if not factors:
        return coefficient
    result: Term = factors[0]
    for factor in factors[1:]:
        result = ("*", result, factor)
    return result if coefficient == 1 else ("*", coefficient, result)


def frozen(value: Polynomial) -> tuple[Any, ...]:
    """Return the polynomial as what a dictionary can look up."""
    return tuple(sorted(value.items(), key=repr))


def exact_quotient(value: Polynomial, divisor: Polynomial) -> Polynomial | None:
    """Return ``value / divisor`` for a divisor of one product, where nothing is left over."""
    if len(divisor) != 1:
        return None
    ((factors, coefficient),) = divisor.items()
    result: Polynomial = {}
    for others, second in value.items():
        left = _without(others, factors)
        if left is None or second % coefficient:
            return None
        result[left] = second // coefficient
    return result


def _without(factors: tuple[Any, ...], others: tuple[Any, ...]) -> tuple[Any, ...] | None:
    left = list(factors)
    for each in others:
        if each not in left:
            return None
        left.remove(each)
    return tuple(left)


def numeric(value: Polynomial, bounds: dict[str, Bounds]) -> tuple[int, int] | None:
    """Return the smallest and largest value of a sum of digits below numbers, if it is one."""
    low = high = 0
    for factors, coefficient in value.items():
        if not factors:
            low, high = low + coefficient, high + coefficient
            continue
        known = bounds.get(factors[0]) if isinstance(factors[0], str) else None
        if len(factors) > 1 or known is None or not isinstance(known.upper, int):
            return None
        ends = (0, coefficient * (known.upper - 1))
        low, high = low + min(ends), high + max(ends)
    return low, high


def splits(
    dividend: Polynomial, divisor: Polynomial, bounds: dict[str, Bounds]
) -> list[tuple[Polynomial, Polynomial]]:
    """Return ways to write the dividend as ``high * divisor + low``, the likeliest first."""
    if len(divisor) != 1:
        return []
    ((factors, block),) = divisor.items()
    found: list[tuple[Polynomial, Polynomial]] = []
    for towards_zero in (False, True):
        high: Polynomial = {}
        low: Polynomial = {}
        for others, coefficient in dividend.items():
            left = _without(others, factors)
            if left is None:
                low[others] = coefficient
                continue
            count = coefficient // block
            if towards_zero and others and count * block != coefficient:
                count = -(-coefficient // block) if coefficient < 0 else count
            high[left] = high.get(left, 0) + count
            low[others] = low.get(others, 0) + coefficient - count * block
        high = total([(high, 1)])
        low = total([(low, 1)])
        ends = numeric(low, bounds)
        if ends is not None and not factors and not 0 <= ends[0] < block:
            shift = ends[0] // block
            high = total([(high, 1), ({(): 1}, shift)])
            low = total([(low, 1), ({(): 1}, -shift * block)])
        above = (total([(high, 1), ({(): 1}, -1)]), total([(low, 1), (divisor, 1)]))
        found += [each for each in ((high, low), above) if each not in found]
    return found
