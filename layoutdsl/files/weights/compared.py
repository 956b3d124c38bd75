"""Whether every slot of a packed tensor holds what it has to, by the formula of the layout.

Offsets are those of `Layout.offset`, worked out for many indices at once, and not what the code
that packs has made of them. Arrays are unsigned integers here: bits are compared, not numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from math import prod
from typing import Any, TypeAlias

import numpy as np

from layoutdsl.files.npy import Array
from layoutdsl.files.pieces.cut import Piece, box, values_of
from layoutdsl.files.pieces.files import Stored
from layoutdsl.files.weights.bounds import shown
from layoutdsl.language.meaning.elements import ElementType, FillAny, FillValue
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.offsets.arrays import slots


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where a tensor is not what it has to be.

    Attributes:
        name: of the tensor.
        index: of the element; `None` where it is no element.
        slot: where it lies, counted in elements, or bits or bytes, as ``what`` says.
        what: ``element``, ``padding``, ``bit``, ``padding bit`` or ``byte``.
        expected: the bits that it has to hold.
        found: the bits that it holds.
    """

    name: str
    index: tuple[int, ...] | None
    slot: int
    what: str
    expected: int
    found: int

    @property
    def told(self) -> dict[str, object]:
        """Plain values by their names."""
        told = {each.name: getattr(self, each.name) for each in fields(self)}
        return {**told, "message": str(self)}

    def __str__(self) -> str:
        at = "" if self.index is None else f"[{', '.join(map(str, self.index))}]"
        place = {"bit": "bit", "padding bit": "bit", "byte": "byte"}.get(self.what, "slot")
        kind = {"padding": "padding", "padding bit": "padding"}.get(self.what)
        where = f"{kind} at {place} {self.slot}" if kind else f"{place} {self.slot}"
        holds = f"holds {self.found:#x}, and has to hold {self.expected:#x}"
        return f"{shown(self.name)}{at}: {where} {holds}"


@dataclass(frozen=True, slots=True)
class Unlike:
    """A tensor that is another one, is missing, or has changed somewhere.

    Attributes:
        name: of the tensor.
        why: in words.
    """

    name: str
    why: str

    @property
    def told(self) -> dict[str, object]:
        """Plain values by their names."""
        return {"name": self.name, "what": "tensor", "message": str(self)}

    def __str__(self) -> str:
        return f"{shown(self.name)} {self.why}"


Fault: TypeAlias = Difference | Unlike


ASTRAY = "has elements where its layout has no room for them; pack it again"


