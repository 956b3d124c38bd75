"""Standard streams that may be closed or full.

Python has ``None`` for a stream that is closed when it starts. It is replaced by one that fails
when it is used, as a full disk does: a result that nobody can read is no success. What is said on
the standard error is lost without harm. An output without a buffer, as ``PYTHONUNBUFFERED`` asks
for it, writes as much as there is room for, and says no word of the rest: it gets a buffer.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any, TextIO


class _Closed(io.TextIOBase):
    """A stream that is closed."""

    @property
    def buffer(self) -> Any:
        """Bytes cannot be moved either."""
        return self

    def read(self, size: int | None = -1, /) -> str:  # noqa: ARG002
        """Fail."""
        raise OSError(errno.EBADF, "it is closed")

    def write(self, text: str, /) -> int:  # noqa: ARG002
        """Fail."""
        raise OSError(errno.EBADF, "it is closed")


def stand_in() -> None:
    """Give every standard stream that is closed a stand-in, and the output a buffer."""
    if sys.stdin is None:
        sys.stdin = _Closed()
    if sys.stdout is None:
        sys.stdout = _Closed()
    raw = getattr(sys.stdout, "buffer", None)
    if isinstance(raw, io.RawIOBase):
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(raw),
            encoding=sys.stdout.encoding,
            errors=sys.stdout.errors,
            line_buffering=True,
        )
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115  kept open


def handle_of(stream: TextIO) -> int:
    """Return the handle of a stream; -1 where it is closed, or no file at all."""
    try:
        return stream.fileno()
    except (OSError, ValueError):
        return -1


def drop(stream: TextIO) -> None:
    """Send what is still to come nowhere, so that Python does not complain of it at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, stream.fileno())
    except (OSError, ValueError):
        pass
    finally:
        os.close(nowhere)
