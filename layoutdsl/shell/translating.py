"""``translate``: a layout in other notations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from layoutdsl.shell.exits import Exit, Failure, usage
from layoutdsl.shell.options import JSON, quiet
from layoutdsl.shell.output import say, say_json
from layoutdsl.shell.progress import Progress
from layoutdsl.shell.targets import Target, target

if TYPE_CHECKING:
    from layoutdsl.commands import Translation

ALL = "all"


@click.command(short_help="Write a layout in another notation.")
@click.argument("written", metavar="A")
@click.option(
    "--to", "notation", required=True, metavar="NOTATION", help="Or `layout`, ours; or `all`."
)
@quiet
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
    from layoutdsl.commands import LANGUAGE, notations

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
    from layoutdsl.commands import translate as write

    return write(chosen.layout, notation, chosen.notes if notation == chosen.notation else None)


def _table(found: list[Translation]) -> list[str]:
    lines, width = [], max(len(each.notation) for each in found)
    for each in found:
        name = f"{each.notation:<{width}}"
        if each.text is None:
            lines.append(f"{click.style(name, dim=True)}  - {each.reason}")
            continue
        lines.append(f"{click.style(name, bold=True)}  {each.text}")
        if each.where:
            lines.append(f"{'':<{width}}    defined only where {', '.join(map(str, each.where))}")
        if not each.proved:
            lines.append(f"{'':<{width}}    that this is the same layout was not proved")
    return lines
