"""Proofs of theorems about one part of a module, or about none. Not trusted.

Ranges and parts are linear, once it is known what divisions leave. That an element lies at its
offset is an equation: its index is a polynomial in the places of a part, and normal forms show that
the coordinates of that index are those places.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from layoutdsl.proof.kernel.builder import NoProof, ProofBuilder
from layoutdsl.proof.kernel.checker import By, Polynomial, Ring, Term, names, polynomial, total
from layoutdsl.proof.kernel.checker import product as product_of
from layoutdsl.proof.tactics.arith import Arithmetic
from layoutdsl.proof.tactics.growth import grown
from layoutdsl.proof.tactics.polynomials import Bounds, canonical, exact_quotient


class PartProof:
    """The proof of a theorem about one part, or about none."""

    def __init__(self, builder: ProofBuilder) -> None:
        self.builder = builder
        theorem = builder.theorem
        self.defined = dict(theorem.definitions)
        self.arithmetic = Arithmetic(builder)
        self.values = self.arithmetic.values
        self.premises = [*builder.hypotheses, *self.defined]
        self.divided: set[tuple[Term, Term]] = set()
        self.sized: set[Term] = set()

    def prove(self) -> None:
        """Prove each goal in the builder.

        Raises:
            NoProof: none was found.
        """
        theorem = self.builder.theorem
        if self._is_never():
            for goal in theorem.goals:
                self.builder.have(goal, *self.premises)
            return
        for formula in (*(t for _, t in theorem.definitions), *theorem.hypotheses, *theorem.goals):
            self._sizes(formula)
        for name, term in theorem.definitions:
            self._divisions(term)
            self._bound(name, term)
        places: list[Term] = []
        for both in pairwise(theorem.hypotheses):
            match both:
                case ("<=", 0, str() as name), ("<", again, upper) if name == again:
                    if name.startswith(("k.", "i.")):
                        self._place(name, upper)
                        places.append(name)
        for formula in (*theorem.hypotheses, *theorem.goals):
            self._divisions(formula, frozenset(places))
        for goal in theorem.goals:
            self._goal(goal, places)

    def _is_never(self) -> bool:
        """Whether numbers alone say that there is no such part, where extents are fixed.

        Four elements in rows of two leave no ragged row: 4 mod 2 is 0, and said not to be.
        """
        none = [name for name, number in self._numbers().items() if number == 0]
        return any(("not", ("=", each, 0)) in self.builder.theorem.hypotheses for each in none)

    def _numbers(self) -> dict[Term, int]:
        """Names for quotients and remainders of numbers, and which numbers these are."""
        numbers: dict[Term, int] = {}
        for name, term in self.defined.items():
            match term:
                case ("div" | "mod" as operator, over, int(by)) if by > 0:
                    whole = over if isinstance(over, int) else numbers.get(over)
                    if whole is not None:
                        numbers[name] = whole // by if operator == "div" else whole % by
        return numbers

    def _settle(self, places: Sequence[Term]) -> None:
        """Names that are numbers, and places of which there is but one, are known as numbers."""
        builder, numbers = self.builder, self._numbers()
        settled = {str(name): number for name, number in numbers.items()}
        for formula in builder.theorem.hypotheses:
            match formula:
                case ("<", str(place), upper) if place in places and numbers.get(upper) == 1:
                    settled[place] = 0
        for name, number in settled.items():
            fact = builder.have(("=", name, number), *self.premises)
            self.premises.append(fact)
            self.values.settle(name, number, fact)

    def _goal(self, goal: Term, places: Sequence[Term]) -> None:
        if self.builder.find(goal) is not None:
            return
        match goal:
            case ("=", left, right):
                if polynomial(left) == polynomial(right):
                    self.builder.calculate(left, Ring(right))
                    return
                if set(places) & {*names(goal)}:
                    try:
                        self._normal_forms(left, right)
                    except NoProof:
                        self._settle(places)
                        self._normal_forms(left, right)
                    return
            case ("not", ("<", low, high)) | ("<=", high, low):
                fact = grown(self.arithmetic, high, low)
                if fact is not None:
                    self.builder.have(goal, fact)
                    return
        self.builder.have(goal, *self.premises, *self._products(goal))

    def _normal_forms(self, left: Term, right: Term) -> None:
        for term in (left, right):
            self._joined_again(term)
        (one, first), (other, second) = self.values.normal(left), self.values.normal(right)
        if one != other:
            raise NoProof("an element lies elsewhere")
        if self.builder.find(("=", left, right)) is None:
            fact = self.builder.calculate(left, By(first), By(second, backwards=True))
            if self.builder.formula(fact) != ("=", left, right):
                self.builder.have(("=", left, right), first, second)

    def _joined_again(self, term: Term) -> None:
        """``j/H*H + j%H`` is ``j``: axes are read as one, and ``j/H`` may be some again."""
        match term:
            case ("+", ("*", above, other), ("mod", whole, below)) if other == below:
                self._joined_again(above)
                self._joined_again(whole)
                quotient: Term = ("div", whole, below)
                if self.values.normal(above)[0] == self.values.normal(quotient)[0]:
                    self._join(whole, quotient, below)
            case (_, *parts):
                for part in parts:
                    self._joined_again(part)

    def _join(self, whole: Term, quotient: Term, below: Term) -> None:
        self.arithmetic.positive(below)
        facts = self.builder.use("DIVISION", {"x": whole, "B": below})
        key, same = self.values.normal(("+", ("*", quotient, below), ("mod", whole, below)))
        value, equal = self.values.normal(whole)
        if key != value:
            moves = (By(same, backwards=True), By(facts[0]), By(equal))
            self.values.know_sum(key, value, self.builder.calculate(canonical(key), *moves))

    # What divisions leave.

    def _divisions(self, term: Term, places: frozenset[Term] = frozenset()) -> None:
        """Use DIVIDE for every division by an extent; the solver divides by numbers itself."""
        match term:
            case ("div" | "mod" as operator, left, right):
                self._divisions(left, places)
                match left:
                    case ("+", value, ("-", block, 1)) if operator == "div" and block == right:
                        left = value
                if isinstance(right, int) or places & {*names(left)}:
                    return
                if (left, right) not in self.divided:
                    self.divided.add((left, right))
                    self._divide(left, right)
            case (_, *parts):
                for part in parts:
                    self._divisions(part, places)

    def _divide(self, left: Term, right: Term) -> None:
        builder = self.builder
        try:
            self.arithmetic.positive(right)
            if builder.find(("<=", 0, left)) is None:
                if set(names(left)) & {*self.defined}:
                    builder.have(("<=", 0, left), *self.premises)
                else:
                    self.arithmetic.not_negative(left)
            self.premises += builder.use("DIVIDE", {"x": left, "B": right})
        except NoProof:
            return

    def _products(self, goal: Term) -> list[str]:
        """Products are opaque to the solver; each is said to be equal to its ordered form."""
        facts: list[str] = []
        formulas = [goal, *(self.builder.formula(each) for each in self.premises)]
        for product in dict.fromkeys(p for each in formulas for p in _products_in(each)):
            if not any(isinstance(factor, int) for factor in product[1:]):
                facts += self._signs(product)
            ordered = canonical(_spelled(product))
            if ordered != product:
                facts.append(self.builder.calculate(product, Ring(ordered)))
        return facts

    def _signs(self, product: tuple[Any, ...]) -> list[str]:
        """A product is not negative if its factors are not, and zero if one of them is."""
        left, right = product[1:]
        facts: list[str] = []
        for a, b in ((left, right), (("-", 0, left), right), (left, ("-", 0, right))):
            facts += self.builder.use("PRODUCT", {"a": a, "b": b})
            if (a, b) != (left, right):
                facts.append(self.builder.calculate(("*", a, b), Ring(("-", 0, product))))
        return facts

    def _sizes(self, formula: Term) -> None:
        """A product of extents is not negative."""
        for product in _products_in(formula):
            said = {*names(product)}
            plain = said and all(name[:2] == "n." for name in said) and not _divides(product)
            if plain and product not in self.sized:
                self.sized.add(product)
                left, right = product[1:]
                self.premises.append(self.arithmetic.not_negative(product))
                one: Term = ("-", left, 1)
                other: Term = ("-", right, 1)
                facts = self.builder.use("PRODUCT", {"a": one, "b": other})
                expanded: Term = ("-", ("+", product, 1), ("+", left, right))
                facts.append(self.builder.calculate(("*", one, other), Ring(expanded)))
                self.premises += [*facts, self.arithmetic.not_negative(left)]
                self.premises += [self.arithmetic.not_negative(right)]

    # What names stay below.

    def _bound(self, name: str, term: Term) -> None:
        """A name for a quotient or a remainder is not negative, and may stay below something."""
        builder = self.builder
        match term:
            case ("mod", _, upper):
                high = builder.have(("<", name, upper), *self.premises)
            case ("div", whole, divisor):
                found = self._upper(whole, divisor)
                if found is None:
                    return
                upper, high = found, ""
                if isinstance(divisor, int):
                    high = builder.have(("<", name, upper), *self.premises)
                else:
                    facts = self._unpair(whole, upper, divisor)
                    high = builder.have(("<", name, upper), name, facts[1])
            case _:
                return
        low = builder.have(("<=", 0, name), *self.premises)
        self.premises += [low, high]
        self.values.bounds[name] = Bounds(upper, low, high)

    def _upper(self, whole: Term, divisor: Term) -> Term | None:
        if isinstance(whole, int) and isinstance(divisor, int):
            return whole // divisor + 1
        known = self.values.bounds.get(whole) if isinstance(whole, str) else None
        if known is None:
            most = [self.builder.formula(fact) for fact in self.builder.hypotheses]
            ends = [each[2] for each in most if each[:2] == ("<=", whole)]  # type: ignore[index]
            numbers = [end for end in ends if isinstance(end, int)]
            if not numbers or not isinstance(divisor, int):
                return None
            ragged = self._is_ragged(whole, divisor)
            return (min(numbers) - (1 if ragged else 0)) // divisor + 1
        upper = known.upper
        if isinstance(upper, int) and isinstance(divisor, int):
            return -(-upper // divisor)
        quotient = exact_quotient(polynomial(upper), polynomial(divisor))
        return None if quotient is None else canonical(quotient)

    def _is_ragged(self, whole: Term, divisor: Term) -> bool:
        """Whether something is left over, by a condition on the part: on it, or on a part of it."""
        left: set[Term] = set()
        for name, term in self.defined.items():
            match term:
                case ("div" | "mod", over, _) if term == ("mod", whole, divisor) or over in left:
                    left.add(name)
        return any(self.builder.find(("not", ("=", name, 0))) is not None for name in left)

    def _unpair(self, whole: Term, upper: Term, divisor: Term) -> list[str]:
        assert isinstance(whole, str)
        bounds = self.values.bounds[whole]
        self.arithmetic.positive(divisor)
        self.arithmetic.below(bounds.high, ("*", upper, divisor))
        return self.builder.use("UNPAIR", {"x": whole, "A": upper, "B": divisor})

    def _place(self, name: str, upper: Term) -> None:
        """A place stays below an extent, and below what that extent stays below."""
        builder = self.builder
        low, high = builder.find(("<=", 0, name)), builder.find(("<", name, upper))
        assert low is not None
        assert high is not None
        if upper == 1:
            self.values.know(name, {}, builder.have(("=", name, 0), low, high))
            return
        known = self.values.bounds.get(upper) if isinstance(upper, str) else None
        if known is not None:
            most = known.upper
            upper = most - 1 if isinstance(most, int) else most
            high = builder.have(("<", name, upper), high, known.high)
        self.values.bounds[name] = Bounds(upper, low, high)


def _divides(term: Term) -> bool:
    return isinstance(term, tuple) and (term[0] not in ("+", "*") or any(map(_divides, term[1:])))


def _spelled(term: Term) -> Polynomial:
    """A term as a polynomial in its names, quotients and remainders, which stay as they are."""
    match term:
        case int():
            return {(): term} if term else {}
        case ("+", left, right):
            return total([(_spelled(left), 1), (_spelled(right), 1)])
        case ("-", left, right):
            return total([(_spelled(left), 1), (_spelled(right), -1)])
        case ("*", left, right):
            return product_of(_spelled(left), _spelled(right))
    return {(term,): 1}


def _products_in(term: Term) -> Iterator[tuple[Any, ...]]:
    match term:
        case (operator, *parts):
            if operator == "*":
                yield term
            for part in parts:
                yield from _products_in(part)
