"""What we conclude: proved, refuted and undecided are three different answers.

A claim has several properties, each with a finding of its own. A refutation carries a
counterexample in plain integers, replayed through `Layout.offset` before it is reported.
`verdict_text` writes a verdict for people: `str` of it, the shell, pages and pytest print that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from layoutdsl.language.integers.expr import text
from layoutdsl.language.meaning.claims import (
    AnyClaim,
    Claim,
    EqualsLayout,
    EqualsRecord,
    RecordClaim,
    Sound,
    TableClaim,
)
from layoutdsl.language.meaning.counterexample import Counterexample, Point
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.record import Held
from layoutdsl.language.texts.values import Displayed, said
from layoutdsl.proof.statements.sound import INJECTIVE, INVERSE, ONTO, PADDING, RANGE

if TYPE_CHECKING:
    from layoutdsl.proof.kernel.certificate import Certificate

Status: TypeAlias = Literal["proved", "refuted", "undecided"]


@dataclass(frozen=True, slots=True)
class Proved:
    """The property holds for every shape of the range, under the conditions named.

    ``certificate`` is what was checked, where it was a proof and not a trial of every index;
    ``queries`` counts the questions that the solver answered for it. ``says`` is what else came out
    of the proof, in a few words.
    """

    property: str
    conditions: tuple[str, ...] = ()
    certificate: Certificate | None = None
    queries: int = 0
    says: str = ""

    def __repr__(self) -> str:
        return said(self, f"{self.property}: {self.queries} questions")


def certificate_hash(found: Proved) -> str:
    """Return the hash of the certificate; empty where there is none."""
    return "" if found.certificate is None else found.certificate.hash


@dataclass(frozen=True, slots=True)
class Refuted:
    """The property fails at a shape that was replayed in plain integers."""

    property: str
    example: Counterexample

    def __bool__(self) -> bool:
        """Return `False`: the property does not hold."""
        return False

    def __repr__(self) -> str:
        return said(self, f"{self.property}: {self.example.sentence}")


@dataclass(frozen=True, slots=True)
class Undecided:
    """Neither proved nor refuted within the budget; ``reason`` says why.

    ``obstacle`` is what kept a proof from being found, where that is the reason; ``tried`` says how
    far a counterexample was searched for.
    """

    property: str
    reason: str
    obstacle: str = ""
    tried: str = ""

    def __bool__(self) -> bool:
        """Return `False`: the property was not proved."""
        return False

    def __repr__(self) -> str:
        return said(self, f"{self.property}: {self.reason}")


UNCONFIRMED = "no proof was found: the solver does not confirm each of its steps"


def in_words(reason: str) -> str:
    """Return why a theorem was not established, without a word of the kernel."""
    return UNCONFIRMED if reason == "a step of the proof does not follow" else reason


def unproved(name: str, obstacle: str) -> Undecided:
    """Return that no proof of a property was found, because of what."""
    return Undecided(name, f"no proof was found: {obstacle}", obstacle)


Finding: TypeAlias = Proved | Refuted | Undecided


_SENTENCES = {
    INJECTIVE: "no two elements share a slot",
    INVERSE: "the inverse of the offset is right",
    ONTO: "its buffer is the padded box",
    PADDING: "padding is the slots without an element",
    RANGE: "it has an element",
}


def sentence_of(property_: str) -> str:
    """Return a property as a clause after "no proof was found that"."""
    label, colon, name = property_.rpartition(": ")
    clause = _SENTENCES.get(name, name)
    return f"{clause} in `{label}`" if colon else clause


@dataclass(frozen=True, slots=True)
class Checked(Displayed):
    """A claim with what was found of each of its properties."""

    claim: AnyClaim
    findings: tuple[Finding, ...]

    def __bool__(self) -> bool:
        """Return `passed`: undecided is never a pass."""
        return self.passed

    def __repr__(self) -> str:
        return said(self, self.headline)

    def __str__(self) -> str:
        return verdict_text(self)

    @property
    def status(self) -> Status:
        """Refuted if any property is; proved only if every one is."""
        if any(isinstance(each, Refuted) for each in self.findings):
            return "refuted"
        proved = self.findings and all(isinstance(each, Proved) for each in self.findings)
        return "proved" if proved else "undecided"

    @property
    def passed(self) -> bool:
        """Whether the claim says what was found; undecided is never a pass."""
        return self.status == ("proved" if self.claim.polarity == "prove" else "refuted")

    @property
    def headline(self) -> str:
        """The status, the claim, and the properties that were refuted, or else are undecided."""
        kind = Refuted if self.status == "refuted" else Undecided
        properties = ", ".join(each.property for each in self.findings if isinstance(each, kind))
        return ": ".join([self.status, self.claim.text, *([properties] if properties else [])])

    @property
    def outcome(self) -> str:
        """The verdict in a word or two, against what the claim says."""
        if self.status == "undecided":
            return "undecided"
        if self.passed:
            return "proved" if self.claim.polarity == "prove" else "refuted as claimed"
        return "refuted" if self.claim.polarity == "prove" else "proved, not refuted"


def outcomes(checked: Sequence[Checked]) -> str:
    """Return how many claims came out how: ``1 refuted, 3 proved``."""
    counts: dict[str, int] = {}
    for each in checked:
        counts[each.outcome] = counts.get(each.outcome, 0) + 1
    return ", ".join(f"{count} {outcome}" for outcome, count in counts.items())


Paint: TypeAlias = Callable[[str, str], str]
"""Gives a word a colour: ``green``, ``red`` or ``yellow``."""

_COLOURS = {"proved": "green", "refuted": "red", "undecided": "yellow"}


def verdict_text(
    checked: Checked,
    *,
    verbosity: int = 0,
    seconds: float | None = None,
    replays: Callable[[Refuted], Sequence[str]] | None = None,
    paint: Paint = lambda word, _: word,
) -> str:
    """Return a verdict: a line where the claim passed, the counterexample or reason where not.

    Args:
        checked: the verdict.
        verbosity: with 1, every property has a line.
        seconds: how long it took, where that is of interest.
        replays: lines that show a counterexample again; by default expressions of Python.
        paint: colours the first word.
    """
    if checked.status == "refuted" and not checked.passed:
        shown = replays or (lambda found: in_python(checked, found))
        return "\n".join(_refutations(checked, shown, paint))
    if checked.status == "proved" and not checked.passed:
        head = paint("proved", "red")
        needed = f" where {_needed(checked)}" if _needed(checked) else ""
        range_ = needed if checked.claim.where else f" for all shapes{needed}"
        return f"{head}: `{_claimed(checked)}` holds{range_}, and the text says it does not"
    lines = [_line(checked, seconds, paint)]
    if checked.status == "undecided":
        lines += _reasons(checked)
    elif checked.status == "proved" and verbosity == 0:
        proved = [each for each in checked.findings if isinstance(each, Proved)]
        conditions = dict.fromkeys(each for found in proved for each in found.conditions)
        lines += [f"  where {each}" for each in conditions]
        lines += [f"  {each.says}" for each in proved if each.says]
    if checked.status == "proved":
        lines += _copies(checked)
    if verbosity:
        lines += _properties(checked)
    return "\n".join(lines)


def milliseconds(seconds: float) -> str:
    """Return how long something took."""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def in_python(checked: Checked, found: Refuted) -> tuple[str, ...]:
    """Return expressions of Python that show a counterexample again, the last point first.

    Of points at one place only the last has a line.
    """
    lines: dict[object, str] = {}
    for point in reversed(found.example.points):
        with suppress(ValueError):  # an element without a slot has no place to show
            place, line = _evaluated(checked.claim, point, dict(found.example.shape))
            lines.setdefault(place, line)
    return tuple(lines.values())


def _evaluated(claim: AnyClaim, point: Point, values: dict[str, int]) -> tuple[object, str]:
    """Where a point lies, and the expression that says it.

    Raises:
        ValueError: the point is no element, slot or bit, or lies nowhere.
    """
    names, index = [name for name, _ in point.index], tuple(number for _, number in point.index)
    place: object
    match claim:
        case Claim(layout=layout) if names == [axis.name for axis in layout.axes]:
            shape = _shape(layout, values)
            place, call = layout.offset(index, shape), f"offset({index}, {shape})"
        case TableClaim(table=table) if names == [slot.name for slot in table.slots]:
            shape = _shape(table.frame, values)
            place, call = table.decode(index, shape), f"decode({index}, {shape})"
        case RecordClaim(record=record) if (held := Held.at_start(point.words)) is not None:
            shape = _shape(record.frame, values)
            place = record.bit_address(held.field, held.index, held.bit, shape)
            call = f"bit_address({held.field!r}, {held.index}, {held.bit}, {shape})"
        case _:
            raise ValueError("there is nothing to evaluate")
    return place, f"{claim.subject.name}.{call} gives {place}"


def _shape(layout: Layout, values: dict[str, int]) -> tuple[int, ...]:
    return (*layout.shape_of(values), *(values[name] for name in layout.parameters))


def _claimed(checked: Checked) -> str:
    return checked.claim.text.removeprefix(checked.claim.polarity).strip()


def _needed(checked: Checked) -> str:
    """The conditions under which what a claim names is defined, but for those it repeats."""
    needed = [*checked.claim.subject.where]
    if isinstance(checked.claim.predicate, EqualsLayout | EqualsRecord):
        needed += checked.claim.predicate.other.where
    return ", ".join(str(each) for each in dict.fromkeys(needed) if each not in checked.claim.where)


def _range(checked: Checked) -> str:
    """For which shapes, as it stands after the claim: what its own ``where`` leaves unsaid."""
    needed = _needed(checked)
    if checked.claim.where:
        return f", {needed}" if needed else ""
    return f" for all shapes{' where ' + needed if needed else ''}"


def _line(checked: Checked, seconds: float | None, paint: Paint) -> str:
    colour = "green" if checked.passed else _COLOURS[checked.status]
    took = [] if seconds is None else [milliseconds(seconds)]
    claimed = _claimed(checked)
    if checked.status == "proved":
        claimed, took = f"{claimed}{_range(checked)}", [*_effort(checked), *took]
    elif checked.status == "refuted":
        claimed = f"{claimed}, as claimed"
    ending = f"  ({', '.join(took)})" if took else ""
    return f"{paint(f'{checked.status:<9}', colour)}  {claimed}{ending}"


def _effort(checked: Checked) -> Iterator[str]:
    count = len(checked.findings)
    yield f"{count} {'property' if count == 1 else 'properties'}"
    queries = sum(each.queries for each in checked.findings if isinstance(each, Proved))
    if queries:
        yield f"{queries} {'question' if queries == 1 else 'questions'}"


def _copies(checked: Checked) -> Iterator[str]:
    """In how many slots a layout that is proved holds each element, where it has copies."""
    claim = checked.claim
    if isinstance(claim, Claim) and isinstance(claim.predicate, Sound) and claim.layout.copies:
        axes = [axis for axis in claim.layout.axes if axis.name in claim.layout.copies]
        counts = "*".join(text(axis.extent) for axis in axes)
        names = " and ".join(f"`{axis.name}`" for axis in axes)
        yield f"  each element lies in {counts} slots, one for each {names}"


def _reasons(checked: Checked) -> Iterator[str]:
    reasons: dict[str, list[str]] = {}
    for each in checked.findings:
        if isinstance(each, Undecided):
            reasons.setdefault(each.reason, []).append(each.property)
    for reason, properties in reasons.items():
        yield from (f"  {reason}", *(f"    {each}" for each in properties))
    undecided = [each for each in checked.findings if isinstance(each, Undecided)]
    yield from (f"  no counterexample: {each}" for each in {one.tried for one in undecided} if each)


def _properties(checked: Checked) -> Iterator[str]:
    for each in checked.findings:
        if isinstance(each, Proved):
            conditions = f"  where {', '.join(each.conditions)}" if each.conditions else ""
            says = f": {each.says}" if each.says else ""
            yield f"  proved  {each.property}{conditions}{says}"
        elif isinstance(each, Refuted):
            yield from (f"  {line}" for line in each.example.lines)


def _refutations(
    checked: Checked, replays: Callable[[Refuted], Sequence[str]], paint: Paint
) -> Iterator[str]:
    for finding in checked.findings:
        if isinstance(finding, Refuted):
            sentence, *others = finding.example.lines
            yield from (f"{paint('refuted', 'red')}: {sentence}", *others)
            if not isinstance(checked.claim.predicate, Sound):
                yield f"  = claim: {checked.claim.text}"
            yield from (f"  = replay: {line}" for line in replays(finding))
    if only_doubled(checked):
        axis = "give the table an axis that counts the copies, `k = ...`"
        marked = "in the layout it is marked: `k: 4 broadcast`"
        yield f"  = help: where an element is meant to lie in several slots, {axis}; {marked}"


def only_doubled(checked: Checked) -> bool:
    """Return whether a table has every element, and all that is wrong is that some lie twice."""
    from layoutdsl.proof.statements.table_statement import ONCE

    refuted = [each.property for each in checked.findings if isinstance(each, Refuted)]
    return isinstance(checked.claim, TableClaim) and refuted == [ONCE]
