"""The folder of an output that several machines write, and what is left of it at the end."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from layoutdsl.files.ownership import overwriting
from layoutdsl.files.pieces.files import named
from layoutdsl.files.pieces.share import OPEN, all_of, share_of
from layoutdsl.files.places import OccupiedError
from layoutdsl.files.whole import replacing

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | OPEN
REMEDY = "remove it, and plan again"


class GoneError(Exception):
    """There is no unfinished output of this plan: it is in its place, or was never begun."""


def clear(folder: int, part: Path, texts: Mapping[str, Path], widest: int) -> None:
    """Put what goes to other files in its place, and remove a folder that has journals alone."""
    for name, place in texts.items():
        with suppress(FileNotFoundError):  # it is there already
            data = content_of(name, folder)
            with named(place), overwriting(True), replacing(place, widest) as file:
                file.write(data)
            os.unlink(name, dir_fd=folder)
    for each in names_in(folder):
        if share_of(each) is not None:
            with suppress(FileNotFoundError):  # several may be at it
                os.unlink(each, dir_fd=folder)
    with suppress(OSError):  # another run may hold on to it, and will remove it
        part.rmdir()


def cleared(part: Path, texts: Mapping[str, Path], widest: int) -> None:
    """Remove what a run left that was killed after it had put the output in its place."""
    try:
        folder = own_folder(part)
    except GoneError:
        return
    try:
        clear(folder, part, texts, widest)
    finally:
        os.close(folder)


def names_in(folder: int) -> list[str]:
    """Return what lies in it."""
    return os.listdir(folder)


def own_folder(part: Path) -> int:
    """Open a folder that nobody else can have put anything into.

    Raises:
        GoneError: there is none.
        OccupiedError: something else is there, or others may write it.
    """
    try:
        folder = os.open(part, _FOLDER)
    except FileNotFoundError:
        raise GoneError from None
    except OSError as failure:
        if failure.errno in (errno.ENOTDIR, errno.ELOOP):
            raise OccupiedError(f"`{part}` is there, and is no folder of a plan", REMEDY) from None
        raise
    found = os.fstat(folder)
    if found.st_uid != os.geteuid() or found.st_mode & 0o022:
        os.close(folder)
        raise OccupiedError(f"`{part}` is another user's, or open to others", REMEDY)
    return folder


def content_of(name: str, folder: int) -> bytes:
    """Return what a file in it holds."""
    handle = os.open(name, os.O_RDONLY | OPEN, dir_fd=folder)
    try:
        return all_of(handle)
    finally:
        os.close(handle)
