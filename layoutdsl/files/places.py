"""Where a result goes: links followed, inputs spared, and nothing replaced that is not a file.

Folders may be shared with others, who put links, pipes and files of their own where ours would go.
It imports nothing of ours.
"""

from __future__ import annotations

import errno
import os
import time
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from stat import S_ISDIR, S_ISREG, S_IWOTH

MOST_LINKS = 40
TICK = 0.012
"""Seconds: Linux gives files the time of its last tick, and ticks every 10 ms at least.

A file system that keeps whole seconds, as FAT does, cannot tell two writes in one of them.
"""


class OccupiedError(ValueError):
    """What lies at a place is not ours to replace, or is in use.

    Attributes:
        message: what is in the way.
        remedy: how to go on.
    """

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(f"{message}; {remedy}" if remedy else message)
        self.message, self.remedy = message, remedy


@dataclass(frozen=True, slots=True)
class Identity:
    """What is another number once a file has been written, or another one has its name.

    Attributes:
        inode: the number of the file in its file system.
        size: bytes.
        modified: nanoseconds; may be set to anything.
        changed: nanoseconds; set by the system alone.
    """

    inode: int
    size: int
    modified: int
    changed: int


def identity(file: str | PathLike[str] | int) -> Identity:
    """Return the identity of a file, open or not, such that every later write gives another one.

    Two writes in one tick of the clock have the same time; so a file that was changed just now is
    looked at once that tick is over.
    """
    while True:
        found = _stat(file)
        age = (time.time_ns() - found.st_ctime_ns) / 1e9
        if not 0 <= age < TICK:
            return Identity(found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        time.sleep(TICK - age)


def is_same_file(one: str | PathLike[str] | int, other: str | PathLike[str] | int) -> bool:
    """Return whether two names, or handles, are of one file, by links of any kind or spelling.

    Pipes and devices hold nothing that could be lost, so they are no such files.
    """
    try:
        first, second = _stat(one), _stat(other)
    except (OSError, ValueError):
        return False
    return S_ISREG(first.st_mode) and os.path.samestat(first, second)


def _stat(place: str | PathLike[str] | int) -> os.stat_result:
    return os.fstat(place) if isinstance(place, int) else Path(place).stat()


def refuse_input(output: str | PathLike[str], source: str | PathLike[str] | int, word: str) -> None:
    """Fail where an output would take the place of what it is made from.

    Args:
        output: where a result is to go; a file need not be there.
        source: what is read.
        word: what that is: ``input``, ``spec``.

    Raises:
        OccupiedError: they are one file.
    """
    if is_same_file(output, source):
        message = f"`{output}` is the {word} itself, and is not replaced"
        raise OccupiedError(message, "write to another file, and move it there afterwards")


def followed(path: str | PathLike[str]) -> Path:
    """Return the place that a name leads to; no file need be there.

    Only the last part of a path is followed here. Those before it are the system's to follow,
    which knows whose links it may trust.

    Raises:
        OccupiedError: a link of somebody else leads there, from a folder that all may write.
        OSError: links go in a circle, or a folder may not be searched.
    """
    place = Path(path).absolute()
    for _ in range(MOST_LINKS):
        if not place.is_symlink():
            return place
        _refuse_strange_link(place)
        place = place.parent / place.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))


def _refuse_strange_link(place: Path) -> None:
    """Links in such folders are what Linux calls protected: their owner may aim at our files."""
    link, folder = place.lstat(), place.parent.stat()
    if folder.st_mode & S_IWOTH and link.st_uid not in (os.geteuid(), folder.st_uid):
        message = f"`{place}` is a link of another user, in a folder that all may write"
        raise OccupiedError(message, "write to another file, or to where the link leads")


def replaceable(path: str | PathLike[str]) -> tuple[Path, os.stat_result | None]:
    """Return the place of a file that may be replaced, and what is there now.

    Raises:
        OccupiedError: what is there is no plain file, or somebody else's link leads there.
        OSError: it is a folder, or protected from being written.
    """
    found = status(path)
    place = followed(path)
    if found is None:
        return place, None
    if S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not S_ISREG(found.st_mode):
        raise OccupiedError(f"`{path}` is no plain file", "write to another file")
    if not os.path.samestat(found, place.lstat()):
        raise OccupiedError(f"`{path}` leads to no file with a name", "write to another file")
    if not os.access(place, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise PermissionError(errno.EACCES, "it is protected from being written", str(path))
    return place, found


def status(path: str | PathLike[str]) -> os.stat_result | None:
    """Return what is at a place, links followed; ``None`` where nothing is.

    Raises:
        OSError: it cannot be told.
    """
    try:
        return Path(path).stat()
    except FileNotFoundError:
        return None
