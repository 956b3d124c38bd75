"""``cost``: how much of a buffer is padding, at one shape and at worst."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from layoutdsl.shell.cost_text import cost_text, table
from layoutdsl.shell.exits import Exit, Failure, usage
from layoutdsl.shell.options import JSON
from layoutdsl.shell.output import say, say_json
from layoutdsl.shell.record_costs import records_text
from layoutdsl.shell.shapes import shape_of
from layoutdsl.shell.targets import target

if TYPE_CHECKING:
    from layoutdsl.language.meaning.model import Layout
    from layoutdsl.language.meaning.record import Record
    from layoutdsl.proof.padding.cost import Cost
    from layoutdsl.proof.padding.record_cost import RecordCost


@click.command(short_help="Say what padding costs: at one shape, and at worst.")
@click.argument("written", metavar="FILE:NAME...", nargs=-1, required=True)
@click.option(
    "--shape",
    metavar="1,20,3,4",
    help="Numbers at this shape: extents in axis order, then open parameters; or N=1,C=20.",
)
@click.option(
    "--where", "range_", metavar="RANGE", help='Only shapes in a range: --where "C >= 64, N == 1".'
)
@click.option("--of", "element", metavar="TYPE", help="The element type, for bytes: f32, u4.")
@JSON
def cost(
    written: tuple[str, ...], shape: str | None, range_: str | None, element: str | None, form: str
) -> int:
    """Say what padding costs: slots for an element, as a formula, at worst, and at a shape.

    The worst ratio is exact for all shapes of the range: the smallest shape that has it, or that
    it is a limit, or that there is none. Several layouts are compared in a table. Of a record it
    is told how many bits its buffer has for an element, those of each field, and those of none.
    The exit code is 3 where a worst ratio is undecided.

    \b
      layoutdsl cost NCHW16c
      layoutdsl cost NCHW16c --where "C >= 64"
      layoutdsl cost NCHW16c --shape 1,20,3,4 --of f32
      layoutdsl cost NCHW NCHW4c NCHW16c --shape 1,20,3,4
      layoutdsl cost Q4_0 --shape 4096,4096
    """
    if range_ is not None and not range_.strip():
        raise Failure(Exit.USAGE, "--where is empty", 'write a range: --where "C >= 64, N == 1"')
    targets = [target(each) for each in written]
    records = [each.record for each in targets if each.record is not None]
    if records and len(records) < len(targets):
        message = f"`{records[0].name}` is a record, and is not compared with layouts"
        raise Failure(Exit.USAGE, message, "ask for records and layouts one after the other")
    of_records = [_record_cost(each, shape, range_, element) for each in records]
    found = [] if records else [_cost(each.layout, shape, range_, element) for each in targets]
    if form == "json":
        say_json({"costs": of_records or found})
    elif of_records:
        say(records_text(of_records))
    else:
        say(cost_text(found[0]) if len(found) == 1 else table(found))
    bounds = [*(each.most for each in found), *(each.spread.most for each in of_records)]
    return Exit.UNDECIDED if any(each.how == "undecided" for each in bounds) else Exit.OK


def _record_cost(
    record: Record, shape: str | None, range_: str | None, element: str | None
) -> RecordCost:
    from layoutdsl.commands import cost as cost_of

    if element is not None:
        message = f"--of is for layouts, and `{record.name}` is a record"
        raise Failure(Exit.USAGE, message, "leave it out: fields have types of their own")
    with usage():
        extents = None if shape is None else shape_of(record.frame, shape)
        return cost_of(record, extents, where=range_)


def _cost(layout: Layout, shape: str | None, range_: str | None, element: str | None) -> Cost:
    from layoutdsl.commands import cost as cost_of

    with usage():
        extents = None if shape is None else shape_of(layout, shape)
        return cost_of(layout, extents, of=element, where=range_)
