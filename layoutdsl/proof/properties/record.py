"""What is claimed of a record, as claims about its parts.

That a record is right is that each part is, as a layout of its own, beside what `record_statement`
says of the whole. ``A == B`` is that parts, two by two, put each bit at the same place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from layoutdsl.language.meaning.claims import Claim, EqualsLayout, EqualsRecord, RecordClaim, Sound
from layoutdsl.language.meaning.model import on_axes
from layoutdsl.language.meaning.part import Part
from layoutdsl.language.meaning.record import Record
from layoutdsl.proof.properties.field import field_claims, field_words, narrowed
from layoutdsl.proof.properties.recut import brought_together, has_extents
from layoutdsl.proof.statements import record_statement
from layoutdsl.proof.statements.record_statement import (
    every_property,
    part_theorem,
    said_twice,
    whole,
)


@dataclass(frozen=True, slots=True)
class PartClaim:
    """A claim about a part: ``words`` say which, and ``number`` marks its theorems."""

    number: int
    words: str
    claim: Claim

    def named(self, found: str) -> str:
        """Return what a property of the part is called among those of the record."""
        return f"{self.words}: {found}" if isinstance(self.claim.predicate, Sound) else self.words

    def theorem(self, found: str) -> str:
        """Return what a theorem of the part is called among those of the record."""
        return part_theorem(self.number, found)


def part_claims(claim: RecordClaim) -> Iterator[PartClaim]:
    """Yield what has to hold of each part."""
    record = claim.ranged
    labels = record_statement.labels(record)
    match claim.predicate:
        case Sound() | EqualsRecord():
            pass
        case said:
            for number, held in field_claims(record, said):
                yield PartClaim(number, f"{labels[number]}: {field_words(said)}", held)
            return
    for number, (part, label) in enumerate(zip(record.parts, labels, strict=True)):
        if isinstance(claim.predicate, Sound):
            yield PartClaim(number, label, Claim("prove", part.layout, Sound(), (), label))
            continue
        other = claim.predicate.other
        twin = _twin(part, other)
        if twin is not None:
            layout = on_axes(twin.in_bits, part.in_bits.axes)
            words = f"{label} lies as in {other.name}"
            mine = narrowed(record, part) if claim.where else part.in_bits
            held = Claim("prove", mine, EqualsLayout(layout), (), words)
            yield PartClaim(number, words, held)
    if isinstance(claim.predicate, EqualsRecord):
        yield from _recut(record, claim.predicate.other)


def _recut(record: Record, other: Record) -> Iterator[PartClaim]:
    """What has to hold of parts that the other record cuts otherwise."""
    found = brought_together(record, other, _alike(record, other))
    names = {"left": record, "right": other}
    for number, each in enumerate([] if isinstance(found, str) else found, len(record.parts)):
        one, two = (names[side] for side in ("left", "right"))
        one, two = (one, two) if each.of == "left" else (two, one)
        mine = dict(zip(map(id, one.parts), record_statement.labels(one), strict=True))
        words = f"{mine[id(each.part)]} of {one.name} lies as in {two.name}"
        held = Claim("prove", each.layout, EqualsLayout(each.other), (), words)
        yield PartClaim(number, words, held)


def _alike(record: Record, other: Record) -> frozenset[tuple[int, int]]:
    """The numbers of parts that hold the same bits, cut alike."""
    numbers = {id(part): number for number, part in enumerate(other.parts)}
    pairs = ((n, _twin(part, other)) for n, part in enumerate(record.parts))
    return frozenset((n, numbers[id(twin)]) for n, twin in pairs if twin is not None)


def record_properties(claim: RecordClaim) -> tuple[str, ...]:
    """Return the properties of a claim of a record, in words."""
    if isinstance(claim.predicate, Sound):
        return every_property(claim.ranged)
    return tuple(each.words for each in part_claims(claim))


def claimed(claim: RecordClaim) -> str:
    """Return what a claim says that is not that a record is right, in words."""
    match claim.predicate:
        case EqualsRecord(other):
            return f"equals {other.name}"
        case Sound():
            raise ValueError("that a record is right is more than one property")
        case said:
            return field_words(said)


def unsaid(claim: RecordClaim) -> str:
    """Return why claims about parts are not all that a claim says; nothing where they are."""
    match claim.predicate:
        case EqualsRecord(other):
            return unmatched(claim.ranged, other)
        case Sound():
            return ""
        case said:
            field = claim.record.field(said.field)
            if said_twice(field) and not has_extents(claim.ranged, field, field):
                return f"parts of `{field.name}` say its extents in several ways"
            return whole(field)


def unmatched(record: Record, other: Record) -> str:
    """Return why parts are not all held against each other; nothing where they are."""
    lone = [
        f"`{part.label}` of `{one.name}` has no like in `{two.name}`"
        for one, two in ((record, other), (other, record))
        for part in one.parts
        if _twin(part, two) is None
    ]
    if not lone:
        return ""
    found = brought_together(record, other, _alike(record, other))
    return f"{lone[0]}: {found}" if isinstance(found, str) else ""


def _twin(part: Part, other: Record) -> Part | None:
    """The part of the other record that holds the same bits of the same elements.

    Both have to speak of the same extents of the record: a range may say what one is by another.
    """
    for each in other.parts:
        alike = each.field == part.field and _held(each) == _held(part)
        if alike and each.layout.parameters == part.layout.parameters:
            return each
    return None


def _held(part: Part) -> object:
    """Which bits of which elements a part holds, as far as is seen at once."""
    picks = [[(not d.name, d.fixed, d.extent) for d in digits] for digits in part.picks]
    return part.bits, picks
