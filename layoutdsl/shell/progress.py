"""What is under way, told on the standard error: a line on a terminal, lines for logs or programs.

Amounts are told all the time, and said ten times a second at most. Words are told once, when
something begins, so all of them are said, but in a log.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from time import monotonic
from typing import Literal, Protocol, TypeAlias

import click

from layoutdsl.files.pieces.amount import Amount
from layoutdsl.shell.amounts import Pace, amount_parts, fitted, joined
from layoutdsl.shell.options import Command
from layoutdsl.shell.output import error, is_quiet
from layoutdsl.shell.streams import drop, handle_of

Way: TypeAlias = Literal["auto", "plain", "json", "none"]
Told: TypeAlias = Amount | str
Clock = Callable[[], float]

OFTEN = 0.1
"""Seconds between two amounts on a terminal."""

SELDOM = 10.0
"""Seconds between two lines of a log."""

ERASE = "\r\x1b[2K"
TASK_BAR = "\x1b]9;4;{};{}\x1b\\"
"""State and percentage, for the bar in which a desktop has its windows."""


def progress_option(command: Command) -> Command:
    """Give a verb the option that says how progress is told; its parameter is ``way``."""
    return click.option(
        "--progress",
        "way",
        type=click.Choice(["auto", "plain", "json", "none"]),
        default="auto",
        show_default=True,
        help="How far it has come, on the standard error. auto: a line on a terminal, nothing "
        "elsewhere; plain: a line every 10 s; json: a line for programs, up to ten a second.",
    )(command)


class Progress:
    """What is under way, told in one of four ways."""

    def __init__(self, verb: str = "", way: Way = "auto", clock: Clock = monotonic) -> None:
        """Tell nothing yet.

        Args:
            verb: what is done; a line of an amount begins with it.
            way: ``auto`` tells terminals alone.
            clock: seconds; tests have one of their own.
        """
        if way == "auto" and is_quiet():
            way = "none"
        self._teller, self._clock, self._pace = _teller(verb, way), clock, Pace()
        self._latest: Told | None = None
        self._said: Told | None = None
        self._next = -float("inf")

    @property
    def is_shown(self) -> bool:
        """Whether anybody is told."""
        return not isinstance(self._teller, _Silent)

    def __call__(self, told: Told) -> None:
        """Say what is under way, in words or as an amount."""
        self._latest, now = told, self._clock()
        if isinstance(told, Amount):
            self._pace.take(now, told)
        if now >= self._next or self._teller.takes_all(told):
            self._say(told)
            self._next = now + self._teller.gap

    def _say(self, told: Told) -> None:
        self._said = told
        _write(self._teller.text(told, self._pace))

    def clear(self) -> None:
        """Make room for a result; logs and programs are told the last amount first."""
        if isinstance(self._latest, Amount) and self._latest != self._said:
            self._say(self._latest)
        self._latest = None
        _write(self._teller.erased())

    def above(self, text: str) -> None:
        """Print a message that stays, above the line."""
        erased = self._teller.erased()
        _write(erased)
        error(text)
        if erased and self._latest is not None:
            self._say(self._latest)

    def interrupt(self, text: str) -> None:
        """Say in the midst of anything, from a handler of signals, that it was interrupted."""
        with suppress(OSError):
            os.write(handle_of(sys.stderr), f"{self._teller.erased()}{text}\n".encode())


class _Teller(Protocol):
    """One way to say it; it remembers what stands on a terminal."""

    gap: float

    def takes_all(self, told: Told) -> bool:
        """Return whether such is said however soon it comes."""

    def text(self, told: Told, pace: Pace) -> str:
        """Return what is written to say it."""

    def erased(self) -> str:
        """Return what takes away what stands there, and is not to stay."""


class _Silent:
    """Says nothing."""

    gap = float("inf")

    def takes_all(self, told: Told) -> bool:  # noqa: ARG002
        return False

    def text(self, told: Told, pace: Pace) -> str:  # noqa: ARG002
        return ""

    def erased(self) -> str:
        return ""


class _Line:
    """One line on a terminal, which is drawn again and vanishes."""

    gap = OFTEN

    def __init__(self, verb: str) -> None:
        self._verb, self._stands = verb, False
        self._has_bar, self._percent = shows_task_bar(os.environ), -1

    def takes_all(self, told: Told) -> bool:
        return isinstance(told, str)

    def text(self, told: Told, pace: Pace) -> str:
        self._stands = True
        return f"{ERASE}{fitted(_parts(self._verb, told, pace), _columns() - 1)}{self._bar(told)}"

    def _bar(self, told: Told) -> str:
        if not self._has_bar or isinstance(told, str) or not told.total_bytes:
            return ""
        percent, before = 100 * told.done_bytes // told.total_bytes, self._percent
        self._percent = percent
        return TASK_BAR.format(1, percent) if percent != before else ""

    def erased(self) -> str:
        bar = TASK_BAR.format(0, "") if self._percent >= 0 else ""
        erased = f"{ERASE}{bar}" if self._stands else ""
        self._stands, self._percent = False, -1
        return erased


class _Log:
    """A line now and then, for whoever reads it afterwards."""

    gap = SELDOM

    def __init__(self, verb: str) -> None:
        self._verb = verb

    def takes_all(self, told: Told) -> bool:  # noqa: ARG002
        return False

    def text(self, told: Told, pace: Pace) -> str:
        return f"{joined(_parts(self._verb, told, pace))}\n"

    def erased(self) -> str:
        return ""


class _Program:
    """A line of JSON each time."""

    gap = OFTEN

    def __init__(self, verb: str) -> None:
        self._verb = verb

    def takes_all(self, told: Told) -> bool:
        return isinstance(told, str)

    def text(self, told: Told, pace: Pace) -> str:
        verb = {"verb": self._verb}
        if isinstance(told, str):
            return f"{json.dumps({**verb, 'words': told})}\n"
        rate, left = pace.rate, pace.left(told)
        speed = {
            "bytes_per_second": None if rate is None else round(rate),
            "seconds_left": None if left is None else round(left, 1),
        }
        return f"{json.dumps({**verb, **asdict(told), **speed})}\n"

    def erased(self) -> str:
        return ""


def _teller(verb: str, way: Way) -> _Teller:
    match way:
        case "plain":
            return _Log(verb)
        case "json":
            return _Program(verb)
        case "auto" if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
            return _Line(verb)
    return _Silent()


def _parts(verb: str, told: Told, pace: Pace) -> list[str]:
    return [told] if isinstance(told, str) else amount_parts(verb, told, pace)


def shows_task_bar(environment: Mapping[str, str]) -> bool:
    """Return whether the terminal is known to take ``OSC 9;4``; others may print it as a message.

    Source: what cargo looks at (`term.progress.term-integration`).
    """
    terminal = environment.get("TERM_PROGRAM", "")
    told = terminal == "iTerm.app" and "P" in environment.get("TERM_FEATURES", "")
    windows = "WT_SESSION" in environment or environment.get("ConEmuANSI") == "ON"
    return told or windows or terminal in ("WezTerm", "ghostty")


def _columns() -> int:
    try:
        return os.get_terminal_size(handle_of(sys.stderr)).columns or 80
    except OSError:
        return 80


def _write(text: str) -> None:
    """Write it at once; where it cannot be written, it is lost without harm."""
    try:
        if text:
            click.echo(text, err=True, nl=False, color=True)
    except OSError:
        drop(sys.stderr)
