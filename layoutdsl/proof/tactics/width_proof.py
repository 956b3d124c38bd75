"""Proofs about the width of integers: by the largest values of extents, or of products of them.

Not trusted.
"""

from __future__ import annotations

from collections.abc import Iterator

from layoutdsl.proof.kernel.builder import NoProof, ProofBuilder
from layoutdsl.proof.kernel.theorem import Proof, Term, Theorem
from layoutdsl.proof.statements.statement import Ground
from layoutdsl.proof.statements.terms import index_name
from layoutdsl.proof.tactics.arith import Arithmetic
from layoutdsl.proof.tactics.claim_proof import prove_fits
from layoutdsl.proof.tactics.enclosure import Enclosure, largest
from layoutdsl.proof.tactics.refinement import refine


def prove_size(ground: Ground, theorem: Theorem, known: dict[str, Theorem]) -> Proof:
    """Return a proof that the size is as small as the goal says.

    Raises:
        NoProof: the range bounds neither each extent nor a product that the size is.
    """
    try:
        return prove_fits(theorem, largest(ground), known)
    except NoProof as reason:
        proof = _by_products(ground, theorem, known)
        if proof is None:
            raise reason from None
        return proof


def _by_products(ground: Ground, theorem: Theorem, known: dict[str, Theorem]) -> Proof | None:
    """A proof by the products that the range bounds, such as ``N*C*H*W < 2**31``.

    Size and range are brought to normal form, so that both speak of the same products.
    """
    builder = ProofBuilder(theorem, known)
    arithmetic = Arithmetic(builder, frozenset(name for name, _ in theorem.definitions))
    bounds = [
        (fact, term) for fact in builder.hypotheses for term in _products(builder.formula(fact))
    ]
    if not bounds:
        return None
    spoken = [side for each in ground.layout.where for side in (each.left, each.right)]
    spoken += [each.extent for each in ground.layout.coordinates]
    refine(arithmetic, ground.vocabulary, spoken, ground.layout.where)
    premises = [fact for fact, _ in bounds]
    premises += [arithmetic.values.normal(term)[1] for _, term in bounds]
    for goal in theorem.goals:
        builder.have(goal, arithmetic.values.normal("size")[1], *premises)
    return builder.proof


def _products(formula: Term) -> Iterator[Term]:
    """The side of a comparison with a number that is a product."""
    match formula:
        case ("<" | "<=", ("*", _, _) as term, int()):
            yield term


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
