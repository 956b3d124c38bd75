"""Verdicts as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from layoutdsl.cli.exits import Exit, Failure
from layoutdsl.cli.output import error
from layoutdsl.cli.replay import replays
from layoutdsl.cli.targets import Target
from layoutdsl.integers.expr import Constant, text
from layoutdsl.meaning.claims import (
    AnyClaim,
    Claim,
    EqualsLayout,
    EqualsRecord,
    RecordClaim,
    Sound,
    TableClaim,
)
from layoutdsl.showing.words import copies_text, index_text, named_text
from layoutdsl.texts.faults import VerdictError

if TYPE_CHECKING:
    from layoutdsl.meaning.counterexample import Counterexample
    from layoutdsl.prover.verdict import Checked, Finding, Refuted

_COLOURS = {"proved": "green", "refuted": "red", "undecided": "yellow"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found of one claim, how long it took, and what the user named, if anything."""

    checked: Checked
    seconds: float
    named: Target | None = None

    def replays(self, found: Refuted) -> tuple[str, ...]:
        """Command lines that show a counterexample to the claim."""
        return () if self.named is None else replays(self.named, self.checked.claim, found)

    @property
    def outcome(self) -> str:
        """In a word or two, for the summary."""
        if self.checked.status == "undecided":
            return "undecided"
        if self.checked.passed:
            return "proved" if self.checked.claim.polarity == "prove" else "refuted as claimed"
        return "refuted" if self.checked.claim.polarity == "prove" else "proved, not refuted"

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
    from layoutdsl.cli.encode import plain
    from layoutdsl.prover.verdict import Proved, Refuted, Undecided, certificate_hash

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
    checked = verdict.checked
    if checked.status == "refuted" and not checked.passed:
        return "\n".join(_refutations(verdict))
    if checked.status == "proved" and not checked.passed:
        head = click.style("proved", fg="red", bold=True)
        needed = f" where {_needed(checked)}" if _needed(checked) else ""
        range_ = needed if checked.claim.where else f" for all shapes{needed}"
        return f"{head}: `{_said(checked)}` holds{range_}, and the text says it does not"
    lines = [_line(verdict)]
    if checked.status == "undecided":
        lines += _undecided(checked)
    elif checked.status == "proved" and verbosity == 0:
        lines += [f"  where {each}" for each in _conditions(checked)]
        lines += [f"  {each}" for each in _said_besides(checked)]
    if checked.status == "proved":
        lines += [f"  {each}" for each in _copied(checked)]
    if verbosity:
        lines += _findings(verdict)
    return "\n".join(lines)


def plain_text(verdict: Verdict) -> str:
    """Return what `verdict_text` does, without colours."""
    return click.unstyle(verdict_text(verdict, 0))


def _said(checked: Checked) -> str:
    return checked.claim.text.removeprefix(checked.claim.polarity).strip()


def _range(checked: Checked) -> str:
    """For which shapes, as it stands after the claim: what its own ``where`` leaves unsaid."""
    needed = _needed(checked)
    if checked.claim.where:
        return f", {needed}" if needed else ""
    return f" for all shapes{' where ' + needed if needed else ''}"


def _needed(checked: Checked) -> str:
    """The conditions under which what a claim names is defined, but for those it repeats."""
    needed = [*checked.claim.subject.where]
    if isinstance(checked.claim.predicate, EqualsLayout | EqualsRecord):
        needed += checked.claim.predicate.other.where
    return ", ".join(str(each) for each in dict.fromkeys(needed) if each not in checked.claim.where)


def _line(verdict: Verdict) -> str:
    checked = verdict.checked
    word = click.style(f"{checked.status:<9}", fg=_colour(checked), bold=True)
    if checked.status == "undecided":
        return f"{word}  {_said(checked)}  ({milliseconds(verdict.seconds)})"
    if checked.claim.polarity == "refute":
        return f"{word}  {_said(checked)}, as claimed  ({milliseconds(verdict.seconds)})"
    return f"{word}  {_said(checked)}{_range(checked)}  ({_effort(verdict)})"


def _colour(checked: Checked) -> str:
    return "green" if checked.passed else _COLOURS[checked.status]


def _effort(verdict: Verdict) -> str:
    from layoutdsl.prover.verdict import Proved

    findings = verdict.checked.findings
    queries = sum(each.queries for each in findings if isinstance(each, Proved))
    count = len(findings)
    words = [f"{count} {'property' if count == 1 else 'properties'}"]
    words += [f"{queries} {'question' if queries == 1 else 'questions'}"] if queries else []
    return ", ".join([*words, milliseconds(verdict.seconds)])


