"""Proofs of seams: a claim for the prover, and sizes for the solver. Not trusted."""

from __future__ import annotations

from functools import cache

from layoutdsl.code.seams import Seam, candidates, flat
from layoutdsl.files.pieces.refute import A_FEW, MANY, counterexample
from layoutdsl.files.pieces.statement import place, sizes
from layoutdsl.language.integers.expr import text
from layoutdsl.language.meaning.claims import Claim, EqualsLayout
from layoutdsl.language.meaning.model import Layout
from layoutdsl.proof.kernel import lemmas
from layoutdsl.proof.kernel.builder import NoProof, ProofBuilder
from layoutdsl.proof.kernel.certificate import establish
from layoutdsl.proof.kernel.checker import Proof, Theorem
from layoutdsl.proof.prover.check import attempt
from layoutdsl.proof.prover.verdict import Finding, Proved, Refuted, Undecided
from layoutdsl.proof.statements.terms import NotExpressible

SEAM = "pieces are disjoint and cover all"


@cache
def seam_at(layout: Layout, coordinate: int) -> Seam | str:
    """Return the seam of a coordinate, as was proved for all shapes, or why it has none.

    Args:
        layout: a flat one.
        coordinate: its number; the seam goes through one value of those before it.
    """
    if layout.domain:
        return f"it holds elements only where {layout.domain[0]}"
    guesses = candidates(layout, coordinate)
    if isinstance(guesses, str):
        return guesses
    reasons: list[str] = []
    for each in guesses:
        match prove_seam(layout, each):
            case Proved():
                return each
            case Refuted(example=example):
                reasons.append(f"every {each.unit}, {example.points[0].words}")
            case Undecided(reason=why):
                reasons.append(f"every {each.unit}, {why}")
    written = f"`{text(layout.coordinates[coordinate].value)}` does not move alone"
    return f"{written}: {reasons[-1]}" if reasons else written


def prove_seam(layout: Layout, seam: Seam) -> Finding:
    """Return whether pieces between seams are disjoint and cover all, for all shapes.

    Args:
        layout: a flat one.
        seam: what was guessed.
    """
    example = counterexample(layout, seam, A_FEW)
    if example is not None:
        return Refuted(SEAM, example)
    reason = unproved(layout, seam)
    if reason is None:
        return Proved(SEAM)
    example = counterexample(layout, seam, MANY)
    return Undecided(SEAM, reason) if example is None else Refuted(SEAM, example)


def unproved(layout: Layout, seam: Seam) -> str | None:
    """Return why a seam of a flat layout was not proved; ``None`` if it was."""
    try:
        found = attempt(place(layout, seam))
        if not isinstance(found, Proved):
            assert isinstance(found, Undecided), "`attempt` never refutes"
            return found.reason
        outcomes = establish([(each, _asked(each)) for each in sizes(layout, seam)])
    except (NoProof, NotExpressible) as reason:
        return f"no proof was found: {reason}"
    failed = (f"{name}: {each.reason}" for name, each in outcomes.items() if not each.established)
    return next(failed, None)


@cache
def lies_alike(layout: Layout) -> bool:
    """Return whether `flat` was proved to put every element where the layout puts it."""
    claim = Claim("prove", layout, EqualsLayout(flat(layout)))
    return isinstance(attempt(claim), Proved)


def _asked(theorem: Theorem) -> Proof:
    """Each goal is left to the solver, unless it is a hypothesis."""
    builder = ProofBuilder(theorem, lemmas.stated())
    definitions = tuple(name for name, _ in theorem.definitions)
    for goal in theorem.goals:
        if builder.find(goal) is None:
            builder.have(goal, *builder.hypotheses, *definitions)
    return builder.proof
