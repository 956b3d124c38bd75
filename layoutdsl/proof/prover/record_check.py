"""What is found of a record: each part as a layout of its own, and what holds among the parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from layoutdsl.language.meaning.claims import Claim, EqualsRecord, RecordClaim, Sound
from layoutdsl.language.meaning.counterexample import Counterexample
from layoutdsl.language.meaning.record import Record
from layoutdsl.proof.kernel.builder import NoProof
from layoutdsl.proof.kernel.certificate import Certificate, establish
from layoutdsl.proof.kernel.theorem import Native, Proof, Theorem, Use
from layoutdsl.proof.properties.record import PartClaim, claimed, part_claims, unsaid
from layoutdsl.proof.prover.layout_check import layout_findings
from layoutdsl.proof.prover.verdict import Finding, Proved, Refuted, Undecided
from layoutdsl.proof.refute import refute
from layoutdsl.proof.refute.field_refute import field_example
from layoutdsl.proof.refute.record_refute import differences, record_examples
from layoutdsl.proof.statements import record_statement, statement
from layoutdsl.proof.statements.record_statement import WHOLE, own_properties, whole
from layoutdsl.proof.statements.sound import RANGE
from layoutdsl.proof.statements.terms import NotExpressible
from layoutdsl.proof.tactics.claim_proof import prove_numbers
from layoutdsl.proof.tactics.record_proof import prove_of_record

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
    """What is found of the record beside its parts."""
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
    example = _example(claim)
    return tuple(findings) if example is None else (Refuted(claimed(claim), example),)


def _example(claim: RecordClaim) -> Counterexample | None:
    match claim.predicate:
        case EqualsRecord(other):
            return differences(claim.ranged, other)
        case Sound():
            return None
        case said:
            return field_example(claim.ranged, said)
