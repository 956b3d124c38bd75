"""What stands between files and the code that moves items, where files hold something else.

A file may hold the real numbers that items are codes of, whole elements whose bits are moved one by
one, or a buffer without room between its slots. How the one becomes the other is none of our
business here: whoever asks says it, by functions of a piece.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import gcd
from typing import Any

import numpy as np

from layoutdsl.files.npy import Array
from layoutdsl.files.pieces.cut import Piece

BYTE = np.dtype(np.uint8)


@dataclass(frozen=True, slots=True)
class TensorSide:
    """What the file of a tensor holds in place of items.

    Attributes:
        dtype: of what it holds.
        items: from what it holds at a piece to the items of it.
        tensor: from items of a piece to what the file holds.
        cost: bytes that an element takes meanwhile, beside what is read and what is packed.
        axes: of the layout that the file has not: 1, where the last one counts bits.
    """

    dtype: np.dtype[Any]
    items: Callable[[Array, Piece], Array]
    tensor: Callable[[Array, Piece], Array]
    cost: int
    axes: int = 0


@dataclass(frozen=True, slots=True)
class BufferSide:
    """A buffer whose slots lie without room between them, so that a piece is a run of bytes.

    Attributes:
        bits: of a slot.
        word: the type of the items that the file has.
        shape: from the shape of the tensor to that of the file.
        stored: from slots to bytes.
        opened: from bytes, and the count of slots, to these.
        cost: bytes that a slot takes meanwhile.
    """

    bits: int
    word: np.dtype[Any]
    shape: Callable[[tuple[int, ...]], tuple[int, ...]]
    stored: Callable[[Array], Array]
    opened: Callable[[Array, int], Array]
    cost: int

    @property
    def whole(self) -> int:
        """How many slots fill whole bytes."""
        return 8 // gcd(8, self.bits)

    def bytes(self, slots: int) -> int:
        """Return how many bytes so many slots take."""
        return -(-slots * self.bits // 8)


@dataclass(frozen=True, slots=True)
class Between:
    """What stands between the files of a tensor and of its buffer, and the items that are moved.

    Attributes:
        item: what code moves; the type of what is read where it is `None`.
        tensor: what the file of the tensor holds; items where it is `None`.
        buffer: how that of the buffer holds slots; as items where it is `None`.
    """

    item: np.dtype[Any] | None = None
    tensor: TensorSide | None = None
    buffer: BufferSide | None = None

    def items(self, held: Array, piece: Piece) -> Array:
        """Return the items of a piece, from what the file of the tensor holds."""
        return held if self.tensor is None else self.tensor.items(held, piece)

    def held(self, items: Array, piece: Piece) -> Array:
        """Return what the file of the tensor holds, from the items of a piece."""
        return items if self.tensor is None else self.tensor.tensor(items, piece)

    def stored(self, slots: Array) -> Array:
        """Return what the file of the buffer holds, from slots side by side."""
        return slots if self.buffer is None else self.buffer.stored(slots)

    def opened(self, stored: Array, count: int) -> Array:
        """Return so many slots, from what the file of the buffer holds."""
        return stored if self.buffer is None else self.buffer.opened(stored, count)

    def place(self, slots: int) -> int:
        """Return how many items of the file of the buffer so many slots are."""
        return slots if self.buffer is None else self.buffer.bytes(slots)

    @property
    def whole(self) -> int:
        """Of how many slots a piece begins at a multiple."""
        return 1 if self.buffer is None else self.buffer.whole

    def of_file(self, extents: tuple[int, ...]) -> tuple[int, ...]:
        """Return the extents, or starts, that a file has of those of the layout."""
        axes = 0 if self.tensor is None else self.tensor.axes
        return extents[: len(extents) - axes]

    def cost(self, elements: int, slots: int) -> int:
        """Return the bytes that so many elements and slots take beside what is read and packed."""
        tensor = 0 if self.tensor is None else self.tensor.cost * elements
        return tensor + (0 if self.buffer is None else self.buffer.cost * slots)


NOTHING = Between()
"""Both files hold the items that are moved."""
