"""``diff``, ``translate`` and ``identify``: layouts next to each other, and in other notations."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING

import click

from layoutdsl.cli.exits import Exit, Failure, usage
from layoutdsl.cli.options import JSON
from layoutdsl.cli.output import Progress, say, say_json
from layoutdsl.cli.targets import SHIELD, Target, target

if TYPE_CHECKING:
    from layoutdsl.api import Translation
    from layoutdsl.compare.difference import Difference
    from layoutdsl.compare.seen import Seen
    from layoutdsl.meaning.model import Layout

ALL = "all"


@click.command(short_help="Say whether two layouts are equal, and where they differ.")
@click.argument("one", metavar="A")
@click.argument("other", metavar="B")
@click.option(
    "--axes",
    metavar="n=b,h=y",
    help="Which axes of B are which of A, A's name first; or all of B's in A's order: b,c,y,x.",
)
@JSON
def diff(one: str, other: str, axes: str | None, form: str) -> int:
    """Say whether two layouts are equal, for which shapes, and where they differ.

    A and B are FILE:NAME, a layout of the library, or NOTATION:TEXT. Axes go by name where both
    have the same names, else by order; --axes says otherwise, and what it leaves out goes by name
    or order again. Equality is about offsets and sizes; other fill, chunks and elements are noted.

    \b
    equal          for all shapes, proved: exit code 0
    equal where .. for shapes in a range, proved. 0 where elsewhere one of the two is not defined,
                   so that no shape tells them apart; 1 where elsewhere they differ
    different      with the smallest shape that was found: 1
    undecided      neither proved nor told apart: 3
    \b
      layoutdsl diff tvm:NCHW16c onednn:aBcd16b
      layoutdsl diff NCHW16c "einops:n (co ci) h w -> n co h w ci, ci=16"
      layoutdsl diff HtpNCHW R4NCHWMemoryLayout --axes h=w,w=h
    """
    named = target(one), target(other)
    first, second = (each.layout for each in named)
    from layoutdsl.cli.comparison_text import difference_text
    from layoutdsl.compare.difference import Unknown
    from layoutdsl.compare.difference import diff as compare

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
        say(difference_text(found, names, named, seconds))
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
    from layoutdsl.cli.encode import plain

    answer = plain(found)
    head = {"status": found.status, "same": found.same, "one": one, "other": other}
    timed = {"axes": answer.pop("pairing"), "seconds": round(seconds, 4)}
    return {**head, **timed, **_UNSAID, **answer}


@click.command(short_help="Write a layout in another notation.")
@click.argument("written", metavar="A")
@click.option(
    "--to", "notation", required=True, metavar="NOTATION", help="Or `layout`, ours; or `all`."
)
@JSON
def translate(written: str, notation: str, form: str) -> int:
    """Write a layout in another notation, or say why it cannot be written there.

    The text is read again, and proved to be the layout: a text that is another is never printed.
    What a text says beyond its layout is kept where it stays in its notation.

    \b
      layoutdsl translate onednn:aBcd16b --to tvm
      layoutdsl translate demo.layout:Crouton --to all
      layoutdsl translate xla:f32[3,5]{0,1:T(8,128)} --to layout
    """
    from layoutdsl.api import LANGUAGE, notations

    chosen = target(written)
    progress = Progress()
    wanted = (*notations(), LANGUAGE) if notation == ALL else (notation,)
    found = []
    with usage():
        for each in wanted:
            progress(f"writing {each}")
            found.append(_translation(chosen, each))
    progress.clear()
    done = any(each.text is not None for each in found)
    if form == "json":
        status = "ok" if done else "none"
        say_json({"layout": chosen.layout, "status": status, "translations": found})
    elif notation == ALL:
        say("\n".join(_table(found)))
    elif found[0].text is not None:
        say(found[0].text)
    else:
        words = f"`{written}` cannot be written in {notation}: {found[0].reason}"
        raise Failure(Exit.REFUTED, words)
    return Exit.OK if done else Exit.REFUTED


def _translation(chosen: Target, notation: str) -> Translation:
    from layoutdsl.api import translate as write

    return write(chosen.layout, notation, chosen.notes if notation == chosen.notation else None)


def _table(found: list[Translation]) -> list[str]:
    lines = []
    for each in found:
        name = f"{each.notation:<8}"
        if each.text is None:
            lines.append(f"{click.style(name, dim=True)}  - {each.reason}")
            continue
        lines.append(f"{click.style(name, bold=True)}  {each.text}")
        if each.where:
            lines.append(f"{'':<8}    defined only where {', '.join(map(str, each.where))}")
        if not each.proved:
            lines.append(f"{'':<8}    that this is the same layout was not proved")
    return lines


@click.command(short_help="Say which layouts of the library a layout is.")
@click.argument("written", metavar="A")
@JSON
def identify(written: str, form: str) -> int:
    """Say which layouts of the library a layout is equal to, whatever its axes are called.

    Equality is proved, for all shapes, for those of a range, or for the only one.

    \b
      layoutdsl identify onednn:aBcd8b
      layoutdsl identify "einops:b h w c -> b c h w"
      layoutdsl identify 'xla:f32[300,400]{1,0:T(8,128)}'
    \b
    0  one is equal wherever both are defined
    1  none is: each was shown to differ, for all shapes or outside of a range
    3  none was proved to be, and of some no difference was found either
    """
    from layoutdsl.api import look
    from layoutdsl.cli.comparison_text import identity_text
    from layoutdsl.compare.seen import Match, Untold

    layout = target(written).layout
    progress = Progress()
    found: list[Seen] = list(look(layout, progress))
    progress.clear()
    if form == "json":
        say_json(_by_outcome(layout, found))
    else:
        say(identity_text(found, written.removeprefix(SHIELD)))
    if any(isinstance(each, Match) and each.everywhere for each in found):
        return Exit.OK
    return Exit.UNDECIDED if any(isinstance(each, Untold) for each in found) else Exit.REFUTED


def _by_outcome(layout: Layout, found: Sequence[Seen]) -> dict[str, object]:
    from layoutdsl.cli.encode import plain
    from layoutdsl.compare.seen import Apart, Match, Untold

    matches = [each for each in found if isinstance(each, Match)]
    undecided = [each for each in found if isinstance(each, Untold)]
    status = "undecided" if undecided else "range" if matches else "none"
    return {
        "layout": layout,
        "status": "found" if any(each.everywhere for each in matches) else status,
        "matches": [{**plain(each), "certificate": each.certificate or None} for each in matches],
        "undecided": undecided,
        "different": [each for each in found if isinstance(each, Apart)],
    }
