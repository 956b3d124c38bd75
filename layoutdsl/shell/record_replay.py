"""Command lines that show again what a message said of a record: ``where`` for an element."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from layoutdsl.language.meaning.claims import EqualsRecord, RecordClaim
from layoutdsl.language.meaning.part import Part
from layoutdsl.language.meaning.record import Held, Record
from layoutdsl.shell.again import command_line, listed, named_again
from layoutdsl.shell.targets import Target

if TYPE_CHECKING:
    from layoutdsl.language.meaning.counterexample import Point
    from layoutdsl.proof.prover.verdict import Refuted


@dataclass(frozen=True, slots=True)
class _Asked:
    """What `where` is asked: an element, and one of its bits where only that was said."""

    field: str
    index: tuple[int, ...]
    bit: int | None


def of_record(chosen: Target, claim: RecordClaim, found: Refuted) -> Iterator[str]:
    """Yield command lines that show where the elements of a counterexample lie.

    The first is about the last point. Where two records differ, each has its line.
    """
    record, values = claim.record, dict(found.example.shape)
    points = reversed(found.example.points)
    asked = [each for point in points for each in _asked(record, found.property, point, values)]
    for each in dict.fromkeys(asked):
        yield from _line(chosen, (chosen.name or record.name, record.name), record, each, values)
    if isinstance(claim.predicate, EqualsRecord):
        other = claim.predicate.other
        for each in asked[:1]:
            yield from _line(chosen, (other.name,), other, each, values)


def _asked(
    record: Record, property_: str, point: Point, values: dict[str, int]
) -> Iterator[_Asked]:
    """What a point of a counterexample speaks of, if it is an element of the record."""
    held = Held.at_start(point.words)
    if held is not None:
        yield _Asked(held.field, held.index, held.bit)
        return
    for part in record.parts:
        if property_.startswith((f"{part.label}: ", f"{part.label} #")) and _over(part, point):
            yield _element(part, [value for _, value in point.index], values)
            return


def _over(part: Part, point: Point) -> bool:
    """Whether a point is an index of a part; every other point of a record is in words."""
    return [name for name, _ in point.index] == [axis.name for axis in part.layout.axes]


def _element(part: Part, own: list[int], values: dict[str, int]) -> _Asked:
    if part.layout.bit_of is None:
        return _Asked(part.field, part.field_index(own, values), None)
    return _Asked(part.field, part.field_index(own[:-1], values), part.low + own[-1])


def _line(
    chosen: Target,
    names: tuple[str, ...],
    record: Record,
    asked: _Asked,
    values: dict[str, int],
) -> Iterator[str]:
    for word, found in named_again(chosen, names):
        if found == record and _is_there(record, asked, values):
            extents = record.frame.shape_of(values)
            shape = (*extents, *(values[name] for name in record.parameters))
            index = f"{asked.field}:{listed(asked.index)}"
            bit = () if asked.bit is None else ("--bit", str(asked.bit))
            yield command_line("where", word, "--shape", listed(shape), "--index", index, *bit)
            return


def _is_there(record: Record, asked: _Asked, values: dict[str, int]) -> bool:
    """Whether the record has such an element, and such a bit."""
    try:
        field = record.field(asked.field)
        field.index(asked.index, values)
        return asked.bit is None or field.bit(asked.bit) == asked.bit
    except ValueError:
        return False
