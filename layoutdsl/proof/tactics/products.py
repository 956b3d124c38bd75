"""Bounds that the range gives for products of extents, as in ``where N*C*H*W < 2**31``.

Not trusted.
"""

from __future__ import annotations

from collections.abc import Iterator

from layoutdsl.proof.kernel.theorem import Ring, Term
from layoutdsl.proof.tactics.arith import Arithmetic
from layoutdsl.proof.tactics.polynomials import canonical, exact_quotient, in_terms


class Products:
    """The products that hypotheses bound by a number, and what they say of other products.

    Args:
        arithmetic: of the proof; facts go to its builder.
    """

    def __init__(self, arithmetic: Arithmetic) -> None:
        self._arithmetic = arithmetic
        self._builder = arithmetic.builder
        self._bounded = [
            (fact, *each)
            for fact in self._builder.hypotheses
            for each in _bounded(self._builder.formula(fact))
        ]

    def __bool__(self) -> bool:
        return bool(self._bounded)

    def most(self, term: Term) -> tuple[int, str] | None:
        """Return a number that a product of extents is at most, and the fact that says so.

        A product is at most each multiple of it: ``C <= N*C*H*W``, as extents are positive.
        """
        found = [
            (most // quotient[0][1], fact, whole, quotient[0][0])
            for fact, whole, most in self._bounded
            for quotient in (self._quotient(whole, term),)
            if quotient
        ]
        if not found:
            return None
        number, fact, whole, others = min(found, key=lambda each: each[0])
        return number, self._at_most(term, number, fact, whole, canonical({others: 1}))

    def _quotient(self, whole: Term, term: Term) -> list[tuple[tuple[Term, ...], int]]:
        """The factors, and the number, by which a product is a multiple of another."""
        quotient = exact_quotient(in_terms(whole), in_terms(term))
        return [] if quotient is None or len(quotient) != 1 else [*quotient.items()]

    def _at_most(self, term: Term, number: int, fact: str, whole: Term, others: Term) -> str:
        builder = self._builder
        self._arithmetic.not_negative(term)
        builder.have(("<=", 1, others), self._arithmetic.positive(others))
        (raised,) = builder.use("MONOTONE", {"a": 1, "b": others, "k": term})
        sides: tuple[Term, ...] = (("*", others, term), whole)
        equal = (builder.calculate(side, Ring(canonical(in_terms(side)))) for side in sides)
        return builder.have(("<=", term, number), raised, fact, *equal)

    def facts(self) -> list[str]:
        """Return the hypotheses, and what their products are in normal form.

        A part of a sum is at most the sum only if the other parts are not negative.
        """
        found: list[str] = []
        for fact, whole, _ in self._bounded:
            value, equal = self._arithmetic.values.normal(whole)
            found += [fact, equal]
            if len(value) > 1:
                found += filter(None, map(self._not_negative, value))
        return found

    def _not_negative(self, factors: tuple[Term, ...]) -> str | None:
        """Return the fact that a product of extents and digits is not negative, if that is seen."""
        lows = [*filter(None, map(self._at_least_zero, factors))]
        if not lows or len(lows) < len(factors):
            return None
        (term, *others), (fact, *facts) = factors, lows
        for factor, low in zip(others, facts, strict=True):
            (implied,) = self._builder.use("PRODUCT", {"a": term, "b": factor})
            term = ("*", term, factor)
            fact = self._builder.have(("<=", 0, term), implied, fact, low)
        return fact

    def _at_least_zero(self, factor: Term) -> str | None:
        builder = self._builder
        if not isinstance(factor, str):
            return None
        known = builder.find(("<=", 0, factor)) or builder.find(("<=", 1, factor))
        match builder.find_definition(factor):
            case ("div", ("-", str() as extent, 1), int(divisor)) if divisor > 0:
                low = builder.find(("<=", 1, extent))
                return known if low is None else builder.have(("<=", 0, factor), low, factor)
            case ("div", str() as name, int(divisor)) if divisor > 0:
                low = self._at_least_zero(name)
                return known if low is None else builder.have(("<=", 0, factor), low, factor)
        if known is None:
            return None
        return builder.have(("<=", 0, factor), known)


def _bounded(formula: Term) -> Iterator[tuple[Term, int]]:
    """The product that a comparison bounds, and the largest number that it may be."""
    match formula:
        case ("<", ("*", _, _) as term, int(limit)):
            yield term, limit - 1
        case ("<=", ("*", _, _) as term, int(limit)):
            yield term, limit
