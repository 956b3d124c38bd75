"""Small facts that every proof needs: what is positive, what is equal, what stays below what."""

from __future__ import annotations

from layoutdsl.prove.evaluate import Bounds, Evaluator, canonical
from layoutdsl.prove.polynomial import polynomial
from layoutdsl.prove.script import Script, Stuck
from layoutdsl.prove.theorem import By, Ring, Term


class Arithmetic:
    """Facts about extents, and an evaluator for the rest.

    Args:
        script: where the facts go.
        expand: names that the evaluator replaces by their definitions.
        extents: names of extents; they are replaced only where nothing else helps.
    """

    def __init__(
        self,
        script: Script,
        expand: frozenset[str] = frozenset(),
        extents: frozenset[str] = frozenset(),
    ) -> None:
        self.script = script
        self.values = Evaluator(script, expand)
        self.sizes = Evaluator(script, expand | extents)

    def positive(self, term: Term) -> str:
        """Return the fact that the term is positive."""
        known = self.script.find(("<", 0, term))
        if known is not None:
            return known
        match term:
            case int():
                return self.script.have(("<", 0, term))
            case str():
                at_least_one = self.script.find(("<=", 1, term))
                if at_least_one is not None:
                    return self.script.have(("<", 0, term), at_least_one)
                definition = self.script.find_definition(term)
                if definition is not None:
                    fact = self.positive(definition)
                    return self.script.rewrite(fact, By(term, backwards=True))
            case ("*", left, right):
                self.positive(left)
                self.positive(right)
                return self.script.use("POSITIVE", {"a": left, "b": right})[0]
            case ("+", left, right):
                premises = (self.positive(left), self.not_negative(right))
                return self.script.have(("<", 0, term), *premises)
            case ("div", ("+", value, ("-", block, 1)), divisor) if block == divisor:
                self.positive(value)
                self.positive(divisor)
                return self.script.use("CEILING", {"E": value, "B": divisor})[0]
        return self.script.have(("<", 0, term), *self.script.hypotheses)

    def not_negative(self, term: Term) -> str:
        """Return the fact that the term is at least zero."""
        match term:
            case ("+", left, right):
                premises = (self.not_negative(left), self.not_negative(right))
                return self.script.have(("<=", 0, term), *premises)
            case int():
                return self.script.have(("<=", 0, term))
        return self.script.have(("<=", 0, term), self.positive(term))

    def not_negative_product(self, term: Term) -> str:
        """Return the fact that a product of ``X - 1`` for extents ``X`` is at least zero."""
        match term:
            case ("*", left, right):
                self.not_negative_product(left)
                self.not_negative_product(right)
                (fact,) = self.script.use("PRODUCT", {"a": left, "b": right})
                low, high = self.script.find(("<=", 0, left)), self.script.find(("<=", 0, right))
                assert low is not None
                assert high is not None
                return self.script.have(("<=", 0, term), fact, low, high)
            case ("-", str() as extent, 1):
                return self.script.have(("<=", 0, term), self.positive(extent))
        raise Stuck("a product is not one of extents")

    def same(self, left: Term, right: Term) -> str | None:
        """Return the fact that two terms are equal, where they are so as polynomials."""
        if polynomial(left) == polynomial(right):
            return self.script.calculate(left, Ring(right))
        (one, first), (other, second) = self.sizes.normal(left), self.sizes.normal(right)
        if one != other:
            return None
        return self.script.calculate(left, By(first), By(second, backwards=True))

    def below(self, high: str, upper: Term) -> str:
        """From ``x < U``, return the fact ``x < upper``."""
        match self.script.formula(high):
            case ("<", value, bound):
                if bound == upper:
                    return high
                equal = self.same(bound, upper)
                if equal is not None:
                    other = self.script.rewrite(high, By(equal))
                    if self.script.formula(other) == ("<", value, upper):
                        return other
                premises = (high, *self.script.hypotheses, *self.script.extent_definitions)
                return self.script.have(("<", value, upper), *premises)
        raise Stuck(f"{high} is no bound")

    def in_range(self, term: Term, upper: Term) -> tuple[str, str]:
        """Return the facts ``0 <= term`` and ``term < upper``, from the bounds of its digits."""
        value, equal = self.values.normal(term)
        plain = canonical(value)
        bounds = self._reach(value, upper)
        if bounds is None:
            raise Stuck("a coordinate has no bounds that digits give")
        high = self.below(bounds.high, upper)
        if plain == term:
            return bounds.low, high
        low = self.script.calculate_in(bounds.low, ("<=", 0, term), equal)
        return low, self.script.calculate_in(high, ("<", term, upper), equal)

    def _reach(self, value: dict[tuple[str, ...], int], upper: Term) -> Bounds | None:
        plain = canonical(value)
        if isinstance(plain, int) and plain >= 0:
            low = self.script.have(("<=", 0, plain))
            if plain == 0:
                return Bounds(upper, low, self.positive(upper))
            return Bounds(plain + 1, low, self.script.have(("<", plain, plain + 1)))
        return self.values.reach(value)
