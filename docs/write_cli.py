"""Writes `docs/reference/cli.md` from what each verb says of itself: `python docs/write_cli.py`.

A test fails when the page is not what this writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path

import click

from layoutdsl.shell.shell import layoutdsl

PAGE = Path(__file__).parent / "reference" / "cli.md"

HEAD = """\
<!-- Written by docs/write_cli.py from the help of each verb. -->

# Commands

This page prints the help of every command: its purpose, an example, and all options. Look an
option up here; `layoutdsl COMMAND --help` prints the same text. [Command-line
conventions](shell.md) describes output, exit codes and progress; [JSON keys](json.md) lists the
keys of `--json`.
"""


def page() -> str:
    """Return the page."""
    group = layoutdsl
    parts = [HEAD, *told(group.help or "")]
    parts += [text_block(cleandoc(_plain(group.epilog or "")))]
    parts += ["## All commands\n", table(("command", "what it does"), list(summary(group)))]
    for name in group.commands:
        parts += verb(name, group.commands[name])
    return "\n".join(parts)


def summary(group: click.Group) -> Iterator[tuple[str, str]]:
    """Each verb with its one line, in the order of the help."""
    for name, command in group.commands.items():
        yield f"[`{name}`](#{name})", quoted(command.get_short_help_str(200))


def verb(name: str, command: click.Command) -> Iterator[str]:
    """The section of a verb."""
    context = click.Context(command, info_name=f"layoutdsl {name}")
    yield f"## {name}\n"
    yield text_block(" ".join([context.command_path, *command.collect_usage_pieces(context)]))
    yield from told(command.help or "")
    options = [p for p in command.params if isinstance(p, click.Option)]
    records = [found for each in options if (found := each.get_help_record(context))]
    if records:
        yield table(("option", "meaning"), [(f"`{one}`", quoted(other)) for one, other in records])


def told(text: str) -> Iterator[str]:
    """The paragraphs of a help text; what it shows is a block."""
    for paragraph in re.split(r"\n[ ]*\n", cleandoc(text)):
        if paragraph.startswith("\b"):
            yield text_block(cleandoc(_plain(paragraph)))
        else:
            yield f"{quoted(' '.join(paragraph.split()))}\n"


def _plain(text: str) -> str:
    return text.replace("\b\n", "\n").strip("\n")


def text_block(text: str) -> str:
    """A block that is not run."""
    return f"```text\n{text}\n```\n"


def quoted(text: str) -> str:
    """Return a text with options as code, and no sign that Markdown takes for its own."""
    parts = re.split(r"(`[^`]*`)", text)
    for number in range(0, len(parts), 2):
        escaped = re.sub(r"([*_<|\[\]\\])", r"\\\1", parts[number])
        parts[number] = re.sub(r"(?<![\w`-])(--[a-z][\w-]*)", r"`\1`", escaped)
    return "".join(parts)


def table(head: tuple[str, str], rows: list[tuple[str, str]]) -> str:
    """A table of two columns."""
    lines = [f"| {head[0]} | {head[1]} |", "| --- | --- |"]
    lines += [f"| {one.replace('|', chr(92) + '|')} | {other} |" for one, other in rows]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
