"""Files that another names by their place below its folder: never out of it, by whatever way.

Each folder on the way is opened in the one before it, and no link is followed, so that nothing that
somebody changes meanwhile leads elsewhere.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from stat import S_ISREG

from layoutdsl.files.npy import UnreadableError

A_NAME = 120
"""Characters of a name from a file that a message repeats."""

_LOOK = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = _LOOK | getattr(os, "O_DIRECTORY", 0)


def opened_near(folder: Path, location: str, what: str) -> int:
    """Open a file below a folder; whoever asked closes it.

    Args:
        folder: of the file that names the other.
        location: the name, with `/` between folders.
        what: lies there, to be named.

    Raises:
        UnreadableError: it is not there, is no plain file, or would lie elsewhere.
        OSError: it cannot be opened.
    """
    steps = [each for each in location.split("/") if each != "."]
    if location.startswith("/") or ".." in steps or "" in steps or not steps or "\0" in location:
        words = f"has {what} in {_shown(location)}, which is no place below its folder"
        raise UnreadableError(f"{words}; put them beside it, and name them so")
    at = os.open(folder, _FOLDER)
    try:
        for step in steps[:-1]:
            inner = os.open(step, _FOLDER | _NO_LINK, dir_fd=at)
            os.close(at)
            at = inner
        handle = os.open(steps[-1], _LOOK | _NO_LINK, dir_fd=at)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG):
            why = "is not there" if error.errno == errno.ENOENT else "is a link, or lies behind one"
            words = f"has {what} in {_shown(location)}, which {why}"
            raise UnreadableError(f"{words}; copy both files into one folder") from None
        error.filename = str(folder / location)
        raise
    finally:
        os.close(at)
    if not S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        words = f"has {what} in {_shown(location)}, which is no plain file"
        raise UnreadableError(f"{words}; copy both files into one folder")
    return handle


def _shown(name: str) -> str:
    """A name from a file as it may stand in a line: short, and nothing that acts."""
    line = "".join(each if each.isprintable() else "?" for each in name[: A_NAME + 1])
    return f"`{line}`" if len(line) <= A_NAME else f"`{line[: A_NAME - 3]}...`"
