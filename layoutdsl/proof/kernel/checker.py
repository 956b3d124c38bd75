"""The checker: what has to be believed of a proof, besides the statement and the solver.

A theorem says: for all integers `variables`, with `definitions`, if the `hypotheses` hold then so
do the `goals`. A proof is a list of steps; `check` follows it and returns the questions that a
solver has to answer. The theorem holds if `check` returns and every answer is *unsat*. Whoever
wrote the steps is not trusted. This file imports nothing of ours but the plain values it is about,
so that it can be read alone.

`proofs/coq` proves these rules sound: `questions_sound` in Main.v. People compute definitions in
order, `Use` takes them as equations; both agree because `_define` takes new names only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from layoutdsl.proof.kernel.polynomial import Polynomial, polynomial, product, total
from layoutdsl.proof.kernel.question import Question, is_name, question, show
from layoutdsl.proof.kernel.theorem import (
    By,
    Calculate,
    Define,
    Have,
    Native,
    Proof,
    Rewrite,
    Ring,
    Step,
    Term,
    Theorem,
    Use,
    names,
    replaced,
    substitute,
)

__all__ = [  # with what it is about, for whoever writes proofs
    "By",
    "Calculate",
    "Define",
    "Have",
    "Native",
    "Polynomial",
    "Proof",
    "Question",
    "Rejected",
    "Rewrite",
    "Ring",
    "Step",
    "Term",
    "Theorem",
    "Use",
    "check",
    "names",
    "polynomial",
    "product",
    "question",
    "replaced",
    "show",
    "substitute",
    "total",
]

MOST_NODES = 50_000
"""Of a term: what is larger is no proof that anyone can follow."""

_OF_TERMS = frozenset({"+", "-", "*", "div", "mod"})


class Rejected(Exception):  # noqa: N818  a verdict on a proof, not an error of ours
    """The proof does not prove the theorem."""


def check(theorem: Theorem, proof: Proof, known: Mapping[str, Theorem]) -> list[Question]:
    """Return the questions on which the theorem rests.

    Args:
        theorem: what is to be shown.
        proof: the steps.
        known: theorems that `check` accepted before, by name.

    Raises:
        Rejected: a step does not follow, or a goal is not reached.
    """
    checking = _Checking(theorem, known)  # rejects a theorem that is malformed, whatever the proof
    if isinstance(proof, Native):
        equations: list[Term] = [("=", name, term) for name, term in theorem.definitions]
        premises = (*theorem.hypotheses, *equations)
        return [Question("native", premises, ("and", *theorem.goals), opaque=())]
    return checking.run(proof)


class _Checking:
    def __init__(self, theorem: Theorem, known: Mapping[str, Theorem]) -> None:
        self._theorem = theorem
        self._known = known
        self._names: set[str] = set()
        self._facts: dict[str, Term] = {}
        self._questions: list[Question] = []
        for name in theorem.variables:
            self._new_name(name)
        for name, term in theorem.definitions:
            self._define(name, term)
        for number, hypothesis in enumerate(theorem.hypotheses):
            self._formula(hypothesis)
            self._add(f"hyp.{number}", hypothesis)
        for goal in theorem.goals:
            self._formula(goal)
        if not theorem.goals:
            raise Rejected("it has no goals, so it says nothing")

    def run(self, proof: Sequence[Step]) -> list[Question]:
        for step in proof:
            match step:
                case Define(name, term):
                    self._define(name, term)
                case Have(fact, formula, premises):
                    self._formula(formula)
                    given = tuple(self._fact(premise) for premise in premises)
                    self._questions.append(Question(fact, given, formula))
                    self._add(fact, formula)
                case Use(fact, theorem, values, premises):
                    self._use(fact, theorem, dict(values), premises)
                case Calculate(fact, term, moves):
                    self._term(term)
                    self._add(fact, ("=", term, self._moved(term, moves)))
                case Rewrite(fact, source, moves):
                    self._add(fact, self._moved(self._fact(source), moves))
                case _:
                    raise Rejected(f"{step!r} is not a step")
        reached = set(self._facts.values())
        for goal in self._theorem.goals:
            if goal not in reached:
                raise Rejected(f"the goal {show(goal)} is not reached")
        return self._questions

    def _fact(self, name: str) -> Term:
        if name not in self._facts:
            raise Rejected(f"there is no fact {name}")
        return self._facts[name]

    def _add(self, name: str, formula: Term) -> None:
        if name in self._facts:
            raise Rejected(f"the fact {name} is given twice")
        self._facts[name] = _bounded(formula)

    def _define(self, name: str, term: Term) -> None:
        """A name that nothing has used yet may stand for any term; so no contradiction comes in."""
        self._term(term)
        self._new_name(name)
        self._add(name, ("=", name, term))

    def _new_name(self, name: str) -> None:
        if name in self._names or not is_name(name):
            raise Rejected(f"the name {name} is taken, or no name")
        self._names.add(name)

    def _term(self, term: Term) -> None:
        """Raise unless it is a term over known names; a solver reads nothing else."""
        match term:
            case (str() as operator, left, right) if isinstance(term, tuple) and (
                operator in _OF_TERMS
            ):
                self._term(left)
                self._term(right)
            case bool():
                raise Rejected(f"{term!r} is not a term here")
            case int():
                pass
            case _:
                if not (isinstance(term, str) and term in self._names):
                    raise Rejected(f"{term!r} is not a term here")

    def _formula(self, formula: Term) -> None:
        if not isinstance(formula, tuple):
            raise Rejected(f"{formula!r} is not a formula")
        match formula:
            case (("=" | "<=" | "<"), left, right):
                self._term(left)
                self._term(right)
            case ("not", part):
                self._formula(part)
            case ("=>", condition, part):
                self._formula(condition)
                self._formula(part)
            case (("and" | "or"), *parts) if parts:
                for part in parts:
                    self._formula(part)
            case _:
                raise Rejected(f"{formula!r} is not a formula")

    def _use(
        self, fact: str, name: str, given: Mapping[str, Term], premises: Sequence[str]
    ) -> None:
        if name not in self._known:
            raise Rejected(f"there is no theorem {name}")
        theorem = self._known[name]
        own = (*theorem.variables, *(each for each, _ in theorem.definitions))
        if not set(given) <= set(own):
            raise Rejected(f"{name} is used with values for {sorted(given)}")
        values = {each: given.get(each, each) for each in own}
        for value in values.values():
            self._term(value)
        conditions = [*theorem.hypotheses, *(("=", n, term) for n, term in theorem.definitions)]
        wanted = [substitute(each, values) for each in conditions]
        known = [self._fact(premise) for premise in premises]
        if wanted != known:
            missing = [show(each) for each in wanted if each not in known]
            raise Rejected(f"{name} is used without {missing}")
        for number, goal in enumerate(theorem.goals):  # `check` looked at their names before
            self._add(f"{fact}.{number}", substitute(goal, values))

    def _moved(self, term: Term, moves: Sequence[Ring | By]) -> Term:
        for move in moves:
            match move:
                case Ring(other):
                    self._term(other)
                    if not _same(term, other):
                        raise Rejected(f"{show(term)} is not {show(other)} as a polynomial")
                    term = other
                case By(fact, backwards):
                    match self._fact(fact):
                        case ("=", left, right):
                            old, new = (right, left) if backwards else (left, right)
                        case _:
                            raise Rejected(f"the fact {fact} is no equation")
                    term = _bounded(replaced(term, old, new))
        return term


def _bounded(term: Term) -> Term:
    pending, count = [term], 0
    while pending:
        each = pending.pop()
        count += 1
        if isinstance(each, tuple):
            pending += each[1:]
        if count > MOST_NODES:
            raise Rejected("a term is too large to follow")
    return term


def _same(left: Term, right: Term) -> bool:
    try:
        return polynomial(left) == polynomial(right)
    except ValueError as reason:
        raise Rejected(str(reason)) from None