@dataclass(frozen=True, slots=True)
class Placed:
    """A tensor and its buffer, both as unsigned integers.

    Attributes:
        name: of the tensor.
        layout: of the buffer.
        shape: of the tensor.
        tensor: `None` where there is nothing to compare with but the padding.
        buffer: of one axis.
        fill: the bits in padding; `None` where they may be any.
        copies: how many of the last axes are copies of what the tensor holds.
    """

    name: str
    layout: Layout
    shape: tuple[int, ...]
    tensor: Stored | None
    buffer: Stored
    fill: int | None
    copies: int = 0

    def cost(self, elements: int, slots: int) -> int:
        """Return the bytes that a piece takes while it is looked at."""
        width = self.buffer.dtype.itemsize
        return elements * (2 * width + 26) + slots * (width + 2)

    def differs(self, piece: Piece) -> Fault | None:
        """Return the first difference within a piece."""
        first, past = self._stretch(piece)
        packed = np.empty(past - first, self.buffer.dtype)
        self.buffer.read((first,), packed)
        if 0 in piece.extents:
            return self._padding(packed, np.ones(len(packed), bool), first)
        offsets = offsets_of(self.layout, self.shape, piece)
        places = offsets - first
        if places.min() < 0 or places.max() >= len(packed):
            return Unlike(self.name, ASTRAY)
        if self.tensor is not None:
            found = self._elements(piece, places, packed, first)
            if found is not None:
                return found
        if self.fill is None or len(packed) == prod(piece.extents):
            return None
        free = np.ones(len(packed), bool)
        free[places] = False
        return self._padding(packed, free, first)

    def _stretch(self, piece: Piece) -> tuple[int, int]:
        """The slots of a piece; those before all are the first's."""
        lead = prod(self.buffer.shape) - self._inside
        first = lead + piece.first
        return (0 if piece.first == 0 else first), first + piece.slots

    @property
    def _inside(self) -> int:
        """The slots from the first coordinate on."""
        return prod(box(self.layout, values_of(self.layout, self.shape)))

    def _elements(
        self, piece: Piece, places: Array, packed: Array, first: int
    ) -> Difference | None:
        assert self.tensor is not None
        rank = len(piece.starts) - self.copies
        held = read_box(self.tensor, Piece(piece.starts[:rank], piece.extents[:rank], 0, 0))
        wanted = np.broadcast_to(held.reshape(*held.shape, *(1,) * self.copies), piece.extents)
        wrong = packed[places] != wanted
        if not wrong.any():
            return None
        at = np.unravel_index(int(wrong.argmax()), wrong.shape)
        place = int(np.broadcast_to(places, wrong.shape)[at])
        index = tuple(int(s + i) for s, i in zip(piece.starts, at, strict=True))[:rank]
        has, needs = int(packed[place]), int(wanted[at])
        return Difference(self.name, index, first + place, "element", needs, has)

    def _padding(self, packed: Array, free: Array, first: int) -> Difference | None:
        if self.fill is None:
            return None
        wrong = free & (packed != packed.dtype.type(self.fill))
        if not wrong.any():
            return None
        place = int(wrong.argmax())
        has = int(packed[place])
        return Difference(self.name, None, first + place, "padding", self.fill, has)


def offsets_of(layout: Layout, shape: Sequence[int], piece: Piece) -> Array:
    """Return the offset of each element of a piece, as an array of its shape."""
    rank = len(piece.extents)
    grids = [
        np.arange(start, start + extent).reshape([-1 if n == axis else 1 for n in range(rank)])
        for axis, (start, extent) in enumerate(zip(piece.starts, piece.extents, strict=True))
    ]
    found = slots(layout, values_of(layout, tuple(shape)), grids)
    return np.broadcast_to(np.asarray(found), piece.extents)


def read_box(stored: Stored, piece: Piece) -> Array:
    """Return the items of a box of a file, most major axis first."""
    if not stored.fortran:
        found = np.empty(piece.extents, stored.dtype)
        stored.read(piece.starts, found)
        return found
    turned = replace(stored, shape=stored.shape[::-1], fortran=False)
    read = np.empty(piece.extents[::-1], stored.dtype)
    turned.read(piece.starts[::-1], read)
    return read.T


def fill_bits(layout: Layout, element: ElementType, dtype: np.dtype[Any]) -> int | None:
    """Return the bits of an item in padding; `None` where it may hold any.

    Args:
        layout: its fill is a number, or any.
        element: what items are.
        dtype: as unsigned integers.
    """
    if isinstance(layout.fill, FillAny) or not isinstance(layout.fill, FillValue):
        return None
    kind, width = element.item
    item = np.array(layout.fill.value, "?" if kind == "b" else f"{kind}{width}")
    return int.from_bytes(item.astype(item.dtype.newbyteorder("<")).tobytes(), "little") & (
        (1 << 8 * dtype.itemsize) - 1
    )


def bits_at(data: Array, places: Array) -> Array:
    """Return bits of bytes, by their numbers."""
    found: Array = data[places >> 3] >> (places & 7).astype(np.uint8) & 1
    return found


@dataclass(frozen=True, slots=True)
class Kept:
    """Bytes that have to be the same."""

    name: str
    given: Stored
    made: Stored

    def differs(self, piece: Piece) -> Difference | None:
        """Return the first difference within a stretch."""
        (first,) = piece.starts
        wanted, found = (read_box(each, piece) for each in (self.given, self.made))
        wrong = wanted != found
        if not wrong.any():
            return None
        at = int(wrong.argmax())
        return Difference(self.name, None, first + at, "byte", int(wanted[at]), int(found[at]))
