"""Proofs of claims about the width of integers, from the largest values of extents. Not trusted."""

from __future__ import annotations

from collections.abc import Iterator

from layoutdsl.kernel.script import Script
from layoutdsl.kernel.theorem import Proof, Term, Theorem
from layoutdsl.meaning.claims import Fits
from layoutdsl.statements.statement import Ground
from layoutdsl.statements.terms import index_name
from layoutdsl.statements.width_statement import Width
from layoutdsl.tactics.claim_proof import prove_fits
from layoutdsl.tactics.enclosure import Enclosure, largest


def prove_width(
    ground: Ground, theorem: Theorem, predicate: Width, known: dict[str, Theorem]
) -> Proof:
    """Return a proof, from the largest values of extents.

    Raises:
        Stuck: an extent has no largest value, or something may be negative.
    """
    most = largest(ground)
    if isinstance(predicate, Fits):
        return prove_fits(theorem, most, known)
    script = Script(theorem, known)
    extents = {index_name(axis.name): ground.extent(axis.name) for axis in ground.layout.axes}
    enclosure = Enclosure(script, most, extents)
    for goal in theorem.goals:
        facts = [fact for name in _bounded(goal) for fact in enclosure.of(name).facts]
        script.have(goal, *facts)
    return script.proof


def _bounded(goal: Term) -> Iterator[Term]:
    """The terms that a goal bounds by a number."""
    match goal:
        case ("<=", int(), term):
            yield term
        case ("<=", ("*", int(), ("+", str() as name, 1)), int()):
            yield name
        case ("<=", term, int()):
            yield term
