"""Proofs of claims about the width of integers, from the largest values of extents. Not trusted."""

from __future__ import annotations

from collections.abc import Iterator

from layoutdsl.proof.kernel.builder import ProofBuilder
from layoutdsl.proof.kernel.theorem import Proof, Term, Theorem
from layoutdsl.proof.statements.statement import Ground
from layoutdsl.proof.statements.terms import index_name
from layoutdsl.proof.tactics.enclosure import Enclosure, largest


def prove_intervals(ground: Ground, theorem: Theorem, known: dict[str, Theorem]) -> Proof:
    """Return a proof that what the goals name is as small as they say.

    Raises:
        NoProof: an extent has no largest value, or something may be negative.
    """
    builder, most = ProofBuilder(theorem, known), largest(ground)
    extents = {index_name(axis.name): ground.extent(axis.name) for axis in ground.layout.axes}
    enclosure = Enclosure(builder, most, extents)
    for goal in theorem.goals:
        facts = [fact for name in _bounded(goal) for fact in enclosure.of(name).facts]
        builder.have(goal, *facts)
    return builder.proof


def _bounded(goal: Term) -> Iterator[Term]:
    """The terms that a goal bounds by a number."""
    match goal:
        case ("<=", int(), term):
            yield term
        case ("<=", ("*", int(), ("+", str() as name, 1)), int()):
            yield name
        case ("<=", term, int()):
            yield term
