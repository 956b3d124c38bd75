"""One piece packed: read into memory, moved by the code of the layout, written."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from layoutdsl.files.npy import Array
from layoutdsl.files.pieces.between import NOTHING, Between
from layoutdsl.files.pieces.cut import Piece
from layoutdsl.files.pieces.files import NATIVE, Stored, in_order
from layoutdsl.files.pieces.moves import Arena, Code, Look, Moved, Number, cost_of, stretch_of
from layoutdsl.files.pieces.sums import Sum, Sums
from layoutdsl.language.meaning.elements import FillAny


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
        between: what stands between both files and the code.
    """

    code: Code
    source: Stored
    target: Stored
    lead: int
    fill: Number | None
    look: Look
    sum_up: Sum
    between: Between = NOTHING

    def cost(self, elements: int, slots: int) -> int:
        """Return the bytes that a piece takes while it is moved."""
        copies = 2 if self.source.fortran else 1
        sizes = (copies * elements * self.source.dtype.itemsize, slots + self.lead, elements)
        found = cost_of(self.code, self.between, self.source.dtype, *sizes)
        turned = not self.source.dtype.isnative or not self.target.dtype.isnative
        return found + turned * self.source.dtype.itemsize * max(elements, slots + self.lead)

    def move(self, piece: Piece, arena: Arena) -> Moved:
        """Pack a piece."""
        arena.clear()
        tensor = self._tensor(piece, arena)
        self.look(tensor)
        read = self.sum_up(tensor)
        fill = {} if self.fill is None else {"fill": self.fill}
        if self.fill is None and isinstance(self.code.layout.fill, FillAny):
            fill = {"fill": 0}  # as in a new buffer
        if self.between.tensor is not None:
            tensor = in_order(tensor, NATIVE)
        items = self.between.items(tensor, piece)
        if self.lead:
            packed = self.code.module.pack(items, **fill).reshape(-1)
        else:
            shape = self.code.module.physical_shape(piece.extents)
            out = arena.array(shape, items.dtype)
            packed = self.code.module.pack(items, out, **fill).reshape(-1)
        first, slots = stretch_of(piece, self.lead)
        stored = in_order(self.between.stored(packed[packed.size - slots :]), self.target.dtype)
        self.target.write((self.between.place(first),), stored)
        return Moved(Sums(read, self.sum_up(stored)), stored.nbytes)

    def agrees(self, piece: Piece, arena: Arena, sums: Sums) -> bool:
        """Return whether input and output of a piece are what they were when it was packed."""
        arena.clear()
        if self.sum_up(self._tensor(piece, arena)) != sums.read:
            return False
        first, slots = map(self.between.place, stretch_of(piece, self.lead))
        stored = arena.array((slots,), self.target.dtype)
        self.target.read((first,), stored)
        return self.sum_up(stored) == sums.written

    def _tensor(self, piece: Piece, arena: Arena) -> Array:
        starts, extents = map(self.between.of_file, (piece.starts, piece.extents))
        tensor = arena.array(extents, self.source.dtype)
        if not self.source.fortran:
            self.source.read(starts, tensor)
            return tensor
        turned = replace(self.source, shape=self.source.shape[::-1], fortran=False)
        read = arena.array(extents[::-1], self.source.dtype)
        turned.read(starts[::-1], read)
        np.copyto(tensor, read.T)
        return tensor
