"""A place in an open file that moves on as it is read: numbers and bytes, never past an end.

What is read comes through a window: a header takes no more memory than what is kept of it.
"""

from __future__ import annotations

import os
from typing import Literal

from layoutdsl.files.npy import UnreadableError
from layoutdsl.files.weights.bounds import AGAIN, cut_short, exactly

WINDOW = 1 << 18
"""Bytes that are read at once, if nobody says otherwise."""

_MOST_VARINT = 10


class Cursor:
    """Reads a stretch of an open file from its beginning to its end.

    Attributes:
        place: the next byte.
        end: the byte behind the last.
        most_first: whether numbers have their most significant byte first.
    """

    def __init__(self, handle: int, place: int, end: int, window: int = WINDOW) -> None:
        self.place, self.end, self._step = place, end, window
        self._handle, self._window, self._first = handle, b"", place
        self.most_first = False

    def skip(self, count: int) -> int:
        """Go on by so many bytes; return where they begin.

        Raises:
            UnreadableError: the stretch ends before.
        """
        start, past = self.place, self.place + count
        if past > self.end:
            raise self._ended(past)
        self.place = past
        return start

    def take(self, count: int) -> bytes:
        """Return the next bytes.

        Raises:
            UnreadableError: the stretch ends before.
        """
        start = self.skip(count)
        at = start - self._first
        if not 0 <= at <= len(self._window) - count:
            wanted = max(count, min(self._step, self.end - start))
            self._window, self._first, at = exactly(self._handle, start, wanted), start, 0
        return self._window[at : at + count]

    def number(self, width: int) -> int:
        """Return the next bytes as a number.

        Raises:
            UnreadableError: the stretch ends before.
        """
        return int.from_bytes(self.take(width), "big" if self.most_first else "little")

    def varint(self) -> int | None:
        """Return the next number of protobuf, seven bits to a byte; ``None`` where there is none.

        Raises:
            UnreadableError: the file has become shorter.
        """
        at = self.place - self._first
        if not 0 <= at <= len(self._window) - _MOST_VARINT:
            wanted = min(max(self._step, _MOST_VARINT), self.end - self.place)
            self._window, self._first, at = exactly(self._handle, self.place, wanted), self.place, 0
        window = self._window
        if at < len(window) and window[at] < 0x80:
            self.place += 1
            return window[at]
        found = 0
        for count, part in enumerate(window[at : at + _MOST_VARINT]):
            found |= (part & 0x7F) << 7 * count
            if part < 0x80:
                self.place += count + 1
                return found & (1 << 64) - 1
        return None

    def skip_texts(self, count: int, width: int) -> None:
        """Go on by so many runs of bytes, each with its length before it in ``width`` bytes.

        Raises:
            UnreadableError: the stretch ends before.
        """
        if count * width > self.end - self.place:
            raise self._ended(self.place + count * width)
        order: Literal["big", "little"] = "big" if self.most_first else "little"
        while count:
            start, at = self.place, 0
            window = self.take(max(width, min(self._step, self.end - start)))
            while count and at <= len(window) - width:
                at += width + int.from_bytes(window[at : at + width], order)
                count -= 1
            self.place = start
            self.skip(at)

    def _ended(self, past: int) -> UnreadableError:
        size = os.fstat(self._handle).st_size
        if past > size:
            return cut_short(size, past)
        return UnreadableError(f"says more than {self.end} bytes besides its items; {AGAIN}")
