"""``diff``: two layouts next to each other."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import click

from layoutdsl.shell.drawing import (
    PAGE,
    drawn_to,
    place,
    refuse_both,
    refuse_drawing,
    refuse_output,
)
from layoutdsl.shell.exits import Exit, usage
from layoutdsl.shell.options import JSON, quiet
from layoutdsl.shell.output import say, say_json
from layoutdsl.shell.progress import Progress
from layoutdsl.shell.targets import SHIELD, target

if TYPE_CHECKING:
    from layoutdsl.view.compare.difference import Difference


@click.command(short_help="Say whether two layouts are equal, and where they differ.")
@click.argument("one", metavar="A")
@click.argument("other", metavar="B")
@click.option(
    "--axes",
    metavar="n=b,h=y",
    help="Which axes of B are which of A, A's name first; or all of B's in A's order: b,c,y,x.",
)
@PAGE
@drawn_to
@quiet
@JSON
def diff(one: str, other: str, axes: str | None, drawn: str, output: str | None, form: str) -> int:
    """Say whether two layouts are equal, for which shapes, and where they differ.

    A and B are FILE:NAME, a layout of the library, or NOTATION:TEXT. Axes go by name where both
    have the same names, else by order; --axes says otherwise, and what it leaves out goes by name
    or order again. Equality is about offsets and sizes; other fill, chunks and elements are noted.

    \b
    equal          for all shapes, proved: exit code 0
    equal where .. for shapes in a range, proved: 0 if one of the two is not
                   defined elsewhere; 1 if they differ elsewhere
    different      with the smallest shape that was found: 1
    undecided      neither proved nor told apart: 3
    \b
      layoutdsl diff tvm:NCHW16c onednn:aBcd16b
      layoutdsl diff NCHW16c "einops:n (co ci) h w -> n co h w ci, ci=16"
      layoutdsl diff HtpNCHW R4NCHWMemoryLayout --axes h=w,w=h
      layoutdsl diff NCHW NHWC --as html -o difference.html
    """
    refuse_both(drawn, form)
    if drawn == "text":
        refuse_drawing({"-o": output})
    named = target(one), target(other)
    first, second = (each.layout for each in named)
    refuse_output(drawn, output, *(each.place for each in named))
    from layoutdsl.shell.comparison_text import difference_text
    from layoutdsl.view.compare.difference import Unknown
    from layoutdsl.view.compare.difference import diff as compare

    names = one.removeprefix(SHIELD), other.removeprefix(SHIELD)
    progress = Progress()
    started = perf_counter()
    with usage():
        found = compare(first, second, axes, progress)
    progress.clear()
    seconds = perf_counter() - started
    if form == "json":
        say_json(_by_keys(found, *names, seconds))
    else:
        words = difference_text(found, names, named, seconds)
        if drawn == "text" or output not in (None, "-"):
            say(words)
        if drawn != "text":
            from layoutdsl.shell.verdict_page import difference_page

            text = difference_page(names, words, found, (first, second), axes)
            place(text, drawn, output, *(each.place for each in named))
    if isinstance(found, Unknown):
        return Exit.UNDECIDED
    return Exit.OK if found.same else Exit.REFUTED


_UNSAID = {
    "where": (),
    "certificate": None,
    "queries": 0,
    "agreements": (),
    "exact": True,
    "unproved": (),
    "mismatch": None,
    "reason": None,
    "hints": (),
    "notes": (),
}
"""What stands under a key of which an answer says nothing."""


def _by_keys(found: Difference, one: str, other: str, seconds: float) -> dict[str, object]:
    from layoutdsl.shell.encode import plain

    answer = plain(found)
    head = {"status": found.status, "same": found.same, "one": one, "other": other}
    timed = {"axes": answer.pop("pairing"), "seconds": round(seconds, 4)}
    return {**head, **timed, **_UNSAID, **answer}
