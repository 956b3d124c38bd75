"""Whole files or none: what is written lies beside its place, and is then put there at once.

This is the one way in which a file of somebody's is replaced.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from stat import S_IMODE, S_ISDIR, S_ISREG
from typing import BinaryIO

from layoutdsl.code.private import NEW, PRIVATE
from layoutdsl.files.ownership import finished, note
from layoutdsl.files.places import OccupiedError, replaceable, status


@contextmanager
def replacing(path: str | PathLike[str], widest: int = 0o777) -> Iterator[BinaryIO]:
    """Yield a file to be written that takes the place of ``path`` in one step, when it is whole.

    It lies in the same folder, is for this user alone until it is done, and is flushed to the disk.
    Permissions of an old file stay; a new one gets what the umask leaves; neither gets more than
    ``widest``. A link is followed, so that what it points to is replaced. A pipe or a device stays
    where it is and is written.

    Args:
        path: the file; its folder exists.
        widest: the permissions that it gets at most, as `widest_mode` returns them of inputs.

    Raises:
        OccupiedError: what is there is not ours to replace.
        OSError: nothing was changed, and no temporary file is left.
    """
    found = status(path)
    if found is not None and not (S_ISREG(found.st_mode) or S_ISDIR(found.st_mode)):
        with open(os.open(path, os.O_WRONLY), "wb") as device:  # noqa: PTH123  never created
            if S_ISREG(os.fstat(device.fileno()).st_mode):
                raise OccupiedError(f"`{path}` has become a file", "start again")
            yield device
        return
    place, old = replaceable(path)
    temporary = place.with_name(f".{place.name[:40]}.{secrets.token_hex(8)}.tmp")
    handle, mode = created(temporary, old, widest)
    try:
        with open(handle, "wb") as file:  # noqa: PTH123  a descriptor
            yield file
            file.flush()
            os.fchmod(handle, mode)
            ours = finished(handle)
            os.fsync(handle)
        note(place, ours)  # first, so that nobody meets an output of ours that is not noted
        temporary.replace(place)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    flush_folder(place.parent)


def write_whole(path: str | PathLike[str], text: str, widest: int = 0o777) -> None:
    """Write a text to a file, which holds the old text or the new one, and never a part.

    Args:
        path: the file; its folder exists.
        text: written as UTF-8, line ends as they are.
        widest: the permissions that it gets at most.

    Raises:
        OccupiedError: what is there is not ours to replace.
        OSError: nothing was changed, and no temporary file is left.
    """
    with replacing(path, widest) as file:
        file.write(text.encode("utf-8"))


def created(place: Path, old: os.stat_result | None, widest: int = 0o777) -> tuple[int, int]:
    """Create a file for this user alone; return its handle, and the permissions it is to get.

    Args:
        place: where nothing is.
        old: what it will replace, whose permissions stay.
        widest: the permissions that it is to get at most.

    Raises:
        OSError: something is there, or nothing can be.
    """
    handle = os.open(place, os.O_RDWR | NEW, 0o666 & widest if old is None else PRIVATE)
    if old is not None:
        mine = old.st_uid == os.geteuid()
        return handle, old.st_mode & (0o777 if mine else 0o755) & widest
    mode = S_IMODE(os.fstat(handle).st_mode) & 0o777  # what the umask, or the folder, leaves
    os.fchmod(handle, PRIVATE)
    return handle, mode


def flush_folder(folder: Path) -> None:
    """Make a new name last through a crash, where the system can flush a folder."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
