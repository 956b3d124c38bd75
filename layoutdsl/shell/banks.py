"""``banks``: do threads of a GPU wait for each other, and what is fetched for them?"""

from __future__ import annotations

import click

from layoutdsl.shell.drawing import AS, deliver, drawn_to, refuse_both, refuse_drawing
from layoutdsl.shell.exits import Exit, usage
from layoutdsl.shell.options import JSON, SHAPE, TARGET
from layoutdsl.shell.output import say, say_json
from layoutdsl.shell.shapes import shape_of
from layoutdsl.shell.targets import target


@click.command(short_help="Say which threads of a GPU wait for each other.")
@TARGET
@SHAPE
@click.option(
    "--thread",
    required=True,
    metavar="INDEX",
    help='Where thread t begins, along every axis: "m = t%8, k = t/8*8".',
)
@click.option(
    "--bytes",
    "size",
    type=click.Choice(["1", "2", "4", "8", "16"]),
    default="4",
    show_default=True,
    help="What each thread reads from there on.",
)
@click.option(
    "--threads", type=click.IntRange(1, 1024), default=32, show_default=True, help="How many."
)
@click.option("--of", metavar="TYPE", help="The type of elements: --of f16.")
@AS
@drawn_to
@JSON
def banks(
    written: str,
    shape: str | None,
    thread: str,
    size: str,
    threads: int,
    of: str | None,
    drawn: str,
    output: str | None,
    form: str,
) -> int:
    """Say which threads of a GPU wait for each other, and what is fetched for them.

    Shared memory has 32 banks of 4 bytes. Threads that want other words of one bank wait; 32
    threads read together, of 8 bytes each 16, of 16 bytes 8. Global memory is fetched in sectors of
    32 bytes. Ends with 1 where there are conflicts. As a picture: a matrix of banks and cycles.

    \b
      layoutdsl banks GmmaKSw128 --thread "m = t%8, k = t/8*8" --bytes 16
      layoutdsl banks NCHW --shape 1,1,32,32 --of f32 \\
          --thread "n=0, c=0, h=t, w=0"
      layoutdsl banks GmmaKSw128 --thread "m = t, k = 0" --threads 8 \\
          --bytes 16 --as html -o b.html

    As a claim of a text, which `prove` looks at:

    \b
      prove Tile reads 16 bytes by t: 32 at (m = t%8, k = t/8*8) without conflicts
    """
    from layoutdsl.commands import banks as looked_at

    chosen = target(written)
    layout = chosen.layout
    refuse_both(drawn, form)
    if drawn == "text":
        refuse_drawing({"-o": output})
    with usage():
        extents = shape_of(layout, shape)
        found = looked_at(layout, extents, thread=thread, bytes=int(size), threads=threads, of=of)
    if drawn != "text":
        deliver(found, drawn, output, chosen.place)
    elif form == "json":
        say_json(found)
    else:
        say(str(found))
    return Exit.OK if found.banks.conflict is None else Exit.REFUTED
