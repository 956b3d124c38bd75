"""One claim against its entry in a manifest: is what is proved there what the claim says?

The theorems are written anew from the claim; the proofs come from the manifest, and are followed by
the checker; counterexamples are found again in plain integers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from layoutdsl.language.declaration import declaration
from layoutdsl.language.meaning.claims import AnyClaim, Claim, RecordClaim, Sound, TableClaim
from layoutdsl.language.meaning.model import Layout
from layoutdsl.proof.evidence.manifest import Entry, Failed, Shown
from layoutdsl.proof.evidence.problem import Kind, Problem
from layoutdsl.proof.evidence.questions import Asked, asked, used
from layoutdsl.proof.evidence.subjects import written_out
from layoutdsl.proof.kernel.checker import Rejected
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
    now = written_out(claim)
    if entry.subject != now:
        kind = now.partition(" ")[0]
        words = f"the {kind} is `{now}` now, it was `{entry.subject[:400]}`"
        return [], [Problem(Kind.STALE, claim.text, words)]
    if claim.polarity == "refute":
        return [], list(_refuted(claim, entry))
    theorems = restated(claim, _shape(claim, entry))
    problems = list(_stated(claim, entry, theorems)) or list(_shown(claim, entry, theorems))
    if problems:
        return [], problems
    try:
        return asked(claim.text, entry.proofs, lemmas), []
    except (Rejected, RecursionError) as reason:
        words = f"its proof is none: {str(reason)[:400]}"
        return [], [Problem(Kind.BROKEN, claim.text, words)]


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
