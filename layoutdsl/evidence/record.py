"""What was found of claims, as the files of a certificate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from layoutdsl.evidence.manifest import (
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
from layoutdsl.evidence.questions import asked, asked_by_lemmas, script_text
from layoutdsl.evidence.subjects import LEMMAS, MANIFEST, SCRIPT, Subject
from layoutdsl.prove import lemmas, refute
from layoutdsl.prove.restate import wanted
from layoutdsl.prove.verdict import Checked, Proved, Refuted
from layoutdsl.show.declaration import declaration


@dataclass(frozen=True, slots=True)
class Recorded:
    """The files of one subject, and the claims that came out otherwise than they say.

    ``files`` is empty where no claim passed.
    """

    subject: Subject
    files: tuple[tuple[str, str], ...]
    left_out: tuple[Checked, ...]


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
    entries = tuple(map(_entry, passed))
    manifest = Manifest(hash_of(lemmas.library()), entries)
    questions = [
        question for each in entries for question in asked(each.claim, each.proofs, lemmas.stated())
    ]
    files = ((subject.manifest, manifest.text), (subject.script, script_text(questions)))
    return Recorded(subject, files, left_out)


def _entry(checked: Checked) -> Entry:
    claim, layout = checked.claim, checked.claim.ranged
    if checked.status == "refuted":
        failed = tuple(
            Failed(each.property, each.example)
            for each in checked.findings
            if isinstance(each, Refuted)
        )
        return Entry(claim.text, declaration(claim.layout), None, failed, ())
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
    values = refute.witness(layout) if "range" in theorems else None
    shape = None if values is None else tuple(values.items())
    return Entry(claim.text, declaration(claim.layout), shape, shown, proofs)


def _proofs(checked: Checked) -> Proofs:
    """The theorems that the findings rest on, each after those that it uses."""
    found = [each.certificate for each in checked.findings if isinstance(each, Proved)]
    proved = [pair for each in found if each is not None for pair in each.proved]
    return tuple({theorem.name: (theorem, proof) for theorem, proof in proved}.values())


def lemma_files() -> tuple[tuple[str, str], ...]:
    """Return the manifest and the script of the lemma library, that every certificate rests on."""
    proofs = lemmas.library()
    found = {"format": FORMAT, "hash": hash_of(proofs), "proofs": proofs_json(proofs)}
    script = script_text(asked_by_lemmas(proofs))
    return ((LEMMAS + MANIFEST, dumped(found)), (LEMMAS + SCRIPT, script))
