"""Certificates checked again, from the source text and the committed files alone.

For each layout the statement is written anew, the proofs are read back and followed by the checker,
the script has to hold exactly the questions that the checker derives, and solvers are asked that
script as it is. No proof is looked for: whoever wrote the files is not believed. With the checker
that is proved in Coq, that program follows the proofs, and no solver is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from layoutdsl.language.declaration import declaration
from layoutdsl.language.meaning.claims import AnyClaim, Claim, RecordClaim, Sound, TableClaim
from layoutdsl.language.meaning.model import Layout
from layoutdsl.proof.evidence.coq_checker import (
    NotRunError,
    confirm_claims,
    problems_of,
    program,
    refuse_lemmas,
    unconfirmed,
)
from layoutdsl.proof.evidence.manifest import (
    FORMAT,
    MOST_BYTES,
    Entry,
    Failed,
    Malformed,
    Manifest,
    Shown,
    hash_of,
    read_json,
    read_manifest,
    read_proofs,
)
from layoutdsl.proof.evidence.problem import Kind, Problem, Rechecked
from layoutdsl.proof.evidence.questions import (
    HEAD,
    Asked,
    asked,
    asked_by_lemmas,
    script_text,
    used,
)
from layoutdsl.proof.evidence.subjects import LEMMAS, MANIFEST, SCRIPT, Subject, written_out
from layoutdsl.proof.kernel import lemmas
from layoutdsl.proof.kernel.checker import Rejected
from layoutdsl.proof.kernel.solver import SOLVERS, NoSolver, Solver, answers
from layoutdsl.proof.kernel.theorem import Theorem
from layoutdsl.proof.properties.expected import read_off, restated, wanted
from layoutdsl.proof.properties.replay import NoReplay, replayed
from layoutdsl.proof.properties.seen import inhabited, seen

LARGEST = 10**18
"""Of an extent in a shape on record."""


def check_claim(
    claim: AnyClaim, entry: Entry, lemmas: Mapping[str, Theorem]
) -> tuple[list[Asked], list[Problem]]:
    """Return the questions that are left for a solver, and what is wrong already.

    Args:
        claim: from the source.
        entry: what the manifest says of it.
        lemmas: the lemma library by name.
    """
    problems = list(compare_claim(claim, entry))
    if problems:
        return [], problems
    try:
        return asked(claim.text, entry.proofs, lemmas), []
    except (Rejected, RecursionError) as reason:
        words = f"its proof is none: {str(reason)[:400]}"
        return [], [Problem(Kind.BROKEN, claim.text, words)]


def compare_claim(claim: AnyClaim, entry: Entry) -> Iterator[Problem]:
    """Yield how an entry differs from what the source says now. No proof is followed.

    Args:
        claim: from the source.
        entry: what the manifest says of it.
    """
    now = written_out(claim)
    if entry.subject != now:
        kind = now.partition(" ")[0]
        words = f"the {kind} is `{now}` now, it was `{entry.subject[:400]}`"
        yield Problem(Kind.STALE, claim.text, words)
    elif claim.polarity == "refute":
        yield from _refuted(claim, entry)
    else:
        stated = {theorem.name: theorem for theorem, _ in entry.proofs}
        theorems = restated(claim, _shape(claim, entry), stated)
        problems = list(_stated(claim, entry, theorems))
        yield from problems or _shown(claim, entry, theorems)


def _stated(claim: AnyClaim, entry: Entry, theorems: Mapping[str, Theorem]) -> Iterator[Problem]:
    """Every theorem of the manifest has to be one of the claim, or a lemma that a proof uses."""
    if not inhabited(claim):
        words = "no shape of its range is found, and of none anything holds"
        yield Problem(Kind.STALE, claim.text, words)
    yield from _read_off(claim, entry)
    if entry.shape is not None and _shape(claim, entry) is None:
        yield Problem(Kind.STALE, claim.text, "its shape is none of the layout")
        return
    lemmas = {name for _, proof in entry.proofs for name in used(proof)}
    for theorem, _ in entry.proofs:
        now = theorems.get(theorem.name)
        if now is None and theorem.name in lemmas:
            continue
        if now is None:
            words = f"it proves a theorem `{theorem.name[:80]}` that the claim does not have"
            yield Problem(Kind.STALE, claim.text, words)
        elif now != theorem:
            words = f"the theorem `{theorem.name}` says something else now{_first(theorem, now)}"
            yield Problem(Kind.STALE, claim.text, words)


def _read_off(claim: AnyClaim, entry: Entry) -> Iterator[Problem]:
    """The layout by which a table is proved has to be the one that is read off it now."""
    layout = read_off(claim) if entry.proofs else None
    now = "" if layout is None else declaration(layout)
    if entry.read_off != now:
        words = f"`{now}` is read off the table now, it was `{entry.read_off[:400]}`"
        yield Problem(Kind.STALE, claim.text, words)


def _first(before: Theorem, now: Theorem) -> str:
    """Where two statements of one name begin to differ."""
    for part in ("variables", "definitions", "hypotheses", "goals"):
        if getattr(before, part) != getattr(now, part):
            return f": its {part} differ"
    return ""


def _shape(claim: AnyClaim, entry: Entry) -> dict[str, int] | None:
    if entry.shape is None or isinstance(claim, TableClaim):
        return None
    symbols = _framed(claim).symbols
    if not isinstance(claim.predicate, Sound) or [name for name, _ in entry.shape] != list(symbols):
        return None
    values = dict(entry.shape)
    return values if all(1 <= each <= LARGEST for each in values.values()) else None


def _framed(claim: Claim | RecordClaim) -> Layout:
    return claim.ranged if isinstance(claim, Claim) else claim.ranged.frame


def _shown(claim: AnyClaim, entry: Entry, now: Mapping[str, Theorem]) -> Iterator[Problem]:
    """Every property has to rest on the theorems that it is, or be seen to hold.

    Args:
        claim: from the source.
        entry: its theorems are as they are now, but for lemmas.
        now: the theorems of the claim, without any lemma.
    """
    theorems = {each.name: each for each, _ in entry.proofs if each.name in now}
    found: dict[str, Shown] = {}
    for each in entry.findings:
        if isinstance(each, Failed) or each.property in found:
            yield Problem(Kind.BROKEN, claim.text, f"it speaks of `{each.property[:80]}` wrongly")
            return
        found[each.property] = each
    tried = seen(claim) if any(each.tried for each in found.values()) else set()
    properties = wanted(claim, theorems)
    for want in properties:
        has = found.pop(want.property, None)
        if has is None and not (tried and want.optional):
            yield Problem(Kind.BROKEN, claim.text, f"it says nothing of `{want.property}`")
        elif has is None:
            continue
        elif has.tried and want.property not in tried:
            words = f"`{want.property}` is not seen to hold by trying every index"
            yield Problem(Kind.STALE, claim.text, words)
        elif has.where != want.conditions:
            words = f"`{want.property}` is proved under other conditions"
            yield Problem(Kind.STALE, claim.text, words)
        elif not has.tried and (has.by != want.rests_on or not set(has.by) <= set(theorems)):
            words = f"`{want.property}` does not rest on {', '.join(want.rests_on)}"
            yield Problem(Kind.BROKEN, claim.text, words)
    for name in found:
        yield Problem(Kind.BROKEN, claim.text, f"it speaks of `{name[:80]}`, which is no property")


def _refuted(claim: AnyClaim, entry: Entry) -> Iterator[Problem]:
    failed = [each for each in entry.findings if isinstance(each, Failed)]
    if not failed or len(failed) != len(entry.findings) or entry.proofs:
        yield Problem(Kind.BROKEN, claim.text, "a refuted claim has counterexamples, no proofs")
        return
    for each in failed:
        try:
            holds = _fails_again(claim, each)
        except NoReplay as reason:
            yield Problem(Kind.BROKEN, claim.text, f"its counterexample is none: {reason}")
            continue
        if not holds:
            words = f"its counterexample is not what happens there now: {each.example.sentence}"
            yield Problem(Kind.STALE, claim.text, words[:400])


def _fails_again(claim: AnyClaim, failed: Failed) -> bool:
    if any(each > LARGEST for _, each in failed.example.shape):
        raise NoReplay("its shape is too large")
    return replayed(claim, failed.property, failed.example) == failed.example


Tell = Callable[[str], None]


def recheck(
    subjects: Iterable[Subject], folder: Path, solvers: Sequence[Solver], tell: Tell
) -> Iterator[Rechecked]:
    """Yield what comes of each certificate, the lemma library first.

    Args:
        subjects: what certificates have to be there for.
        folder: where they are.
        solvers: who is asked; without any, `layoutdsl-check` follows the proofs.
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
        SOLVERS[name].command(1)
    except NoSolver as missing:
        return missing
    return None


