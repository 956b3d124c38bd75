"""Whole files or none: a text is written beside its place and then put there at once.

It imports nothing of ours.
"""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path


def write_whole(path: Path | str, text: str) -> None:
    """Write a text to a file, which holds the old text or the new one, and never a part.

    The text goes to a temporary file in the same directory, is flushed to the disk, and takes the
    place of the old file in one step. Permissions of an old file stay; a new one gets what the
    umask leaves. A link is followed, so that what it points to is replaced.

    Args:
        path: the file; its directory exists.
        text: written as UTF-8, line ends as they are.

    Raises:
        OSError: nothing was changed, and no temporary file is left.
    """
    place = Path(os.path.realpath(path))
    temporary = place.with_name(f".{place.name}.{secrets.token_hex(8)}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with open(handle, "w", encoding="utf-8", newline="") as file:  # noqa: PTH123 (a descriptor)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if place.exists():
            temporary.chmod(stat.S_IMODE(place.stat().st_mode))
        temporary.replace(place)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _flush_directory(place.parent)


def _flush_directory(directory: Path) -> None:
    """Make the new name last through a crash, where the system can open a directory."""
    if os.name != "posix":
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
