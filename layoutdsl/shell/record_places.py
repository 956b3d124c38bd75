"""``where`` and ``at`` of a record: the bits of an element, and the bits of a byte."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from layoutdsl.shell.encode import plain
from layoutdsl.shell.exits import Exit, Failure, usage
from layoutdsl.shell.output import say, say_json
from layoutdsl.shell.shapes import numbers, shape_of
from layoutdsl.view.record_places import record_at, record_where
from layoutdsl.view.record_words import held_byte_text, record_placement_text

if TYPE_CHECKING:
    from layoutdsl.language.meaning.model import Shape
    from layoutdsl.language.meaning.record import Record


def where_of_record(
    record: Record, shape: str | None, index: str, bit: int | None, form: str
) -> None:
    """Say where the bits of an element lie, or one of them."""
    extents = shape_of(record.frame, shape)
    with usage():
        field, element = _element_of(record, index, extents)
        found = record_where(record, field, element, extents, bit)
    if form != "json":
        say(record_placement_text(found))
        return
    values = plain(found)
    head = {name: values.pop(name) for name in ("record", "shape", "field")}
    say_json({**head, "index": found.index, **values})


def at_of_record(
    record: Record,
    shape: str | None,
    offset: int | None,
    byte: int | None,
    bit: int | None,
    form: str,
) -> None:
    """Say what a byte of the buffer holds, or one bit of it."""
    if byte is None or offset is not None:
        number = 0 if offset is None else offset
        hint = f"write --byte {number}"
        raise Failure(Exit.USAGE, f"`{record.name}` is a record, and told byte by byte", hint)
    extents = shape_of(record.frame, shape)
    with usage():
        found = record_at(record, byte, extents, bit)
    if form != "json":
        say(held_byte_text(found))
        return
    bits = [{**plain(each), "index": each.index, "first": each.first} for each in found.bits]
    say_json({**plain(found), "bits": bits})


def refuse_bits(name: str, given: Mapping[str, int | None]) -> None:
    """Fail where options were given to a layout or a table that only records have."""
    for option, value in given.items():
        if value is not None:
            message = f"{option} is for records, and `{name}` is none"
            raise Failure(Exit.USAGE, message, f"leave out {option}; the place of a slot is OFFSET")


def offset_of(offset: int | None) -> int:
    """Return the slot that was named, which only a record can do without."""
    if offset is None:
        raise click.UsageError("Missing argument 'OFFSET'.", click.get_current_context())
    return offset


def _element_of(record: Record, written: str, shape: Shape) -> tuple[str, tuple[int, ...]]:
    """Return the field and the index that ``--index`` says: ``q:0,130``."""
    name, colon, index = written.partition(":")
    values = record.bind(shape)
    field = record.field(name.strip()) if colon else record.fields[0]
    hint = f"write --index {field.name}:{','.join(str(each - 1) for each in field.shape(values))}"
    if not colon:
        raise Failure(Exit.USAGE, "--index names no field of the record", hint)
    found = numbers(index, "--index", hint)
    if isinstance(found, dict):
        raise Failure(Exit.USAGE, "--index of a record has numbers without names", hint)
    return field.name, found
