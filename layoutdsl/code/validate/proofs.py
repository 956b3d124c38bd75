"""Proofs of the theorems about a module. Not trusted: the checker follows them.

What is about several loops is an equation, and follows from equations that are each about one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from layoutdsl.code.validate.part_proof import PartProof
from layoutdsl.code.validate.values import choices_in
from layoutdsl.proof.kernel.builder import NoProof, ProofBuilder
from layoutdsl.proof.kernel.checker import (
    By,
    Proof,
    Ring,
    Term,
    Theorem,
    names,
    polynomial,
    replaced,
)


def leading_facts(goal: Term) -> Sequence[Term]:
    """Return equations, each about one loop, from which an equation about several follows."""
    match goal:
        case ("=", left, right):
            facts: list[Term] = []
            one, other = list(_about_one(left)), list(_about_one(right))
            one = [(name, term) for name, term in one if not _is_nothing(term)]
            for loop in dict.fromkeys(name for name, _ in one):
                pairs = zip(
                    [term for name, term in one if name == loop],
                    [term for name, term in other if name == loop],
                    strict=False,
                )
                facts += [_without_factors(a, b) for a, b in pairs if a != b]
            return list(dict.fromkeys(facts))
    return ()


def _about_one(term: Term) -> Iterator[tuple[str, Term]]:
    """The largest parts of a term that speak of exactly one loop."""
    said = choices_in(term)
    if len(said) == 1:
        yield said.pop(), term
    elif isinstance(term, tuple):
        for part in term[1:]:
            yield from _about_one(part)


def _without_factors(left: Term, right: Term) -> Term:
    """The equation of two parts, without numbers in front of them that differ.

    They do where a digit of one value stands between, which one side leaves out: what is
    ``(x*1 + y%1)*16`` on one side is ``k*16`` on the other.
    """
    match left, right:
        case ("*", one, int(first)), ("*", other, int(second)) if first != second:
            return ("=", one, other)
        case ("*", one, 1), _:
            return ("=", one, right)
        case _, ("*", other, int()) if not isinstance(left, tuple) or left[0] != "*":
            return ("=", left, other)
    return ("=", left, right)


def _is_nothing(term: Term) -> bool:
    """Whether a term is 0 by a remainder of 1, of which the other side does not speak."""
    match term:
        case 0 | ("mod", _, 1):
            return True
        case ("*", left, right):
            return _is_nothing(left) or _is_nothing(right)
        case ("+", left, right):
            return _is_nothing(left) and _is_nothing(right)
    return False


def _by_one(term: Term) -> Iterator[Term]:
    """What quotients and remainders by 1 are, each within no other."""
    match term:
        case ("mod", _, 1):
            yield ("=", term, 0)
        case ("div", whole, 1):
            yield ("=", term, whole)
        case (_, *parts):
            for part in parts:
                yield from _by_one(part)


def proof_of(theorem: Theorem, known: Mapping[str, Theorem]) -> Proof:
    """Return a proof.

    Raises:
        NoProof: none was found.
    """
    builder = ProofBuilder(theorem, known)
    if any(choices_in(goal) for goal in theorem.goals):
        for goal in theorem.goals:
            _put_together(builder, goal)
        return builder.proof
    PartProof(builder).prove()
    return builder.proof


def _is_plain(builder: ProofBuilder, left: Term, right: Term, facts: Sequence[str]) -> bool:
    """Whether both sides are the same polynomial, without a word about places."""
    for fact in facts:
        match builder.formula(fact):
            case ("=", old, new):
                left = replaced(left, old, new)
    try:
        return polynomial(left) == polynomial(right)
    except ValueError:  # bits: the checker says why they are no polynomial
        return True


def _single_places(builder: ProofBuilder, goal: Term) -> list[str]:
    """Return that a place is 0, for each place of which there is one: the bit of an `u1`.

    One side of the goal may leave such a place out, and no polynomial shows that it is 0.
    """
    found = list[str]()
    for low, high in pairwise(builder.hypotheses):
        match builder.formula(low), builder.formula(high):
            case ("<=", 0, str(place)), ("<", again, 1) if place == again and place in names(goal):
                found.append(builder.have(("=", place, 0), low, high))
    return found


def _put_together(builder: ProofBuilder, goal: Term) -> None:
    """Both sides of an equation are the same polynomial, once equals are put for equals."""
    match goal:
        case ("=", left, right):
            facts = [f for f in builder.hypotheses if builder.formula(f)[0] == "="]  # type: ignore[index]
            larger = sorted(facts, key=lambda f: -len(str(builder.formula(f))))
            by_one = [builder.have(each) for each in dict.fromkeys(_by_one(left))]
            moves = [*map(By, (*larger, *by_one))]
            if _is_plain(builder, left, right, (*larger, *by_one)):
                builder.calculate(left, *moves, Ring(right))
                return
            single = _single_places(builder, goal)
            zeros = [*map(By, single)]
            shorter = builder.calculate(right, *zeros)
            end = Ring(builder.right(shorter))
            builder.calculate(left, *moves, *zeros, end, By(shorter, backwards=True))
            return
    raise NoProof("a goal about several loops is no equation")
