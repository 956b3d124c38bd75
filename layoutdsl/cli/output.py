"""Where output goes and whether it has colours: results to stdout, everything else to stderr."""

from __future__ import annotations

import json
import os
import sys
from typing import Any, TextIO

import click


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
    """Print a message that is no result."""
    head, colon, rest = text.partition(":")
    if colon and head.startswith("error"):
        text = f"{click.style(head, fg='red', bold=True)}:{rest}"
    click.echo(text, err=True, color=coloured(sys.stderr))


def say_json(value: Any) -> None:
    """Print plain values as JSON."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=True))


class Progress:
    """One line on the terminal that says what is under way, and vanishes; silent elsewhere."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()

    def __call__(self, words: str) -> None:
        """Say what is under way."""
        if self._shown:
            click.echo(f"\r\x1b[2K{words[:78]}", err=True, nl=False, color=True)

    def clear(self) -> None:
        """Make room for a result."""
        if self._shown:
            click.echo("\r\x1b[2K", err=True, nl=False, color=True)
