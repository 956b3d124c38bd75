"""``where`` and ``at``: one element, one slot."""

from __future__ import annotations

import click

from layoutdsl.language.meaning.record import Record
from layoutdsl.language.meaning.table import Table
from layoutdsl.shell.exits import usage
from layoutdsl.shell.options import JSON, SHAPE, TARGET
from layoutdsl.shell.output import say, say_json
from layoutdsl.shell.shapes import index_of, shape_of
from layoutdsl.shell.targets import target


@click.command(short_help="Say where an element lies, digit by digit.")
@TARGET
@SHAPE
@click.option(
    "--index",
    required=True,
    metavar="1,17,2,3",
    help="The element; or n=1,c=17,h=2,w=3. Of a record with its field: q:0,130.",
)
@click.option("--bit", type=int, metavar="B", help="Of a record: only this bit of the element.")
@JSON
def where(written: str, shape: str | None, index: str, bit: int | None, form: str) -> None:
    """Say where an element lies, coordinate by coordinate; of a record, each run of its bits.

    \b
      layoutdsl where NCHW16c --shape 2,20,3,4 --index 1,17,2,3
      layoutdsl where Q4_0 --shape 1,256 --index q:0,130
    """
    from layoutdsl.shell.record_places import refuse_bits, where_of_record
    from layoutdsl.view.places import where as place
    from layoutdsl.view.words import placement_text

    chosen = target(written)
    if chosen.record is not None:
        where_of_record(chosen.record, shape, index, bit, form)
        return
    layout = chosen.layout
    refuse_bits(layout.name, {"--bit": bit})
    extents = shape_of(layout, shape)
    with usage():
        found = place(layout, index_of(layout, index, extents), extents)
    if form == "json":
        say_json(found)
    else:
        say(placement_text(found))


@click.command(short_help="Say what a slot holds, and why.")
@TARGET
@SHAPE
@click.argument("offset", metavar="OFFSET", type=int, required=False)
@click.option("--byte", type=int, metavar="B", help="Of a record, in place of OFFSET.")
@click.option("--bit", type=int, metavar="B", help="Of a record: only this bit of the byte.")
@JSON
def at(
    written: str,
    shape: str | None,
    offset: int | None,
    byte: int | None,
    bit: int | None,
    form: str,
) -> None:
    """Say what a slot of the buffer holds: an element, or padding, and why.

    The buffer of a record is told byte by byte: which bits of which elements lie there.

    \b
      layoutdsl at NCHW16c --shape 2,20,3,4 757
      layoutdsl at MaceChannelMajorTable --shape 1,2,3,6 9
      layoutdsl at Q4_0 --shape 1,256 --byte 8
    """
    from layoutdsl.shell.encode import plain
    from layoutdsl.shell.record_places import at_of_record, offset_of, refuse_bits
    from layoutdsl.view.read_slot import read_slot, read_slot_text
    from layoutdsl.view.slots import at as slot
    from layoutdsl.view.words import held_text

    subject = target(written).subject
    if isinstance(subject, Record):
        at_of_record(subject, shape, offset, byte, bit, form)
        return
    refuse_bits(subject.name, {"--byte": byte, "--bit": bit})
    number = offset_of(offset)
    with usage():
        if isinstance(subject, Table):
            read = read_slot(subject, number, shape_of(subject.frame, shape))
            found = {**plain(read), "coordinates": dict(read.coordinates)}
            answer = read_slot_text(read)
        else:
            held = slot(subject, number, shape_of(subject, shape))
            found = {**plain(held), "elements": [dict(each) for each in held.elements]}
            answer = held_text(held)
    if form == "json":
        say_json(found)
    else:
        say(answer)
