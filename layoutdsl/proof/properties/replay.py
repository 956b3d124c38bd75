"""Counterexamples that are on record, found again at their shape in plain integers."""

from __future__ import annotations

from layoutdsl.language.meaning.claims import AnyClaim, Claim, EqualsRecord, RecordClaim, Sound
from layoutdsl.language.meaning.counterexample import Counterexample
from layoutdsl.language.meaning.elements import INTEGER_TYPES
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.shapes import Values, in_range, volume
from layoutdsl.proof.properties.known import property_of
from layoutdsl.proof.properties.record import claimed
from layoutdsl.proof.refute import field_refute, record_refute, refute
from layoutdsl.proof.refute.empty import no_shape
from layoutdsl.proof.refute.record_refute import AT_ONCE, MOST_BITS
from layoutdsl.proof.refute.refute import LARGEST
from layoutdsl.proof.refute.table_refute import table_tries
from layoutdsl.proof.statements import table_statement
from layoutdsl.proof.statements.sound import RANGE, SIZE


class NoReplay(ValueError):  # noqa: N818  says why a record cannot be replayed
    """The record cannot be replayed."""


def replayed(claim: AnyClaim, name: str, example: Counterexample) -> Counterexample | None:
    """Return the counterexample to a property that is found where one is on record, if any is.

    Raises:
        NoReplay: its shape or index does not fit, is outside the range, or too large to try.
    """
    if isinstance(claim, Claim):
        return _of_layout(claim, name, example)
    if isinstance(claim, RecordClaim):
        return _of_record(claim, name, example)
    table = table_statement.common(claim)
    values = _shape(table.frame, example)
    if max(volume(table.frame, values), table.size(values)) > LARGEST:
        raise NoReplay("its shape is too large to read every slot")
    return table_tries(claim)(values).get(name)


def _of_record(claim: RecordClaim, name: str, example: Counterexample) -> Counterexample | None:
    record = claim.ranged
    values = _shape(record.frame, example)
    if name not in AT_ONCE and record_refute.bits_at(record, values) > MOST_BITS:
        raise NoReplay("its shape is too large to try every bit")
    match claim.predicate:
        case Sound():
            return record_refute.fails_at(record, values, {name}).get(name)
        case EqualsRecord(other):
            return record_refute.differ_at(record, other, values)
        case said:
            if field_refute.elements_at(record, said, values) > field_refute.MOST_ELEMENTS:
                raise NoReplay("its shape is too large to try every element")
            found = field_refute.field_fails_at(record, said, values)
            return found if name == claimed(claim) else None


def _of_layout(claim: Claim, name: str, example: Counterexample) -> Counterexample | None:
    layout, sound = claim.ranged, isinstance(claim.predicate, Sound)
    if sound and name == RANGE:
        empty = no_shape(layout)
        return empty if isinstance(empty, Counterexample) else None
    values = _shape(layout, example)
    if sound and name == SIZE:
        int64 = INTEGER_TYPES["int64"]
        return refute.too_large_at(layout, values, int64.largest, int64.name)
    found = None if sound else property_of(claim)
    if found is not None and name != found.words:
        return None
    if found is not None and found.by_index:
        return found.again(values, _index(layout, values, example))
    if volume(layout, values) > LARGEST:
        raise NoReplay("its shape is too large to try every index")
    return refute.unsound(layout)(values).get(name) if found is None else found.again(values)


def _shape(layout: Layout, example: Counterexample) -> Values:
    values = dict(example.shape)
    if list(values) != list(layout.symbols):
        raise NoReplay(f"its shape names {', '.join(values)}, not {', '.join(layout.symbols)}")
    if min(values.values(), default=1) < 1 or not in_range(layout, values):
        raise NoReplay("its shape is outside the range of the claim")
    return values


def _index(layout: Layout, values: Values, example: Counterexample) -> tuple[int, ...]:
    """The index of the one point of a counterexample."""
    points = [dict(each.index) for each in example.points]
    names = [axis.name for axis in layout.axes]
    if [list(each) for each in points] != [names]:
        raise NoReplay(f"it is no index over {', '.join(names)}")
    index = tuple(points[0].values())
    extents = layout.shape_of(values)
    if not all(0 <= i < extent for i, extent in zip(index, extents, strict=True)):
        raise NoReplay("its index is outside the shape")
    return index
