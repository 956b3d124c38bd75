"""A claim -> what was found of each of its properties.

A proof is tried first; where there is none, a counterexample is looked for; where there is neither,
the answer is *undecided*, with the reason why there is no proof.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from layoutdsl.language.meaning.claims import AnyClaim, Claim, RecordClaim, Sound, TableClaim
from layoutdsl.language.meaning.counterexample import Counterexample
from layoutdsl.language.meaning.shapes import Values
from layoutdsl.proof.kernel import lemmas
from layoutdsl.proof.kernel.budget import shared
from layoutdsl.proof.kernel.builder import NoProof, by_hypotheses
from layoutdsl.proof.kernel.certificate import Certificate, establish
from layoutdsl.proof.kernel.theorem import Proof, Theorem
from layoutdsl.proof.properties.known import property_of
from layoutdsl.proof.properties.property import Property, Statement, Tactic
from layoutdsl.proof.properties.record import record_properties
from layoutdsl.proof.prover.layout_check import in_bounds, layout_findings
from layoutdsl.proof.prover.record_check import record_findings
from layoutdsl.proof.prover.table_check import table_findings
from layoutdsl.proof.prover.verdict import Checked, Finding, Proved, Refuted, Undecided, unproved
from layoutdsl.proof.refute import refute
from layoutdsl.proof.refute.exhaust import everywhere, whole_range
from layoutdsl.proof.statements.sound import properties_of
from layoutdsl.proof.statements.table_statement import table_properties
from layoutdsl.proof.statements.terms import NotExpressible
from layoutdsl.proof.tactics.claim_proof import prove_equations, prove_fits, splits_of
from layoutdsl.proof.tactics.enclosure import largest
from layoutdsl.proof.tactics.width_proof import prove_intervals

Progress = Callable[[str], None]


def check(claim: AnyClaim, progress: Progress | None = None) -> Checked:
    """Return what was found of each property of a claim about a layout or a table.

    A solver that is missing, dies or hangs makes properties undecided, with the reason.

    Args:
        claim: the claim; its polarity plays no part in what is found.
        progress: told what is being done.
    """
    try:
        with shared():
            return _check(claim, progress or (lambda _: None))
    except RecursionError:
        return given_up(claim, "its expressions are nested too deeply for a proof")


def _check(claim: AnyClaim, tell: Progress) -> Checked:
    if isinstance(claim, TableClaim):
        return Checked(claim, table_findings(claim, tell))
    if isinstance(claim, RecordClaim):
        return Checked(claim, record_findings(claim, tell, attempt))
    if isinstance(claim.predicate, Sound):
        return Checked(claim, layout_findings(claim.ranged, tell))
    return Checked(claim, (_found(claim, property_of(claim), tell),))


def given_up(claim: AnyClaim, reason: str) -> Checked:
    """Return a claim with all of its properties undecided."""
    if isinstance(claim, TableClaim):
        names = table_properties(claim)
    elif isinstance(claim, RecordClaim):
        names = record_properties(claim)
    elif isinstance(claim.predicate, Sound):
        names = properties_of(claim.layout)
    else:
        names = (property_of(claim).words,)
    return Checked(claim, tuple(Undecided(name, reason) for name in names))


def attempt(claim: Claim) -> Finding:
    """Return what comes of trying to prove a claim of one property; never a refutation.

    Whoever looks for a range in which a claim holds asks for many proofs, and knows the
    counterexamples already.

    Raises:
        ValueError: the claim is that a layout is right, which has several properties.
    """
    if isinstance(claim.predicate, Sound):
        raise ValueError("that a layout is right is more than one property")
    claimed = property_of(claim)
    if refute.first_element(claimed.common) is None:
        return Undecided(claimed.words, "no shape of the range was found")
    with shared():
        return _proved(claimed)


def _found(claim: Claim, claimed: Property[Any], tell: Progress) -> Finding:
    if refute.first_element(claimed.common) is None:
        words = "no shape of the range was found, and of none anything holds"
        return Undecided(claimed.words, words)
    tell(f"proving {claim.text}")
    finding = _proved(claimed)
    if not isinstance(finding, Undecided):
        return finding
    tell(f"looking for a counterexample to {claim.text}")
    shapes = whole_range(claimed.common)
    if shapes is not None:
        return _tried(claimed, finding, shapes)
    example = claimed.far() or _example(claimed)
    return finding if example is None else Refuted(claimed.words, example)


def _tried(claimed: Property[Any], finding: Undecided, shapes: tuple[Values, ...]) -> Finding:
    """What comes of trying every index of every shape of the range."""
    at = claimed.tries()
    if at is None:
        return finding
    examples = everywhere(shapes, at)
    if examples:
        return Refuted(claimed.words, examples[claimed.words])
    return Proved(claimed.words, claimed.conditions)


def _proved(claimed: Property[Any]) -> Finding:
    name = claimed.words
    try:
        said = claimed.statement()
        assert set(claimed.theorems) == {said.theorem.name, *(each.name for each in said.others)}
        proofs = [(each, by_hypotheses(each)) for each in said.others]
        proofs.append((said.theorem, _proof(claimed.tactic, said)))
        if claimed.in_bounds:
            proofs += in_bounds(claimed.layout)
    except (NoProof, NotExpressible) as reason:
        return unproved(name, str(reason))
    outcomes = establish(proofs).values()
    failed = next((each for each in outcomes if not each.established), None)
    if failed is not None:
        return Undecided(name, failed.reason)
    questions = sum(each.questions for each in outcomes)
    return Proved(name, claimed.conditions, Certificate(tuple(proofs)), questions)


def _proof(tactic: Tactic, said: Statement) -> Proof:
    known = lemmas.stated()
    match tactic:
        case "equations":
            splits = () if said.start is None else splits_of(said.start)
            return prove_equations(said.ground, said.theorem, said.divided, known, splits)
        case "intervals":
            return prove_intervals(said.ground, said.theorem, known)
        case "size":
            return prove_fits(said.theorem, largest(said.ground), known)


def _example(claimed: Property[Any]) -> Counterexample | None:
    """Return the smallest counterexample that a bounded search finds."""
    at = claimed.tries()
    if at is None:
        return None
    layout, exprs = claimed.layout, claimed.exprs
    return refute.search(layout, exprs, at, claimed.holds_at, _hint(claimed)).get(claimed.words)


def _hint(claimed: Property[Any]) -> Theorem | None:
    """The theorem that fails where the claim does; of products of extents nothing is learnt."""
    if claimed.tactic != "equations":
        return None
    try:
        return claimed.statement().theorem
    except NotExpressible:
        return None
