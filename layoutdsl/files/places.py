"""Where a result goes: links followed, inputs spared, and nothing replaced that is not a file.

Folders may be shared with others, who put links, pipes and files of their own where ours would go.
"""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from stat import S_ISDIR, S_ISREG, S_ISVTX, S_IWOTH

from layoutdsl.files.ownership import may_replace, remedy

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


def widest_mode(inputs: Iterable[str | PathLike[str] | int]) -> int:
    """Return the permissions that an output may have at most, so that nobody reads more by it.

    Its owner may always read and write it. Pipes and devices say nothing of who may read.

    Args:
        inputs: names or handles of all that the output is made from.
    """
    widest = 0o777
    for each in inputs:
        try:
            found = _stat(each)
        except (OSError, ValueError):
            continue
        if S_ISREG(found.st_mode):
            widest &= found.st_mode | 0o600
    return widest


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

    It is asked before the work, so that the rename after it does not fail.

    Raises:
        OccupiedError: what is there is no plain file, or was not written by layoutdsl and
            `overwriting` does not allow it, or somebody else's link leads there.
        OSError: it is a folder, or protected from being written or replaced.
    """
    found = status(path)
    place = followed(path)
    if found is None:
        _refuse_fixed(place, None, path)
        return place, None
    if S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not S_ISREG(found.st_mode):
        raise OccupiedError(f"`{path}` is no plain file", "write to another file")
    if not os.path.samestat(found, place.lstat()):
        raise OccupiedError(f"`{path}` leads to no file with a name", "write to another file")
    if not os.access(place, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise PermissionError(errno.EACCES, "it is protected from being written", str(path))
    _refuse_fixed(place, found, path)
    if not may_replace(place, found):
        raise OccupiedError(f"`{path}` exists and was not written by layoutdsl", remedy())
    return place, found


def _refuse_fixed(place: Path, found: os.stat_result | None, path: str | PathLike[str]) -> None:
    """Fail where the system would not let another file take a place."""
    folder = status(place.parent)
    if folder is None:
        return
    effective = os.access in os.supports_effective_ids
    if not os.access(place.parent, os.W_OK | os.X_OK, effective_ids=effective):
        words = "its folder is protected from being written"
        raise PermissionError(errno.EACCES, words, str(path))
    if found is None:
        return
    me = os.geteuid()
    if folder.st_mode & S_ISVTX and me not in (0, folder.st_uid, found.st_uid):
        words = "it belongs to another user, and in its folder only owners replace files"
        raise PermissionError(errno.EPERM, words, str(path))
    if str(place) in _mounts():
        raise OSError(errno.EBUSY, "it is a mount point, and cannot be replaced", str(path))


def _mounts() -> set[str]:
    """The places where something is mounted, single files too, as containers have them."""
    try:
        lines = Path("/proc/self/mountinfo").read_text(errors="surrogateescape").splitlines()
    except OSError:
        return set()
    fields = (line.split(" ") for line in lines)
    return {
        re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), each[4])
        for each in fields
        if len(each) > 4
    }


def status(path: str | PathLike[str]) -> os.stat_result | None:
    """Return what is at a place, links followed; ``None`` where nothing is.

    Raises:
        OSError: it cannot be told.
    """
    try:
        return Path(path).stat()
    except FileNotFoundError:
        return None
