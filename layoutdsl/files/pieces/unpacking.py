"""One piece unpacked: read into memory, moved by the code of the layout, written."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from layoutdsl.files.npy import Array
from layoutdsl.files.pieces.between import NOTHING, Between
from layoutdsl.files.pieces.cut import Piece
from layoutdsl.files.pieces.files import Stored, in_order
from layoutdsl.files.pieces.moves import Arena, Code, Look, Moved, cost_of, stretch_of
from layoutdsl.files.pieces.sums import Sum, Sums


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
        between: what stands between both files and the code.
    """

    code: Code
    source: Stored
    target: Stored
    lead: int
    look: Look
    sum_up: Sum
    between: Between = NOTHING

    def cost(self, elements: int, slots: int) -> int:
        """Return the bytes that a piece takes while it is moved."""
        sizes = (elements * self.target.dtype.itemsize, slots + self.lead, elements)
        found = cost_of(self.code, self.between, self.target.dtype, *sizes)
        turned = not self.source.dtype.isnative or not self.target.dtype.isnative
        found += turned * self.target.dtype.itemsize * elements
        if self.lead:  # `_packed` copies the slots of all pieces but the first behind the lead
            width = max(self.source.dtype.itemsize, self.target.dtype.itemsize)
            found += width * (slots + self.lead)
        return found

    def move(self, piece: Piece, arena: Arena) -> Moved:
        """Unpack a piece."""
        arena.clear()
        module = self.code.module
        stored = self._stored(piece, arena)
        buffer = self._packed(stored, piece, arena).reshape(module.physical_shape(piece.extents))
        if self.code.layout.domain:
            items = module.unpack(buffer, piece.extents)
        else:
            out = arena.array(piece.extents, buffer.dtype)
            items = module.unpack(buffer, piece.extents, out)
        tensor = in_order(self.between.held(items, piece), self.target.dtype)
        self.look(tensor)
        self.target.write(self.between.of_file(piece.starts), tensor)
        return Moved(Sums(self.sum_up(stored), self.sum_up(tensor)), tensor.nbytes)

    def agrees(self, piece: Piece, arena: Arena, sums: Sums) -> bool:
        """Return whether input and output of a piece are what they were when it was unpacked."""
        arena.clear()
        if self.sum_up(self._stored(piece, arena)) != sums.read:
            return False
        starts, extents = map(self.between.of_file, (piece.starts, piece.extents))
        tensor = arena.array(extents, self.target.dtype)
        self.target.read(starts, tensor)
        return self.sum_up(tensor) == sums.written

    def _stored(self, piece: Piece, arena: Arena) -> Array:
        """What the file holds of a piece."""
        first, count = map(self.between.place, stretch_of(piece, self.lead))
        stored = arena.array((count,), self.source.dtype)
        self.source.read((first,), stored)
        return stored

    def _packed(self, stored: Array, piece: Piece, arena: Arena) -> Array:
        """The slots of a piece, behind others for those before the first of the layout."""
        slots = stretch_of(piece, self.lead)[1]
        opened = self.between.opened(stored, slots)
        if slots == self.lead + piece.slots:
            return opened
        packed = arena.array((self.lead + slots,), opened.dtype)
        packed[: self.lead] = np.zeros((), packed.dtype)
        packed[self.lead :] = opened
        return packed