def milliseconds(seconds: float) -> str:
    """Return how long something took."""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _conditions(checked: Checked) -> list[str]:
    from layoutdsl.prover.verdict import Proved

    found = [each.conditions for each in checked.findings if isinstance(each, Proved)]
    return list(dict.fromkeys(condition for each in found for condition in each))


def _said_besides(checked: Checked) -> list[str]:
    from layoutdsl.prover.verdict import Proved

    return [each.says for each in checked.findings if isinstance(each, Proved) and each.says]


def _copied(checked: Checked) -> list[str]:
    """What a layout that is proved says of copies."""
    claim = checked.claim
    if not isinstance(claim, Claim) or not isinstance(claim.predicate, Sound):
        return []
    return [copies_text(claim.layout)] if claim.layout.copies else []


def _undecided(checked: Checked) -> list[str]:
    from layoutdsl.prover.verdict import Undecided

    reasons: dict[str, list[str]] = {}
    for each in checked.findings:
        if isinstance(each, Undecided):
            reasons.setdefault(each.reason, []).append(each.property)
    return [
        line
        for reason, properties in reasons.items()
        for line in (f"  {reason}", *(f"    {each}" for each in properties))
    ]


def _findings(verdict: Verdict) -> list[str]:
    from layoutdsl.prover.verdict import Proved, Refuted

    lines = []
    for each in verdict.checked.findings:
        if isinstance(each, Proved):
            conditions = f"  where {', '.join(each.conditions)}" if each.conditions else ""
            says = f": {each.says}" if each.says else ""
            lines.append(f"  proved  {each.property}{conditions}{says}")
        elif isinstance(each, Refuted):
            lines += [f"  {line}" for line in example_lines(each.example)]
    return lines


def _refutations(verdict: Verdict) -> list[str]:
    from layoutdsl.prover.verdict import Refuted

    head = click.style("refuted", fg="red", bold=True)
    lines = []
    for finding in verdict.checked.findings:
        if isinstance(finding, Refuted):
            first, *others = example_lines(finding.example)
            lines += [f"{head}: {first}", *others]
            if not isinstance(verdict.checked.claim.predicate, Sound):
                lines.append(f"  = claim: {verdict.checked.claim.text}")
            lines += [f"  = replay: {line}" for line in verdict.replays(finding)]
    return [*lines, *_replicated(verdict.checked)]


def _replicated(checked: Checked) -> list[str]:
    """The way out where a table has every element, and some in several slots."""
    from layoutdsl.prover.table_check import only_doubled

    if not only_doubled(checked):
        return []
    axis = "give the table an axis that counts the copies, `k = ...`"
    marked = "in the layout it is marked: `k: 4 broadcast`"
    return [f"  = help: where an element is meant to lie in several slots, {axis}; {marked}"]


def example_lines(example: Counterexample) -> list[str]:
    """Return a counterexample: its sentence, the shape, and a line per point."""
    lines = [example.sentence]
    if example.shape:
        lines.append(f"  at shape {named_text(example.shape)}")
    for point in example.points:
        where = f"{index_text(point.index)} " if point.index else ""
        lines.append(f"    {where}{point.words}")
    return lines


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
    from layoutdsl.api import RefusedError, UnvalidatedError

    try:
        yield
    except UnvalidatedError as missing:
        said = hint if missing.is_written else "without `--target c` a module of Python is written"
        raise Failure(Exit.UNDECIDED, str(missing), said) from None
    except RefusedError as refused:
        name = refused.checked.claim.subject.name
        about = next((each for each in others if each.subject.name == name), target)
        error(verdict_text(verdict_of(about, refused.checked, 0.0), 0))
        raise Failure(Exit.REFUTED, str(refused)) from None


def verdict_failure(error_: VerdictError, options: Mapping[str, str]) -> Failure:
    """Return how a command ends whose layout may not move data.

    Args:
        error_: a refuted or an undecided layout.
        options: the help text of each option of the command, for the hints.
    """
    from layoutdsl.api import UnprovedError

    if not isinstance(error_, UnprovedError):
        error(verdict_text(Verdict(error_.checked, 0.0), 0))
        return Failure(Exit.REFUTED, str(error_))
    in_layout = "--where" not in options
    hints = error_.hints("write `where {}` in the layout" if in_layout else 'add --where "{}"')
    if "--unproved" in options:
        hints.append(f"or add --unproved: {options['--unproved']}")
    return Failure(Exit.UNDECIDED, error_.message, "\n  = help: ".join(hints))


def summary(verdicts: list[Verdict], seconds: float) -> str:
    """Return how many claims came out how, and how long all of it took."""
    counts: dict[str, int] = {}
    for verdict in verdicts:
        counts[verdict.outcome] = counts.get(verdict.outcome, 0) + 1
    words = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
    return f"{words or 'nothing to prove'}  ({milliseconds(seconds)})"
