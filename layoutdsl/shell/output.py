"""Where output goes and whether it has colours: results to stdout, everything else to stderr."""

from __future__ import annotations

import json
import os
import sys
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
