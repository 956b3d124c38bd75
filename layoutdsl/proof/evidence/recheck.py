"""Certificates checked again, from the source text and the committed files alone.

For each layout the statement is written anew, the proofs are read back and followed by the checker,
the script has to hold exactly the questions that the checker derives, and solvers are asked that
script as it is. No proof is looked for: whoever wrote the files is not believed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from layoutdsl.proof.evidence.claim_check import check_claim
from layoutdsl.proof.evidence.manifest import (
    FORMAT,
    MOST_BYTES,
    Malformed,
    Manifest,
    hash_of,
    read_json,
    read_manifest,
    read_proofs,
)
from layoutdsl.proof.evidence.problem import Kind, Problem, Rechecked
from layoutdsl.proof.evidence.questions import HEAD, Asked, asked_by_lemmas, script_text
from layoutdsl.proof.evidence.replaying import unreplayed
from layoutdsl.proof.evidence.subjects import LEMMAS, MANIFEST, SCRIPT, Subject
from layoutdsl.proof.kernel import lemmas
from layoutdsl.proof.kernel.checker import Rejected
from layoutdsl.proof.kernel.solver import SOLVERS, WITH_PROOFS, NoSolver, Solver, answers

Tell = Callable[[str], None]

ASKED: Mapping[str, Solver] = {**SOLVERS, **WITH_PROOFS}
"""Who can be asked."""


def recheck(
    subjects: Iterable[Subject], folder: Path, solvers: Sequence[Solver], tell: Tell
) -> Iterator[Rechecked]:
    """Yield what comes of each certificate, the lemma library first.

    Args:
        subjects: what certificates have to be there for.
        folder: where they are.
        solvers: who is asked; of one that proves, every proof is replayed.
        tell: is told what is being checked.

    Raises:
        OSError: a file cannot be read.
    """
    tell(LEMMAS)
    yield _lemmas(folder, solvers)
    for subject in subjects:
        tell(subject.file)
        yield _subject(subject, folder, solvers)


def why_not_asked(name: str) -> NoSolver | None:
    """Return why a solver cannot be asked, and how to mend it; ``None`` where it can."""
    try:
        ASKED[name].command(1)
    except NoSolver as missing:
        return missing
    return None


def left_over(subjects: Iterable[Subject], folder: Path) -> Iterator[str]:
    """Yield the files of ours in a folder that belong to no subject."""
    expected = {LEMMAS + MANIFEST, LEMMAS + SCRIPT}
    for each in subjects:
        expected |= {each.manifest, each.script}
    if folder.is_dir():
        yield from sorted(name for name in _ours(folder, "") if name not in expected)


def _ours(folder: Path, before: str) -> Iterator[str]:
    for each in folder.iterdir():
        if each.is_symlink():
            continue  # what it leads to is in another folder
        if each.is_dir():
            yield from _ours(each, f"{before}{each.name}/")
        elif each.name.endswith((MANIFEST, SCRIPT)) and is_certificate(each):
            yield before + each.name


def is_certificate(place: Path) -> bool:
    """Return whether there is a manifest or a script of ours, whatever it is worth."""
    if not place.is_file():
        return False
    with place.open("rb") as file:
        head = file.read(200)
    return FORMAT.encode() in head or head.startswith(HEAD.encode())


def _lemmas(folder: Path, solvers: Sequence[Solver]) -> Rechecked:
    text = _text(folder, LEMMAS + MANIFEST)
    if isinstance(text, Problem):
        return Rechecked(LEMMAS, 0, 0, (text,))
    try:
        found = read_json(text)
        proofs = read_proofs(found)
        questions = asked_by_lemmas(proofs)
    except (Malformed, Rejected, RecursionError) as reason:
        problem = Problem(Kind.BROKEN, LEMMAS + MANIFEST, str(reason)[:400])
        return Rechecked(LEMMAS, 0, 0, (problem,))
    if hash_of(proofs) != hash_of(lemmas.library()) or found.get("hash") != hash_of(proofs):
        words = "these are not the lemmas that proofs use now"
        return Rechecked(LEMMAS, 0, 0, (Problem(Kind.STALE, LEMMAS + MANIFEST, words),))
    return _answered(Rechecked(LEMMAS, len(proofs), 0, ()), folder, questions, solvers)


def _subject(subject: Subject, folder: Path, solvers: Sequence[Solver]) -> Rechecked:
    text = _text(folder, subject.manifest)
    if isinstance(text, Problem):
        return Rechecked(subject.file, len(subject.claims), 0, (text,))
    try:
        manifest = read_manifest(text)
    except Malformed as reason:
        problem = Problem(Kind.BROKEN, subject.manifest, str(reason))
        return Rechecked(subject.file, len(subject.claims), 0, (problem,))
    problems = list(_of_source(subject, manifest))
    questions: list[Asked] = []
    entries = {each.claim: each for each in manifest.entries}
    known = lemmas.stated()
    for claim in subject.claims:
        if claim.text in entries:
            asked, wrong = check_claim(claim, entries[claim.text], known)
            questions += asked
            problems += wrong
    if problems:
        return Rechecked(subject.file, len(subject.claims), 0, tuple(problems))
    followed = Rechecked(subject.file, len(subject.claims), 0, ())
    return _answered(followed, folder, questions, solvers)


def _of_source(subject: Subject, manifest: Manifest) -> Iterator[Problem]:
    """The claims of the manifest have to be those of the source, in its order."""
    if manifest.lemmas != hash_of(lemmas.library()):
        yield Problem(Kind.STALE, subject.manifest, "it rests on other lemmas than there are now")
    recorded = [each.claim for each in manifest.entries]
    claimed = [each.text for each in subject.claims]
    for claim in claimed:
        if claim not in recorded:
            yield Problem(Kind.MISSING, claim, f"`{subject.manifest}` says nothing of this claim")
    for claim in dict.fromkeys(recorded):
        if claim not in claimed:
            words = f"`{subject.manifest}` proves this claim, which the source does not have"
            yield Problem(Kind.LEFT_OVER, claim[:400], words)
    if len(set(recorded)) < len(recorded):
        yield Problem(Kind.BROKEN, subject.manifest, "it speaks of a claim twice")
    if sorted(recorded) == sorted(claimed) != claimed != recorded:
        yield Problem(Kind.STALE, subject.manifest, "the claims have another order now")


def _text(folder: Path, name: str) -> str | Problem:
    """The text of a file; where there is none that can be read, why."""
    file = folder.joinpath(*name.split("/"))
    if not file.is_file():
        return Problem(Kind.MISSING, name, "there is no such file: nothing was proved here")
    with file.open("rb") as stream:
        data = stream.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        return Problem(Kind.BROKEN, name, f"it has more than {MOST_BYTES} bytes")
    try:
        return data.decode()
    except UnicodeDecodeError:
        return Problem(Kind.BROKEN, name, "it is not UTF-8")


def _answered(
    followed: Rechecked, folder: Path, questions: Sequence[Asked], solvers: Sequence[Solver]
) -> Rechecked:
    """Ask every solver the committed script, if that holds these questions and nothing else."""
    name = followed.name + SCRIPT
    text = _text(folder, name)
    if isinstance(text, Problem):
        return replace(followed, problems=(text,))
    if text != script_text(questions):
        words = "it does not hold the questions on which the proofs rest"
        return replace(followed, problems=(Problem(Kind.BROKEN, name, words),))
    given = {each.name: answers(text, len(questions), solver=each) for each in solvers}
    problems: list[Problem] = []
    for number, each in enumerate(questions):
        found = {solver: found.answers[number] for solver, found in given.items()}
        problems += _judged(each, found)
    unanswered = (found.reason for found in given.values() if "unknown" in found.answers)
    problems += [Problem(Kind.UNANSWERED, name, reason) for reason in unanswered]
    count, replayed = len(questions), 0
    for solver in (one for one in solvers if one.proves):
        missing = list(unreplayed(questions, given[solver.name]))
        replayed += count - len(missing)
        problems += missing
    return replace(followed, questions=count, problems=tuple(problems), replayed=replayed)


def _judged(asked: Asked, found: Mapping[str, str]) -> Iterator[Problem]:
    spoken = ", ".join(f"{name} says {answer}" for name, answer in found.items())
    if {"sat", "unsat"} <= set(found.values()):
        yield Problem(Kind.DISAGREEMENT, asked.label, spoken)
    elif "sat" in found.values():
        yield Problem(Kind.BROKEN, asked.label, f"this step does not follow: {spoken}")
