"""One claim against its entry in a manifest: is what is proved there what the claim says?

The theorems are written anew from the claim; the proofs come from the manifest, and are followed by
the checker; counterexamples are found again in plain integers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from layoutdsl.claims import Claim
from layoutdsl.evidence.manifest import Entry, Failed, Proofs, Shown
from layoutdsl.evidence.problem import Kind, Problem
from layoutdsl.evidence.questions import Asked, asked
from layoutdsl.prove.checker import Rejected
from layoutdsl.prove.replay import NoReplay, holds_for_no_shape, replayed
from layoutdsl.prove.restate import restated, seen, wanted
from layoutdsl.prove.theorem import Theorem
from layoutdsl.prove.verdict import RANGE
from layoutdsl.show.declaration import declaration

LARGEST = 10**18
"""Of an extent in a shape on record."""


def check_claim(
    claim: Claim, entry: Entry, lemmas: Mapping[str, Theorem]
) -> tuple[list[Asked], list[Problem]]:
    """Return the questions that are left for a solver, and what is wrong already.

    Args:
        claim: from the source.
        entry: what the manifest says of it.
        lemmas: the lemma library by name.
    """
    if entry.layout != declaration(claim.layout):
        words = f"the layout is `{declaration(claim.layout)}` now, it was `{entry.layout[:400]}`"
        return [], [Problem(Kind.STALE, claim.text, words)]
    if claim.polarity == "refute":
        return [], list(_refuted(claim, entry))
    problems = list(_stated(claim, entry)) or list(_shown(claim, entry))
    if problems:
        return [], problems
    try:
        return asked(claim.text, entry.proofs, lemmas), []
    except (Rejected, RecursionError) as reason:
        words = f"its proof is none: {str(reason)[:400]}"
        return [], [Problem(Kind.BROKEN, claim.text, words)]


def _stated(claim: Claim, entry: Entry) -> Iterator[Problem]:
    """Every theorem of the manifest has to be one of the claim."""
    shape = _shape(claim, entry)
    if entry.shape is not None and shape is None:
        yield Problem(Kind.STALE, claim.text, "its shape is none of the layout")
        return
    theorems = restated(claim, shape)
    for theorem, _ in entry.proofs:
        now = theorems.get(theorem.name)
        if now is None:
            words = f"it proves a theorem `{theorem.name[:80]}` that the claim does not have"
            yield Problem(Kind.STALE, claim.text, words)
        elif now != theorem:
            words = f"the theorem `{theorem.name}` says something else now{_first(theorem, now)}"
            yield Problem(Kind.STALE, claim.text, words)


def _first(before: Theorem, now: Theorem) -> str:
    """Where two statements of one name begin to differ."""
    for part in ("variables", "definitions", "hypotheses", "goals"):
        if getattr(before, part) != getattr(now, part):
            return f": its {part} differ"
    return ""


def _shape(claim: Claim, entry: Entry) -> dict[str, int] | None:
    symbols = claim.ranged.symbols
    if entry.shape is None or [name for name, _ in entry.shape] != list(symbols):
        return None
    values = dict(entry.shape)
    return values if all(1 <= each <= LARGEST for each in values.values()) else None


def _shown(claim: Claim, entry: Entry) -> Iterator[Problem]:
    """Every property has to rest on the theorems that it is, or be seen to hold."""
    theorems = _by_name(entry.proofs)
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


def _by_name(proofs: Proofs) -> dict[str, Theorem]:
    return {theorem.name: theorem for theorem, _ in proofs}


def _refuted(claim: Claim, entry: Entry) -> Iterator[Problem]:
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


def _fails_again(claim: Claim, failed: Failed) -> bool:
    if failed.property == RANGE and not failed.example.shape:
        return holds_for_no_shape(claim)
    shape = dict(failed.example.shape)
    if any(each > LARGEST for each in shape.values()):
        raise NoReplay("its shape is too large")
    return replayed(claim, failed.property, shape) == failed.example
