"""Proofs of seams. Not trusted: the checker follows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from layoutdsl.code.seams import Seam, candidates
from layoutdsl.files.pieces.refute import A_FEW, MANY, counterexample
from layoutdsl.files.pieces.statement import SeamStatement, alike
from layoutdsl.language.integers.expr import text
from layoutdsl.language.meaning.model import Layout
from layoutdsl.proof.kernel import lemmas
from layoutdsl.proof.kernel.builder import NoProof, ProofBuilder
from layoutdsl.proof.kernel.certificate import Certificate, establish
from layoutdsl.proof.kernel.checker import By, Proof, Ring, Term, Theorem, polynomial
from layoutdsl.proof.prover.verdict import Finding, Proved, Refuted, Undecided
from layoutdsl.proof.statements.statement import OTHER
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
    try:
        proved = proofs(layout, seam)
    except (NoProof, NotExpressible) as reason:
        return _unproved(layout, seam, f"no proof was found: {reason}")
    outcomes = establish(proved)
    for theorem, _ in proved:
        if not outcomes[theorem.name].established:
            return _unproved(layout, seam, f"{theorem.name}: {outcomes[theorem.name].reason}")
    questions = sum(each.questions for each in outcomes.values())
    return Proved(SEAM, (), Certificate(tuple(proved)), questions)


def _unproved(layout: Layout, seam: Seam, reason: str) -> Finding:
    example = counterexample(layout, seam, MANY)
    return Undecided(SEAM, reason) if example is None else Refuted(SEAM, example)


@cache
def lies_alike(layout: Layout) -> bool:
    """Return whether `flat` was proved to put every element where the layout puts it."""
    theorem = alike(layout)
    outcome = establish([(theorem, _asked(theorem, lemmas.stated()))])
    return outcome[theorem.name].established


def proofs(layout: Layout, seam: Seam) -> list[tuple[Theorem, Proof]]:
    """Return the theorems about a seam with their proofs.

    Raises:
        NoProof: no proof was found.
        NotExpressible: the layout says what the checker's terms cannot.
    """
    known = lemmas.stated()
    place, *extents = SeamStatement(layout, seam).all()
    return [
        (place, _place(place, seam, known)),
        *((theorem, _asked(theorem, known)) for theorem in extents),
    ]


def _asked(theorem: Theorem, known: Mapping[str, Theorem]) -> Proof:
    """Each goal is a polynomial identity, or is left to the solver."""
    builder = ProofBuilder(theorem, known)
    for goal in theorem.goals:
        _goal(builder, goal)
    return builder.proof


def _goal(builder: ProofBuilder, goal: Term) -> str:
    known = builder.find(goal)
    if known is not None:
        return known
    match goal:
        case ("=", left, right) if polynomial(left) == polynomial(right):
            return builder.calculate(left, Ring(right))
    definitions = tuple(name for name, _ in builder.theorem.definitions)
    return builder.have(goal, *builder.hypotheses, *definitions)


def _place(theorem: Theorem, seam: Seam, known: Mapping[str, Theorem]) -> Proof:
    """With the values of the coordinates, the offset is an identity of polynomials."""
    builder = ProofBuilder(theorem, known)
    moves = [By(fact) for fact in _zeros(builder, seam)]
    for goal in theorem.goals:
        match goal:
            case ("=", str() as slots, place) if slots.startswith("h."):
                expanded = builder.calculate(place, *_unfolded(builder, OTHER), *moves)
                same = Ring(builder.right(expanded))
                own = builder.calculate(slots, *_unfolded(builder, ""), *moves, same)
                builder.have(goal, own, expanded)
            case ("=", left, right) if left != right:
                moves.append(By(_goal(builder, goal)))
            case _:
                _goal(builder, goal)
    return builder.proof


def _zeros(builder: ProofBuilder, seam: Seam) -> Iterator[str]:
    """Coordinates with one value have the value 0."""
    for number in range(seam.coordinate):
        for mark in ("", OTHER):
            yield _goal(builder, ("=", f"v.{number}{mark}", 0))


def _unfolded(builder: ProofBuilder, mark: str) -> Iterator[By]:
    """Replace the name of a mixed-radix value by what it is made of, the last first."""
    names = [name for name in builder.names if name.startswith("h.") and name.endswith(mark)]
    for name in reversed([each for each in names if mark or not each.endswith(OTHER)]):
        yield By(name)
