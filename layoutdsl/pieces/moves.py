"""One piece packed or unpacked: read into memory, moved by the code of the layout, written.

A job has one stretch of memory, an arena, that all its pieces go through.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod
from typing import Any, Protocol

import numpy as np

from layoutdsl.files.npy import Array
from layoutdsl.meaning.elements import FillAny
from layoutdsl.meaning.model import Layout
from layoutdsl.pieces.cut import Piece
from layoutdsl.pieces.files import Stored
from layoutdsl.pieces.sums import Sum, Sums

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
    """

    layout: Layout
    module: Packs
    scratch: Callable[[int], int]


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


@dataclass(frozen=True, slots=True)
class Packing:
    """Pieces of a tensor, packed.

    Attributes:
        code: what packs.
        source: the tensor.
        target: the buffer, flat.
        lead: slots before the first of the layout.
        fill: what padding holds; that of the layout where it is `None`.
        look: at every tensor before it is packed.
        sum_up: gives checksums.
    """

    code: Code
    source: Stored
    target: Stored
    lead: int
    fill: Number | None
    look: Look
    sum_up: Sum

    def cost(self, elements: int, slots: int) -> int:
        """Return the bytes that a piece takes while it is moved."""
        copies = 2 if self.source.fortran else 1
        return _cost(self.code, self.source.dtype, copies * elements, slots + self.lead, elements)

    def move(self, piece: Piece, arena: Arena) -> Moved:
        """Pack a piece."""
        arena.clear()
        tensor = self._tensor(piece, arena)
        self.look(tensor)
        read = self.sum_up(tensor)
        fill = {} if self.fill is None else {"fill": self.fill}
        if self.fill is None and isinstance(self.code.layout.fill, FillAny):
            fill = {"fill": 0}  # as in a new buffer
        if self.lead:
            packed = self.code.module.pack(tensor, **fill).reshape(-1)
        else:
            shape = self.code.module.physical_shape(piece.extents)
            out = arena.array(shape, tensor.dtype)
            packed = self.code.module.pack(tensor, out, **fill).reshape(-1)
        first, slots = self._stretch(piece)
        packed = packed[packed.size - slots :]
        self.target.write((first,), packed)
        return Moved(Sums(read, self.sum_up(packed)), packed.nbytes)

    def agrees(self, piece: Piece, arena: Arena, sums: Sums) -> bool:
        """Return whether input and output of a piece are what they were when it was packed."""
        arena.clear()
        if self.sum_up(self._tensor(piece, arena)) != sums.read:
            return False
        first, slots = self._stretch(piece)
        packed = arena.array((slots,), self.source.dtype)
        self.target.read((first,), packed)
        return self.sum_up(packed) == sums.written

    def _stretch(self, piece: Piece) -> tuple[int, int]:
        """The first slot that a piece fills, and how many; what comes before all is the first's."""
        if piece.first == 0:
            return 0, self.lead + piece.slots
        return self.lead + piece.first, piece.slots

    def _tensor(self, piece: Piece, arena: Arena) -> Array:
        tensor = arena.array(piece.extents, self.source.dtype)
        if not self.source.fortran:
            self.source.read(piece.starts, tensor)
            return tensor
        turned = replace(self.source, shape=self.source.shape[::-1], fortran=False)
        read = arena.array(piece.extents[::-1], self.source.dtype)
        turned.read(piece.starts[::-1], read)
        np.copyto(tensor, read.T)
        return tensor


@dataclass(frozen=True, slots=True)
class Unpacking:
    """Pieces of a buffer, unpacked.

    Attributes:
        code: what unpacks.
        source: the buffer, flat.
        target: the tensor.
        lead: slots before the first of the layout.
        look: at every tensor that was unpacked.
        sum_up: gives checksums.
    """

    code: Code
    source: Stored
    target: Stored
    lead: int
    look: Look
    sum_up: Sum

    def cost(self, elements: int, slots: int) -> int:
        """Return the bytes that a piece takes while it is moved."""
        return _cost(self.code, self.source.dtype, elements, slots + self.lead, elements)

    def move(self, piece: Piece, arena: Arena) -> Moved:
        """Unpack a piece."""
        arena.clear()
        module = self.code.module
        packed = self._packed(piece, arena)
        buffer = packed.reshape(module.physical_shape(piece.extents))
        if self.code.layout.domain:
            tensor = module.unpack(buffer, piece.extents)
        else:
            out = arena.array(piece.extents, self.source.dtype)
            tensor = module.unpack(buffer, piece.extents, out)
        self.look(tensor)
        self.target.write(piece.starts, tensor)
        return Moved(Sums(self.sum_up(packed), self.sum_up(tensor)), tensor.nbytes)

    def agrees(self, piece: Piece, arena: Arena, sums: Sums) -> bool:
        """Return whether input and output of a piece are what they were when it was unpacked."""
        arena.clear()
        if self.sum_up(self._packed(piece, arena)) != sums.read:
            return False
        tensor = arena.array(piece.extents, self.source.dtype)
        self.target.read(piece.starts, tensor)
        return self.sum_up(tensor) == sums.written

    def _packed(self, piece: Piece, arena: Arena) -> Array:
        """The slots of a piece, behind zeros for those before the first of the layout."""
        packed = arena.array((self.lead + piece.slots,), self.source.dtype)
        packed[: self.lead] = np.zeros((), packed.dtype)
        self.source.read((self.lead + piece.first,), packed[self.lead :])
        return packed


def _cost(code: Code, dtype: np.dtype[Any], read: int, slots: int, elements: int) -> int:
    width = dtype.itemsize
    return width * (read + slots) + code.scratch(width) * elements + 4 * ALIGNED
