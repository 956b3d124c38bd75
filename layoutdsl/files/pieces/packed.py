"""A tensor and its buffer, in files: how the one becomes the other, and where it is cut."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from layoutdsl.files.pieces.between import BYTE, NOTHING, Between
from layoutdsl.files.pieces.cut import Pieces, cut, cut_by, lead_of
from layoutdsl.files.pieces.files import Stored, Target
from layoutdsl.files.pieces.moves import Code, Look, Moving, Number
from layoutdsl.files.pieces.packing import Packing
from layoutdsl.files.pieces.queue import Part
from layoutdsl.files.pieces.sums import Sum, unsummed
from layoutdsl.files.pieces.unpacking import Unpacking
from layoutdsl.language.meaning.model import Layout


@dataclass(frozen=True, slots=True)
class Packed:
    """A tensor and its buffer, in files.

    Attributes:
        code: what packs and unpacks.
        shape: of the tensor, as the layout takes it.
        source: what is read: the tensor, or the buffer.
        fill: what padding gets; that of the layout where it is `None`.
        look: at every tensor.
        between: what stands between both files and the code.
    """

    code: Code
    shape: tuple[int, ...]
    source: Stored
    fill: Number | None
    look: Look
    between: Between = NOTHING

    def __post_init__(self) -> None:
        if self.code.check is not None:
            self.code.check(self.shape)

    @property
    def box(self) -> tuple[int, ...]:
        """The shape of the buffer."""
        return physical(self.code, self.shape)

    @property
    def tensor_type(self) -> np.dtype[Any]:
        """The type of what the file of the tensor holds, of a buffer that is read."""
        between = self.between
        return between.tensor.dtype if between.tensor else between.item or self.source.dtype

    def buffer(self, shape: tuple[int, ...]) -> tuple[np.dtype[Any], tuple[int, ...]]:
        """Return the type and shape that the file of the buffer says, of a tensor that is read."""
        between = self.between
        if between.buffer is None:
            return between.item or self.source.dtype, self.box
        return between.buffer.word, between.buffer.shape(shape)

    def packing(self, name: str, target: Target, data: int) -> Part:
        """Return how it is packed, into what starts at a byte of a file."""
        between, dtype = self.between, self.source.dtype
        held = BYTE if between.buffer else between.item or dtype
        flat = target.array(data, held, (between.place(prod(self.box)),))

        def moving(handle: int, sum_up: Sum) -> Packing:
            into, how = replace(flat, handle=handle), (self.look, sum_up, between)
            return Packing(self.code, self.source, into, self._lead, self.fill, *how)

        return self._part(name, moving)

    def unpacking(self, name: str, target: Target, data: int) -> Part:
        """Return how it is unpacked, into what starts at a byte of a file."""
        between, flat = self.between, self.source.flat()
        if between.buffer:
            flat = replace(flat, dtype=BYTE, shape=(between.place(prod(self.box)),))
        tensor = target.array(data, self.tensor_type, between.of_file(self.shape))

        def moving(handle: int, sum_up: Sum) -> Unpacking:
            into, how = replace(tensor, handle=handle), (self.look, sum_up, between)
            return Unpacking(self.code, flat, into, self._lead, *how)

        return self._part(name, moving)

    def _part(self, name: str, moving: Callable[[int, Sum], Moving]) -> Part:
        layout = self.code.layout

        def cut_to(room: int) -> Pieces:
            return cut(layout, self.shape, room, moving(-1, unsummed).cost, self.between.whole)

        return Part(name, cut_to, moving, lambda units: cut_by(layout, self.shape, units))

    @property
    def _lead(self) -> int:
        return lead_of(self.code.layout, self.shape)


def physical(code: Code, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of the buffer."""
    return tuple(code.module.physical_shape(shape))


def layout_shape(layout: Layout, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape that a layout takes of a tensor: with its bits, where it places these."""
    return shape if layout.bit_of is None else (*shape, layout.bit_of.bits)
