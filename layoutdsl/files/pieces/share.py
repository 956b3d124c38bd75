"""A share of the pieces of a plan, and the journal of what is done of it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from layoutdsl.code.private import PRIVATE
from layoutdsl.files.locks import lock_soon, unlock
from layoutdsl.files.pieces.journal import WHOLE, Begun, pieces_line, read, written
from layoutdsl.files.pieces.sums import Sums
from layoutdsl.files.places import OccupiedError

OPEN = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NAME = re.compile(r"([0-9]{1,6})-of-([0-9]{1,6})")


@dataclass(frozen=True, slots=True, order=True)
class Share:
    """A share of the pieces: of so many, the one with this number, from 0 on."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def pieces(self, count: int) -> range:
        """Return which pieces it has, of so many; they lie side by side."""
        return range(self.number * count // self.of, (self.number + 1) * count // self.of)


class Log:
    """The journal of one share, which only one run writes.

    Attributes:
        claimed: the pieces that earlier runs say they have finished, by their number in the share.
        whole: whether the share was done by a run that found the input as it was.
    """

    def __init__(self, share: Share, part: Path, folder: int, output: int, token: str) -> None:
        """Open it, and go on with it where it is sound.

        Args:
            share: whose it is.
            part: the folder of the unfinished output, to be named.
            folder: its handle.
            output: the handle of the output.
            token: that checksums are made with; a journal with another one is none.

        Raises:
            OccupiedError: another run is doing this share.
        """
        self._output, self._token = output, token
        name, flags = f"{share.number}-of-{share.of}", os.O_RDWR | os.O_CREAT | OPEN
        self._handle = os.open(name, flags, PRIVATE, dir_fd=folder)
        try:
            lock(self._handle, lock_soon, part, f"another run is doing share {share}")
            noted, self._end, self._last = read(all_of(self._handle))
            self.claimed: Mapping[int, Sums] = {}
            self.whole, self._noted = False, dict[int, Sums]()
            if noted is None or noted.begun.token != token:
                self.forget()
            else:
                self.claimed, self.whole = noted.pieces, noted.whole
                self._noted = dict(noted.pieces)
        except BaseException:
            os.close(self._handle)
            raise

    def forget(self) -> None:
        """Claim nothing any more."""
        self._end, self._last, self.claimed, self.whole, self._noted = 0, "", {}, False, {}
        self._add(Begun(self._token, {}, 0, 0).line())
        os.fsync(self._handle)

    def note(self, done: Mapping[int, Sums]) -> None:
        """Put pieces that are done on the disk, and then into the journal."""
        os.fsync(self._output)
        self._add(pieces_line(done))
        self._noted.update(done)
        os.fsync(self._handle)

    def complete(self, sums: Mapping[int, Sums]) -> None:
        """Say that every piece is done, on the disk, with its checksums."""
        os.fsync(self._output)
        self._add(pieces_line({n: s for n, s in sums.items() if self._noted.get(n) != s}))
        self._add(WHOLE)
        os.fsync(self._handle)
        self.whole = True

    def _add(self, line: dict[str, object]) -> None:
        data, last = written([line], self._last)
        os.ftruncate(self._handle, self._end)
        count = 0
        while count < len(data):
            count += os.pwrite(self._handle, data[count:], self._end + count)
        self._end, self._last = self._end + count, last

    def close(self) -> None:
        """Let others have it."""
        unlock(self._handle)
        os.close(self._handle)


def share_of(name: str) -> Share | None:
    """Return whose journal has that name; nothing where it is none."""
    found = _NAME.fullmatch(name)
    share = found and Share(int(found[1]), int(found[2]))
    return share if share and share.number < share.of else None


def lock(handle: int, kind: Callable[[int], None], part: Path, words: str) -> None:
    """Lock an open file.

    Args:
        handle: of the file.
        kind: `lock_soon` or `lock_shared`.
        part: the folder that it lies in, to be named.
        words: why it cannot be locked, where somebody else has locked it.

    Raises:
        OccupiedError: it cannot be.
    """
    try:
        kind(handle)
    except BlockingIOError:
        raise OccupiedError(f"`{part}` is in use: {words}") from None
    except OSError as failure:
        message = f"the file system of `{part}` takes no locks: {failure.strerror}"
        raise OccupiedError(message, "write to one that does") from None


def all_of(handle: int) -> bytes:
    """Return what is in an open file."""
    return os.pread(handle, os.fstat(handle).st_size, 0)
