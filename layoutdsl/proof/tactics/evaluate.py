"""Terms brought into normal form, each with the proof that it is equal.

A number that is cut into digits is a polynomial in its digits; a quotient or remainder of such a
polynomial is read off by EUCLID, where the rest is shown to stay below the divisor. What cannot be
read off stays as it is. Not trusted: every step goes through the builder to the checker.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from layoutdsl.proof.kernel.builder import NoProof, ProofBuilder
from layoutdsl.proof.kernel.polynomial import Polynomial, polynomial, product, total
from layoutdsl.proof.kernel.theorem import By, Ring, Term, size
from layoutdsl.proof.tactics.congruence import Congruences, Wanted
from layoutdsl.proof.tactics.polynomials import (
    Bounds,
    canonical,
    exact_quotient,
    frozen,
    numeric,
    splits,
)


def _count(value: Polynomial, part: Polynomial) -> int:
    """How often a sum of several terms is contained in another; 0 if it is not as a whole."""
    if len(part) < 2 or not part.keys() <= value.keys():
        return 0
    first = next(iter(part))
    count = value[first] // part[first]
    alike = all(value[factors] == count * part[factors] for factors in part)
    return count if alike else 0


def _is_opposite(value: Polynomial) -> bool:
    signs = {coefficient > 0 for factors, coefficient in value.items() if factors}
    return signs == {False}


class Evaluator:
    """What is known of the names of one builder: digits, bounds, and values found so far."""

    def __init__(
        self, builder: ProofBuilder, expand: frozenset[str], wanted: Wanted | None = None
    ) -> None:
        self.builder = builder
        self.bounds: dict[str, Bounds] = {}
        self.wanted = wanted or Wanted()
        self.groups: list[tuple[Polynomial, Bounds]] = []
        self._congruences = Congruences(builder, self.wanted, self.bounds.__setitem__)
        self._expand = expand
        self._values: dict[Term, tuple[Polynomial, str]] = {}
        self._sums: dict[tuple[Any, ...], tuple[Polynomial, str]] = {}

    def know(self, term: Term, value: Polynomial, fact: str) -> None:
        """Remember that a name, or a term, equals a polynomial; ``fact`` is that equation."""
        self._values[term] = (value, fact)

    def settle(self, name: str, number: int, fact: str) -> None:
        """Remember that a name is a number; normal forms that spoke of it are worked out anew."""
        self._values = {term: each for term, each in self._values.items() if isinstance(term, str)}
        self.know(name, {(): number} if number else {}, fact)

    def know_sum(self, key: Polynomial, value: Polynomial, fact: str) -> None:
        """Remember that one polynomial equals another; ``fact`` says so of their normal forms."""
        self._sums[frozen(key)] = (value, fact)
        stale = [term for term, (found, _) in self._values.items() if found == key]
        for term in stale:
            if isinstance(term, tuple):
                del self._values[term]

    def equation(self, term: Term) -> str:
        """Return the fact that the term equals its normal form."""
        return self.normal(term)[1]

    def normal(self, term: Term) -> tuple[Polynomial, str]:
        """Return the normal form of a term, and the fact that it is equal."""
        if term not in self._values:
            try:
                self._values[term] = self._normal(term)
            except ValueError as reason:  # what is too large, or no term, has no normal form
                raise NoProof(str(reason)) from None
        return self._values[term]

    def _normal(self, term: Term) -> tuple[Polynomial, str]:
        match term:
            case int():
                return ({(): term} if term else {}), self.builder.calculate(term)
            case str():
                if term in self._expand:
                    definition = self.builder.right(term)
                    value, fact = self.normal(definition)
                    return value, self.builder.calculate(term, By(term), By(fact))
                return {(term,): 1}, self.builder.calculate(term)
            case ("+" | "-" | "*" as operator, left, right):
                at_once = self._at_once(term)
                if at_once is not None:
                    return at_once
                (one, _), (other, _) = self.normal(left), self.normal(right)
                if operator == "*":
                    value = _product(one, other)
                else:
                    value = total([(one, 1), (other, 1 if operator == "+" else -1)])
                fact = self.builder.calculate(
                    term, *self._parts(left, right), Ring(canonical(value))
                )
                return self._known_sum(term, value, fact)
            case ("div" | "mod" as operator, left, right):
                return self._quotient(operator, left, right)
        raise NoProof(f"{term} is not a term")

    def _at_once(self, term: Term) -> tuple[Polynomial, str] | None:
        """The normal form by one calculation, where no sum inside has a value of its own."""
        leaves: dict[Term, None] = {}
        value = self._sum(term, leaves)
        if value is None:
            return None
        moves = self._parts(*leaves)
        end = self.builder.right(self.builder.calculate(term, *moves))
        if polynomial(end) != value:
            return None
        fact = self.builder.calculate(term, *moves, Ring(canonical(value)))
        return self._known_sum(term, value, fact)

    def _sum(self, term: Term, leaves: dict[Term, None]) -> Polynomial | None:
        """The value of sums and products over ``leaves``, which it collects."""
        match term:
            case ("+" | "-" | "*" as operator, left, right):
                one, other = self._sum(left, leaves), self._sum(right, leaves)
                for side, found in ((left, one), (right, other)):
                    if found is None or (isinstance(side, tuple) and frozen(found) in self._sums):
                        return None
                assert one is not None
                assert other is not None
                if operator == "*":
                    return _product(one, other)
                return total([(one, 1), (other, 1 if operator == "+" else -1)])
        leaves[term] = None
        return self.normal(term)[0]

    def _parts(self, *parts: Term) -> list[By]:
        """Moves that bring the parts of a term into normal form, the larger first."""
        moves = []
        for part in sorted(dict.fromkeys(parts), key=size, reverse=True):
            _, fact = self.normal(part)
            if self.builder.right(fact) != part:
                moves.append(By(fact))
        return moves

    def _known_sum(self, term: Term, value: Polynomial, fact: str) -> tuple[Polynomial, str]:
        better, moves = self._with_known_sums(value)
        return better, self.builder.calculate(term, By(fact), *moves) if moves else fact

    def _with_known_sums(self, value: Polynomial) -> tuple[Polynomial, list[Ring | By]]:
        """A sum, or a multiple of it within a larger sum, replaced by what is known of it."""
        found = self._sums.get(frozen(value))
        if found is not None:
            return found[0], [By(found[1])]
        moves: list[Ring | By] = []
        for key, (better, equation) in self._sums.items():
            part = dict(key)
            count = _count(value, part)
            if count:
                rest = total([(value, 1), (part, -count)])
                split: Term = ("+", ("*", count, canonical(part)), canonical(rest))
                value = total([(rest, 1), (better, count)])
                moves += [Ring(split), By(equation), Ring(canonical(value))]
        return value, moves

    def _quotient(self, operator: str, left: Term, right: Term) -> tuple[Polynomial, str]:
        (dividend, _), (divisor, _) = self.normal(left), self.normal(right)
        term: Term = (operator, left, right)
        moves: list[Ring | By] = [*self._parts(left, right)]
        better, steps = self._with_known_sums(dividend)
        if len(steps) > 1:
            whole = canonical(dividend)
            equal = self.builder.calculate(whole, *steps)
            steps = [Ring((operator, whole, canonical(divisor))), By(equal)]
        moves += steps
        dividend = better
        below = canonical(divisor)
        plain: Term = (operator, canonical(dividend), below)
        found = self._read_off(operator, dividend, divisor)
        if found is None and plain != term and plain in self._values:
            known, equation = self._values[plain]
            found = known, [By(equation)]
        if found is None and self._is_positive(below):
            if operator == "div" and _is_opposite(dividend):
                return self._mirrored_quotient(term, moves, dividend, below)
            self._want(term, dividend, below)
            if operator == "mod" and self._congruences.speaks_of_indices(dividend):
                found = self._congruent(dividend, divisor)
            elif operator == "mod":
                return self._remainder(term, moves, dividend, divisor)
        value, steps = found or ({(plain,): 1}, [])
        return value, self.builder.calculate(term, *moves, Ring(plain), *steps)

    def _read_off(
        self, operator: str, dividend: Polynomial, divisor: Polynomial
    ) -> tuple[Polynomial, list[Ring | By]] | None:
        """The quotient or remainder of a sum of which a part stays below the divisor."""
        below = canonical(divisor)
        for high, low in splits(dividend, divisor, self.bounds):
            if not self._stays_below(low, below):
                continue
            joined: Term = ("+", ("*", canonical(high), below), canonical(low))
            values = {"a": canonical(high), "b": canonical(low), "B": below}
            quotient, remainder = self.builder.use("EUCLID", values)
            fact = quotient if operator == "div" else remainder
            value = high if operator == "div" else low
            return value, [Ring((operator, joined, below)), By(fact)]
        return None

    def _congruent(
        self, dividend: Polynomial, divisor: Polynomial
    ) -> tuple[Polynomial, list[Ring | By]]:
        """A remainder of what leaves the same remainder, read off or named."""
        reduced, moves = self._congruences.reduced(dividend, divisor)
        found = self._read_off("mod", reduced, divisor) or self._as_group(reduced, divisor)
        if found is None:
            fact = self._congruences.name(reduced, divisor)
            name = self.builder.right(fact)
            found = {(name,): 1}, [By(fact)]
        value, steps = found
        return value, [*moves, *steps]

    def _as_group(
        self, reduced: Polynomial, divisor: Polynomial
    ) -> tuple[Polynomial, list[Ring | By]] | None:
        """A remainder of a group of digits below the divisor, less or more a multiple of it."""
        below = canonical(divisor)
        for group, _ in self.groups:
            multiple = exact_quotient(total([(reduced, 1), (group, -1)]), divisor)
            if multiple and self._stays_below(group, below):
                values = {"a": canonical(multiple), "b": canonical(group), "B": below}
                _, remainder = self.builder.use("EUCLID", values)
                joined: Term = ("+", ("*", values["a"], below), values["b"])
                return group, [Ring(("mod", joined, below)), By(remainder)]
        return None

    def _want(self, term: Term, dividend: Polynomial, below: Term) -> None:
        """Remember where a digit would have to be cut for a quotient to be read off."""
        if not isinstance(below, int) or below <= 1:
            return
        match term:
            case ("mod", ("div", left, int(number)), _) if number > 0:
                self._want(left, self.normal(left)[0], number * below)
        for factors, coefficient in dividend.items():
            bounds = self.bounds.get(factors[0]) if len(factors) == 1 else None
            if bounds is None or not 0 < coefficient < below or below % coefficient:
                continue
            place = below // coefficient
            if not isinstance(bounds.upper, int) or place < bounds.upper:
                self.wanted.want(factors[0], place)

    def _remainder(
        self, term: Term, moves: Sequence[Ring | By], dividend: Polynomial, divisor: Polynomial
    ) -> tuple[Polynomial, str]:
        """What the quotient leaves, so that ``E%k`` and ``E - E/k*k`` come out alike."""
        whole, below = canonical(dividend), canonical(divisor)
        joined, *_ = self.builder.use("DIVISION", {"x": whole, "B": below})
        quotient: Term = ("div", whole, below)
        left: Term = ("-", whole, ("*", quotient, below))
        plain: Term = ("mod", whole, below)
        value = total([(dividend, 1), (product({(quotient,): 1}, divisor), -1)])
        steps = [*moves, Ring(plain), By(self.builder.have(("=", plain, left), joined))]
        return value, self.builder.calculate(term, *steps, Ring(canonical(value)))

    def _mirrored_quotient(
        self, term: Term, moves: Sequence[Ring | By], dividend: Polynomial, below: Term
    ) -> tuple[Polynomial, str]:
        """The opposite is rounded up, so that ``-(-E/k)`` and ``(E + k - 1)/k`` come out alike."""
        opposite = canonical(total([(dividend, -1)]))
        (mirror,) = self.builder.use("MIRROR", {"E": opposite, "B": below})
        rounded, fact = self.normal(("div", ("+", opposite, ("-", below, 1)), below))
        value = total([(rounded, -1)])
        steps: list[Ring | By] = [*moves, Ring(("div", ("-", 0, opposite), below)), By(mirror)]
        return value, self.builder.calculate(term, *steps, By(fact), Ring(canonical(value)))

    def _stays_below(self, low: Polynomial, below: Term) -> bool:
        """Whether ``0 <= low < below`` can be shown; then both are facts of the builder."""
        try:
            if not low:
                return self._divides(below)
            bounds = self.reach(low)
            if bounds is None and self._mirrored(low, below):
                return True
            if bounds is None or not self._is_below(bounds, canonical(low), below):
                return self._linear(low, below)
        except NoProof:
            return False
        return True

    def _is_below(self, bounds: Bounds, low: Term, below: Term) -> bool:
        if bounds.upper == below:
            return True
        upper, fact = self.normal(bounds.upper)
        wanted, _ = self.normal(below)
        if upper == wanted and canonical(wanted) == below:
            self.builder.rewrite(bounds.high, By(fact))
            return True
        definition = self.builder.find_definition(below) if isinstance(below, str) else None
        if definition is not None:
            room = total([(polynomial(definition), 1), (upper, -1)])
            if set(room) == {()} and room[()] > 0:
                self.builder.have(("<", low, below), bounds.high, fact, str(below))
                return True
        if isinstance(canonical(upper), int) and isinstance(below, int):
            self.builder.have(("<", low, below), bounds.high)
            return bool(canonical(upper) <= below)  # type: ignore[operator]
        return isinstance(below, int) and self._is_below_by_range(bounds, low, below)

    def _is_below_by_range(self, bounds: Bounds, low: Term, below: int) -> bool:
        """Whether the range says that an extent is at most the divisor."""
        for fact in self.builder.hypotheses:
            match self.builder.formula(fact):
                case ("<=", str() as extent, int(most)) if extent == bounds.upper and most <= below:
                    self.builder.have(("<", low, below), bounds.high, fact)
                    return True
        return False

    def _divides(self, below: Term) -> bool:
        """Nothing is left over; the divisor has to be positive still."""
        self.builder.have(("<=", 0, 0))
        return self._is_positive(below)

    def _is_positive(self, below: Term) -> bool:
        if isinstance(below, int):
            return below > 0 and bool(self.builder.have(("<", 0, below)))
        at_least_one = self.builder.find(("<=", 1, below))
        if at_least_one is not None:
            self.builder.have(("<", 0, below), at_least_one)
        return self.builder.find(("<", 0, below)) is not None or self._is_seen_positive(below)

    def _is_seen_positive(self, below: Term) -> bool:
        """Whether a divisor is a multiple's count, or more than digits that are not negative."""
        if isinstance(below, str) and below.startswith("k."):
            definition = self.builder.find_definition(below)
            match definition:
                case ("div", extent, int(block)):
                    exact = self.builder.find(("=", extent, ("*", below, block)))
                    least = self.builder.find(("<=", 1, extent))
                    if exact is not None and least is not None:
                        self.builder.have(("<", 0, below), exact, least)
                        return True
            return False
        match below:
            case ("*", left, right):
                if not (self._is_positive(left) and self._is_positive(right)):
                    return False
                self.builder.use("POSITIVE", {"a": left, "b": right})
                return True
        value, _ = self.normal(below)
        digits = [factors for factors in value if factors]
        known = [self.bounds.get(factors[0]) for factors in digits if len(factors) == 1]
        lows = [each.low for each in known if each is not None]
        if min(value.values(), default=0) < 1 or len(lows) < len(digits) or not value.get(()):
            return False
        self.builder.have(("<", 0, below), *lows)
        return True

    def _mirrored(self, low: Polynomial, below: Term) -> bool:
        """``k - 1 - r`` stays below ``k`` as ``r`` does."""
        divisor, _ = self.normal(below)
        rest = total([(divisor, 1), ({(): 1}, -1), (low, -1)])
        if not rest and self._is_positive(below):
            positive = self.builder.find(("<", 0, below))
            assert positive is not None
            self.builder.have(("<=", 0, canonical(low)), positive)
            self.builder.have(("<", canonical(low), below), positive)
            return True
        digit = canonical(rest)
        bounds = self.bounds.get(digit) if isinstance(digit, str) else None
        if bounds is None or bounds.upper != below:
            return False
        self.builder.have(("<=", 0, canonical(low)), bounds.low, bounds.high)
        self.builder.have(("<", canonical(low), below), bounds.low, bounds.high)
        return True

    def _linear(self, low: Polynomial, below: Term) -> bool:
        ends = numeric(low, self.bounds)
        if ends is None or not isinstance(below, int) or not (ends[0] >= 0 and ends[1] < below):
            return False
        premises = [
            fact
            for factors in low
            for factor in factors
            for fact in (self.bounds[factor].low, self.bounds[factor].high)
        ]
        self.builder.have(("<=", 0, canonical(low)), *premises)
        self.builder.have(("<", canonical(low), below), *premises)
        return True

    def reach(self, value: Polynomial) -> Bounds | None:
        """Return bounds of a polynomial that is put together from digits by Horner's rule."""
        term = canonical(value)
        if not value:
            return Bounds(1, self.builder.have(("<=", 0, 0)), self.builder.have(("<", 0, 1)))
        if isinstance(term, str):
            return self.bounds.get(term)
        for group, bounds in self.groups:
            if group == value:
                return bounds
        digits = [
            ({factors: 1}, self.bounds[factors[0]])
            for factors in value
            if len(factors) == 1 and value[factors] == 1 and factors[0] in self.bounds
        ]
        for part, minor in (*digits, *self.groups):
            if part.items() <= value.items():
                rest = total([(value, 1), (part, -1)])
                radix, _ = self.normal(minor.upper)
                major = exact_quotient(rest, radix)
                found = None if major is None else self._joined(term, major, canonical(part), minor)
                if found is not None:
                    return found
        return None

    def _joined(self, term: Term, major: Polynomial, digit: Term, minor: Bounds) -> Bounds | None:
        bounds = self.reach(major)
        if bounds is None:
            return None
        above = canonical(major)
        values = {"a": above, "b": digit, "A": bounds.upper, "B": minor.upper}
        low, high, *_ = self.builder.use("PAIR", values)
        joined: Term = ("+", ("*", above, minor.upper), digit)
        if joined != term:
            same = self.builder.calculate(joined, *self._parts(minor.upper), Ring(term))
            low = self.builder.rewrite(low, By(same))
            high = self.builder.rewrite(high, By(same))
        return Bounds(("*", bounds.upper, minor.upper), low, high)


def _product(left: Polynomial, right: Polynomial) -> Polynomial:
    try:
        return product(left, right)
    except ValueError as reason:
        raise NoProof(str(reason)) from None
