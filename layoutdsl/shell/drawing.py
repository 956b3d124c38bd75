"""What the verbs share that draw: ``--as``, ``-o``, ``--colour``, and where a picture goes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import click

from layoutdsl.shell.exits import Exit, Failure, writing
from layoutdsl.shell.options import Command, forced
from layoutdsl.shell.output import say

AS = click.option(
    "--as",
    "drawn",
    type=click.Choice(["text", "svg", "html"]),
    default="text",
    show_default=True,
    help="What is written: text for a terminal, or a picture.",
)
PAGE = click.option(
    "--as",
    "drawn",
    type=click.Choice(["text", "html"]),
    default="text",
    show_default=True,
    help="html: a page as well, with what is wrong drawn at the shape that shows it.",
)


def drawn_to(command: Command) -> Command:
    """Give a verb that draws ``-o`` and ``--force``."""
    words = "Where a picture goes; else the standard output."
    return forced(click.option("-o", "--output", metavar="OUT", help=words)(command))


COLOURED = click.option(
    "--colour",
    "--color",
    "colour",
    metavar="w|block|chunk|bank",
    help="What has a colour of its own in a picture: an axis, or blocks, which is usual, chunks, "
    "or banks of a GPU's shared memory.",
)


class Drawable(Protocol):
    """What has a picture."""

    def svg(self) -> str:
        """Return it as SVG."""

    def html(self) -> str:
        """Return it as a page."""


def refuse_drawing(given: Mapping[str, object]) -> None:
    """Fail where options were given that are for pictures, and none was asked for."""
    for option, value in given.items():
        if value:
            name = {"--whole": "--all"}.get(option, option)
            hint = f"add --as html, or leave out {name}"
            raise Failure(Exit.USAGE, f"{name} is for pictures", hint)


def deliver(picture: Drawable, form: str, output: str | None, spec: str) -> None:
    """Write a picture to the standard output, or to a file that is nobody else's.

    Args:
        picture: what is drawn.
        form: ``svg`` or ``html``.
        output: a path that was asked for; ``-`` and nothing are the standard output.
        spec: the path of the text that it is made from, which need not be there.
    """
    text = picture.svg() if form == "svg" else picture.html()
    place(text, form, output, spec)


def refuse_output(form: str, output: str | None, *specs: str) -> None:
    """Fail where a picture would take the place of a file that is none of ours."""
    if form == "text" or output is None or output == "-":
        return
    from layoutdsl.shell.destination import refuse_foreign

    hint = f"choose another file: -o picture.{form}"
    for spec in specs:
        refuse_foreign(Path(output), spec, hint)


def refuse_both(drawn: str, form: str) -> None:
    """Fail where a picture and another form were asked for: one standard output holds one."""
    if drawn != "text" and form not in ("text", "plain"):
        words = "--json" if form == "json" else f"--format {form}"
        raise Failure(Exit.USAGE, f"{words} and --as {drawn} are two things to write", "give one")


def place(text: str, form: str, output: str | None, *specs: str) -> None:
    """Write the text of a picture, as `deliver` does."""
    if output is None or output == "-":
        say(text.rstrip("\n"))
        return
    from layoutdsl.files.whole import write_whole

    refuse_output(form, output, *specs)
    with writing(f"`{output}`"):
        write_whole(output, text)
    say(f"wrote {output}")
