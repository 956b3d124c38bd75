"""How the tensors of a file are moved into another: packed, unpacked, converted or kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from layoutdsl.files.npy import Array, UnreadableError
from layoutdsl.integers.expr import Coordinate, Extent, Index
from layoutdsl.meaning.elements import ELEMENT_TYPES, ElementType
from layoutdsl.meaning.model import Axis, Layout
from layoutdsl.meaning.storage import StorageName
from layoutdsl.pieces.copies import BYTE, Copying, Stretches
from layoutdsl.pieces.files import Stored
from layoutdsl.pieces.moves import Code, Look, Packs
from layoutdsl.pieces.queue import Part
from layoutdsl.pieces.sums import Sum
from layoutdsl.pieces.tensors import Packed
from layoutdsl.weights.bounds import shown
from layoutdsl.weights.chosen import Chosen
from layoutdsl.weights.form import Entry, Wanted
from layoutdsl.weights.words import converting


class Codes(Protocol):
    """What runs; every layout is proved before there is code for it."""

    def items(self, layout: Layout) -> Code:
        """Return code for items."""

    def words(self, layout: Layout, word: StorageName) -> Packs:
        """Return code for words."""


@dataclass(frozen=True, slots=True)
class Move:
    """A tensor that is written.

    Attributes:
        entry: what it is made of.
        type: of the entry that it becomes.
        shape: likewise.
        size: bytes of it.
        width: bytes of what its pieces count.
        part: from the file and the byte where it goes to how it is moved there.
        native: the word for its type that it had in the format that it goes to, if any.
        kept: what it is byte for byte, where it stays in its format.
    """

    entry: Entry
    type: str | None
    shape: tuple[int, ...]
    size: int
    width: int
    part: Callable[[Path, int], Part]
    native: str | None = None
    kept: Entry | None = None

    @property
    def wanted(self) -> Wanted:
        """What the format is told of it."""
        name = self.entry.name
        return Wanted(name, self.type, self.native, self.shape, self.size, self.kept)


def packed(tensor: Chosen, codes: Codes) -> Move:
    """Return how a tensor that is not kept is packed."""
    entry = tensor.entry
    assert tensor.layout is not None
    if tensor.stored is not None:
        word = tensor.stored.word
        apart, together = (
            codes.words(each, word) for each in (tensor.stored.layout, tensor.layout)
        )
        shape = tuple(together.physical_shape(tensor.shape))
        return _converted(entry, (apart, together), tensor.shape, shape, word)
    source = _as_items(entry, entry.type)
    move = Packed(
        codes.items(tensor.layout), entry.shape, source, None, _look(tensor.layout, entry)
    )
    width = source.dtype.itemsize
    size = prod(move.box) * width
    return Move(entry, entry.type, move.box, size, width, lambda *to: move.packing(entry.name, *to))


def unpacked(
    entry: Entry, layout: Layout, shape: tuple[int, ...], type_: str, codes: Codes
) -> Move:
    """Return how a tensor is unpacked, whose entry is as large as its layout says."""
    source = _as_items(entry, type_)
    move = Packed(codes.items(layout), shape, source, None, _look(layout, entry))
    width = source.dtype.itemsize
    size = prod(shape) * width
    return Move(entry, type_, shape, size, width, lambda *to: move.unpacking(entry.name, *to))


def restored(
    entry: Entry,
    layouts: tuple[Layout, Layout],
    shapes: tuple[tuple[int, ...], tuple[int, ...]],
    word: StorageName,
    codes: Codes,
) -> Move:
    """Return how words become the words that they were made from.

    Args:
        entry: what was made, as large as its layout says.
        layouts: of what was made, and of what it was made from; both are of words of this type.
        shapes: of the tensor in elements, and of the words that it was.
        word: their type.
        codes: what runs.

    Raises:
        UnreadableError: the words are others than the layouts say.
    """
    shape, original = shapes
    apart, together = (codes.words(each, word) for each in layouts)
    try:
        made, was = (tuple(each.physical_shape(shape)) for each in (apart, together))
    except ValueError as wrong:
        raise UnreadableError(f"says of {shown(entry.name)} what cannot be: {wrong}") from None
    if prod(made) != prod(entry.stored.shape) or was != original:
        words = f"{shown(entry.name)} as `{layouts[1].name}`, which has no such words"
        raise UnreadableError(f"says of {words}; pack it again")
    return _converted(entry, (apart, together), shape, original, word)


def refuse_size(entry: Entry, size: int, layout: Layout, shape: tuple[int, ...]) -> None:
    """Fail where an entry has other bytes than its layout says.

    Raises:
        UnreadableError: names the tensor.
    """
    found = entry.stored.end - entry.stored.data
    if found != size:
        words = f"{shown(entry.name)} in {found} bytes, and `{layout.name}` of {shape} has {size}"
        raise UnreadableError(f"holds {words}; pack it again")


def kept(entry: Entry, codes: Codes) -> Move:
    """Return how a tensor is taken over into another format: its first axis the most major one."""
    source = entry.stored
    if not source.fortran or len(source.shape) < 2:
        return replace(as_it_is(entry), native=None, kept=None)
    move = Packed(codes.items(in_rows(source.shape)), source.shape, source, None, _nothing)
    size, width = source.end - source.data, source.dtype.itemsize
    return Move(
        entry, entry.type, entry.shape, size, width, lambda *to: move.packing(entry.name, *to)
    )


def as_it_is(entry: Entry) -> Move:
    """Return how a tensor is taken over in its format, byte for byte."""
    source = entry.stored
    size = source.end - source.data
    flat = Stored(source.place, source.handle, source.data, BYTE, (size,))

    def part(place: Path, start: int) -> Part:
        def moving(handle: int, sum_up: Sum) -> Copying:
            return Copying(flat, Stored(place, handle, start, BYTE, (size,)), sum_up)

        return Part(entry.name, lambda room: Stretches(size, max(room, 1)), moving)

    return Move(entry, entry.type, entry.shape, size, 1, part, entry.native, entry)


def _converted(
    entry: Entry,
    codes: tuple[Packs, Packs],
    shape: tuple[int, ...],
    made: tuple[int, ...],
    word: StorageName,
) -> Move:
    source = entry.stored

    def part(place: Path, start: int) -> Part:
        target = Stored(place, -1, start, source.dtype, (prod(made),))
        return converting(entry.name, codes, shape, source, target, word)

    width = source.dtype.itemsize
    return Move(entry, entry.type, made, prod(made) * width, width, part)


def _as_items(entry: Entry, type_: str | None) -> Stored:
    """The items as what elements travel in, in place of unsigned integers."""
    assert type_ is not None
    kind, width = ELEMENT_TYPES[type_].item
    code = "?" if kind == "b" else f"{kind}{width}"
    order = entry.stored.dtype.byteorder
    return replace(entry.stored, dtype=np.dtype(code).newbyteorder(order))


def _look(layout: Layout, entry: Entry) -> Look:
    """What looks at items whose values need more bits than an element has."""
    element = layout.tensor_element
    if element is None or element.values is None or element.fills_item:
        return _nothing
    return lambda array: _refuse_values(array, element, entry)


def _refuse_values(array: Array, element: ElementType, entry: Entry) -> None:
    assert element.values is not None
    low, high = element.values
    if array.size:
        for value in (int(array.min()), int(array.max())):
            if not low <= value <= high:
                words = f"{shown(entry.name)} holds {value}, and {element.name} is {low}..{high}"
                raise UnreadableError(f"does not fit its rule: {words}")


def _nothing(_: Any) -> None:
    """Look at nothing."""


def in_rows(shape: tuple[int, ...]) -> Layout:
    """The layout of a tensor of that rank, most major axis first."""
    axes = tuple(Axis(f"d{n}", Extent(f"D{n}")) for n in range(len(shape)))
    places = tuple(Coordinate(Index(each.name), each.extent) for each in axes)
    return Layout("rows", axes, places)
