"""Between which numbers a term lies, with the proof: interval arithmetic, one step a time.

It takes extents that the range bounds by numbers, alone or in a product, and indices below them.
Not trusted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from layoutdsl.language.integers.expr import extents
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.shapes import ceilings
from layoutdsl.proof.kernel.builder import NoProof, ProofBuilder
from layoutdsl.proof.kernel.theorem import Ring, Term
from layoutdsl.proof.statements.statement import Ground
from layoutdsl.proof.statements.terms import extent_name
from layoutdsl.proof.tactics.arith import Arithmetic
from layoutdsl.proof.tactics.products import Products


def largest(ground: Ground) -> dict[str, int]:
    """Return the largest value of each extent that the range bounds, and of minima and maxima."""
    most = ceilings(ground.layout)
    found = {extent_name(name): value for name, value in most.items()}
    for expr, name in ground.vocabulary.shared.items():
        if name.startswith("m.") and extents(expr) <= set(most):
            found[name] = evaluate(expr, most)
    return found


@dataclass(frozen=True, slots=True)
class Interval:
    """``low <= term <= high``, and the two facts that say so."""

    low: int
    high: int
    above: str
    below: str

    @property
    def facts(self) -> tuple[str, str]:
        """Both facts."""
        return self.above, self.below


class Enclosure:
    """The intervals of the terms of one builder.

    Args:
        builder: where the facts go.
        ceilings: the largest value of each extent that the range bounds, by its name.
        indices: the term that each index stays below, by the name of the index.
    """

    def __init__(
        self, builder: ProofBuilder, ceilings: Mapping[str, int], indices: Mapping[str, Term]
    ) -> None:
        self._builder = builder
        self._ceilings = ceilings
        self._indices = indices
        self._products = Products(Arithmetic(builder))
        self._known: dict[Term, Interval] = {}

    def of(self, term: Term) -> Interval:
        """Return the interval of a term.

        Raises:
            NoProof: an extent has no largest value that is known, or a term is none of arithmetic.
        """
        if term not in self._known:
            self._known[term] = self._of(term)
        return self._known[term]

    def at_most(self, term: Term, most: int, fact: str) -> None:
        """Learn ``term <= most``, and that each part of a sum or a product is at most that.

        A part is at most the whole if the other part of a sum is not negative, or the other factor
        is positive.
        """
        found = self.of(term)
        if found.high > most:
            self._known[term] = Interval(found.low, most, found.above, fact)
        match term:
            case ("+", left, right):
                for part, other in ((left, right), (right, left)):
                    if self.of(other).low >= 0:
                        above = self.of(other).above
                        fits = self._builder.have(("<=", part, most), fact, above)
                        self.at_most(part, most, fits)
            case ("*", left, right):
                for part, other in ((left, right), (right, left)):
                    if self.of(other).low >= 1 and self.of(part).low >= 0:
                        facts = (fact, *self._no_less_than(term, part, other))
                        self.at_most(part, most, self._builder.have(("<=", part, most), *facts))

    def _no_less_than(self, whole: Term, part: Term, other: Term) -> list[str]:
        """That a product is at least one of its factors, as the other is positive."""
        if isinstance(part, int) or isinstance(other, int):
            return [*self.of(part).facts, *self.of(other).facts]
        self._builder.have(("<=", 1, other), self.of(other).above)
        self._not_negative(part, self.of(part))
        (raised,) = self._builder.use("MONOTONE", {"a": 1, "b": other, "k": part})
        return [raised, self._builder.calculate(("*", other, part), Ring(whole))]

    def _of(self, term: Term) -> Interval:
        match term:
            case int():
                return self._interval(term, term, term)
            case str():
                return self._name(term)
            case ("+", left, right):
                one, other = self.of(left), self.of(right)
                ends = one.low + other.low, one.high + other.high
                return self._interval(term, *ends, *one.facts, *other.facts)
            case ("-", left, right):
                one, other = self.of(left), self.of(right)
                ends = one.low - other.high, one.high - other.low
                return self._interval(term, *ends, *one.facts, *other.facts)
            case ("*", left, right):
                return self._product(term, left, right)
            case (("div" | "mod"), left, int(divisor)):
                return self._by_number(term, self.of(left), divisor)
            case (("div" | "mod"), left, right):
                return self._by_term(term, left, right)
        raise NoProof(f"{term} is no term")

    def _interval(self, term: Term, low: int, high: int, *facts: str) -> Interval:
        above = self._builder.have(("<=", low, term), *facts)
        return Interval(low, high, above, self._builder.have(("<=", term, high), *facts))

    def _name(self, name: str) -> Interval:
        definition = self._builder.find_definition(name)
        hypotheses = self._builder.hypotheses
        if definition is not None:
            found = self.of(definition)
            return self._interval(name, found.low, found.high, name, *found.facts)
        if name in self._indices:
            extent = self.of(self._indices[name])
            return self._interval(name, 0, extent.high - 1, extent.below, *hypotheses)
        if name in self._ceilings:
            return self._interval(name, 1, self._ceilings[name], *hypotheses)
        bounded = self._products.most(name)
        if bounded is None:
            raise NoProof(f"the range gives `{name.removeprefix('n.')}` no largest value")
        most, fact = bounded
        return self._interval(name, 1, most, fact, *hypotheses)

    def _product(self, term: Term, left: Term, right: Term) -> Interval:
        one, other = self.of(left), self.of(right)
        if isinstance(left, int) or isinstance(right, int):
            corners = [a * b for a in (one.low, one.high) for b in (other.low, other.high)]
            return self._interval(term, min(corners), max(corners), *one.facts, *other.facts)
        if one.low < 0 or other.low < 0:
            raise NoProof("a factor may be negative")
        self._not_negative(left, one)
        self._not_negative(right, other)
        values: dict[str, Term] = {"a": left, "b": right, "A": one.high, "B": other.high}
        above, below = self._builder.use("BOUND", values)
        least = 0
        if one.low >= 1 and other.low >= 1:
            self._builder.have(("<", 0, left), one.above)
            self._builder.have(("<", 0, right), other.above)
            (above,) = self._builder.use("POSITIVE", {"a": left, "b": right})
            least = 1
        bounded = self._products.most(term)
        if bounded is not None and bounded[0] < one.high * other.high:
            most, below = bounded
            return self._interval(term, least, most, above, below)
        return self._interval(term, least, one.high * other.high, above, below)

    def _not_negative(self, term: Term, interval: Interval) -> None:
        self._builder.have(("<=", 0, term), interval.above)

    def _by_number(self, term: Term, dividend: Interval, divisor: int) -> Interval:
        if divisor < 1:
            raise NoProof(f"the divisor {divisor} is not positive")
        low, high = dividend.low // divisor, dividend.high // divisor
        if term[0] == "mod":  # type: ignore[index]
            whole = low == high == 0
            ends = (dividend.low, dividend.high) if whole else (0, divisor - 1)
            if not whole and dividend.low >= 0:
                ends = (0, min(divisor - 1, dividend.high))
            return self._interval(term, *ends, *dividend.facts)
        return self._interval(term, low, high, *dividend.facts)

    def _by_term(self, term: Term, left: Term, right: Term) -> Interval:
        one, other = self.of(left), self.of(right)
        if one.low < 0 or other.low < 1:
            raise NoProof("a quotient may be of a negative number")
        self._not_negative(left, one)
        positive = self._builder.have(("<", 0, right), other.above)
        beyond = one.high + 1
        self._builder.have(("<", left, ("*", beyond, right)), one.below, positive)
        facts = self._builder.use("UNPAIR", {"x": left, "A": beyond, "B": right})
        if term[0] == "div":  # type: ignore[index]
            return self._interval(term, 0, one.high, *facts)
        return self._interval(term, 0, other.high - 1, *facts, other.below)
