"""Whether every bit of a tensor lies where it has to, by the formula of the layout."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from layoutdsl.files.npy import Array
from layoutdsl.files.pieces.cut import Piece, lead_of
from layoutdsl.files.pieces.files import Stored
from layoutdsl.files.pieces.packed import layout_shape
from layoutdsl.files.weights.compared import ASTRAY, Difference, Fault, Unlike
from layoutdsl.files.weights.given import MOST, Bits, Given, addresses, as_item, boxes, element_of
from layoutdsl.language.meaning.elements import FillValue
from layoutdsl.language.meaning.model import Layout

AT_ONCE = 128
"""Bytes for each element, or bit of padding, that is looked at together with others."""


@dataclass(frozen=True, slots=True)
class PlacedBits:
    """A tensor that is words or bytes by a layout, bit by bit.

    Attributes:
        name: of the tensor.
        layout: of what it is now.
        shape: in elements.
        given: what it was made of; `None` where there is only padding to look at.
        made: what it is now.
        copies: how many of the last axes are copies of what was given.
    """

    name: str
    layout: Layout
    shape: tuple[int, ...]
    given: Given | None
    made: Stored
    copies: int = 0

    @property
    def slot_bits(self) -> int:
        """Bits of a slot."""
        return 1 if self.layout.bit_of is not None else element_of(self.layout).bits

    def cost(self, elements: int, slots: int) -> int:
        """Return the bytes that a piece takes while it is looked at, besides maps of files."""
        bits = slots * self.slot_bits
        return bits + AT_ONCE * min(MOST, max(elements, bits))

    def differs(self, piece: Piece) -> Fault | None:
        """Return the first difference within a piece, whose slots no other piece has."""
        made, (first, past) = Bits(self.made), self._stretch(piece)
        free = np.ones(past - first, bool)
        rank = len(self.shape)
        for box in boxes(Piece(piece.starts[:rank], piece.extents[:rank], 0, 0), MOST):
            wanted = None if self.given is None else self._wanted(self.given, box)
            strange = None if wanted is None else self._strange(box, wanted)
            if strange is not None:
                return strange
            for bit, places in addresses(self.layout, self.shape, box):
                if places.size and not first <= places.min() <= places.max() < past:
                    return Unlike(self.name, ASTRAY)
                free[places - first] = False
                if wanted is None:
                    continue
                needs, has = wanted >> wanted.dtype.type(bit) & 1, made.at(places)
                wrong = needs != has
                if wrong.any():
                    return self._difference(box, wrong, places, int(needs[wrong][0]))
        return self._padding(made, free, first)

    def _wanted(self, given: Given, box: Piece) -> Array:
        """The elements of a box, each as often as there are copies in it."""
        rank = len(box.starts) - self.copies
        held = given.read(Piece(box.starts[:rank], box.extents[:rank], 0, 0))
        return np.broadcast_to(held.reshape(*held.shape, *(1,) * self.copies), box.extents)

    def _index(self, box: Piece, wrong: Array) -> tuple[tuple[int, ...], tuple[np.intp, ...]]:
        """Which element is the first that is wrong, and where it is in the box."""
        at = np.unravel_index(int(wrong.argmax()), wrong.shape)
        index = (int(start + each) for start, each in zip(box.starts, at, strict=True))
        return tuple(index)[: len(at) - self.copies], at

    def _stretch(self, piece: Piece) -> tuple[int, int]:
        """The bits of a piece; those before all are the first's."""
        lead = lead_of(self.layout, layout_shape(self.layout, self.shape))
        first = (lead + piece.first) * self.slot_bits
        return (0 if piece.first == 0 else first), first + piece.slots * self.slot_bits

    def _strange(self, box: Piece, wanted: Array) -> Unlike | None:
        """An item that is no element: it has bits that nobody packs."""
        element = element_of(self.layout)
        if element.fills_item:
            return None
        low = wanted & wanted.dtype.type((1 << element.bits) - 1)
        wrong = as_item(low, element) != wanted
        if not wrong.any():
            return None
        index, at = self._index(box, wrong)
        words = f"holds {int(wanted[at]):#x} at {index}, which is no {element.name}"
        return Unlike(self.name, words)

    def _difference(self, box: Piece, wrong: Array, places: Array, needs: int) -> Difference:
        index, at = self._index(box, wrong)
        return Difference(self.name, index, int(places[at]), "bit", needs, 1 - needs)

    def _padding(self, made: Bits, free: Array, first: int) -> Difference | None:
        if not isinstance(self.layout.fill, FillValue):
            return None
        fill = self.layout.fill.value
        for places in _held(free, first):
            wanted = fill >> (places % self.slot_bits) & 1
            wrong = made.at(places) != wanted
            if wrong.any():
                at = int(wrong.argmax())
                needs = int(wanted[at])
                return Difference(self.name, None, int(places[at]), "padding bit", needs, 1 - needs)
        return None


def _held(free: Array, first: int) -> Iterator[Array]:
    """The numbers of the bits that are set, some at a time."""
    for start in range(0, len(free), MOST):
        yield np.flatnonzero(free[start : start + MOST]) + (first + start)
