"""Terms brought into normal form, each with the proof that it is equal.

A number that is cut into digits is a polynomial in its digits; a quotient or remainder of such a
polynomial is read off by EUCLID, where the rest is shown to stay below the divisor. What cannot be
read off stays as it is. Not trusted: every step goes through the script to the checker.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from layoutdsl.prove.polynomial import Polynomial, polynomial, product, total
from layoutdsl.prove.script import Script, Stuck
from layoutdsl.prove.theorem import By, Ring, Term


@dataclass(frozen=True, slots=True)
class Bounds:
    """Facts about a number: ``0 <= number`` and ``number < upper``."""

    upper: Term
    low: str
    high: str


def canonical(value: Polynomial) -> Term:
    """Return the polynomial as a term, its products in a fixed order."""
    order = sorted(value.items(), key=lambda item: (-len(item[0]), repr(item[0])))
    terms = [_monomial(factors, coefficient) for factors, coefficient in order]
    if not terms:
        return 0
    result = terms[0]
    for each in terms[1:]:
        result = ("+", result, each)
    return result


def _monomial(factors: tuple[Any, ...], coefficient: int) -> Term:
    if not factors:
        return coefficient
    result: Term = factors[0]
    for factor in factors[1:]:
        result = ("*", result, factor)
    return result if coefficient == 1 else ("*", coefficient, result)


def _key(value: Polynomial) -> tuple[Any, ...]:
    return tuple(sorted(value.items(), key=repr))


def _is_opposite(value: Polynomial) -> bool:
    signs = {coefficient > 0 for factors, coefficient in value.items() if factors}
    return signs == {False}


def _size(term: Term) -> int:
    return 1 + sum(map(_size, term[1:])) if isinstance(term, tuple) else 1


class Evaluator:
    """What is known of the names of one script: digits, bounds, and values found so far."""

    def __init__(self, script: Script, expand: frozenset[str]) -> None:
        self.script = script
        self.bounds: dict[str, Bounds] = {}
        self._expand = expand
        self._values: dict[Term, tuple[Polynomial, str]] = {}
        self._sums: dict[tuple[Any, ...], tuple[Polynomial, str]] = {}

    def know(self, term: Term, value: Polynomial, fact: str) -> None:
        """Remember that a name, or a term, equals a polynomial; ``fact`` is that equation."""
        self._values[term] = (value, fact)

    def know_sum(self, key: Polynomial, value: Polynomial, fact: str) -> None:
        """Remember that one polynomial equals another; ``fact`` says so of their normal forms."""
        self._sums[_key(key)] = (value, fact)
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
            self._values[term] = self._normal(term)
        return self._values[term]

    def _normal(self, term: Term) -> tuple[Polynomial, str]:
        match term:
            case int():
                return ({(): term} if term else {}), self.script.calculate(term)
            case str():
                if term in self._expand:
                    definition = self.script.right(term)
                    value, fact = self.normal(definition)
                    return value, self.script.calculate(term, By(term), By(fact))
                return {(term,): 1}, self.script.calculate(term)
            case ("+" | "-" | "*" as operator, left, right):
                at_once = self._at_once(term)
                if at_once is not None:
                    return at_once
                (one, _), (other, _) = self.normal(left), self.normal(right)
                if operator == "*":
                    value = _product(one, other)
                else:
                    value = total([(one, 1), (other, 1 if operator == "+" else -1)])
                fact = self.script.calculate(
                    term, *self._parts(left, right), Ring(canonical(value))
                )
                return self._known_sum(term, value, fact)
            case ("div" | "mod" as operator, left, right):
                return self._quotient(operator, left, right)
        raise Stuck(f"{term} is not a term")

    def _at_once(self, term: Term) -> tuple[Polynomial, str] | None:
        """The normal form by one calculation, where no sum inside has a value of its own."""
        leaves: dict[Term, None] = {}
        value = self._sum(term, leaves)
        if value is None:
            return None
        moves = self._parts(*leaves)
        end = self.script.right(self.script.calculate(term, *moves))
        if polynomial(end) != value:
            return None
        fact = self.script.calculate(term, *moves, Ring(canonical(value)))
        return self._known_sum(term, value, fact)

    def _sum(self, term: Term, leaves: dict[Term, None]) -> Polynomial | None:
        """The value of sums and products over ``leaves``, which it collects."""
        match term:
            case ("+" | "-" | "*" as operator, left, right):
                one, other = self._sum(left, leaves), self._sum(right, leaves)
                for side, found in ((left, one), (right, other)):
                    if found is None or (isinstance(side, tuple) and _key(found) in self._sums):
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
        for part in sorted(dict.fromkeys(parts), key=_size, reverse=True):
            _, fact = self.normal(part)
            if self.script.right(fact) != part:
                moves.append(By(fact))
        return moves

    def _known_sum(self, term: Term, value: Polynomial, fact: str) -> tuple[Polynomial, str]:
        found = self._sums.get(_key(value))
        if found is None:
            return value, fact
        better, equation = found
        return better, self.script.calculate(term, By(fact), By(equation))

    def _quotient(self, operator: str, left: Term, right: Term) -> tuple[Polynomial, str]:
        (dividend, _), (divisor, _) = self.normal(left), self.normal(right)
        term: Term = (operator, left, right)
        moves = self._parts(left, right)
        better = self._sums.get(_key(dividend))
        if better is not None:
            dividend, equation = better
            moves.append(By(equation))
        below = canonical(divisor)
        plain: Term = (operator, canonical(dividend), below)
        for high, low in _splits(dividend, divisor, self.bounds):
            if not self._stays_below(low, below):
                continue
            joined: Term = ("+", ("*", canonical(high), below), canonical(low))
            values = {"a": canonical(high), "b": canonical(low), "B": below}
            quotient, remainder = self.script.use("EUCLID", values)
            fact = quotient if operator == "div" else remainder
            steps: list[Ring | By] = [*moves, Ring((operator, joined, below)), By(fact)]
            return (high if operator == "div" else low), self.script.calculate(term, *steps)
        if operator == "div" and _is_opposite(dividend) and self._is_positive(below):
            return self._mirrored_quotient(term, moves, dividend, below)
        if plain != term and plain in self._values:
            value, equation = self._values[plain]
            return value, self.script.calculate(term, *moves, Ring(plain), By(equation))
        if operator == "mod" and self._is_positive(below):
            return self._remainder(term, moves, dividend, divisor)
        atom: Polynomial = {(plain,): 1}
        return atom, self.script.calculate(term, *moves, Ring(plain))

    def _remainder(
        self, term: Term, moves: Sequence[Ring | By], dividend: Polynomial, divisor: Polynomial
    ) -> tuple[Polynomial, str]:
        """What the quotient leaves, so that ``E%k`` and ``E - E/k*k`` come out alike."""
        whole, below = canonical(dividend), canonical(divisor)
        joined, *_ = self.script.use("DIVISION", {"x": whole, "B": below})
        quotient: Term = ("div", whole, below)
        left: Term = ("-", whole, ("*", quotient, below))
        plain: Term = ("mod", whole, below)
        value = total([(dividend, 1), (product({(quotient,): 1}, divisor), -1)])
        steps = [*moves, Ring(plain), By(self.script.have(("=", plain, left), joined))]
        return value, self.script.calculate(term, *steps, Ring(canonical(value)))

    def _mirrored_quotient(
        self, term: Term, moves: Sequence[Ring | By], dividend: Polynomial, below: Term
    ) -> tuple[Polynomial, str]:
        """The opposite is rounded up, so that ``-(-E/k)`` and ``(E + k - 1)/k`` come out alike."""
        opposite = canonical(total([(dividend, -1)]))
        (mirror,) = self.script.use("MIRROR", {"E": opposite, "B": below})
        rounded, fact = self.normal(("div", ("+", opposite, ("-", below, 1)), below))
        value = total([(rounded, -1)])
        steps: list[Ring | By] = [*moves, Ring(("div", ("-", 0, opposite), below)), By(mirror)]
        return value, self.script.calculate(term, *steps, By(fact), Ring(canonical(value)))

    def _stays_below(self, low: Polynomial, below: Term) -> bool:
        """Whether ``0 <= low < below`` can be shown; then both are facts of the script."""
        try:
            if not low:
                return self._divides(below)
            bounds = self.reach(low)
            if bounds is None and self._mirrored(low, below):
                return True
            if bounds is None or not self._is_below(bounds, canonical(low), below):
                return self._linear(low, below)
        except Stuck:
            return False
        return True

    def _is_below(self, bounds: Bounds, low: Term, below: Term) -> bool:
        if bounds.upper == below:
            return True
        upper, fact = self.normal(bounds.upper)
        wanted, _ = self.normal(below)
        if upper == wanted and canonical(wanted) == below:
            self.script.rewrite(bounds.high, By(fact))
            return True
        if isinstance(canonical(upper), int) and isinstance(below, int):
            self.script.have(("<", low, below), bounds.high)
            return bool(canonical(upper) <= below)  # type: ignore[operator]
        return False

    def _divides(self, below: Term) -> bool:
        """Nothing is left over; the divisor has to be positive still."""
        self.script.have(("<=", 0, 0))
        return self._is_positive(below)

    def _is_positive(self, below: Term) -> bool:
        if isinstance(below, int):
            return below > 0 and bool(self.script.have(("<", 0, below)))
        at_least_one = self.script.find(("<=", 1, below))
        if at_least_one is not None:
            self.script.have(("<", 0, below), at_least_one)
        return self.script.find(("<", 0, below)) is not None

    def _mirrored(self, low: Polynomial, below: Term) -> bool:
        """``k - 1 - r`` stays below ``k`` as ``r`` does."""
        divisor, _ = self.normal(below)
        rest = total([(divisor, 1), ({(): 1}, -1), (low, -1)])
        if not rest and self._is_positive(below):
            positive = self.script.find(("<", 0, below))
            assert positive is not None
            self.script.have(("<=", 0, canonical(low)), positive)
            self.script.have(("<", canonical(low), below), positive)
            return True
        digit = canonical(rest)
        bounds = self.bounds.get(digit) if isinstance(digit, str) else None
        if bounds is None or bounds.upper != below:
            return False
        self.script.have(("<=", 0, canonical(low)), bounds.low, bounds.high)
        self.script.have(("<", canonical(low), below), bounds.low, bounds.high)
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
        self.script.have(("<=", 0, canonical(low)), *premises)
        self.script.have(("<", canonical(low), below), *premises)
        return True

    def reach(self, value: Polynomial) -> Bounds | None:
        """Return bounds of a polynomial that is put together from digits by Horner's rule."""
        term = canonical(value)
        if not value:
            return Bounds(1, self.script.have(("<=", 0, 0)), self.script.have(("<", 0, 1)))
        if isinstance(term, str):
            return self.bounds.get(term)
        for factors in value:
            if len(factors) == 1 and value[factors] == 1 and factors[0] in self.bounds:
                minor = self.bounds[factors[0]]
                rest = total([(value, 1), ({factors: 1}, -1)])
                radix, _ = self.normal(minor.upper)
                major = exact_quotient(rest, radix)
                if major is not None:
                    return self._joined(term, major, factors[0], minor)
        return None

    def _joined(self, term: Term, major: Polynomial, digit: str, minor: Bounds) -> Bounds | None:
        bounds = self.reach(major)
        if bounds is None:
            return None
        above = canonical(major)
        values = {"a": above, "b": digit, "A": bounds.upper, "B": minor.upper}
        low, high, *_ = self.script.use("PAIR", values)
        joined: Term = ("+", ("*", above, minor.upper), digit)
        if joined != term:
            same = self.script.calculate(joined, *self._parts(minor.upper), Ring(term))
            low = self.script.rewrite(low, By(same))
            high = self.script.rewrite(high, By(same))
        return Bounds(("*", bounds.upper, minor.upper), low, high)


def _product(left: Polynomial, right: Polynomial) -> Polynomial:
    try:
        return product(left, right)
    except ValueError as reason:
        raise Stuck(str(reason)) from None


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


def _splits(
    dividend: Polynomial, divisor: Polynomial, bounds: dict[str, Bounds]
) -> list[tuple[Polynomial, Polynomial]]:
    """Ways to write the dividend as ``high * divisor + low``, the likeliest first."""
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
