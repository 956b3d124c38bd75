"""Records of several planes: each region of one is a record of its own, in a stretch of its bytes.

A part that begins at some bit lies there as it would at the first, only so much later: that is what
`Layout.offset` says. So the parts that begin together are a record, and what is proved of it is
proved of them. That the stretches are apart, and of whole bytes, is looked at for the shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.model import ZERO
from layoutdsl.language.meaning.part import Part
from layoutdsl.language.meaning.record import Field, Record

BYTE = 8


@dataclass(frozen=True, slots=True)
class Plane:
    """Some fields of a record: a record of their own, and the byte where it begins."""

    record: Record
    first: int


def planes_of(record: Record, values: Mapping[str, int]) -> tuple[Plane, ...]:
    """Return the planes of a record, in the order of its buffer; it is one where there are none.

    Args:
        record: without open parameters.
        values: its shape.
    """
    whole = (Plane(record, 0),)
    if all(each.start == ZERO for each in record.laid):
        return whole
    starts = dict(zip(record.parts, (each.start for each in record.laid), strict=True))
    found, held = list[Plane](), 0
    for number, parts in enumerate(record.regions):
        fields = tuple(each for each in record.fields if set(each.parts) <= set(parts))
        first = evaluate(starts[parts[0]], values)
        if first % BYTE or not fields:
            return whole
        found.append(Plane(_alone(record, number, fields), first // BYTE))
        held += len(fields)
    found.sort(key=lambda each: each.first)
    apart = all(one.first + _size(one, values) <= other.first for one, other in pairwise(found))
    bytes_ = all(each.record.size_bits_at(values) % BYTE == 0 for each in found)
    return tuple(found) if apart and bytes_ and held == len(record.fields) else whole


def _size(plane: Plane, values: Mapping[str, int]) -> int:
    return -(-plane.record.size_bits_at(values) // BYTE)


def _alone(record: Record, number: int, fields: tuple[Field, ...]) -> Record:
    """The record of some fields, which begins at its first bit."""
    moved: dict[Part, Part] = {
        part: replace(part, layout=replace(part.layout, start=ZERO))
        for each in fields
        for part in each.parts
    }
    alone = tuple(replace(f, parts=tuple(moved[part] for part in f.parts)) for f in fields)
    parts = tuple(moved[part] for part in record.parts if part in moved)
    return replace(record, name=f"{record.name}_{number}", fields=alone, parts=parts)
