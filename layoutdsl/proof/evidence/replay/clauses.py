"""Rules about clauses: formulas one of which holds at least."""

from __future__ import annotations

from collections.abc import Iterable

from layoutdsl.proof.evidence.replay.steps import Rule, Step, parts_of
from layoutdsl.proof.evidence.replay.terms import Refused, Sort, Term


def literals(formula: Term, false: Term) -> tuple[Term, ...]:
    """Return formulas one of which holds where this one does."""
    if formula is false:
        return ()
    return formula.parts if formula.operator == "or" else (formula,)


def resolution(step: Step) -> Term:
    """Either the pivot holds, then what is left of one clause, or it does not, then of the other.

    `true` says that the first clause holds the pivot and the second one its negation, `false` that
    it is the other way round. Of what is named twice one stays.
    """
    step.plain(2, 2)
    left: list[Term] = []
    sides = _pivots(step, step.argument(0), step.argument(1))
    for clause, pivot in zip(step.premises, sides, strict=True):
        found = list(_seen(step, clause, pivot))
        if pivot in found:
            found.remove(pivot)
        left += found
    return step.either(left)


def chain_resolution(step: Step) -> Term:
    """Resolution from left to right."""
    step.plain(len(step.premises), 2)
    return step.either(_resolved(step, step.premises, step.listed(0), step.listed(1)))


def chain_m_resolution(step: Step) -> Term:
    """Resolution from left to right; what is said may name more formulas than are left."""
    step.plain(len(step.premises), 3)
    result = step.argument(0)
    found = _resolved(step, step.premises, step.listed(1), step.listed(2))
    return _weakened(step, found, result)


def _resolved(
    step: Step, clauses: tuple[Term, ...], polarities: tuple[Term, ...], pivots: tuple[Term, ...]
) -> list[Term]:
    """What is left holds whatever the pivots are, so that none need be there to be taken away."""
    if not clauses or not len(clauses) - 1 == len(polarities) == len(pivots):
        raise Refused("there is not one pivot for each two clauses")
    left: dict[Term, None] | None = None
    for clause, polarity, pivot in zip(clauses[1:], polarities, pivots, strict=True):
        here, there = _pivots(step, polarity, pivot)
        first = _seen(step, clauses[0], here) if left is None else list(left)
        rest = [*_without(first, here), *_without(_seen(step, clause, there), there)]
        left = dict.fromkeys(rest)
    return list(literals(clauses[0], step.terms.false) if left is None else left)


def _pivots(step: Step, polarity: Term, pivot: Term) -> tuple[Term, Term]:
    """What is taken from the clause on the left, and what from the one on the right."""
    if polarity not in (step.terms.true, step.terms.false):
        raise Refused("a polarity is neither `true` nor `false`")
    denied = step.negation(pivot)
    return (pivot, denied) if polarity is step.terms.true else (denied, pivot)


def _seen(step: Step, clause: Term, pivot: Term) -> Iterable[Term]:
    """A clause that is the pivot as a whole is one formula, even where it is an `or`."""
    return (clause,) if clause is pivot else literals(clause, step.terms.false)


def _without(formulas: Iterable[Term], taken: Term) -> list[Term]:
    return [each for each in formulas if each is not taken]


def _weakened(step: Step, found: Iterable[Term], result: Term) -> Term:
    """One of more formulas holds where one of these does."""
    left = set(found)
    if left <= {result} or left <= set(literals(result, step.terms.false)):
        return result
    raise Refused("more is left of the clauses than it says")


def factoring(step: Step) -> Term:
    """Formulas that are named twice are named once."""
    step.plain(1, 0)
    parts = parts_of(step.premises[0], "or", "its premise")
    return step.either(list(dict.fromkeys(parts)))


def reordering(step: Step) -> Term:
    """The order of formulas is no matter; more of them may be named."""
    step.plain(1, 1)
    return _weakened(step, literals(step.premises[0], step.terms.false), step.argument(0))


def aci_norm(step: Step) -> Term:
    """`and` and `or` are about the set of what they join, however nested, ordered or repeated."""
    step.plain(0, 1)
    equation = step.argument(0)
    left, right = parts_of(equation, "=", "its argument")
    if left.sort is not Sort.BOOL:
        raise Refused("it speaks of numbers, not of formulas")
    for operator, neutral in (("and", step.terms.true), ("or", step.terms.false)):
        if operator in (left.operator, right.operator):
            joined = [_joined(each, operator) - {neutral} for each in (left, right)]
            if joined[0] == joined[1]:
                return equation
    raise Refused("its sides do not join the same formulas")


def absorb(step: Step) -> Term:
    """`and` of what joins `false` somewhere is `false`, and `or` of what joins `true` is `true`."""
    step.plain(0, 1)
    equation = step.argument(0)
    left, right = parts_of(equation, "=", "its argument")
    for operator, strongest in (("and", step.terms.false), ("or", step.terms.true)):
        absorbed = left.operator == operator and right is strongest
        if absorbed and strongest in _joined(left, operator):
            return equation
    raise Refused("nothing is absorbed")


def _joined(formula: Term, operator: str) -> set[Term]:
    """What an operator joins, each formula looked at once."""
    seen, left = {formula}, [formula]
    while left:
        found = left.pop()
        if found.operator == operator:
            new = set(found.parts) - seen
            seen |= new
            left += new
    return {each for each in seen if each.operator != operator}


CLAUSES: dict[str, Rule] = {
    "resolution": resolution,
    "chain_resolution": chain_resolution,
    "chain_m_resolution": chain_m_resolution,
    "factoring": factoring,
    "reordering": reordering,
    "aci_norm": aci_norm,
    "absorb": absorb,
}
