"""Bytes that are taken over as they are, stretch by stretch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from layoutdsl.files.pieces.between import BYTE
from layoutdsl.files.pieces.cut import Piece
from layoutdsl.files.pieces.files import Stored
from layoutdsl.files.pieces.moves import Arena, Moved
from layoutdsl.files.pieces.sums import Sum, Sums


@dataclass(frozen=True, slots=True)
class Stretches:
    """Bytes cut into stretches of one length, but for the last.

    Attributes:
        size: bytes of all of them.
        length: bytes of one, at least 1.
    """

    size: int
    length: int

    @property
    def count(self) -> int:
        """How many there are; no bytes are one stretch."""
        return max(-(-self.size // self.length), 1)

    @property
    def largest(self) -> Piece:
        """The first: only the last is shorter."""
        return self.piece(0)

    @property
    def units(self) -> tuple[int, ...]:
        """The bytes of one."""
        return (self.length,)

    def piece(self, number: int) -> Piece:
        """Return a stretch by its number, from 0 on."""
        first = number * self.length
        left = min(self.length, self.size - first)
        return Piece((first,), (left,), first, left)


def stretched(size: int, units: tuple[int, ...]) -> Stretches:
    """Return bytes cut into stretches as they were before.

    Raises:
        ValueError: there are no such stretches.
    """
    if len(units) != 1 or units[0] < 1:
        raise ValueError(f"there are no stretches of {units} bytes")
    return Stretches(size, *units)


@dataclass(frozen=True, slots=True)
class Copying:
    """Stretches of bytes, copied.

    Attributes:
        source: bytes of one axis.
        target: as many.
        sum_up: gives checksums.
        turned: bytes of an item whose order is turned; 1 where none is.
    """

    source: Stored
    target: Stored
    sum_up: Sum
    turned: int = 1

    def cost(self, elements: int, _: int) -> int:
        """Return the bytes that a stretch takes while it is copied."""
        return elements

    def move(self, piece: Piece, arena: Arena) -> Moved:
        """Copy a stretch."""
        found = self._read(self.source, piece, arena)
        said = written = self.sum_up(found)
        if self.turned > 1:
            found.view(f"u{self.turned}").byteswap(inplace=True)
            written = self.sum_up(found)
        self.target.write(piece.starts, found)
        return Moved(Sums(said, written), found.nbytes)

    def agrees(self, piece: Piece, arena: Arena, sums: Sums) -> bool:
        """Return whether both sides of a stretch are what they were when it was copied."""
        if self.sum_up(self._read(self.source, piece, arena)) != sums.read:
            return False
        return self.sum_up(self._read(self.target, piece, arena)) == sums.written

    def _read(self, side: Stored, piece: Piece, arena: Arena) -> np.ndarray:
        arena.clear()
        found = arena.array(piece.extents, BYTE)
        side.read(piece.starts, found)
        return found
