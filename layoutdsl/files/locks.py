"""Locks of files, held by a descriptor: a process that ends holds none.

Windows has no such locks; there a file cannot be locked, and whoever asks is told so.
"""

from __future__ import annotations

import errno
import os
import time

try:
    import fcntl
except ModuleNotFoundError:  # Windows
    fcntl = None  # type: ignore[assignment]


MOMENT = 1.0
"""Seconds in which a lock comes free whose process was killed as it was starting a program: until
that one runs it holds what its parent did."""


def lock_soon(handle: int) -> None:
    """Lock a file for this descriptor alone, if not at once then in a moment.

    Raises:
        BlockingIOError: another descriptor holds it.
        OSError: the file system, or this system, has no locks.
    """
    until = time.monotonic() + MOMENT
    while True:
        try:
            return lock_alone(handle)
        except BlockingIOError:
            if time.monotonic() >= until:
                raise
        time.sleep(0.01)


def lock_alone(handle: int) -> None:
    """Lock a file for this descriptor alone.

    Raises:
        BlockingIOError: another descriptor holds it.
        OSError: the file system, or this system, has no locks.
    """
    _flock(handle, 0 if fcntl is None else fcntl.LOCK_EX | fcntl.LOCK_NB)


def lock_shared(handle: int) -> None:
    """Lock a file for all that share it.

    Raises:
        BlockingIOError: another descriptor holds it alone.
        OSError: the file system, or this system, has no locks.
    """
    _flock(handle, 0 if fcntl is None else fcntl.LOCK_SH | fcntl.LOCK_NB)


def await_shared(handle: int) -> None:
    """Lock a file for all that share it, as soon as nobody holds it alone."""
    _flock(handle, 0 if fcntl is None else fcntl.LOCK_SH)


def unlock(handle: int) -> None:
    """Let others lock it."""
    if fcntl is not None:
        fcntl.flock(handle, fcntl.LOCK_UN)


def _flock(handle: int, kind: int) -> None:
    if fcntl is None:
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))
    fcntl.flock(handle, kind)
