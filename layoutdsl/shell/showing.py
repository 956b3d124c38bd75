"""``show``: the buffer, as a grid of text or as a picture."""

from __future__ import annotations

import shutil
import sys
from typing import Any

import click

from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.record import Record
from layoutdsl.language.meaning.table import Table
from layoutdsl.shell.drawing import AS, COLOURED, deliver, drawn_to, refuse_drawing
from layoutdsl.shell.exits import Exit, Failure, usage
from layoutdsl.shell.options import SHAPE, TARGET
from layoutdsl.shell.output import coloured, say
from layoutdsl.shell.shapes import shape_of
from layoutdsl.shell.targets import Target, target

PAGE = 100
"""Characters of a line where there is no terminal to ask."""

ROWS = 48

PICTURED = "add --as html -o OUT.html, or --as svg"


@click.command(short_help="Show the buffer as a grid of blocks, or draw it.")
@TARGET
@SHAPE
@AS
@drawn_to
@COLOURED
@click.option("--columns", type=click.IntRange(1, 4096), help="Slots of a row, or bytes.")
@click.option(
    "--all", "whole", is_flag=True, help="Draw up to 65536 slots, where 16384 would be folded."
)
@click.option("--most", type=click.IntRange(1, 65536), help="Fold what has more slots than this.")
@click.option("--of", metavar="TYPE", help="The type of elements, for --colour bank: --of f16.")
@click.option("--rows", type=click.IntRange(1, 4096), help="Rows of the text; 48 by default.")
def show(
    written: str,
    shape: str | None,
    drawn: str,
    output: str | None,
    rows: int | None,
    **options: Any,
) -> None:
    """Show the buffer as a grid, coloured by block; or draw it, beside the tensor.

    As html each side points at the other, under the mouse and with the arrow keys: which element a
    slot holds, why it is padding, where an element lies. Both pictures are one file that loads
    nothing. What is too large to be drawn is folded: its ends are shown, and what is left out is
    said. A record is drawn byte by byte, a table slot by slot.

    \b
      layoutdsl show NCHW4c --shape 1,6,2,3
      layoutdsl show NCHW16c --shape 1,20,2,3 --as html -o picture.html
      layoutdsl show GmmaKSw128 --shape 8,64 --as svg --colour bank -o banks.svg
      layoutdsl show Q4_0 --shape 1,64 --as html -o blocks.html
    """
    chosen = target(written)
    if drawn == "text":
        refuse_drawing({"-o": output, **{f"--{name}": each for name, each in options.items()}})
        if chosen.record is not None:
            message = f"`{chosen.record.name}` is a record, which is drawn byte by byte"
            raise Failure(Exit.USAGE, message, PICTURED)
        if isinstance(chosen.subject, Table):
            message = f"`{chosen.subject.name}` is a table, which is drawn as a picture"
            raise Failure(Exit.USAGE, message, PICTURED)
        say(_text(chosen.layout, shape, rows or ROWS))
        return
    if rows is not None:
        raise Failure(Exit.USAGE, f"--rows is for text, and not --as {drawn}", "leave out --rows")
    deliver(_picture(chosen, shape, **options), drawn, output, chosen.place)


def _text(layout: Layout, shape: str | None, rows: int) -> str:
    from layoutdsl.view.ansi import COLOURS, PLAIN, grid_text
    from layoutdsl.view.grid import grid

    width = shutil.get_terminal_size((PAGE, 24)).columns
    with usage():
        found = grid(layout, shape_of(layout, shape), width=width, most_rows=rows)
    return grid_text(found, COLOURS if coloured(sys.stdout) else PLAIN)


def _picture(
    chosen: Target,
    shape: str | None,
    *,
    colour: str | None,
    columns: int | None,
    whole: bool,
    most: int | None,
    of: str | None,
) -> Any:
    from layoutdsl.commands import show as picture
    from layoutdsl.view.picture import FEW, MANY

    subject = chosen.subject
    extents = shape_of(subject if isinstance(subject, Layout) else subject.frame, shape)
    if whole and most is not None:
        raise Failure(Exit.USAGE, "--all and --most exclude each other", "leave out one of them")
    with usage():
        if whole and not isinstance(subject, Record) and subject.size(extents) > MANY:
            slots = subject.size(extents)
            message = f"--all draws {MANY} slots at most, and the buffer has {slots}"
            raise Failure(Exit.USAGE, message, "leave out --all: what is too large is folded")
        return picture(
            subject,
            extents,
            colour=colour or "block",
            columns=columns,
            most=MANY if whole else most or FEW,
            of=of,
        )
