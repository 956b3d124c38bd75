"""Verdicts as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from layoutdsl.language.integers.expr import Constant, text
from layoutdsl.language.meaning.claims import AnyClaim, Claim, RecordClaim, Sound, TableClaim
from layoutdsl.language.texts.faults import VerdictError
from layoutdsl.shell.exits import Exit, Failure
from layoutdsl.shell.output import error
from layoutdsl.shell.replay import replays
from layoutdsl.shell.targets import Target

if TYPE_CHECKING:
    from layoutdsl.proof.prover.verdict import Checked, Finding, Refuted


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found of one claim, how long it took, and what the user named, if anything."""

    checked: Checked
    seconds: float
    named: Target | None = None

    def replays(self, found: Refuted) -> tuple[str, ...]:
        """Command lines that show a counterexample to the claim."""
        return () if self.named is None else replays(self.named, self.checked.claim, found)

    def as_json(self) -> dict[str, object]:
        """Return the verdict by its keys."""
        checked = self.checked
        return {
            "claim": checked.claim.text,
            "polarity": checked.claim.polarity,
            _kind(checked.claim): checked.claim.subject.name,
            "status": checked.status,
            "passed": checked.passed,
            "seconds": round(self.seconds, 4),
            **({"copies": copies} if (copies := copies_of(checked)) else {}),
            "findings": [_finding_json(each, self) for each in checked.findings],
            "text": plain_text(self),
        }


def copies_of(checked: Checked) -> dict[str, int | str]:
    """Return how many copies a layout that is proved has of an element, for each axis of them."""
    claim = checked.claim
    if not isinstance(claim, Claim) or not isinstance(claim.predicate, Sound):
        return {}
    if checked.status != "proved":
        return {}
    extents = {axis.name: axis.extent for axis in claim.layout.axes}
    found = {name: extents[name] for name in claim.layout.copies}
    return {n: e.value if isinstance(e, Constant) else text(e) for n, e in found.items()}


def _kind(claim: AnyClaim) -> str:
    match claim:
        case Claim():
            return "layout"
        case TableClaim():
            return "table"
        case RecordClaim():
            return "record"


def _finding_json(finding: Finding, verdict: Verdict) -> dict[str, object]:
    from layoutdsl.proof.prover.verdict import Proved, Refuted, Undecided, certificate_hash
    from layoutdsl.shell.encode import plain

    match finding:
        case Proved(name, conditions, _, queries, says):
            found = {
                "property": name,
                "status": "proved",
                "conditions": conditions,
                "certificate": certificate_hash(finding),
                "queries": queries,
            }
            return {**found, "says": says} if says else found
        case Refuted(name, example):
            replay = next(iter(verdict.replays(finding)), None)
            return {"property": name, "status": "refuted", **plain(example), "replay": replay}
        case Undecided(name, reason):
            return {"property": name, "status": "undecided", "reason": reason}


def verdict_text(verdict: Verdict, verbosity: int) -> str:
    """Return a verdict: one line where all is as claimed, the evidence where it is not."""
    from layoutdsl.proof.prover.verdict import verdict_text as written

    def paint(word: str, colour: str) -> str:
        return click.style(word, fg=colour, bold=True)

    told = written(
        verdict.checked,
        verbosity=verbosity,
        seconds=verdict.seconds,
        replays=verdict.replays,
        paint=paint,
    )
    return "\n".join([told, *_range(verdict.checked)])


def _range(checked: Checked) -> Iterator[str]:
    """A range in which an undecided layout is proved, where one is found."""
    from layoutdsl.language.meaning.claims import Claim, Sound

    if checked.status == "undecided" and isinstance(checked.claim, Claim):
        if not isinstance(checked.claim.predicate, Sound):
            return
        from layoutdsl.commands import UnprovedError

        range_ = ", ".join(map(str, UnprovedError(checked).range))
        if range_:
            yield f"  = help: it is proved where {range_}: write `where {range_}` in the layout"


def plain_text(verdict: Verdict) -> str:
    """Return what `verdict_text` does, without colours."""
    return click.unstyle(verdict_text(verdict, 0))


def verdict_of(target: Target, checked: Checked, seconds: float) -> Verdict:
    """Return the verdict on a claim about a layout of the target."""
    return Verdict(checked, seconds, target)


UNVALIDATED = "`layoutdsl generate --unvalidated` writes it all the same, and its head says so"


@contextmanager
def refusing(target: Target, *others: Target, hint: str = UNVALIDATED) -> Iterator[None]:
    """Show why a layout is given no code, and fail.

    Args:
        target: the layout.
        others: where there are several.
        hint: how to get code that was not validated.
    """
    from layoutdsl.commands import RefusedError, UnvalidatedError

    try:
        yield
    except UnvalidatedError as missing:
        said = hint if missing.is_written else "without `--target c` a module of Python is written"
        raise Failure(Exit.UNDECIDED, str(missing), said) from None
    except RefusedError as refused:
        name = refused.checked.claim.subject.name
        about = next((each for each in others if each.subject.name == name), target)
        error(verdict_text(verdict_of(about, refused.checked, 0.0), 0))
        raise Failure(Exit.REFUTED, refused.reason) from None


def verdict_failure(error_: VerdictError, options: Mapping[str, str]) -> Failure:
    """Return how a command ends whose layout may not move data.

    Args:
        error_: a refuted or an undecided layout.
        options: the help text of each option of the command, for the hints.
    """
    from layoutdsl.commands import UnprovedError

    if not isinstance(error_, UnprovedError):
        error(verdict_text(Verdict(error_.checked, 0.0), 0))
        return Failure(Exit.REFUTED, error_.reason)
    in_layout = "--where" not in options
    hints = error_.hints("write `where {}` in the layout" if in_layout else 'add --where "{}"')
    if "--unproved" in options:
        hints.append(f"or add --unproved: {options['--unproved']}")
    return Failure(Exit.UNDECIDED, error_.reason, "\n  = help: ".join(hints))


def summary(verdicts: list[Verdict], seconds: float) -> str:
    """Return how many claims came out how, and how long all of it took."""
    from layoutdsl.proof.prover.verdict import milliseconds, outcomes

    words = outcomes([each.checked for each in verdicts])
    return f"{words or 'nothing to prove'}  ({milliseconds(seconds)})"
