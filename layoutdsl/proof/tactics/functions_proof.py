"""Proofs that index functions compute in integers of some width, step by step. Not trusted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from layoutdsl.language.integers.expr import Expr, text
from layoutdsl.proof.kernel import lemmas
from layoutdsl.proof.kernel.builder import NoProof, ProofBuilder
from layoutdsl.proof.kernel.polynomial import polynomial
from layoutdsl.proof.kernel.theorem import By, Proof, Ring, Term
from layoutdsl.proof.statements.functions_statement import Stated, slot_and_start
from layoutdsl.proof.statements.statement import Ground
from layoutdsl.proof.statements.terms import index_name
from layoutdsl.proof.tactics.enclosure import Enclosure, Interval, largest

Sum: TypeAlias = dict[Term, int]
"""What a sum adds up, each times a number; the number alone stands at the empty name."""


def proof(ground: Ground, stated: Stated) -> Proof:
    """Return a proof of what bounds the values of functions.

    Raises:
        NoProof: an extent has no largest value, or a value may be too large or negative.
    """
    builder = ProofBuilder(stated.theorem, lemmas.stated())
    extents = {index_name(axis.name): ground.extent(axis.name) for axis in ground.layout.axes}
    enclosure = _Enclosure(builder, largest(ground), extents)
    if "slot" in stated.theorem.variables:
        _follow_slot(builder, enclosure, ground, stated.radices)
    for goal in stated.theorem.goals:
        _bounded(builder, enclosure, goal, stated.spoken)
    return builder.proof


def _bounded(
    builder: ProofBuilder, enclosure: Enclosure, goal: Term, spoken: Mapping[Term, Expr]
) -> None:
    match goal:
        case ("<=", int(low), int(high)):
            if low > high:
                raise NoProof(f"`{max(low, high)}` is too large")
            builder.have(goal)
        case ("<=", int(low), term):
            found = enclosure.of(term)
            if found.low < low:
                raise NoProof(f"`{_words(term, spoken)}` may be {found.low}")
            builder.have(goal, found.above)
        case (("<=" | "<") as less, term, int(high)):
            found = enclosure.of(term)
            if found.high > high - (less == "<"):
                raise NoProof(f"`{_words(term, spoken)}` may be {found.high}")
            builder.have(goal, found.below)
        case _:
            raise NoProof(f"{goal} bounds nothing")


def _words(term: Term, spoken: Mapping[Term, Expr]) -> str:
    return text(spoken[term]) if term in spoken else str(term)


def _follow_slot(
    builder: ProofBuilder, enclosure: _Enclosure, ground: Ground, radices: tuple[Term, ...]
) -> None:
    """Bound what is left of a slot: above the digits that are split off it has so many values."""
    box, same = _box(builder, ground, radices)
    last = len(box) - 1
    first, start = slot_and_start(ground)
    above = builder.have(("<=", 0, first), *builder.hypotheses)
    below = builder.have(("<", first, box[last]), *builder.hypotheses, *same)
    enclosure.learn(first, box[last], above, below)
    if start != 0:
        enclosure.add("slot", first, start, builder.hypotheses)
    left = f"s.u{last}"
    above = builder.have(("<=", 0, left), left, above)
    below = builder.have(("<", left, box[last]), left, below)
    enclosure.learn(left, box[last], above, below)
    for number in range(last, 0, -1):
        radix = builder.find_definition(box[number])
        assert isinstance(radix, tuple)
        block = radix[2]
        builder.have(("<", 0, block), enclosure.of(block).above)
        builder.have(("<", left, ("*", box[number - 1], block)), below, box[number])
        facts = builder.use("UNPAIR", {"x": left, "A": box[number - 1], "B": block})
        left = f"s.u{number - 1}"
        above = builder.have(("<=", 0, left), left, facts[0])
        below = builder.have(("<", left, box[number - 1]), left, facts[1])
        enclosure.learn(left, box[number - 1], above, below)


def _box(
    builder: ProofBuilder, ground: Ground, radices: tuple[Term, ...]
) -> tuple[list[str], tuple[str, ...]]:
    """The names of products of extents by which a slot is split, and that the last is the size.

    A layout that is read in another spelling has other extents, with the same product.
    """
    own = [f"p.{number}" for number in range(len(ground.layout.coordinates))]
    terms = [builder.find_definition(each) for each in own]
    if radices == (terms[0], *(each[2] for each in terms[1:] if isinstance(each, tuple))):
        return own, ()
    made: list[str] = []
    for number, radix in enumerate(radices):
        term = ("*", made[-1], radix) if made else radix
        made.append(builder.define(f"b.{number}", term))
    folds = [[By(each) for each in reversed(names)] for names in (own, made)]
    mine = builder.calculate(own[-1], *folds[0])
    other = builder.calculate(made[-1], *folds[1])
    whole = Ring(builder.right(other))
    if polynomial(builder.right(mine)) != polynomial(builder.right(other)):
        raise NoProof("the buffer is not what a slot is split by")
    return made, (builder.calculate(own[-1], By(mine), whole, By(other, backwards=True)),)


class _Enclosure(Enclosure):
    """Intervals, tighter for what is left of a slot, and for differences such as ``N - 1 - i``."""

    def learn(self, term: Term, bound: Term, above: str, below: str) -> None:
        """Take ``0 <= term < bound``, which are known facts, for the interval of a term."""
        found = self.of(bound)
        most = self._builder.have(("<=", term, found.high - 1), below, found.below)
        self._known[term] = Interval(0, found.high - 1, above, most)

    def add(self, name: str, rest: Term, start: Term, hypotheses: tuple[str, ...]) -> None:
        """Take ``start <= name``, and what is known of ``rest``, for the interval of a name."""
        one, other = self.of(start), self.of(rest)
        facts = (*one.facts, *other.facts, *hypotheses)
        most = one.high + other.high
        above = self._builder.have(("<=", 0, name), *facts)
        below = self._builder.have(("<=", name, most), *facts)
        self._known[name] = Interval(0, most, above, below)

    def _of(self, term: Term) -> Interval:
        found = super()._of(term)
        if isinstance(term, str):
            return self._tightened(term, found)
        if found.low >= 0 or not isinstance(term, tuple) or term[0] not in ("+", "-"):
            return found
        sums = _linear(term)
        products = [each for each in sums if isinstance(each, tuple)]
        least = self._least(sums)
        if least < 0:
            return found
        facts = [fact for each in products for fact in self._at_least_a_factor(each)]
        above = self._builder.have(("<=", least, term), *self._builder.hypotheses, *facts)
        return Interval(least, found.high, above, found.below)

    def _tightened(self, name: str, found: Interval) -> Interval:
        """What the hypotheses say of one name: guards of a slot, and conditions of a domain."""
        low, high, above, below = found.low, found.high, found.above, found.below
        for fact in self._builder.hypotheses:
            match self._builder.formula(fact):
                case ("<=", int(least), left) if left == name and least > low:
                    low, above = least, fact
                case ("=", left, int(value)) if left == name:
                    low = high = value
                    above = self._builder.have(("<=", value, name), fact)
                    below = self._builder.have(("<=", name, value), fact)
                case (("<" | "<=") as less, str() as smaller, right) if (
                    right == name and smaller in self._indices
                ):
                    least = int(less == "<")
                    if least > low:
                        low = least
                        above = self._builder.have(("<=", least, name), *self._builder.hypotheses)
                case ("<", left, bound) if left == name and name not in self._indices:
                    most = self.of(bound)
                    if most.high - 1 < high:
                        high = most.high - 1
                        below = self._builder.have(("<=", name, high), fact, most.below)
        return Interval(low, high, above, below)

    def _least(self, sums: Sum, depth: int = 4) -> int:
        """The least value of a sum, as far as that is plain; -1 stands for unknown."""
        low = next((each for each in sums if each in self._indices and sums[each] < 0), None)
        if low is not None:
            bounds = self._bounds(low) if depth else []
            return max(
                (self._least(_replaced(sums, low, each), depth - 1) for each in bounds), default=-1
            )
        left = dict(sums)
        for product in [each for each in sums if isinstance(each, tuple) and sums[each] > 0]:
            for factor in product[1:]:
                missing = -left.get(factor, 0)
                if 0 < missing <= left[product]:
                    left[product] -= missing
                    left[factor] = 0
        constant = left.pop("", 0)
        if any(factor < 0 for factor in left.values()):
            return -1
        return constant + sum(left[each] for each in left if each in self._ceilings)

    def _bounds(self, index: Term) -> list[Sum]:
        """The sums that an index does not exceed: what the domain says, and its extent."""
        found = [_linear(("-", self._indices[index], 1))]  # type: ignore[index]
        for fact in self._builder.hypotheses:
            match self._builder.formula(fact):
                case ("<", left, right) if left == index:
                    found.append(_linear(("-", right, 1)))
                case ("<=", left, right) if left == index:
                    found.append(_linear(right))
        return found

    def _at_least_a_factor(self, product: Term) -> tuple[str, ...]:
        """That a product of positive numbers is at least as large as either of them."""
        assert isinstance(product, tuple)
        _, left, right = product
        one, other = self.of(left), self.of(right)
        if one.low < 1 or other.low < 1:
            return self.of(product).facts
        facts: list[str] = []
        for small, large in ((left, right), (right, left)):
            self._builder.have(("<=", 1, large), self.of(large).above)
            self._builder.have(("<=", 0, small), self.of(small).above)
            facts += self._builder.use("MONOTONE", {"a": 1, "b": large, "k": small})
        return *facts, self.of(product).above


def _linear(term: Term) -> Sum:
    """A term as a sum: of names, products and quotients, each times a number."""
    match term:
        case int():
            return {"": term}
        case (("+" | "-") as sign, left, right):
            one, other = _linear(left), _linear(right)
            factor = 1 if sign == "+" else -1
            return {
                each: one.get(each, 0) + factor * other.get(each, 0) for each in {**one, **other}
            }
        case ("*", int(number), right) | ("*", right, int(number)):
            return {each: number * factor for each, factor in _linear(right).items()}
        case _:
            return {term: 1}


def _replaced(sums: Sum, name: Term, bound: Sum) -> Sum:
    """A sum in which a bound stands for a name."""
    left = {each: factor for each, factor in sums.items() if each != name}
    for each, factor in bound.items():
        left[each] = left.get(each, 0) + sums[name] * factor
    return left
