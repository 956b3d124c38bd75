"""The elements that something was made from: items of a file, or words that hold them by a layout.

Words are taken apart by the formula of their layout, and not by code that was made of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np

from layoutdsl.files.npy import Array, UnreadableError
from layoutdsl.files.pieces.cut import Piece
from layoutdsl.files.pieces.files import Stored
from layoutdsl.files.weights.compared import bits_at, offsets_of, read_box
from layoutdsl.language.meaning.elements import ElementType
from layoutdsl.language.meaning.model import Layout

MOST = 1 << 15
"""Elements, or bits of padding, that are looked at together."""


@dataclass(frozen=True, slots=True)
class Items:
    """An item for each element."""

    stored: Stored

    def read(self, piece: Piece) -> Array:
        """Return the items of a box, as unsigned integers."""
        return read_box(self.stored, piece)


@dataclass(frozen=True, slots=True)
class InWords:
    """Elements side by side in words.

    Attributes:
        stored: the words, of any shape, most major axis first.
        layout: of the elements.
        shape: of the tensor, in elements.
    """

    stored: Stored
    layout: Layout
    shape: tuple[int, ...]

    def read(self, piece: Piece) -> Array:
        """Return the bits of the elements of a box, as unsigned integers of an item's width."""
        element = element_of(self.layout)
        held, found = Bits(self.stored), np.zeros(piece.extents, f"<u{element.item[1]}")
        for box in boxes(piece, MOST):
            within = tuple(
                slice(start - first, start - first + extent)
                for start, first, extent in zip(box.starts, piece.starts, box.extents, strict=True)
            )
            for bit, places in addresses(self.layout, self.shape, box):
                if places.size and not 0 <= places.min() <= places.max() < held.count:
                    raise UnreadableError(
                        f"speaks of `{self.layout.name}`, whose elements lie outside of their words"
                    )
                found[within] |= held.at(places).astype(found.dtype) << found.dtype.type(bit)
        return as_item(found, element)


Given = Items | InWords
"""Where elements are read that something was made of."""


class Bits:
    """The bits of an array in a file, by their numbers; memory is taken where they are read."""

    def __init__(self, stored: Stored) -> None:
        width, order = stored.dtype.itemsize, stored.dtype.newbyteorder("<")
        self._bytes = stored.mapped()
        self._turned = 0 if stored.dtype == order else 8 * (width - 1)
        self.count = 8 * len(self._bytes)

    def at(self, places: Array) -> Array:
        """Return bits; of words that have their highest byte first, too."""
        return bits_at(self._bytes, places ^ self._turned if self._turned else places)


def addresses(layout: Layout, shape: tuple[int, ...], piece: Piece) -> Iterator[tuple[int, Array]]:
    """Yield the bits of the elements of a box, the lowest first, and where each of them lies.

    Args:
        layout: of elements whose width is known.
        shape: of the tensor, in elements.
        piece: a box of it.
    """
    bits = element_of(layout).bits
    for bit in range(bits):
        if layout.bit_of is not None:
            one = Piece((*piece.starts, bit), (*piece.extents, 1), 0, 0)
            yield bit, offsets_of(layout, (*shape, bits), one)[..., 0]
        else:
            yield bit, offsets_of(layout, shape, piece) * bits + bit


def as_item(bits: Array, element: ElementType) -> Array:
    """Return the items that elements travel in, from their bits: those of a sign are repeated."""
    if element.kind != "i" or element.fills_item:
        return bits
    sign = bits.dtype.type(1 << element.bits - 1)
    extended: Array = (bits ^ sign) - sign
    return extended


def element_of(layout: Layout) -> ElementType:
    """Return the type of the elements of a layout that says it."""
    assert layout.tensor_element is not None
    return layout.tensor_element


def boxes(piece: Piece, most: int) -> Iterator[Piece]:
    """Yield boxes of a box, of so many elements at most, most major axis first."""
    wide = next((axis for axis, extent in enumerate(piece.extents) if extent > 1), None)
    if wide is None or prod(piece.extents) <= most:
        yield piece
        return
    half, (starts, extents) = piece.extents[wide] // 2, (list(piece.starts), list(piece.extents))
    for start, extent in ((0, half), (half, extents[wide] - half)):
        inside = (*extents[:wide], extent, *extents[wide + 1 :])
        first = (*starts[:wide], starts[wide] + start, *starts[wide + 1 :])
        yield from boxes(Piece(first, inside, 0, 0), most)
