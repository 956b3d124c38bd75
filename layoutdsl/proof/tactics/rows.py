"""What proofs about rows need: normal forms of where rows begin, and products that order them.

With ``start`` quadratic in the row, a row is as long as a linear expression says, and of two rows
``r < s`` twice the gap between the end of one and the start of the other is
``(s - r - 1)*(length(r) + length(s))``. Not trusted.
"""

from __future__ import annotations

from collections.abc import Iterable

from layoutdsl.language.digits.domains import Rows
from layoutdsl.proof.kernel.builder import ProofBuilder
from layoutdsl.proof.kernel.checker import By, Polynomial, Ring, Term, names, product, total
from layoutdsl.proof.statements.domain_statement import start
from layoutdsl.proof.statements.statement import Ground
from layoutdsl.proof.tactics.arith import Arithmetic
from layoutdsl.proof.tactics.halves import Halves
from layoutdsl.proof.tactics.polynomials import canonical

ONE: Polynomial = {(): 1}


class Working:
    """One builder with its arithmetic, and facts that every question may rest on.

    Args:
        ground: the vocabulary.
        builder: where the facts go; its definitions of coordinates and indices are expanded.
    """

    def __init__(self, ground: Ground, builder: ProofBuilder) -> None:
        self.ground = ground
        self.builder = builder
        expand = {
            name
            for name, _ in builder.theorem.definitions
            if name[:2] in ("v.", "h.", "r.", "d.") or name == "back"
        }
        self._expand = frozenset(expand | {f"{name}~" for name in expand})
        self.arithmetic = Arithmetic(builder, self._expand)
        self.halves = Halves(self.arithmetic.values)
        self._facts: list[str] = []
        self._prepared: set[Term] = set()
        for hypothesis in builder.theorem.hypotheses:
            self._sides(hypothesis)

    @property
    def premises(self) -> tuple[str, ...]:
        """What is known: hypotheses, halves, normal forms and products."""
        return (*self.builder.hypotheses, *self.halves.facts, *self._facts)

    def note(self, *facts: str) -> None:
        """Let further questions rest on these facts."""
        self._facts += [fact for fact in facts if fact not in self._facts]

    def learn(self, facts: Iterable[str]) -> None:
        """Note facts, and what they speak of in normal form."""
        for fact in facts:
            self.note(fact)
            self._sides(self.builder.formula(fact))

    def normal(self, term: Term) -> Polynomial:
        """Return a term's normal form; that they are equal is noted."""
        self._prepare(term)
        value, fact = self.arithmetic.values.normal(term)
        if canonical(value) != term:
            self.note(fact)
        return value

    def _prepare(self, term: Term) -> None:
        """Name the blocks, and learn the halves, that a term and its names are made of."""
        if term in self._prepared:
            return
        self._prepared.add(term)
        if isinstance(term, str) and term in self._expand:
            definition = self.builder.find_definition(term)
            if definition is not None:
                self._prepare(definition)
        if isinstance(term, tuple):
            for part in term[1:]:
                self._prepare(part)
            if term[0] == "div":
                self.halves.teach(term)
                self._name_block(term)

    def _name_block(self, term: Term) -> None:
        """A quotient that stays one gets a name, so that it can be a factor like any other."""
        values = self.arithmetic.values
        value, same = values.normal(term)
        plain = canonical(value)
        if not (isinstance(plain, tuple) and plain[0] == "div" and isinstance(plain[2], int)):
            return
        number = sum(1 for each in self.builder.names if each.startswith("a."))
        name = self.builder.define(f"a.{number}", plain)
        fold = By(name, backwards=True)
        values.know(plain, {(name,): 1}, self.builder.calculate(plain, fold))
        if term != plain:
            values.know(term, {(name,): 1}, self.builder.calculate(term, By(same), fold))

    def have(self, goal: Term, *more: str) -> str:
        """Ask for a comparison; whatever it rests on is known in normal form too."""
        self._sides(goal)
        seen = set[str]()
        while left := {name for fact in self.premises for name in self._spoken(fact)} - seen:
            seen |= left
            for name in sorted(left):
                if name.startswith("a."):
                    self.note(name)
                else:
                    self.normal(name)
        return self.builder.have(goal, *more, *self.premises)

    def _sides(self, formula: Term) -> None:
        match formula:
            case (("=" | "<=" | "<"), left, right):
                self.normal(left)
                self.normal(right)
            case (_, *parts):
                for part in parts:
                    self._sides(part)

    def _spoken(self, fact: str) -> set[str]:
        """The names in a fact that stand for something else."""
        spoken = names(self.builder.formula(fact))
        return {name for name in spoken if name in self._expand or name.startswith("a.")}

    def start(self, rows: Rows, row: Term) -> Polynomial:
        """Return where a row begins, in normal form."""
        return self.normal(start(self.ground, rows, row))

    def length(self, rows: Rows, row: Term) -> Polynomial:
        """Return how long a row is."""
        return total([(self.start(rows, ("+", row, 1)), 1), (self.start(rows, row), -1)])

    def times(self, left: Polynomial, right: Polynomial) -> None:
        """Note that two numbers that are not negative have a product that is not."""
        one, other = canonical(left), canonical(right)
        (fact,) = self.builder.use("PRODUCT", {"a": one, "b": other})
        self.note(fact)
        whole = canonical(product(left, right))
        if whole != ("*", one, other):
            self.note(self.builder.calculate(("*", one, other), Ring(whole)))

    def ordered(self, rows: Rows, first: Term, second: Term) -> None:
        """Note what orders two rows: the first ends before the second begins."""
        one, other = self.normal(first), self.normal(second)
        between = total([(other, 1), (one, -1), (ONE, -1)])
        lengths = total([(self.length(rows, first), 1), (self.length(rows, second), 1)])
        self.times(between, self.halves.written_out(lengths))

    def vanishing(self, value: Polynomial, number: Term) -> None:
        """Note that products with a number are zero where it is; no factor is negative."""
        name = canonical(self.normal(number))
        for factors in ((name, name), *value):
            if len(factors) == 2 and name in factors:
                other = factors[1] if factors[0] == name else factors[0]
                self.times({(name,): 1}, {(other,): 1})
                self.times({(name,): -1}, {(other,): 1})
