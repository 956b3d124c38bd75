"""Whether every bit of a tensor lies where it has to, by the formula of the layout."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from layoutdsl.files.npy import Array
from layoutdsl.integers.expr import Constant, Coordinate, Extent, Index
from layoutdsl.meaning.elements import BIT, BIT_AXIS, ElementType, FillValue
from layoutdsl.meaning.model import Axis, Layout
from layoutdsl.pieces.cut import Piece
from layoutdsl.pieces.files import Stored
from layoutdsl.weights.compared import (
    ASTRAY,
    Difference,
    Fault,
    Unlike,
    bits_at,
    offsets_of,
    read_box,
)


@dataclass(frozen=True, slots=True)
class PlacedBits:
    """A tensor that was words by one layout, and is words by another: bit by bit.

    Attributes:
        name: of the tensor.
        layouts: of the words that were, and of those that are.
        shape: in elements.
        given: the words that were, as bytes; `None` where there is only padding to look at.
        made: the words that are.
    """

    name: str
    layouts: tuple[Layout, Layout]
    shape: tuple[int, ...]
    given: Stored | None
    made: Stored

    def differs(self, _: Piece) -> Fault | None:
        """Return the first difference in all of it."""
        made = _bytes(self.made)
        given = None if self.given is None else _in_order(self.given)
        free = np.ones(8 * len(made), bool)
        was, now = self.layouts
        pairs = zip(_addresses(was, self.shape), _addresses(now, self.shape), strict=True)
        for one, other in pairs:
            if other.size and not 0 <= other.min() <= other.max() < len(free):
                return Unlike(self.name, ASTRAY)
            free[other] = False
            if given is None:
                continue
            wanted, found = bits_at(given, one), bits_at(made, other)
            wrong = wanted != found
            if wrong.any():
                at = np.unravel_index(int(wrong.argmax()), wrong.shape)
                place = int(np.broadcast_to(other, wrong.shape)[at])
                index = tuple(map(int, at))
                pair = int(wanted[at]), int(found[at])
                return Difference(self.name, index, place, "bit", *pair)
        return self._padding(made, free)

    def _padding(self, made: Array, free: Array) -> Difference | None:
        now = self.layouts[1]
        if not isinstance(now.fill, FillValue):
            return None
        width = 1 if now.bit_of is not None else _element(now).bits
        places = np.flatnonzero(free)
        wanted = now.fill.value >> (places % width) & 1
        wrong = bits_at(made, places) != wanted
        if not wrong.any():
            return None
        first = int(wrong.argmax())
        expected = int(wanted[first])
        slot = int(places[first])
        return Difference(self.name, None, slot, "padding bit", expected, 1 - expected)


def _element(layout: Layout) -> ElementType:
    assert layout.tensor_element is not None
    return layout.tensor_element


def _addresses(layout: Layout, shape: tuple[int, ...]) -> Iterator[Array]:
    """Where each bit of all elements lies, counted in bits: the lowest first."""
    bits = _element(layout).bits
    starts = (0,) * len(shape)
    for bit in range(bits):
        if layout.bit_of is not None:
            assert layout.axes[-1].name == BIT_AXIS
            one = Piece((*starts, bit), (*shape, 1), 0, 0)
            yield offsets_of(layout, (*shape, bits), one)[..., 0]
        else:
            yield offsets_of(layout, shape, Piece(starts, shape, 0, 0)) * bits + bit


def _bytes(stored: Stored) -> Array:
    """All items as bytes, the lowest of each first."""
    flat = stored.flat()
    found = np.empty(flat.shape, flat.dtype)
    flat.read((0,), found)
    return found.astype(found.dtype.newbyteorder("<")).view(np.uint8)


def _in_order(stored: Stored) -> Array:
    """All items as bytes, the first axis most major, the lowest byte of each first."""
    found = read_box(stored, Piece((0,) * len(stored.shape), stored.shape, 0, 0))
    plain = np.ascontiguousarray(found).astype(found.dtype.newbyteorder("<"))
    return plain.reshape(-1).view(np.uint8)


def items_in_bits(shape: tuple[int, ...], element: ElementType) -> Layout:
    """Return the layout of items in a file, by the bits of the elements that travel in them."""
    axes = tuple(Axis(f"d{n}", Extent(f"D{n}")) for n in range(len(shape)))
    places = tuple(Coordinate(Index(each.name), each.extent) for each in axes)
    bit = Coordinate(Index(BIT_AXIS), Constant(8 * element.item[1]))
    bits = Axis(BIT_AXIS, Constant(element.bits))
    return Layout("items", (*axes, bits), (*places, bit), element=BIT, bit_of=element)
