"""The unfinished output: beside its place until it is whole, with a journal of what is done.

`out.npy.part` becomes `out.npy` in one step, when every piece is in it and on the disk. Until then
`out.npy` is as it was. A run that is killed leaves both files, and the next one goes on.

Others may write in the folder too. So both files are created, and never opened where something
lies; what lies there is ours where it is this user's, a journal of ours names its inode, and it
ends with the token of that journal. Nothing else is written to, removed or replaced.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from stat import S_ISREG
from typing import Any

from layoutdsl.code.private import NEW, PRIVATE
from layoutdsl.files.locks import lock_soon, unlock
from layoutdsl.files.ownership import finished, note
from layoutdsl.files.pieces.files import reserve
from layoutdsl.files.pieces.journal import (
    WHOLE,
    Begun,
    Noted,
    part_line,
    pieces_line,
    read,
    written,
)
from layoutdsl.files.pieces.sums import Sums
from layoutdsl.files.places import OccupiedError, replaceable
from layoutdsl.files.whole import created, flush_folder

CHANGED = {
    "verb": "the run before did something else",
    "layout": "the layout is another one",
    "shape": "the shape is another one",
    "fill": "the fill is another one",
    "room": "its pieces are of another size, as the memory is",
    "path": "the input is another file",
    "input": "the input has changed",
}
"""Why a run does not go on with what it finds."""

Fixed = Sequence[tuple[int, bytes]]
"""Bytes, each behind its place in a file."""

REMEDY = "remove it, or write to another file"
TOKEN = 32
"""Bytes behind the unfinished output that tell that it is ours."""

PAGE = 4096
"""They start a page, so that they are written at once or not at all."""


def beside(place: Path) -> tuple[Path, Path]:
    """Return where the unfinished output lies, and its journal."""
    return place.with_name(f"{place.name}.part"), place.with_name(f"{place.name}.part.json")


class Output:
    """An output under way.

    Attributes:
        handle: of the unfinished file, which has its full size.
        room: the bytes that a piece may take.
        token: random; of this output alone.
        claimed: the pieces that an earlier run says it has finished.
        is_noted: whether a later run would find any.
    """

    def __init__(
        self, place: Path, work: dict[str, Any], fixed: Fixed, size: int, widest: int
    ) -> None:
        """Take the place of the unfinished output, alone.

        Args:
            place: where the output goes in the end.
            work: plain values that tell this work from others.
            fixed: bytes that are of no piece, with the place of each.
            size: bytes of the whole output.
            widest: the permissions that it gets at most.

        Raises:
            OccupiedError: another run writes it, or what is there is not ours.
            OSError: it cannot be written.
        """
        self.place, self._old = replaceable(place)
        self.part, self._journal = beside(self.place)
        self._work, self._fixed, self._size = work, tuple(fixed), size
        self._widest = widest
        self.handle, self.room, self.token = -1, 0, ""
        self.claimed: Mapping[int, Sums] = {}
        self.is_noted = False
        self._mode, self._end, self._last, self._made = PRIVATE, 0, "", False
        self._whole: os.stat_result | None = None
        self._log = self._locked()

    def _locked(self) -> int:
        """The journal, which no other run writes while it is open."""
        while True:
            try:
                handle = self._opened()
            except FileNotFoundError:
                if not self._journal.parent.exists():
                    raise
                continue  # another run has just removed it
            try:
                lock_soon(handle)
                if _is_at(self._journal, handle):
                    return handle
            except BlockingIOError:
                os.close(handle)
                raise OccupiedError(f"another run is writing `{self.place}`") from None
            except BaseException:
                os.close(handle)
                raise
            _unlocked(handle)

    def _opened(self) -> int:
        try:
            handle = os.open(self._journal, os.O_RDWR | NEW, PRIVATE)
        except FileExistsError:
            self._made = False
            return _own(self._journal)
        self._made = True
        return handle

    def resume(self, most: int, tell: Callable[[str], None]) -> bool:
        """Return whether an earlier run left pieces of the same work that this one can go on with.

        Args:
            most: bytes that a piece may take now.
            tell: is told why a run does not go on.

        Raises:
            OccupiedError: what is there is not ours.
        """
        size = os.fstat(self._log).st_size
        noted, self._end, self._last = read(os.pread(self._log, size, 0))
        if noted is None and size:
            message = f"`{self._journal}` is there, and is no journal of layoutdsl, or damaged"
            raise OccupiedError(message, f"remove it and `{self.part}`, or write to another file")
        there = _lstat(self.part) is not None
        if noted is None:
            if there:
                message = f"`{self.part}` is there, and no run of layoutdsl has left it"
                raise OccupiedError(message, REMEDY)
            return False
        if not there:
            return False
        self.handle = self._left(noted)
        reason = self._unlike(noted, most)
        if reason is not None:
            tell(f"starting over: {reason}")
        if reason is not None or noted.inode is None:
            return False
        self.room, self.token, self._mode = (
            noted.begun.room,
            noted.begun.token,
            noted.mode & self._widest,
        )
        self.claimed = noted.pieces
        self.is_noted = bool(noted.pieces)
        os.pwrite(self.handle, self.token.encode(), _tail(self._size))
        self.write(self._fixed)
        return True

    def _left(self, noted: Noted) -> int:
        """Open the unfinished output that a journal speaks of."""
        handle, begun = _own(self.part), noted.begun
        found = os.fstat(handle)
        tail = os.pread(handle, TOKEN + 1, _tail(begun.size))
        marked = tail == begun.token.encode()
        if noted.inode is None:  # it was killed before it could say which file it is
            ours = marked or found.st_size == 0
        else:
            ours = marked or (noted.whole and found.st_size == begun.size)
            ours = ours and found.st_ino == noted.inode
        if ours:
            return handle
        os.close(handle)
        message = f"`{self.part}` is there, and is not what `{self._journal}` is about"
        raise OccupiedError(message, REMEDY)

    def _unlike(self, noted: Noted, most: int) -> str | None:
        found = noted.begun
        for key, words in CHANGED.items():
            if found.work.get(key) != self._work.get(key):
                return words
        if found.work != self._work or found.size != self._size:
            return "the output is another one"
        return "the memory is too small for its pieces" if found.room > most else None

    def begin(self, room: int) -> None:
        """Start with nothing done.

        Raises:
            OccupiedError: somebody else was faster.
            OSError: there is no space for it on the disk; nothing is left behind.
        """
        try:
            if self.handle >= 0:
                _remove(self.part, self.handle)
                os.close(self.handle)
                self.handle = -1
            self.room, self.token, self.claimed = room, secrets.token_hex(TOKEN // 2), {}
            self._add(Begun(self.token, self._work, self._size, room).line())
            self.handle, self._mode = self._created()
            os.pwrite(self.handle, self.token.encode(), _tail(self._size))
            self._add(part_line(os.fstat(self.handle).st_ino, self._mode))
            reserve(self.handle, self.place, _tail(self._size) + TOKEN)
            self.write(self._fixed)
        except BaseException:
            self.discard()
            raise

    def _created(self) -> tuple[int, int]:
        try:
            return created(self.part, self._old, self._widest)
        except FileExistsError:
            raise OccupiedError(f"`{self.part}` has just been created", REMEDY) from None

    def write(self, fixed: Iterable[tuple[int, bytes]]) -> None:
        """Write bytes that are of no piece, each at its place."""
        for place, data in fixed:
            count = 0
            while count < len(data):
                count += os.pwrite(self.handle, data[count:], place + count)

    def read(self, place: int, count: int) -> bytes:
        """Return bytes of the output."""
        return os.pread(self.handle, count, place)

    def note(self, done: Mapping[int, Sums]) -> None:
        """Put pieces that are done on the disk, and then into the journal."""
        os.fsync(self.handle)
        self._add(pieces_line(done))
        self.is_noted = True
        os.fsync(self._log)

    def _add(self, line: dict[str, Any]) -> None:
        """Add a line to the journal, in place of what is not sound there."""
        data, last = written([line], self._last)
        os.ftruncate(self._log, self._end)
        count = 0
        while count < len(data):
            count += os.pwrite(self._log, data[count:], self._end + count)
        self._end, self._last = self._end + count, last

    def complete(self) -> None:
        """Put every byte on the disk, and close the data; the journal stays open and locked."""
        self._add(WHOLE)
        os.fsync(self._log)  # it tells that the file is ours, once the token is gone
        os.ftruncate(self.handle, self._size)
        os.fchmod(self.handle, self._mode)
        self._whole = finished(self.handle)
        os.fsync(self.handle)
        os.close(self.handle)
        self.handle = -1

    def publish(self) -> None:
        """Put the output in its place, once it is complete.

        Raises:
            OccupiedError: something else has come to lie there meanwhile.
        """
        assert self._whole is not None
        replaceable(self.place)
        if not self._is_whole():
            raise OccupiedError(f"`{self.part}` is not what this run has written", "start again")
        note(self.place, self._whole)
        self.part.replace(self.place)
        _remove(self._journal, self._log)
        flush_folder(self.place.parent)

    def _is_whole(self) -> bool:
        """Whether the complete output still lies there; an inode alone may be in use again."""
        found, whole = _lstat(self.part), self._whole
        if found is None or whole is None or not os.path.samestat(found, whole):
            return False
        return (found.st_size, found.st_mtime_ns) == (whole.st_size, whole.st_mtime_ns)

    def discard(self) -> None:
        """Leave nothing behind."""
        if self.handle >= 0:
            _remove(self.part, self.handle)
        elif self._is_whole():
            self.part.unlink(missing_ok=True)
        _remove(self._journal, self._log)

    def close(self) -> None:
        """Let others have it."""
        if self._made and self._end == 0:
            _remove(self._journal, self._log)
        if self.handle >= 0:
            os.close(self.handle)
        _unlocked(self._log)


def _unlocked(handle: int) -> None:
    """Close it, and let others lock it.

    To close is not enough: what another thread starts, a compiler in the background, holds a copy
    of every descriptor until it has become another program, and the lock with it.
    """
    unlock(handle)
    os.close(handle)


def _tail(size: int) -> int:
    """Where the token lies behind an output of so many bytes."""
    return -(-size // PAGE) * PAGE


def _own(place: Path) -> int:
    """Open a file that only this user can have left there."""
    _refuse_strange(place, place.lstat())
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    handle = os.open(place, flags)
    try:
        _refuse_strange(place, os.fstat(handle))
    except BaseException:
        os.close(handle)
        raise
    return handle


def _refuse_strange(place: Path, found: os.stat_result) -> None:
    words = None
    if not S_ISREG(found.st_mode):
        words = "is no plain file"
    elif found.st_uid != os.geteuid():
        words = "is of another user"
    elif found.st_nlink > 1:
        words = "has another name as well"
    if words is not None:
        raise OccupiedError(f"`{place}` is there, and {words}", REMEDY)


def _lstat(place: Path) -> os.stat_result | None:
    try:
        return place.lstat()
    except FileNotFoundError:
        return None


def _is_at(place: Path, handle: int) -> bool:
    found = _lstat(place)
    return found is not None and os.path.samestat(found, os.fstat(handle))


def _remove(place: Path, handle: int) -> None:
    """Remove a file that is open, and no other that has come to lie there."""
    if _is_at(place, handle):
        place.unlink(missing_ok=True)
