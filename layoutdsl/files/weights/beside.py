"""What is said of a file that has no room for it: a text in `NAME.json`, in the same folder."""

from __future__ import annotations

import os
from pathlib import Path
from stat import S_ISREG

from layoutdsl.files.npy import UnreadableError
from layoutdsl.files.weights.bounds import MOST_HEADER, exactly, shown

_LOOK = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)


def said_beside(place: Path) -> str | None:
    """Return the text beside a file; ``None`` where there is none.

    Raises:
        UnreadableError: what lies there is no text.
        OSError: it cannot be read.
    """
    other = place.with_name(f"{place.name}.json")
    try:
        handle = os.open(other, _LOOK)
    except FileNotFoundError:
        return None
    try:
        found = os.fstat(handle)
        if not S_ISREG(found.st_mode):
            raise _unfit(other, "is no plain file")
        if found.st_size > MOST_HEADER:
            raise _unfit(other, f"has {found.st_size} bytes, and {MOST_HEADER} are the most")
        return exactly(handle, 0, found.st_size).decode("utf-8")
    except UnicodeDecodeError:
        raise _unfit(other, "is no UTF-8") from None
    finally:
        os.close(handle)


def _unfit(other: Path, words: str) -> UnreadableError:
    why = f"is described by {shown(other.name)} beside it, which {words}"
    return UnreadableError(f"{why}; put the right one there, or move it away")
