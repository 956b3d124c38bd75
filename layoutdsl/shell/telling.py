"""What verbs that move data say besides: what was done, as a terminal is told, and notes."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from layoutdsl.shell.exits import Exit, Failure
from layoutdsl.shell.output import error, is_quiet


def say_done(word: str, source: Any, result: Any, verbose: int) -> None:
    """Say what was done, as a terminal is told."""
    say_words(f"{word} {source.shape} {source.dtype.name} -> {result.shape}", verbose)


def say_words(done: str, verbose: int) -> None:
    """Say what was done, in words."""
    if verbose or (sys.stderr.isatty() and not is_quiet()):
        error(done)


@contextmanager
def notes() -> Iterator[None]:
    """Say what is warned of, as a note; and that nothing is compiled, where that was asked for."""
    from layoutdsl.commands import CompilerError

    try:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always", RuntimeWarning)
            yield
    except CompilerError as failed:
        hint = f"{failed.remedy}; without `--target native` numpy serves"
        raise Failure(Exit.USAGE, failed.message, hint) from None
    for each in found:
        error(f"note: {each.message}")
