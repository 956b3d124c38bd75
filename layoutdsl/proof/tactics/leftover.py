"""Equations whose two sides have different normal forms: what is left over is nothing.

The difference of the sides is sorted into products of a common factor and a rest that is linear in
digits, quotients by numbers, and minima. That such a rest is 0 the solver can see for itself, as in
``n*H*(min(C%16, 1) + C/16 - ceil(C/16))``. A minimum that is one of its operands throughout the
range it can see too. Not trusted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from typing import Any

from layoutdsl.language.integers.expr import Max, Min
from layoutdsl.proof.kernel.builder import NoProof
from layoutdsl.proof.kernel.polynomial import Polynomial, total
from layoutdsl.proof.kernel.question import question
from layoutdsl.proof.kernel.solver import ask
from layoutdsl.proof.kernel.theorem import By, Ring, Term
from layoutdsl.proof.statements.terms import Vocabulary
from layoutdsl.proof.tactics.arith import Arithmetic
from layoutdsl.proof.tactics.polynomials import canonical

Factors = tuple[Any, ...]

MOST_RESTS = 16
"""Rests that one equation may need."""


def equal(arithmetic: Arithmetic, left: Term, right: Term) -> None:
    """Prove ``left = right`` from the normal forms of both.

    Raises:
        NoProof: the solver does not see that the difference is 0.
    """
    builder = arithmetic.builder
    (one, first), (other, second) = arithmetic.values.normal(left), arithmetic.values.normal(right)
    rests = _rests(total([(one, 1), (other, -1)]))
    rests.sort(key=lambda each: -len(each[1]))  # so that no fact changes the others
    sides: Term = ("-", canonical(one), canonical(other))
    products = [("*", canonical({common: 1}), canonical(rest)) for common, rest in rests]
    moves: list[Ring | By] = [Ring(reduce(lambda sum_, each: ("+", sum_, each), products))]
    for _, rest in rests:
        fact = seen(arithmetic, ("=", canonical(rest), 0))
        if fact is None:
            raise NoProof("the two sides have different normal forms")
        moves.append(By(fact))
    nothing = builder.calculate(sides, *moves, Ring(0))
    builder.have(("=", left, right), first, second, nothing)


def shorten(arithmetic: Arithmetic, names: Iterable[str]) -> None:
    """Drop the digits of indices and extents that are 0 throughout the range."""
    values = {name: arithmetic.values.normal(name) for name in names}
    digits = {
        factors[0]: None
        for value, _ in values.values()
        for factors in value
        if len(factors) == 1 and factors[0].startswith(("g.", "q."))
    }
    facts = _seen(arithmetic, [("=", digit, 0) for digit in digits])
    nothing = {digit: fact for digit, fact in zip(digits, facts, strict=True) if fact is not None}
    for name, (value, equation) in values.items():
        rest = {factors: c for factors, c in value.items() if not nothing.keys() & set(factors)}
        if rest != value:
            moves: list[Ring | By] = [By(equation)]
            moves += [By(fact) for digit, fact in nothing.items() if (digit,) in value]
            moves.append(Ring(canonical(rest)))
            arithmetic.values.know(name, rest, arithmetic.builder.calculate(name, *moves))


def resolve(arithmetic: Arithmetic, vocabulary: Vocabulary) -> None:
    """Put one operand for every minimum and maximum that is the same one throughout the range."""
    for expr, name in vocabulary.shared.items():
        if isinstance(expr, Min | Max):
            for side in (expr.left, expr.right):
                term = vocabulary.term(side)
                fact = seen(arithmetic, ("=", name, term))
                if fact is not None:
                    value, equation = arithmetic.values.normal(term)
                    moves = (By(fact), By(equation))
                    arithmetic.values.know(name, value, arithmetic.builder.calculate(name, *moves))
                    break


def seen(arithmetic: Arithmetic, formula: Term) -> str | None:
    """Return the fact that the range, minima and digits entail a formula, if the solver sees it."""
    return _seen(arithmetic, [formula])[0]


def _seen(arithmetic: Arithmetic, formulas: list[Term]) -> list[str | None]:
    """Ask the solver now, to know how to go on; it is asked again where the proof is checked."""
    premises = _known(arithmetic)
    given = [arithmetic.builder.formula(fact) for fact in premises]
    answers = ask([question(given, each) for each in formulas]).answers
    return [
        arithmetic.builder.have(formula, *premises) if answer == "unsat" else None
        for formula, answer in zip(formulas, answers, strict=True)
    ]


def _rests(difference: Polynomial) -> list[tuple[Factors, Polynomial]]:
    """Common factors, each with what stands beside it, that add up to the difference."""
    found: list[tuple[Factors, Polynomial]] = []
    while difference:
        common = next(_candidates(difference), None)
        if common is None or len(found) == MOST_RESTS:
            raise NoProof("the two sides have different normal forms")
        rest: Polynomial = {}
        for factors, coefficient in difference.items():
            beside = _beside(factors, common)
            if beside is not None and len(beside) <= 1:
                rest[beside] = coefficient
        found.append((common, rest))
        taken = {(*common, *beside): coefficient for beside, coefficient in rest.items()}
        ordered = {tuple(sorted(factors, key=repr)): c for factors, c in taken.items()}
        difference = total([(difference, 1), (ordered, -1)])
    return found


def _candidates(difference: Polynomial) -> Iterator[Factors]:
    """What stands beside a quotient, a remainder or a minimum, and beside a most major digit."""
    for chosen in (_is_choice, _is_top):
        for factors in difference:
            for number, factor in enumerate(factors):
                if chosen(factor):
                    yield (*factors[:number], *factors[number + 1 :])


def _is_choice(factor: Any) -> bool:
    return isinstance(factor, tuple) or factor.startswith("m.")


def _is_top(factor: Any) -> bool:
    return isinstance(factor, str) and factor.startswith("q.")


def _beside(factors: Factors, common: Factors) -> Factors | None:
    left = list(factors)
    for each in common:
        if each not in left:
            return None
        left.remove(each)
    return tuple(left)


def _known(arithmetic: Arithmetic) -> list[str]:
    """What the range, minima and digits say: the facts that the solver is given."""
    builder = arithmetic.builder
    digits = [name for name in builder.names if name.startswith(("g.", "q.", "x.", "k.", "r."))]
    bounds = arithmetic.values.bounds.values()
    return [
        *builder.hypotheses,
        *digits,
        *(fact for each in bounds for fact in (each.low, each.high)),
    ]
