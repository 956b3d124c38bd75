"""The checker: what has to be believed of a proof, besides the statement and the solver.

A theorem says: for all integers `variables`, with `definitions`, if the `hypotheses` hold then so
do the `goals`. A proof is a list of steps; `check` follows it and returns the questions that a
solver has to answer. The theorem holds if `check` returns and every answer is *unsat*. Whoever
wrote the steps is not trusted. This file imports nothing of ours, so that it can be read alone.

Terms and formulas are integers, names, and tuples with an operator in front: `+ - * div mod`,
`= <= <`, `and or not =>`. `div` and `mod` are Euclidean, as in SMT-LIB.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Term: TypeAlias = "int | str | tuple[Any, ...]"

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.~]*")
_OF_TERMS = frozenset({"+", "-", "*", "div", "mod"})

PREAMBLE = """\
(declare-fun mul (Int Int) Int)
(declare-fun quo (Int Int) Int)
(declare-fun rem. (Int Int) Int)
"""


@dataclass(frozen=True, slots=True)
class Theorem:
    """A statement about all integers; `definitions` name terms over what comes before them."""

    name: str
    variables: tuple[str, ...]
    hypotheses: tuple[Term, ...]
    goals: tuple[Term, ...]
    definitions: tuple[tuple[str, Term], ...] = ()


@dataclass(frozen=True, slots=True)
class Native:
    """The whole theorem is one question in the solver's own arithmetic, products included."""


@dataclass(frozen=True, slots=True)
class Define:
    """A new name for a term; the fact `name` says that they are equal."""

    name: str
    term: Term


@dataclass(frozen=True, slots=True)
class Have:
    """The solver is asked whether the premises entail the formula; products are opaque to it."""

    fact: str
    formula: Term
    premises: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Use:
    """An earlier theorem, its variables replaced by terms; gives the facts `fact.0`, `fact.1`, ...

    The premises are, in order, the theorem's hypotheses and definitions after replacement.
    """

    fact: str
    theorem: str
    values: tuple[tuple[str, Term], ...]
    premises: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ring:
    """The term so far equals `term` as a polynomial, in quotients and remainders as unknowns."""

    term: Term


@dataclass(frozen=True, slots=True)
class By:
    """Replace one side of a known equation by the other, everywhere in the term so far."""

    fact: str
    backwards: bool = False


