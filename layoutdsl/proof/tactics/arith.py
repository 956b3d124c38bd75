"""Small facts that every proof needs: what is positive, what is equal, what stays below what."""

from __future__ import annotations

import operator
from itertools import accumulate
from math import prod

from layoutdsl.proof.kernel.builder import NoProof, ProofBuilder
from layoutdsl.proof.kernel.polynomial import Polynomial, polynomial, product, total
from layoutdsl.proof.kernel.theorem import By, Ring, Term, Theorem, names
from layoutdsl.proof.tactics.congruence import Wanted
from layoutdsl.proof.tactics.evaluate import Evaluator
from layoutdsl.proof.tactics.polynomials import Bounds, canonical, exact_quotient, in_terms


class Arithmetic:
    """Facts about extents, and an evaluator for the rest; ``more`` is what every bound may rest on.

    Args:
        builder: where the facts go.
        expand: names that the evaluator replaces by their definitions.
        extents: names of extents; they are replaced only where nothing else helps.
        wanted: where digits have to be cut.
    """

    def __init__(
        self,
        builder: ProofBuilder,
        expand: frozenset[str] = frozenset(),
        extents: frozenset[str] = frozenset(),
        wanted: Wanted | None = None,
    ) -> None:
        self.builder = builder
        self.more: tuple[str, ...] = ()
        self.values = Evaluator(builder, expand, wanted)
        self.sizes = Evaluator(builder, expand | extents)
        self._know_multiples()

    def _know_multiples(self) -> None:
        """Teach sizes what the range says of an extent that parameters divide: ``I`` is ``e*B``."""
        for hypothesis in self.builder.hypotheses:
            match self.builder.formula(hypothesis):
                case ("=", ("mod", str() as extent, tuple() as block), 0):
                    self.positive(block)
                    joined, *_ = self.builder.use("DIVISION", {"x": extent, "B": block})
                    name = f"e.{extent}"
                    if self.builder.find_definition(name) is None:
                        self.builder.define(name, ("div", extent, block))
                    whole: Term = ("*", name, block)
                    folded = self.builder.rewrite(joined, By(name, backwards=True))
                    fact = self.builder.have(("=", extent, whole), folded, hypothesis)
                    value = polynomial(whole)
                    equal = self.builder.calculate(extent, By(fact), Ring(canonical(value)))
                    self.sizes.know(extent, value, equal)

    def digit(self, name: str, bounds: Bounds) -> None:
        """Remember the bounds of a digit, and cut it where that was wanted."""
        self.values.bounds[name] = bounds
        radices = self.values.wanted.radices(name)
        if not radices:
            return
        radices, cap = self._evenly(name, radices, bounds.upper)
        self.cut((name, bounds.low, bounds.high), [*radices], cap)
        value, fact = self.values.normal(name)
        low, high = (self.builder.rewrite(each, By(fact)) for each in (bounds.low, bounds.high))
        self.values.groups.append((value, Bounds(bounds.upper, low, high)))

    def _evenly(self, name: str, radices: list[int], upper: Term) -> tuple[list[int], Term]:
        """The radices that divide a bound, and the quotient; the others cut what is above them.

        Where even the first does not, all of them are kept, and the quotient is rounded up.
        """
        value, _ = self.sizes.normal(upper)
        for count in range(len(radices), 0, -1):
            above = exact_quotient(value, {(): prod(radices[:count])})
            if above is not None:
                places = accumulate(radices[count:], operator.mul)
                for place in places:
                    self.values.wanted.want(f"q.{name}.{count - 1}", place)
                return radices[:count], canonical(above)
        block = prod(radices)
        return radices, ("div", ("+", upper, block - 1), block)

    def cut(self, whole: tuple[str, str, str], radices: list[Term], cap: Term) -> None:
        """Cut a number into digits; it becomes a polynomial in them.

        Args:
            whole: its name, and the facts ``0 <= name`` and ``name < bound``.
            radices: most minor first.
            cap: what the most major digit is below.
        """
        builder = self.builder
        name, low, high = whole
        caps = [cap]
        for radix in reversed(radices):
            caps.insert(0, ("*", caps[0], radix))
        high = self.below(high, caps[0])
        rest, moves = name, list[By]()
        for number, radix in enumerate(radices):
            self.positive(radix)
            facts = builder.use("UNPAIR", {"x": rest, "A": caps[number + 1], "B": radix})
            digit = builder.define(f"g.{name}.{number}", ("mod", rest, radix))
            above = builder.define(f"q.{name}.{number}", ("div", rest, radix))
            fold = (By(digit, backwards=True), By(above, backwards=True))
            low, high, digit_low, digit_high, equal = (builder.rewrite(f, *fold) for f in facts)
            self.digit(digit, Bounds(radix, digit_low, digit_high))
            moves.append(By(equal, backwards=True))
            rest = above
        self.digit(rest, Bounds(cap, low, high))
        if moves:
            joined = builder.calculate(name, *moves)
            value, equal = self.values.normal(builder.right(joined))
            self.values.know(name, value, builder.calculate(name, By(joined), By(equal)))

    def positive(self, term: Term) -> str:
        """Return the fact that the term is positive."""
        known = self.builder.find(("<", 0, term))
        if known is not None:
            return known
        match term:
            case int():
                return self.builder.have(("<", 0, term))
            case str():
                at_least_one = self.builder.find(("<=", 1, term))
                if at_least_one is not None:
                    return self.builder.have(("<", 0, term), at_least_one)
                definition = self.builder.find_definition(term)
                if definition is not None:
                    fact = self.positive(definition)
                    return self.builder.rewrite(fact, By(term, backwards=True))
            case ("*", left, right):
                self.positive(left)
                self.positive(right)
                return self.builder.use("POSITIVE", {"a": left, "b": right})[0]
            case ("+", left, right) if _may_be_zero(left) and not _may_be_zero(right):
                premises = (self.not_negative(left), self.positive(right))
                return self.builder.have(("<", 0, term), *premises)
            case ("+", left, right) if not (isinstance(right, int) and right < 0):
                premises = (self.positive(left), self.not_negative(right))
                return self.builder.have(("<", 0, term), *premises)
            case ("div", ("+", value, ("-", block, 1)), divisor) if block == divisor:
                self.positive(value)
                self.positive(divisor)
                return self.builder.use("CEILING", {"E": value, "B": divisor})[0]
            case ("div", _, divisor) if not isinstance(divisor, int):
                return self.builder.have(("<", 0, term), *self.quotient_facts(term))
        return self.builder.have(("<", 0, term), *self.builder.hypotheses)

    def quotient_facts(self, term: Term) -> list[str]:
        """Return what the range says of a quotient by extents: what it is no less than.

        Where ``a*B <= x`` is a hypothesis, ``a <= x div B`` follows; a product is opaque to the
        solver, so it is told what a difference to such an ``a`` would come to.
        """
        facts = list(self.builder.hypotheses)
        match term:
            case ("div", dividend, divisor) if not isinstance(divisor, int):
                self.positive(divisor)
                facts += self.builder.use("DIVISION", {"x": dividend, "B": divisor})
                ordered = canonical(product({(term,): 1}, in_terms(divisor)))
                facts.append(self.builder.calculate(("*", term, divisor), Ring(ordered)))
                for hypothesis in self.builder.hypotheses:
                    match self.builder.formula(hypothesis):
                        case ("=", ("mod", *parts), 0) if parts == [dividend, divisor]:
                            facts += self._differences({(): 1}, term, divisor)
                        case ("<=", low, whole) if whole == dividend:
                            count = exact_quotient(in_terms(low), in_terms(divisor))
                            if count is not None:
                                facts += self._differences(count, term, divisor)
        return facts

    def _differences(self, count: Polynomial, quotient: Term, divisor: Term) -> list[str]:
        found: list[str] = []
        less: Polynomial = total([(count, 1), ({(): 1}, -1)])
        for each in (less, total([(less, 1), ({(quotient,): 1}, -1)])):
            written, expanded = canonical(each), canonical(product(each, in_terms(divisor)))
            (fact,) = self.builder.use("PRODUCT", {"a": written, "b": divisor})
            found += [fact, self.builder.calculate(("*", written, divisor), Ring(expanded))]
        return found

    def not_negative(self, term: Term) -> str:
        """Return the fact that the term is at least zero."""
        match term:
            case ("+", left, right):
                premises = (self.not_negative(left), self.not_negative(right))
                return self.builder.have(("<=", 0, term), *premises)
            case ("*", left, right):
                low, high = self.not_negative(left), self.not_negative(right)
                (fact,) = self.builder.use("PRODUCT", {"a": left, "b": right})
                return self.builder.have(("<=", 0, term), fact, low, high)
            case ("div" | "mod", _, int(divisor)) if divisor > 0:
                return self.builder.have(("<=", 0, term), *self.builder.hypotheses)
            case int():
                return self.builder.have(("<=", 0, term))
        return self.builder.have(("<=", 0, term), self.positive(term))

    def not_negative_product(self, term: Term) -> str:
        """Return the fact that a product of ``X - 1`` for extents ``X`` is at least zero."""
        match term:
            case ("*", left, right):
                self.not_negative_product(left)
                self.not_negative_product(right)
                (fact,) = self.builder.use("PRODUCT", {"a": left, "b": right})
                low, high = self.builder.find(("<=", 0, left)), self.builder.find(("<=", 0, right))
                assert low is not None
                assert high is not None
                return self.builder.have(("<=", 0, term), fact, low, high)
            case ("-", str() as extent, 1):
                return self.builder.have(("<=", 0, term), self.positive(extent))
        raise NoProof("a product is not one of extents")

    def same(self, left: Term, right: Term) -> str | None:
        """Return the fact that two terms are equal, where they are so as polynomials."""
        if polynomial(left) == polynomial(right):
            return self.builder.calculate(left, Ring(right))
        (one, first), (other, second) = self.sizes.normal(left), self.sizes.normal(right)
        if one != other:
            return None
        return self.builder.calculate(left, By(first), By(second, backwards=True))

    def below(self, high: str, upper: Term, *more: str) -> str:
        """From ``x < U`` and ``more``, return the fact ``x < upper``."""
        match self.builder.formula(high):
            case ("<", value, bound):
                if bound == upper:
                    return high
                equal = self.same(bound, upper)
                if equal is not None:
                    other = self.builder.rewrite(high, By(equal))
                    if self.builder.formula(other) == ("<", value, upper):
                        return other
                known = (*self.builder.hypotheses, *self.builder.extent_definitions)
                premises = (high, *more, *self.more, *known)
                if isinstance(bound, int):
                    premises += tuple(self._products_in(upper))
                return self.builder.have(("<", value, upper), *premises)
        raise NoProof(f"{high} is no bound")

    def _products_in(self, upper: Term) -> list[str]:
        """That products are not negative, where a sum of them is no less than a number."""
        definition = self.builder.find_definition(upper) if isinstance(upper, str) else upper
        value, fact = ({}, "") if definition is None else self.values.normal(definition)
        products = [factors for factors in value if len(factors) > 1]
        if len(value) < 2 or not products:
            return []
        return [fact, *(self.not_negative(canonical({each: 1})) for each in products)]

    def in_range(self, term: Term, upper: Term) -> tuple[str, str]:
        """Return the facts ``0 <= term`` and ``term < upper``, from the bounds of its digits."""
        value, equal = self.values.normal(term)
        plain = canonical(value)
        bounds = self._reach(value, upper)
        if bounds is None:
            bounds = self._between(value, upper)
        high = self.below(bounds.high, upper, *self.premises(value))
        if plain == term:
            return bounds.low, high
        low = self.builder.calculate_in(bounds.low, ("<=", 0, term), equal)
        return low, self.builder.calculate_in(high, ("<", term, upper), equal)

    def _between(self, value: Polynomial, upper: Term) -> Bounds:
        """Bounds of a sum, from those of each summand."""
        plain, premises = canonical(value), self.premises(value)
        if not premises:
            raise NoProof("a coordinate has no bounds that digits give")
        premises += [*self.more, *self.builder.hypotheses, *self.builder.extent_definitions]
        low = self.builder.have(("<=", 0, plain), *premises)
        return Bounds(upper, low, self.builder.have(("<", plain, upper), *premises))

    def premises(self, value: Polynomial) -> list[str]:
        """The bounds of the digits in a sum, those inside its quotients too."""
        facts: list[str] = []
        pending, seen = [*names(canonical(value))], set[str]()
        while pending:
            name = pending.pop()
            if name in seen:
                continue
            seen.add(name)
            known = self.values.bounds.get(name)
            facts += [] if known is None else [known.low, known.high]
            if name.startswith("x."):
                facts.append(name)
                pending += names(self.builder.right(name))
        return facts

    def assumed(self, theorem: Theorem) -> None:
        """Show the goals that bound a term by a number, on which bitwise operations rest."""
        for goal in theorem.goals:
            match goal:
                case ("<", term, int(limit)) if self.builder.find(goal) is None:
                    self.in_range(term, limit)

    def _reach(self, value: Polynomial, upper: Term) -> Bounds | None:
        plain = canonical(value)
        if isinstance(plain, int) and plain >= 0:
            low = self.builder.have(("<=", 0, plain))
            if plain == 0:
                return Bounds(upper, low, self.positive(upper))
            return Bounds(plain + 1, low, self.builder.have(("<", plain, plain + 1)))
        return self.values.reach(value)


def _may_be_zero(term: Term) -> bool:
    """Whether a term over extents, of which none is 0, may be 0: a remainder or a quotient."""
    match term:
        case ("mod", _, _):
            return True
        case ("div", dividend, divisor):
            return not (isinstance(dividend, tuple) and dividend[::2] == ("+", ("-", divisor, 1)))
        case ("*", left, right):
            return _may_be_zero(left) or _may_be_zero(right)
        case ("+", left, right):
            return _may_be_zero(left) and _may_be_zero(right)
        case int():
            return term <= 0
    return False
