"""What moves pieces, whatever it does with them: the code of a layout, and memory for a job.

A job has one stretch of memory, an arena, that all its pieces go through.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any, Protocol

import numpy as np

from layoutdsl.files.npy import Array
from layoutdsl.files.pieces.between import Between
from layoutdsl.files.pieces.cut import Piece
from layoutdsl.files.pieces.sums import Sums
from layoutdsl.language.meaning.model import Layout

ALIGNED = 64
"""Arrays start at whole lines of the cache."""

Number = int | float
Look = Callable[[Array], None]
"""Raises where a tensor holds what it must not."""


class Packs(Protocol):
    """What code for a layout does; `layoutdsl.compile` returns it."""

    @property
    def pack(self) -> Callable[..., Array]:
        """From a tensor to its buffer."""

    @property
    def unpack(self) -> Callable[..., Array]:
        """From a buffer and a shape to the tensor."""

    @property
    def physical_shape(self) -> Callable[..., tuple[int, ...]]:
        """From the shape of a tensor to that of its buffer."""


@dataclass(frozen=True, slots=True)
class Code:
    """A layout and the code that packs it.

    Attributes:
        layout: what is packed.
        module: the code.
        scratch: bytes that the code itself needs for each element, from the bytes of one.
        check: raises if the layout, which is undecided, is wrong at a shape; `None` if it is
            proved.
    """

    layout: Layout
    module: Packs
    scratch: Callable[[int], int]
    check: Callable[[tuple[int, ...]], None] | None = None


@dataclass(frozen=True, slots=True)
class Moved:
    """A piece that was moved: its checksums, and the bytes that were written."""

    sums: Sums
    written: int


class Moving(Protocol):
    """What is done with the pieces of a tensor."""

    def cost(self, elements: int, slots: int, /) -> int:
        """Return the bytes that a piece takes while it is moved."""

    def move(self, piece: Piece, arena: Arena) -> Moved:
        """Read a piece, move it and write it."""

    def agrees(self, piece: Piece, arena: Arena, sums: Sums) -> bool:
        """Return whether input and output of a piece are what they were when it was moved."""


class Arena:
    """Memory of one job."""

    def __init__(self, size: int) -> None:
        # Not from the heap, which may keep what was given back to it.
        own = mmap.mmap(-1, max(size, 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self._memory = np.frombuffer(own, np.uint8)
        self._next = 0

    def clear(self) -> None:
        """Let go of all arrays."""
        self._next = 0

    def array(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """Return an array of the memory; what it holds is left over from others."""
        size = prod(shape) * dtype.itemsize
        found = self._memory[self._next : self._next + size].view(dtype).reshape(shape)
        self._next += -(-size // ALIGNED) * ALIGNED
        return found


def stretch_of(piece: Piece, lead: int) -> tuple[int, int]:
    """Return the first slot that a piece fills, and how many; the first has what comes before."""
    if piece.first == 0:
        return 0, lead + piece.slots
    return lead + piece.first, piece.slots


def cost_of(
    code: Code, between: Between, held: np.dtype[Any], read: int, slots: int, elements: int
) -> int:
    """Return the bytes of what a file of a tensor holds, of items, and of what stands between.

    Args:
        code: what moves.
        between: files and items.
        held: the type of what the file of the tensor holds.
        read: bytes of that.
        slots: of the buffer.
        elements: of the tensor.
    """
    width = (between.item or held).itemsize
    items = width * (slots + (elements if between.tensor else 0))
    more = between.cost(elements, slots) + code.scratch(width) * elements + 4 * ALIGNED
    return read + items + more