@dataclass(frozen=True, slots=True)
class Calculate:
    """`term` equals what the moves make of it."""

    fact: str
    term: Term
    moves: tuple[Ring | By, ...]


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A known fact with known equations applied to it, one after the other."""

    fact: str
    source: str
    moves: tuple[By, ...]


Step: TypeAlias = Define | Have | Use | Calculate | Rewrite
Proof: TypeAlias = "Sequence[Step] | Native"


class Rejected(Exception):  # noqa: N818  a verdict on a proof, not an error of ours
    """The proof does not prove the theorem."""


def check(theorem: Theorem, proof: Proof, known: Mapping[str, Theorem]) -> list[str]:
    """Return the questions, as SMT-LIB text, on which the theorem rests.

    Args:
        theorem: what is to be shown.
        proof: the steps.
        known: theorems that have been checked before, by name.

    Raises:
        Rejected: a step does not follow, or a goal is not reached.
    """
    if isinstance(proof, Native):
        return [_native(theorem)]
    return _Checking(theorem, known).run(proof)


class _Checking:
    def __init__(self, theorem: Theorem, known: Mapping[str, Theorem]) -> None:
        self._theorem = theorem
        self._known = known
        self._names: set[str] = set()
        self._facts: dict[str, Term] = {}
        self._questions: list[str] = []
        for name in theorem.variables:
            self._new_name(name)
        for name, term in theorem.definitions:
            self._define(name, term)
        for number, hypothesis in enumerate(theorem.hypotheses):
            self._formula(hypothesis)
            self._add(f"hyp.{number}", hypothesis)
        for goal in theorem.goals:
            self._formula(goal)

    def run(self, proof: Sequence[Step]) -> list[str]:
        for step in proof:
            match step:
                case Define(name, term):
                    self._define(name, term)
                case Have(fact, formula, premises):
                    self._formula(formula)
                    self._questions.append(question([self._fact(p) for p in premises], formula))
                    self._add(fact, formula)
                case Use(fact, theorem, values, premises):
                    self._use(fact, theorem, dict(values), premises)
                case Calculate(fact, term, moves):
                    self._term(term)
                    self._add(fact, ("=", term, self._moved(term, moves)))
                case Rewrite(fact, source, moves):
                    self._add(fact, self._moved(self._fact(source), moves))
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
        self._facts[name] = formula

    def _define(self, name: str, term: Term) -> None:
        """A name that nothing has used yet may stand for any term; so no contradiction comes in."""
        self._term(term)
        self._new_name(name)
        self._add(name, ("=", name, term))

    def _new_name(self, name: str) -> None:
        if name in self._names or not _NAME.fullmatch(name):
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
        self, fact: str, name: str, values: Mapping[str, Term], premises: Sequence[str]
    ) -> None:
        if name not in self._known:
            raise Rejected(f"there is no theorem {name}")
        theorem = self._known[name]
        needed = {*theorem.variables, *(each for each, _ in theorem.definitions)}
        if set(values) != needed:
            raise Rejected(f"{name} is used with values for {sorted(values)}")
        for value in values.values():
            self._term(value)
        conditions = [*theorem.hypotheses, *(("=", n, term) for n, term in theorem.definitions)]
        wanted = [substitute(each, values) for each in conditions]
        given = [self._fact(premise) for premise in premises]
        if wanted != given:
            missing = [show(each) for each in wanted if each not in given]
            raise Rejected(f"{name} is used without {missing}")
        for number, goal in enumerate(theorem.goals):
            self._add(f"{fact}.{number}", substitute(goal, values))

    def _moved(self, term: Term, moves: Sequence[Ring | By]) -> Term:
        for move in moves:
            match move:
                case Ring(other):
                    self._term(other)
                    if polynomial(term) != polynomial(other):
                        raise Rejected(f"{show(term)} is not {show(other)} as a polynomial")
                    term = other
                case By(fact, backwards):
                    match self._fact(fact):
                        case ("=", left, right):
                            old, new = (right, left) if backwards else (left, right)
                        case _:
                            raise Rejected(f"the fact {fact} is no equation")
                    term = replaced(term, old, new)
        return term


def names(term: Term) -> Iterator[str]:
    """Yield the names in a term or formula."""
    if isinstance(term, str):
        yield term
    elif isinstance(term, tuple):
        for part in term[1:]:
            yield from names(part)


def substitute(term: Term, values: Mapping[str, Term]) -> Term:
    """Return the term with names replaced, all at once."""
    if isinstance(term, str):
        return values.get(term, term)
    if isinstance(term, tuple):
        return (term[0], *(substitute(part, values) for part in term[1:]))
    return term


def replaced(term: Term, old: Term, new: Term) -> Term:
    """Return the term with every occurrence of `old` replaced."""
    if term == old:
        return new
    if isinstance(term, tuple):
        return (term[0], *(replaced(part, old, new) for part in term[1:]))
    return term


# A sum of products: for each product, its factors in a fixed order, the coefficient.
Polynomial: TypeAlias = "dict[tuple[Any, ...], int]"


def polynomial(term: Term) -> Polynomial:
    """Return the term as a polynomial in its names, quotients and remainders."""
    match term:
        case int():
            return {(): term} if term else {}
        case ("+", *parts):
            return total([(polynomial(part), 1) for part in parts])
        case ("-", left, right):
            return total([(polynomial(left), 1), (polynomial(right), -1)])
        case ("*", left, right):
            return product(polynomial(left), polynomial(right))
        case ("div" | "mod" as operator, left, right):
            return {((operator, _key(polynomial(left)), _key(polynomial(right))),): 1}
        case str():
            return {(term,): 1}
    raise Rejected(f"{show(term)} is not a term")


def _key(value: Polynomial) -> tuple[Any, ...]:
    return tuple(sorted(value.items(), key=repr))


def total(parts: list[tuple[Polynomial, int]]) -> Polynomial:
    """Return the sum of polynomials, each times a number."""
    terms: Polynomial = {}
    for part, factor in parts:
        for factors, coefficient in part.items():
            terms[factors] = terms.get(factors, 0) + factor * coefficient
    return {factors: coefficient for factors, coefficient in terms.items() if coefficient}


def product(left: Polynomial, right: Polynomial) -> Polynomial:
    """Return the product of two polynomials."""
    parts = [
        ({tuple(sorted((*one, *other), key=repr)): first * second}, 1)
        for one, first in left.items()
        for other, second in right.items()
    ]
    return total(parts)


_OPAQUE = {"*": "mul", "div": "quo", "mod": "rem."}


def show(term: Term, opaque: Mapping[str, str] = _OPAQUE) -> str:
    """Return SMT-LIB text; a product or quotient without a number is an uninterpreted function."""
    match term:
        case int():
            return str(term) if term >= 0 else f"(- {-term})"
        case str():
            return term
        case (operator, *parts):
            words = [show(part, opaque) for part in parts]
            if operator in opaque and not _linear(operator, parts):
                operator = opaque[operator]
            return f"({operator} {' '.join(words)})"
    raise Rejected(f"{term!r} is not a term")


def _linear(operator: str, parts: Sequence[Term]) -> bool:
    if operator == "*":
        return any(isinstance(part, int) for part in parts)
    return isinstance(parts[1], int) and parts[1] > 0


def question(premises: Sequence[Term], formula: Term, opaque: Mapping[str, str] = _OPAQUE) -> str:
    """Return the question whether the premises can hold without the formula; *unsat* means no."""
    used = dict.fromkeys(name for each in (*premises, formula) for name in names(each))
    lines = [f"(declare-const {name} Int)" for name in used]
    lines += [f"(assert {show(each, opaque)})" for each in premises]
    return "\n".join([*lines, f"(assert (not {show(formula, opaque)}))", ""])


def _native(theorem: Theorem) -> str:
    equations: list[Term] = [("=", name, term) for name, term in theorem.definitions]
    goal: Term = ("and", *theorem.goals)
    return question([*theorem.hypotheses, *equations], goal, opaque={})
