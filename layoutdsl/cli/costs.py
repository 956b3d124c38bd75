"""``cost``: how much of a buffer is padding, at one shape and at worst."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from layoutdsl.cli.exits import Exit, Failure, usage
from layoutdsl.cli.options import JSON
from layoutdsl.cli.output import say, say_json
from layoutdsl.cli.targets import shape_of, target

if TYPE_CHECKING:
    from layoutdsl.padding.cost import Cost


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
    it is a limit, or that there is none. Several layouts are compared in a table. The exit code is
    3 where a worst ratio is undecided.

    \b
      layoutdsl cost NCHW16c
      layoutdsl cost NCHW16c --where "C >= 64"
      layoutdsl cost NCHW16c --shape 1,20,3,4 --of f32
      layoutdsl cost NCHW NCHW4c NCHW16c --shape 1,20,3,4
    """
    found = [_cost(each, shape, range_, element) for each in written]
    if form == "json":
        say_json({"costs": found})
    else:
        from layoutdsl.cli.costs_text import cost_text, table

        say(cost_text(found[0]) if len(found) == 1 else table(found))
    undecided = any(each.most.how == "undecided" for each in found)
    return Exit.UNDECIDED if undecided else Exit.OK


def _cost(written: str, shape: str | None, range_: str | None, element: str | None) -> Cost:
    from layoutdsl.api import cost as cost_of

    layout = target(written).layout
    if range_ is not None and not range_.strip():
        raise Failure(Exit.USAGE, "--where is empty", 'write a range: --where "C >= 64, N == 1"')
    with usage():
        extents = None if shape is None else shape_of(layout, shape)
        return cost_of(layout, extents, of=element, where=range_)