def why_not_checked() -> NoSolver | None:
    """Return why `layoutdsl-check` cannot be run, and how to build it; ``None`` where it can."""
    try:
        program()
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
    followed = Rechecked(LEMMAS, len(proofs), 0, ())
    if not solvers:
        return _confirmed_lemmas(followed, text)
    return _answered(followed, folder, questions, solvers)


def _confirmed_lemmas(followed: Rechecked, text: str) -> Rechecked:
    try:
        reason = refuse_lemmas(text)
    except NotRunError as failure:
        return replace(followed, problems=(unconfirmed(followed.name, str(failure)),))
    if reason:
        words = f"layoutdsl-check rejects it: {reason}"
        return replace(followed, problems=(Problem(Kind.BROKEN, followed.name, words),))
    return followed


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
    if not solvers:
        return _confirmed(subject, manifest, text, problems)
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


def _confirmed(
    subject: Subject, manifest: Manifest, text: str, problems: list[Problem]
) -> Rechecked:
    """Compare the claims with the source; let `layoutdsl-check` follow the proofs of `text`."""
    entries = {each.claim: each for each in manifest.entries}
    for claim in subject.claims:
        if claim.text in entries:
            problems += compare_claim(claim, entries[claim.text])
    followed = Rechecked(subject.file, len(subject.claims), 0, tuple(problems))
    if problems:
        return followed
    try:
        found = confirm_claims(text, len(manifest.entries))
    except NotRunError as failure:
        return replace(followed, problems=(unconfirmed(subject.file, str(failure)),))
    for entry, result in zip(manifest.entries, found.claims, strict=True):
        problems += problems_of(entry, result)
    sentences = sum(each.has_sentence for each in found.claims)
    return replace(
        followed, questions=found.questions, problems=tuple(problems), sentences=sentences
    )


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
    return replace(followed, questions=len(questions), problems=tuple(problems))


def _judged(asked: Asked, found: Mapping[str, str]) -> Iterator[Problem]:
    spoken = ", ".join(f"{name} says {answer}" for name, answer in found.items())
    if {"sat", "unsat"} <= set(found.values()):
        yield Problem(Kind.DISAGREEMENT, asked.label, spoken)
    elif "sat" in found.values():
        yield Problem(Kind.BROKEN, asked.label, f"this step does not follow: {spoken}")
