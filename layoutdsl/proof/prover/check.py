"""A claim -> what was found of each of its properties.

A proof is tried first; where there is none, a counterexample is looked for; where there is neither,
the answer is *undecided*, with the reason why there is no proof. A record is each of its parts as a
layout, and what holds among the parts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from layoutdsl.language.meaning.claims import (
    AnyClaim,
    Claim,
    EqualsRecord,
    RecordClaim,
    Sound,
    TableClaim,
)
from layoutdsl.language.meaning.counterexample import Counterexample
from layoutdsl.language.meaning.record import Record
from layoutdsl.language.meaning.shapes import Values
from layoutdsl.proof.kernel import lemmas
from layoutdsl.proof.kernel.budget import shared
from layoutdsl.proof.kernel.builder import NoProof, by_hypotheses
from layoutdsl.proof.kernel.certificate import Certificate, establish
from layoutdsl.proof.kernel.theorem import Native, Proof, Theorem, Use
from layoutdsl.proof.properties.known import property_of
from layoutdsl.proof.properties.property import Property, Statement
from layoutdsl.proof.properties.record import (
    PartClaim,
    claimed,
    part_claims,
    record_properties,
    unsaid,
)
from layoutdsl.proof.prover.layout_check import in_bounds, layout_findings
from layoutdsl.proof.prover.table_check import table_findings
from layoutdsl.proof.prover.verdict import (
    Checked,
    Finding,
    Proved,
    Refuted,
    Undecided,
    in_words,
    unproved,
)
from layoutdsl.proof.refute import refute
from layoutdsl.proof.refute.exhaust import everywhere, whole_range
from layoutdsl.proof.refute.field_refute import field_example
from layoutdsl.proof.refute.record_refute import differences, record_examples
from layoutdsl.proof.statements import record_statement, statement
from layoutdsl.proof.statements.record_statement import WHOLE, own_properties, whole
from layoutdsl.proof.statements.sound import RANGE, properties_of
from layoutdsl.proof.statements.table_statement import table_properties
from layoutdsl.proof.statements.terms import NotExpressible
from layoutdsl.proof.tactics.claim_proof import (
    prove_equations,
    prove_numbers,
    splits_of,
)
from layoutdsl.proof.tactics.indices import prove_indices
from layoutdsl.proof.tactics.record_proof import prove_of_record
from layoutdsl.proof.tactics.width_proof import prove_by_size, prove_intervals, prove_size

Tell = Callable[[str], None]
Attempt = Callable[[Claim], Finding]


def record_findings(claim: RecordClaim, tell: Tell, attempt: Attempt) -> tuple[Finding, ...]:
    """Return what was found of each property of a record, and of each of its parts.

    Args:
        claim: of a record.
        tell: is told what is being done.
        attempt: what comes of a claim about a layout that has one property.
    """
    record = claim.ranged
    element = refute.first_element(record.frame)
    if element is None:
        words = "no shape of the range was found, and of none anything holds"
        return (Undecided(RANGE, words),)
    tell(f"proving {claim.text}")
    if not isinstance(claim.predicate, Sound):
        return _of_parts(claim, attempt)
    findings = [*_of_whole(record, element[0])]
    for part in part_claims(claim):
        found = layout_findings(part.claim.ranged, lambda _: None)
        # That the record has a shape says more than that the part has one.
        findings += [_of_part(part, each) for each in found if each.property != RANGE]
    if all(isinstance(each, Proved) for each in findings):
        return tuple(findings)
    tell(f"looking for a counterexample to {claim.text}")
    sought = [each.property for each in findings if not isinstance(each, Proved)]
    return _refuted(findings, record_examples(record, sought))


def _of_part(part: PartClaim, found: Finding) -> Finding:
    """A finding of a part, its theorems by the names that they have in the record."""
    name = part.named(found.property)
    match found:
        case Proved(certificate=Certificate() as certificate):
            return replace(found, property=name, certificate=_renamed(certificate, part))
        case Refuted():
            words = "no shape of the record was found at which this part fails, as it does alone"
            return Undecided(name, words)
        case _:
            return replace(found, property=name)


def _renamed(certificate: Certificate, part: PartClaim) -> Certificate:
    """Return the theorems of a part under the names that they have in its record."""
    own = {theorem.name for theorem, _ in certificate.proved}

    def name(called: str) -> str:
        return part.theorem(called) if called in own else called

    def proof(steps: Proof) -> Proof:
        if isinstance(steps, Native):
            return steps
        return tuple(
            replace(each, theorem=name(each.theorem)) if isinstance(each, Use) else each
            for each in steps
        )

    return Certificate(
        tuple(
            (replace(theorem, name=name(theorem.name)), proof(steps))
            for theorem, steps in certificate.proved
        )
    )


def _of_whole(record: Record, values: dict[str, int]) -> list[Finding]:
    """The findings of a record about how its parts lie to each other."""
    proved: list[tuple[Theorem, Proof]] = []
    reasons: dict[str, str] = {}
    try:
        said = [statement.nonempty(statement.ground(record.frame), values)]
        said += record_statement.theorems(record)
    except NotExpressible as reason:
        return [Undecided(name, str(reason)) for name in own_properties(record)]
    for each in said:
        try:
            own = each.name == "range"
            proof = prove_numbers(each) if own else prove_of_record(record, each, values)
            proved.append((each, proof))
        except (NoProof, NotExpressible) as reason:
            reasons[each.name] = f"no proof was found: {reason}"
    outcomes = establish(proved)
    by_name = {theorem.name: (theorem, proof) for theorem, proof in proved}
    findings: list[Finding] = []
    for name, theorems in own_properties(record).items():
        wrong = next(filter(None, map(whole, record.fields)), "") if name == WHOLE else ""
        failed = [reasons[each] for each in theorems if each in reasons]
        failed += [
            outcomes[each].reason
            for each in theorems
            if each in outcomes and not outcomes[each].established
        ]
        if wrong or failed:
            findings.append(Undecided(name, wrong or failed[0]))
            continue
        certificate = Certificate(tuple(by_name[each] for each in theorems))
        questions = sum(outcomes[each].questions for each in theorems)
        findings.append(Proved(name, (), certificate, questions))
    return findings


def _refuted(findings: list[Finding], examples: dict[str, Counterexample]) -> tuple[Finding, ...]:
    return tuple(
        Refuted(each.property, examples[each.property])
        if each.property in examples and not isinstance(each, Proved)
        else each
        for each in findings
    )


def _of_parts(claim: RecordClaim, attempt: Attempt) -> tuple[Finding, ...]:
    """Whether two records put every bit at the same place, or what is said of a field: by parts."""
    findings = [_of_part(each, attempt(each.claim)) for each in part_claims(claim)]
    missing = unsaid(claim)
    if missing:
        findings.append(Undecided(claimed(claim), missing))
    if all(isinstance(each, Proved) for each in findings):
        return tuple(findings)
    example = _record_example(claim)
    return tuple(findings) if example is None else (Refuted(claimed(claim), example),)


def _record_example(claim: RecordClaim) -> Counterexample | None:
    match claim.predicate:
        case EqualsRecord(other):
            return differences(claim.ranged, other)
        case Sound():
            return None
        case said:
            return field_example(claim.ranged, said)


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
    """The finding after every index of every shape of the range was tried."""
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
        assert set(claimed.theorems) == {each.name for each in said.all}
        proofs = [(each, by_hypotheses(each)) for each in said.others]
        proofs += _proofs(claimed, said)
        proofs += [] if said.applied is None else [prove_indices(said.applied)]
        if claimed.in_bounds:
            proofs += in_bounds(claimed.layout)
    except (NoProof, NotExpressible) as reason:
        return unproved(name, str(reason))
    outcomes = establish(proofs).values()
    failed = next((each for each in outcomes if not each.established), None)
    if failed is not None:
        return Undecided(name, in_words(failed.reason))
    questions = sum(each.questions for each in outcomes)
    return Proved(name, claimed.conditions, Certificate(tuple(proofs)), questions)


def _proofs(claimed: Property[Any], said: Statement) -> list[tuple[Theorem, Proof]]:
    """Return the theorem of a claim with its proof, after those that the proof uses."""
    known, theorem = lemmas.stated(), said.theorem
    match claimed.tactic:
        case "equations":
            splits = () if said.start is None else splits_of(said.start)
            return [(theorem, prove_equations(said.ground, theorem, said.divided, known, splits))]
        case "size":
            return [(theorem, prove_size(said.ground, theorem, known))]
        case "intervals":
            try:
                return [(theorem, prove_intervals(said.ground, theorem, known))]
            except NoProof as reason:
                try:
                    inside = in_bounds(claimed.layout)
                    proof = prove_by_size(said.ground, theorem, known, inside[-1][0])
                except NoProof:
                    raise reason from None
                return [*inside, (theorem, proof)]


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
