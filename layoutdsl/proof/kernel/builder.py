"""A proof under construction: names for facts, and the way back from a formula to its fact.

Not trusted: whatever is written here is followed by the checker.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from layoutdsl.proof.kernel.budget import NoProof, current
from layoutdsl.proof.kernel.theorem import (
    By,
    Calculate,
    Define,
    Have,
    Proof,
    Rewrite,
    Ring,
    Step,
    Term,
    Theorem,
    Use,
    names,
    replaced,
    size,
    substitute,
)

__all__ = ["NoProof", "ProofBuilder", "by_hypotheses"]


def by_hypotheses(theorem: Theorem) -> Proof:
    """Return the proof that leaves each goal to the solver, with all hypotheses as premises."""
    premises = tuple(f"hyp.{number}" for number in range(len(theorem.hypotheses)))
    goals = enumerate(dict.fromkeys(theorem.goals))
    return tuple(Have(f"f.{number}", goal, premises) for number, goal in goals)


class ProofBuilder:
    """The steps of one proof, and the facts they give so far."""

    def __init__(self, theorem: Theorem, known: Mapping[str, Theorem]) -> None:
        self.theorem = theorem
        self.steps: list[Step] = []
        self._known = known
        self._facts: dict[str, Term] = {}
        self._by_formula: dict[Term, str] = {}
        self._count = 0
        self._budget = current()
        for name, term in theorem.definitions:
            self._add(name, ("=", name, term))
        for number, hypothesis in enumerate(theorem.hypotheses):
            self._add(f"hyp.{number}", hypothesis)

    @property
    def proof(self) -> Proof:
        """The steps that the goals rest on; what was tried in vain is left out."""
        needed = {self._by_formula[goal] for goal in self.theorem.goals if goal in self._by_formula}
        kept: list[Step] = []
        for step in reversed(self.steps):
            if any(fact in needed for fact in _gives(step, self._facts)):
                kept.append(step)
                needed.update(_needs(step))
        return tuple(reversed(kept))

    @property
    def hypotheses(self) -> tuple[str, ...]:
        """The facts that the theorem assumes."""
        return tuple(f"hyp.{number}" for number in range(len(self.theorem.hypotheses)))

    def _add(self, fact: str, formula: Term) -> str:
        self._budget.spend(size(formula))
        self._facts[fact] = formula
        return self._by_formula.setdefault(formula, fact)

    def _fresh(self) -> str:
        self._count += 1
        return f"f.{self._count}"

    @property
    def names(self) -> tuple[str, ...]:
        """The names that have a definition."""
        return tuple(name for name in self._facts if self.find_definition(name) is not None)

    @property
    def extent_definitions(self) -> tuple[str, ...]:
        """The facts that say what the names of extents stand for."""
        return tuple(name for name, _ in self.theorem.definitions if name.startswith("r."))

    def find_definition(self, name: str) -> Term | None:
        """Return what a name was defined to stand for."""
        match self._facts.get(name):
            case ("=", left, right) if left == name:
                definition: Term = right
                return definition
        return None

    def calculate_in(self, source: str, wanted: Term, equation: str) -> str:
        """Return ``wanted``, a known fact with the right side of an equation put back to its left.

        Where putting it back everywhere would change more than is wanted, the solver is asked.
        """
        known = self.find(wanted)
        if known is not None:
            return known
        if self._moved(self._facts[source], By(equation, backwards=True)) == wanted:
            return self.rewrite(source, By(equation, backwards=True))
        return self.have(wanted, source, equation)

    def formula(self, fact: str) -> Term:
        """Return what a fact says."""
        return self._facts[fact]

    def find(self, formula: Term) -> str | None:
        """Return the fact that says this, where there is one."""
        return self._by_formula.get(formula)

    def define(self, name: str, term: Term) -> str:
        """Name a term; returns the name, which is the name of the equation too."""
        self.steps.append(Define(name, term))
        self._add(name, ("=", name, term))
        return name

    def take_over(self, theorem: Theorem, mark: str, own: Collection[str] = ()) -> dict[str, Term]:
        """Define what a theorem defines; returns the values by which it can be used.

        Args:
            theorem: its variables keep their names, and so do definitions that this proof has too.
            mark: follows the names of other definitions, as they may stand for something else here.
            own: names that keep their meaning in this proof.
        """
        values: dict[str, Term] = {name: name for name in theorem.variables}
        for name, term in theorem.definitions:
            wanted = substitute(term, values)
            if self.find_definition(name) == wanted or name in own:
                values[name] = name
            else:
                values[name] = self.define(f"{name}{mark}", wanted)
        return values

    def have(self, formula: Term, *premises: str) -> str:
        """Ask the solver for a formula, unless it is known."""
        known = self.find(formula)
        if known is not None:
            return known
        fact = self._fresh()
        self.steps.append(Have(fact, formula, tuple(dict.fromkeys(premises))))
        return self._add(fact, formula)

    def use(self, name: str, values: Mapping[str, Term]) -> list[str]:
        """Use a theorem whose conditions are known facts; returns the facts of its goals.

        Raises:
            NoProof: a condition is not known.
        """
        theorem = self._known[name]
        equations: list[Term] = [("=", each, term) for each, term in theorem.definitions]
        premises: list[str] = []
        for condition in (*theorem.hypotheses, *equations):
            wanted = substitute(condition, values)
            found = self.find(wanted)
            if found is None:
                raise NoProof(f"the lemma {name} does not apply")
            premises.append(found)
        fact = self._fresh()
        moved = tuple((each, value) for each, value in values.items() if each != value)
        self.steps.append(Use(fact, name, moved, tuple(premises)))
        return [
            self._add(f"{fact}.{number}", substitute(goal, values))
            for number, goal in enumerate(theorem.goals)
        ]

    def calculate(self, term: Term, *moves: Ring | By) -> str:
        """Return the fact that ``term`` equals what the moves make of it."""
        end = term
        for move in moves:
            end = move.term if isinstance(move, Ring) else self._moved(end, move)
        formula: Term = ("=", term, end)
        known = self.find(formula)
        if known is not None:
            return known
        fact = self._fresh()
        self.steps.append(Calculate(fact, term, moves))
        return self._add(fact, formula)

    def rewrite(self, source: str, *moves: By) -> str:
        """Return the fact that known equations make of a known fact."""
        formula = self._facts[source]
        for move in moves:
            formula = self._moved(formula, move)
        known = self.find(formula)
        if known is not None:
            return known
        fact = self._fresh()
        self.steps.append(Rewrite(fact, source, moves))
        return self._add(fact, formula)

    def _moved(self, term: Term, move: By) -> Term:
        match self._facts[move.fact]:
            case ("=", left, right):
                return (
                    replaced(term, right, left) if move.backwards else replaced(term, left, right)
                )
        raise NoProof(f"{move.fact} is no equation")

    def left(self, fact: str) -> Term:
        """Return the left side of an equation."""
        match self._facts[fact]:
            case ("=", start, _):
                left: Term = start
                return left
        raise NoProof(f"{fact} is no equation")

    def right(self, fact: str) -> Term:
        """Return the right side of an equation."""
        match self._facts[fact]:
            case ("=", _, right):
                end: Term = right
                return end
        raise NoProof(f"{fact} is no equation")


def _gives(step: Step, facts: Mapping[str, Term]) -> Iterator[str]:
    match step:
        case Define(name):
            yield name
        case Use(fact):
            number = 0
            while f"{fact}.{number}" in facts:
                yield f"{fact}.{number}"
                number += 1
        case _:
            yield step.fact


def _needs(step: Step) -> Iterator[str]:
    """The facts and the names that a step speaks of."""
    match step:
        case Define(_, term):
            yield from names(term)
        case Have(_, formula, premises):
            yield from names(formula)
            yield from premises
        case Use(_, _, values, premises):
            for _, value in values:
                yield from names(value)
            yield from premises
        case Calculate(_, term, moves):
            yield from names(term)
            yield from _moves_need(moves)
        case Rewrite(_, source, moves):
            yield source
            yield from _moves_need(moves)


def _moves_need(moves: Sequence[Ring | By]) -> Iterator[str]:
    for move in moves:
        match move:
            case Ring(term):
                yield from names(term)
            case By(fact):
                yield fact
