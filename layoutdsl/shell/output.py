"""Where output goes and whether it has colours: results to stdout, everything else to stderr."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import Any, TextIO

import click

from layoutdsl.language.texts.source import LayoutError
from layoutdsl.shell.streams import drop

_HEADS = {"error": "red", "warning": "yellow"}


def coloured(stream: TextIO) -> bool:
    """Return whether a stream gets colours: a terminal, unless NO_COLOR or FORCE_COLOR decide."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def say(text: str = "") -> None:
    """Print a result."""
    click.echo(text, color=coloured(sys.stdout))


def say_passed(text: str) -> None:
    """Print what passed or was done, unless ``--quiet`` is given."""
    if not is_quiet():
        say(text)


QUIET = "layoutdsl.shell.quiet"
"""Under which a run keeps that ``--quiet`` is given."""


def is_quiet() -> bool:
    """Return whether ``--quiet`` is given."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(QUIET))


def terminal_width() -> int:
    """Return the columns that tables may take: those of the terminal, or what ``COLUMNS`` says.

    Files and pipes have no width: programs that read a table want one row a line.
    """
    from shutil import get_terminal_size

    return get_terminal_size((sys.maxsize, 24)).columns


INDENT = "    "
"""Stands before what does not fit beside the first cells of a row."""


def table(rows: Sequence[Sequence[str]], width: int, gap: str = "  ") -> list[str]:
    """Return rows as lines, their columns aligned; no line is longer than a width if words allow.

    >>> table([("a", "f16", "2 x 3"), ("long", "u8", "")], 80)
    ['a     f16  2 x 3', 'long  u8']

    A row that is too long is folded: as many of its cells as fit stay in their columns, and the
    others follow below, indented.

    >>> table([("a", "f16", "2 x 3"), ("long", "u8", "")], 12)
    ['a     f16', '    2 x 3', 'long  u8']

    Cells may be styled: their width is that of their text.
    """
    from textwrap import wrap

    widths: list[int] = []
    for row in rows:
        sizes = [len(click.unstyle(cell)) for cell in row]
        widths += [0] * (len(sizes) - len(widths))
        widths[: len(sizes)] = map(max, sizes, widths)
    lines = list[str]()
    for row in rows:
        line, left = "", list(row)
        for size in widths:
            cell = left[0] if left else ""
            longer = f"{line}{cell}" if not line else f"{line}{gap}{cell}"
            if not left or (line and len(click.unstyle(longer).rstrip()) > width):
                break
            line = longer + " " * (size - len(click.unstyle(left.pop(0))))
        lines.append(line.rstrip())
        lines += wrap(
            gap.join(filter(None, left)),
            max(width, len(INDENT) + 1),
            initial_indent=INDENT,
            subsequent_indent=INDENT,
            break_long_words=False,
            break_on_hyphens=False,
        )
    return lines


def error(text: str) -> None:
    """Print a message that is no result; where it cannot be printed, the exit code must do."""
    head, colon, rest = text.partition(":")
    colour = next((found for word, found in _HEADS.items() if head.startswith(word)), None)
    if colon and colour is not None:
        text = f"{click.style(head, fg=colour, bold=True)}:{rest}"
    try:
        click.echo(text, err=True, color=coloured(sys.stderr))
    except OSError:
        drop(sys.stderr)


def say_json(value: Any) -> None:
    """Print a result as JSON."""
    from layoutdsl.shell.encode import plain

    click.echo(json.dumps(plain(value), indent=2, ensure_ascii=True))


def error_json(message: str, hint: str | None) -> dict[str, Any]:
    """Return why there is no result, as plain values."""
    return {"status": "error", "message": message, "help": hint, "diagnostics": []}


def faults_json(failure: LayoutError) -> dict[str, Any]:
    """Return the faults of a text as plain values; ``message`` is the first one's."""
    first = failure.diagnostics[0]
    found = [each.as_json() for each in failure.diagnostics]
    return {**error_json(first.message, first.help), "diagnostics": found}
