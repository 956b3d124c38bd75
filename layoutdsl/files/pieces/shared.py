"""The unfinished output that several machines write: a folder of this user alone, beside its place.

``out.npy.part/`` holds the output, of its full size from the start, under the hash of its plan, and
a journal for each share of the work. Whoever writes holds a shared lock of the output; whoever
puts it in its place, when every piece is in it, the only one. So nothing is written any more to an
output that is in its place. What goes to other files then lies there too before it does, so that
whoever comes after a kill still has it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

from layoutdsl.code.private import PRIVATE
from layoutdsl.files.locks import await_shared, lock_alone, lock_shared, unlock
from layoutdsl.files.ownership import finished, note, overwriting
from layoutdsl.files.pieces.files import named, reserve
from layoutdsl.files.pieces.folder import REMEDY, GoneError, clear, content_of, names_in, own_folder
from layoutdsl.files.pieces.journal import Noted, read
from layoutdsl.files.pieces.share import OPEN, Share, lock, share_of
from layoutdsl.files.places import OccupiedError, replaceable
from layoutdsl.files.whole import created, flush_folder

NEW = "new"
"""What the output is called until its plan is drawn up."""

PATIENCE, GLANCE = 2.0, 0.05
"""Seconds for which others are waited for, and between two looks."""


@dataclass(frozen=True, slots=True)
class Made:
    """A new output: its number in the file system, and the permissions that it is to get."""

    inode: int
    mode: int


def make(part: Path, old: os.stat_result | None, head: bytes, size: int, widest: int) -> Made:
    """Make the folder, with an output of full size in it, called `NEW`.

    Args:
        part: the folder.
        old: what the output will replace.
        head: its first bytes.
        size: its bytes.
        widest: the permissions that it is to get at most.

    Raises:
        OccupiedError: something is there.
        OSError: there is no space for it on the disk; nothing is left behind.
    """
    try:
        part.mkdir(0o700)
    except FileExistsError:
        words = "go on with its plan, or remove it"
        raise OccupiedError(f"`{part}` is there already", words) from None
    try:
        handle, mode = created(part / NEW, old, widest)
        try:
            reserve(handle, part, size)
            os.pwrite(handle, head, 0)
            os.fsync(handle)
            return Made(os.fstat(handle).st_ino, mode)
        finally:
            os.close(handle)
    except BaseException:
        (part / NEW).unlink(missing_ok=True)
        part.rmdir()
        raise


class Shared:
    """The unfinished output, opened by one of those who write it.

    Attributes:
        handle: of the output.
    """

    def __init__(self, part: Path, name: str, size: int, texts: Mapping[str, Path]) -> None:
        """Open it, and see to it that nobody puts it in its place meanwhile.

        Args:
            part: the folder.
            name: of the output in it.
            size: its bytes.
            texts: the names in it of what goes to other files, and where that goes.

        Raises:
            GoneError: there is none.
            OccupiedError: it is not ours, or somebody is just putting it in its place.
        """
        self.part, self._name, self._texts, self.handle = part, name, texts, -1
        self.folder = own_folder(part)
        try:
            self.handle = self._opened(size)
            lock(self.handle, lock_shared, part, "it is just being put in its place")
            if not self.is_there():
                raise GoneError
        except BaseException:
            self.close()
            raise

    def _opened(self, size: int) -> int:
        try:
            handle = os.open(self._name, os.O_RDWR | OPEN, dir_fd=self.folder)
        except FileNotFoundError:
            known = [each for each in names_in(self.folder) if share_of(each) is None]
            if self._texts.keys() >= set(known):
                raise GoneError from None
            raise OccupiedError(f"`{self.part}` is of another plan", REMEDY) from None
        if os.fstat(handle).st_size != size:
            os.close(handle)
            raise OccupiedError(f"`{self.part}` holds an output of another size", REMEDY)
        return handle

    def is_there(self) -> bool:
        """Return whether nobody has put it in its place yet."""
        try:
            found = os.stat(self._name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return os.path.samestat(found, os.fstat(self.handle))

    def noted(self, token: str) -> dict[Share, Noted]:
        """Return what the journals that have a token say, by share."""
        found: dict[Share, Noted] = {}
        for each in names_in(self.folder):
            share = share_of(each)
            if share is not None:
                noted = read(content_of(each, self.folder))[0]
                if noted is not None and noted.begun.token == token:
                    found[share] = noted
        return found

    def read(self, place: int, count: int) -> bytes:
        """Return bytes of the output."""
        return os.pread(self.handle, count, place)

    def write(self, fixed: Iterable[tuple[int, bytes]]) -> None:
        """Write bytes that are of no piece, each at its place."""
        for place, data in fixed:
            count = 0
            while count < len(data):
                count += os.pwrite(self.handle, data[count:], place + count)

    def leave(self, texts: Mapping[str, bytes]) -> None:
        """Lay down, on the disk, what goes to other files once the output is in its place."""
        for name, data in texts.items():
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | OPEN
            with os.fdopen(os.open(name, flags, PRIVATE, dir_fd=self.folder), "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())

    @contextmanager
    def alone(self) -> Iterator[bool]:
        """Yield whether nobody else writes; nobody else begins before the block is left.

        Others who have just found that something is missing are waited for: they have not seen that
        it is done, and will not come back. Those who are at work are last themselves.
        """
        unlock(self.handle)  # two that wait for each other would both give up
        until = monotonic() + PATIENCE
        while not _is_locked(self.handle):
            if monotonic() > until:
                yield False
                return
            sleep(GLANCE)
        try:
            yield True
        finally:
            await_shared(self.handle)

    def place(self, target: Path, mode: int) -> None:
        """Put the output in its place, alone, and leave nothing else behind.

        Raises:
            OccupiedError: something has come to lie there that is not replaced.
        """
        os.fchmod(self.handle, mode)
        ours = finished(self.handle)
        os.fsync(self.handle)
        with overwriting(True):  # `plan` has asked, on a machine whose ledger is another one
            place, _ = replaceable(target)
        note(place, ours)
        with named(place):
            os.rename(self._name, place, src_dir_fd=self.folder)
        flush_folder(place.parent)
        clear(self.folder, self.part, self._texts, mode)

    def close(self) -> None:
        """Let others have it."""
        if self.handle >= 0:
            unlock(self.handle)
            os.close(self.handle)
        os.close(self.folder)


def _is_locked(handle: int) -> bool:
    """Whether it could be locked for us alone."""
    try:
        lock_alone(handle)
    except BlockingIOError:
        return False
    return True
