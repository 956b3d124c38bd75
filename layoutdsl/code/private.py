"""Folders and files that nobody but this user, or the system, could have written.

Others who may write to a folder can put another file, or a link, under a name between two looks at
it. So a folder is opened once, and a file in it once: links are not followed, and who owns it, who
may write it and what it holds is asked of that descriptor. It imports nothing of ours.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_ISREG, S_ISVTX, S_IWGRP, S_IWOTH

PRIVATE = 0o600
NEW = os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
"""How a file is created: it is not there yet, not even as a link to somewhere else."""

PRIVATE_FOLDER = 0o700
_LOOK = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER = _LOOK | getattr(os, "O_DIRECTORY", 0)
_FILE = _LOOK | getattr(os, "O_NONBLOCK", 0)  # a pipe that nobody writes is not waited for


class UntrustedError(OSError):
    """Others could have written what is in a folder; says why."""

    def __init__(self, words: str) -> None:
        super().__init__(errno.EPERM, words)
        self.words = words

    def __str__(self) -> str:
        return self.words


@contextmanager
def private_folder(folder: Path) -> Iterator[int]:
    """Yield a descriptor of a folder that only this user, or the system, may write.

    Raises:
        UntrustedError: others may write it, or it is a link, which others may turn elsewhere.
        OSError: there is no such folder, or this system has no descriptors of folders.
    """
    if os.open not in os.supports_dir_fd:
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP), str(folder))
    try:
        handle = os.open(folder, _FOLDER)
    except OSError:
        if folder.is_symlink():
            raise UntrustedError(f"`{folder}` is a link") from None
        raise
    try:
        reason = _strangers(os.fstat(handle))
        if reason is not None:
            raise UntrustedError(f"`{folder}` {reason}")
        yield handle
    finally:
        os.close(handle)


def make_private(folder: Path) -> None:
    """Create a folder for this user alone, and the folders above it; one that is there stays.

    Raises:
        OSError: it cannot be created.
    """
    if not folder.parent.is_dir():
        make_private(folder.parent)
    with suppress(FileExistsError):
        folder.mkdir(PRIVATE_FOLDER)


def read_private(folder: int, name: str) -> bytes | None:
    """Return what a file holds; ``None`` where others could have written it, or there is none.

    Args:
        folder: a descriptor.
        name: of a file in it; other names of the same file are not trusted to be in such a folder.
    """
    try:
        handle = os.open(name, _FILE, dir_fd=folder)
    except OSError:
        return None
    try:
        found = os.fstat(handle)
        if not S_ISREG(found.st_mode) or found.st_nlink > 1 or _strangers(found) is not None:
            return None
        with open(handle, "rb", closefd=False) as file:
            return file.read()
    except OSError:
        return None
    finally:
        os.close(handle)


def write_private(folder: int, name: str, content: bytes) -> None:
    """Put a file for this user alone in the place of whatever has that name, in one step.

    Raises:
        OSError: nothing was changed, and no temporary file is left.
    """
    beside = f".{name[:16]}.{secrets.token_hex(8)}"
    handle = os.open(beside, os.O_WRONLY | NEW, PRIVATE, dir_fd=folder)
    try:
        with open(handle, "wb") as file:  # noqa: PTH123  a descriptor
            os.fchmod(handle, PRIVATE)  # whatever the umask leaves
            file.write(content)
        os.rename(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside, dir_fd=folder)
        raise


@contextmanager
def passing_folder() -> Iterator[Path]:
    """Yield a new folder for this user alone, which goes with all that is in it.

    Raises:
        UntrustedError: others may put another in its place.
        OSError: there is no room for one.
    """
    root = Path(tempfile.gettempdir())
    mode = root.stat().st_mode
    if os.name == "posix" and mode & S_IWOTH and not mode & S_ISVTX:
        raise UntrustedError(f"in `{root}` all may remove what is another's; set $TMPDIR")
    name = tempfile.mkdtemp(prefix="layoutdsl-")
    try:  # a `TemporaryDirectory` complains where a process ends before its threads do
        yield Path(name)
    finally:
        shutil.rmtree(name, ignore_errors=True)


def _strangers(found: os.stat_result) -> str | None:
    """Who else could have written what was opened, in words; ``None`` where nobody could."""
    if found.st_uid not in (os.geteuid(), 0):
        return "belongs to another user"
    if found.st_mode & (S_IWGRP | S_IWOTH):
        return "may be written by others"
    return None
