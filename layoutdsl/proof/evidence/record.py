"""What was found of claims, as the files of a certificate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from layoutdsl.language.declaration import declaration
from layoutdsl.language.meaning.claims import AnyClaim, Claim, TableClaim
from layoutdsl.language.texts.values import brief
from layoutdsl.proof.evidence.coq_checker import (
    Confirmed,
    NotRunError,
    confirm_claims,
    problems_of,
    unconfirmed,
)
from layoutdsl.proof.evidence.manifest import (
    FORMAT,
    Entry,
    Failed,
    Manifest,
    Proofs,
    Shown,
    dumped,
    hash_of,
    proofs_json,
)
from layoutdsl.proof.evidence.questions import asked, asked_by_lemmas, script_text, used
from layoutdsl.proof.evidence.subjects import LEMMAS, MANIFEST, SCRIPT, Subject, written_out
from layoutdsl.proof.kernel import lemmas
from layoutdsl.proof.kernel.certificate import Certificate
from layoutdsl.proof.kernel.theorem import Theorem
from layoutdsl.proof.properties.expected import read_off, wanted
from layoutdsl.proof.prover.verdict import Checked, Proved, Refuted
from layoutdsl.proof.refute import refute


@dataclass(frozen=True, slots=True)
class Recorded:
    """The files of one subject, and the claims that came out otherwise than they say.

    ``files`` is empty where no claim passed.
    """

    subject: Subject
    files: tuple[tuple[str, str], ...]
    left_out: tuple[Checked, ...]

    __repr__ = brief


def record(subject: Subject, checked: Sequence[Checked]) -> Recorded:
    """Return the certificate of a subject.

    Args:
        subject: the claims.
        checked: what was found of each of them, in their order.
    """
    passed = [each for each in checked if each.passed]
    left_out = tuple(each for each in checked if not each.passed)
    if not passed:
        return Recorded(subject, (), left_out)
    manifest = manifest_of(passed)
    entries = manifest.entries
    questions = [
        question for each in entries for question in asked(each.claim, each.proofs, lemmas.stated())
    ]
    files = ((subject.manifest, manifest.text), (subject.script, script_text(questions)))
    return Recorded(subject, files, left_out)


def manifest_of(passed: Iterable[Checked]) -> Manifest:
    """Return what was found of claims that passed, with the proofs."""
    return Manifest(hash_of(lemmas.library()), tuple(map(_entry, passed)))


def _entry(checked: Checked) -> Entry:
    claim = checked.claim
    if checked.status == "refuted":
        failed = tuple(
            Failed(each.property, each.example)
            for each in checked.findings
            if isinstance(each, Refuted)
        )
        return Entry(claim.text, written_out(claim), None, failed, ())
    proofs = _proofs(checked)
    theorems = {theorem.name: theorem for theorem, _ in proofs}
    rests_on = {each.property: each.rests_on for each in wanted(claim, theorems)}
    shown = tuple(
        Shown(
            each.property,
            () if each.certificate is None else rests_on[each.property],
            each.conditions,
            tried=each.certificate is None,
        )
        for each in checked.findings
        if isinstance(each, Proved)
    )
    proofs = _needed(proofs, {name for each in shown for name in each.by})
    layout = read_off(claim) if proofs else None
    read = "" if layout is None else declaration(layout)
    return Entry(claim.text, written_out(claim), _shape(claim, theorems), shown, proofs, read)


def _shape(claim: AnyClaim, theorems: Mapping[str, Theorem]) -> tuple[tuple[str, int], ...] | None:
    """A shape of the range, where a theorem says that there is one."""
    if isinstance(claim, TableClaim) or "range" not in theorems:
        return None
    layout = claim.ranged if isinstance(claim, Claim) else claim.ranged.frame
    element = refute.first_element(layout)
    return None if element is None else tuple(element[0].items())


def _proofs(checked: Checked) -> Proofs:
    """The theorems that the findings rest on, each after those that it uses."""
    found = [each.certificate for each in checked.findings if isinstance(each, Proved)]
    proved = [pair for each in found if each is not None for pair in each.proved]
    return tuple({theorem.name: (theorem, proof) for theorem, proof in proved}.values())


def _needed(proofs: Proofs, names: set[str]) -> Proofs:
    """The theorems of these names, and those that their proofs use."""
    kept = []
    for theorem, proof in reversed(proofs):
        if theorem.name in names:
            kept.append((theorem, proof))
            names = names | used(proof)
    return tuple(reversed(kept))


def lemma_files() -> tuple[tuple[str, str], ...]:
    """Return the manifest and the script of the lemma library, that every certificate rests on."""
    proofs = lemmas.library()
    found = {"format": FORMAT, "hash": hash_of(proofs), "proofs": proofs_json(proofs)}
    script = script_text(asked_by_lemmas(proofs))
    return ((LEMMAS + MANIFEST, dumped(found)), (LEMMAS + SCRIPT, script))


def confirm(checked: Iterable[Checked], code: Iterable[tuple[str, Certificate]] = ()) -> Confirmed:
    """Let `layoutdsl-check` follow the proofs of claims that were just proved, and of code.

    Args:
        checked: what was found of claims; those that failed are left out.
        code: the theorems of functions, each with a name to tell it by.
    """
    manifest = manifest_of(each for each in checked if each.passed)
    functions = (Entry(name, name, None, (), each.proved) for name, each in code)
    manifest = replace(manifest, entries=(*manifest.entries, *functions))
    count = sum(bool(each.proofs) for each in manifest.entries)
    try:
        found = confirm_claims(manifest.text, len(manifest.entries))
    except NotRunError as failure:
        return Confirmed(0, count, (unconfirmed("the proofs", str(failure)),))
    pairs = zip(manifest.entries, found.claims, strict=True)
    problems = tuple(problem for pair in pairs for problem in problems_of(*pair))
    return Confirmed(count - len(problems), count, problems)
