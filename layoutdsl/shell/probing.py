"""``probe``: a function of somebody else's, called, and held against a layout."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any, cast

import click

from layoutdsl.shell.exits import Exit, Failure, usage
from layoutdsl.shell.imported import imported
from layoutdsl.shell.options import JSON, SHAPE, WORDS, quiet
from layoutdsl.shell.output import error, say, say_json
from layoutdsl.shell.progress import Progress
from layoutdsl.shell.shapes import shape_of
from layoutdsl.shell.targets import target

if TYPE_CHECKING:
    from layoutdsl.view.compare.calling import ProbeHint
    from layoutdsl.view.compare.probe import Probe


@click.command(short_help="Call a pack function: what is its layout, or is it that of another?")
@click.argument("function", metavar="MODULE:FUNCTION")
@click.option(
    "--against",
    metavar="LAYOUT",
    help="FILE:NAME or NOTATION:TEXT; without it the layout of the function is looked for.",
)
@SHAPE
@click.option("--unpack", is_flag=True, help="The function takes a buffer and returns a tensor.")
@click.option("--dtype", default="u1", metavar="u1", help="Type of the elements, as numpy says it.")
@click.option(
    "--array",
    type=click.Choice(["numpy", "torch", "jax"]),
    default="numpy",
    help="What the function is called with.",
)
@click.option(
    "--word",
    type=click.Choice(WORDS),
    help="With --against: the buffer has such words, and elements lie in them without room, the "
    "first in the lowest bits.",
)
@click.option("--flat", is_flag=True, help="With --unpack: the buffer is flat, and not a box.")
@quiet
@JSON
def probe(
    function: str,
    against: str | None,
    shape: str | None,
    unpack: bool,
    dtype: str,
    array: str,
    word: str | None,
    flat: bool,
    form: str,
) -> int:
    """Call a function that packs or unpacks, and compare what it does with a layout.

    THE FUNCTION IS RUN, with all that its module does on import: probe only code that you would
    run yourself. It is called with numbers below 16 that spell, digit by digit, the number of each
    element; so what it does with a whole tensor comes out in a few calls. It may take a second
    argument, the shape. It returns one item for each element, or with --word words of several
    elements. What it prints goes to the standard error.

    Exit code 0: at this shape it does what the layout says. 1: it does not. This is a test of one
    shape, and no proof.

    Without --against the function is called at many shapes, from one that it takes, and what comes
    out is the text of its layout, with what was tried as remarks; `--shape N=1,C=20,H=3,W=4` names
    the axes. Exit code 1: it is no layout, and where that shows. 3: it is one at the shapes that
    were tried, but none was found that says so for all, or it refuses some that the text allows.

    \b
      layoutdsl probe mine.py:pack --against NCHW16c --shape 1,20,3,4
      layoutdsl probe package.module:unpack --against onednn:aBcd16b \\
          --shape 1,20,3,4 --unpack
      layoutdsl probe mine.py:repack --against GptqWeights --shape 64,8 --word i32
      layoutdsl probe mine.py:pack --shape N=1,C=20,H=3,W=4 > found.layout
    """
    if against is None:
        if word is not None:
            hint = "give a layout with --against, which says how many bits an element has"
            raise Failure(Exit.USAGE, "--word is of no use without --against", hint)
        if unpack or flat:
            hint = "give a layout with --against, or probe the function that packs"
            words = "without --against a function that packs is needed: how large"
            raise Failure(Exit.USAGE, f"{words} a buffer is, only that says", hint)
        from layoutdsl.shell.inferring import say_inferred

        return say_inferred(function, shape, dtype, array, form)
    layout = target(against).layout
    extents = shape_of(layout, shape)
    with usage():
        layout.bind(extents)
    from layoutdsl.shell.encode import plain
    from layoutdsl.view.compare.probe import probe as ask

    called = imported(function)
    progress = Progress()
    with usage(), redirect_stdout(sys.stderr):
        found = ask(
            called,
            layout,
            extents,
            unpack=unpack,
            dtype=dtype,
            array=cast("Any", array),
            flat=flat,
            word=word,
            progress=progress,
        )
    progress.clear()
    if os.environ.get("LAYOUTDSL_DEBUG") == "1" and found.raised is not None:
        error("".join(traceback.format_exception(found.raised)).rstrip())
    if form == "json":
        status = "same" if found.same else "different"
        say_json({"status": status, "function": function, "against": against, **plain(found)})
    else:
        say("\n".join(_lines(found, function, against)))
    return Exit.OK if found.same else Exit.REFUTED


def _lines(found: Probe, function: str, against: str) -> Iterator[str]:
    from layoutdsl.language.meaning.counterexample import named_text

    at = f", at shape {named_text(found.shape)}" if found.shape else ""
    calls = f"{found.calls} {'call' if found.calls == 1 else 'calls'}"
    if found.same:
        head = click.style("same", fg="green", bold=True)
        yield f"{head}  `{function}` does what `{against}` says{at}  ({calls})"
    else:
        head = click.style("different", fg="red", bold=True)
        yield f"{head}  `{function}` does not do what `{against}` says{at}  ({calls})"
    for fault in found.faults:
        yield f"  {fault.sentence}"
    if found.wrong > 1:
        yield f"  so do {found.wrong - 1} others of {found.elements} elements"
    for hint in found.hints:
        yield f"  = hint: {_hint(hint, against)}"
    if found.padding:
        values = ", ".join(f"{value:g}" for value in found.padding)
        yield f"  = note: slots that no element reaches hold {values}"


def _hint(hint: ProbeHint, against: str) -> str:
    from layoutdsl.shell.comparison_text import lanes_text
    from layoutdsl.view.compare.calling import RoundedDown
    from layoutdsl.view.compare.lanes import LanesPermuted

    match hint:
        case LanesPermuted():
            return lanes_text(hint, f"`{against}`", "the function")
        case RoundedDown(extent):
            return f"this is the size with `{extent}` rounded down"
    pairs = ", ".join(f"{b} for {a}" for a, b in hint.pairs if a != b)
    return f"axes are exchanged: the function takes {pairs}"
