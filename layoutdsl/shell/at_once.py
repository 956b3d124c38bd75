"""Progress of verbs that hold a whole tensor: what they are at, and then what is written of it.

One call of compiled code moves all, and cannot be asked how far it is. So what it moves is said
before, and amounts are those of writing the result, which takes most of the time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from layoutdsl.files.pieces.amount import Amount
from layoutdsl.shell.large import size_text
from layoutdsl.shell.progress import Progress, Way

LARGE = 64 << 20
"""Bytes from which a terminal is told: less is done before a line is read."""

Written = Callable[[int], None]
"""Is told how many bytes have been written."""


@contextmanager
def under_way(verb: str, way: Way, source: str, array: Any) -> Iterator[Progress]:
    """Say what is moved, and leave no line behind.

    Args:
        verb: what is done.
        way: how progress is told; ``auto`` tells of large arrays alone.
        source: the name of what was read.
        array: what it holds.
    """
    progress = Progress(verb, "none" if way == "auto" and array.nbytes < LARGE else way)
    shape = " x ".join(map(str, array.shape)) or "()"
    progress(f"{verb}  {source}  {shape} {array.dtype.name}, {size_text(array.nbytes)}")
    try:
        yield progress
    finally:
        progress.clear()


def amounts(progress: Progress, name: str, array: Any) -> Written | None:
    """Return who tells what has been written of a result; nobody where nobody is told."""
    if not progress.is_shown:
        return None
    total = array.nbytes
    return lambda done: progress(Amount(name, int(done == total), 1, done, total))
