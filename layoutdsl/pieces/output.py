"""The unfinished output: beside its place until it is whole, with a journal of what is done.

`out.npy.part` becomes `out.npy` in one step, when every piece is in it and on the disk. Until then
`out.npy` is as it was. A run that is killed leaves both files, and the next one goes on.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from layoutdsl.pieces.files import reserve
from layoutdsl.pieces.journal import Journal, read

CHANGED = {
    "verb": "the run before did something else",
    "layout": "the layout is another one",
    "shape": "the shape is another one",
    "fill": "the fill is another one",
    "input": "the input has changed",
}
"""Why a run does not go on with what it finds."""


class OccupiedError(ValueError):
    """What lies beside the output is not ours, or is in use."""


class Output:
    """An output under way.

    Attributes:
        handle: of the unfinished file, which has its full size.
        room: the bytes that a piece may take.
        done: the pieces that are in it.
    """

    def __init__(self, place: Path, work: dict[str, Any]) -> None:
        """Open the unfinished output, alone.

        Raises:
            OccupiedError: another run writes it, or somebody else's file is there.
            OSError: it cannot be written.
        """
        self.place = Path(os.path.realpath(place))
        self.part = self.place.with_name(f"{self.place.name}.part")
        self._journal = self.place.with_name(f"{self.part.name}.json")
        self._work = work
        self.room, self.done = 0, frozenset[int]()
        self.handle = self._locked()

    def _locked(self) -> int:
        while True:
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            handle = os.open(self.part, flags, 0o666)
            try:
                found = os.fstat(handle)
                if not stat.S_ISREG(found.st_mode) or (found.st_size and not self._is_ours()):
                    words = f"`{self.part}` is there, and no run of layoutdsl has left it"
                    raise OccupiedError(f"{words}; remove it, or write to another file")
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if self.part.exists() and os.path.samestat(os.fstat(handle), self.part.stat()):
                    return handle
            except BlockingIOError:
                os.close(handle)
                raise OccupiedError(f"another run is writing `{self.place}`") from None
            except BaseException:
                os.close(handle)
                raise
            os.close(handle)  # another run has just put it in its place

    def _is_ours(self) -> bool:
        return self._journal.exists()

    def resume(self, size: int, most: int, tell: Callable[[str], None]) -> bool:
        """Return whether an earlier run left pieces of the same work that this one can go on with.

        Args:
            size: bytes of the whole output.
            most: bytes that a piece may take now.
            tell: is told why a run does not go on.
        """
        if not self._is_ours() or not os.fstat(self.handle).st_size:
            return False
        found = read(self._journal)
        reason = self._unlike(found, size, most)
        if reason is None and found is not None:
            self.room, self.done = found.room, found.done
            return True
        tell(f"starting over: {reason}")
        return False

    def _unlike(self, found: Journal | None, size: int, most: int) -> str | None:
        if found is None:
            return f"`{self._journal}` is damaged"
        for key, words in CHANGED.items():
            if found.work.get(key) != self._work[key]:
                return words
        if found.work != self._work or os.fstat(self.handle).st_size != size:
            return "the output is another one"
        return "the memory is too small for its pieces" if found.room > most else None

    def begin(self, size: int, head: bytes, room: int) -> None:
        """Start with nothing done.

        Raises:
            OSError: there is no space for it on the disk; nothing is left behind.
        """
        try:
            os.ftruncate(self.handle, 0)
            self.room, self.done = room, frozenset()
            self._write_journal()
            reserve(self.handle, self.place, size)
            os.pwrite(self.handle, head, 0)
        except BaseException:
            self.discard()
            raise

    def note(self, done: Iterable[int]) -> None:
        """Put the pieces that are done on the disk, and then into the journal."""
        self.done = frozenset(done)
        os.fsync(self.handle)
        self._write_journal()

    def _write_journal(self) -> None:
        Journal(self._work, self.room, self.done).write(self._journal)

    def finish(self) -> None:
        """Put the output in its place; it holds every piece."""
        os.fsync(self.handle)
        if self.place.exists():
            os.fchmod(self.handle, stat.S_IMODE(self.place.stat().st_mode))
        self.part.replace(self.place)
        self._journal.unlink(missing_ok=True)
        folder = os.open(self.place.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def discard(self) -> None:
        """Leave nothing behind."""
        self.part.unlink(missing_ok=True)
        self._journal.unlink(missing_ok=True)

    def close(self) -> None:
        """Let others have it."""
        os.close(self.handle)
