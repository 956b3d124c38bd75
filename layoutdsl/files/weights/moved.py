"""How the tensors of a file are moved into another: packed, unpacked, converted or kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import Any, Protocol

import numpy as np

from layoutdsl.files.npy import Array, UnreadableError
from layoutdsl.files.pieces.between import BYTE, NOTHING, Between
from layoutdsl.files.pieces.copies import Copying, Stretches, stretched
from layoutdsl.files.pieces.every_copy import copies_last, shape_with_copies, with_copies
from layoutdsl.files.pieces.files import Stored, Target
from layoutdsl.files.pieces.moves import Code, Look, Packs
from layoutdsl.files.pieces.packed import Packed, layout_shape
from layoutdsl.files.pieces.queue import Part
from layoutdsl.files.pieces.sums import Sum
from layoutdsl.files.weights.bounds import shown
from layoutdsl.files.weights.chosen import Chosen
from layoutdsl.files.weights.form import Entry, Wanted
from layoutdsl.files.weights.words import converting
from layoutdsl.language.integers.expr import Coordinate, Extent, Index
from layoutdsl.language.meaning.elements import ELEMENT_TYPES, ElementType
from layoutdsl.language.meaning.model import Axis, Layout, Shape
from layoutdsl.language.meaning.record import Record
from layoutdsl.language.meaning.storage import StorageName


class Codes(Protocol):
    """What runs; every layout is proved before there is code for it."""

    def items(self, layout: Layout) -> Code:
        """Return code for items."""

    def words(self, layout: Layout, word: StorageName) -> Packs:
        """Return code for words."""

    def bits(self, layout: Layout) -> tuple[Code, Between]:
        """Return code for the bits of elements, and what makes bytes of them."""

    def record(self, record: Record) -> Packs:
        """Return code for the fields of a record."""

    def check(self, subject: Layout | Record, shape: Shape) -> None:
        """Raise if an undecided layout or record is wrong at the shape of a whole tensor."""


@dataclass(frozen=True, slots=True)
class Move:
    """A tensor that is written.

    Attributes:
        name: of the tensor that it becomes.
        type: of it.
        shape: likewise.
        size: bytes of it.
        width: bytes of what its pieces count.
        part: from the file and the byte where it goes to how it is moved there.
        native: the word for its type that it had in the format that it goes to, if any.
        kept: what it is byte for byte, where it stays in its format.
    """

    name: str
    type: str | None
    shape: tuple[int, ...]
    size: int
    width: int | Fraction
    part: Callable[[Target, int], Part]
    native: str | None = None
    kept: Entry | None = None

    @property
    def wanted(self) -> Wanted:
        """What the format is told of it."""
        return Wanted(self.name, self.type, self.native, self.shape, self.size, self.kept)


def packed(tensor: Chosen, codes: Codes) -> Move:
    """Return how a tensor that is not kept is packed."""
    entry = tensor.entry
    assert tensor.layout is not None
    if tensor.stored is not None:
        word = tensor.stored.word
        apart, together = (
            codes.words(each, word) for each in (tensor.stored.layout, tensor.layout)
        )
        for each in (tensor.stored.layout, tensor.layout):
            codes.check(each, tensor.shape)
        shape = tuple(together.physical_shape(tensor.shape))
        return _converted(entry, (apart, together), tensor.shape, shape, word)
    source, layout = as_items(entry, entry.type), tensor.layout
    if layout.bit_of is not None:
        return _in_bits(entry, layout, codes)
    code, shape = codes.items(copies_last(layout)), shape_with_copies(layout, entry.shape)
    between = with_copies(layout, NOTHING)
    move = Packed(code, shape, source, None, _look(layout, entry), between)
    width = source.dtype.itemsize
    size = prod(move.box) * width
    return Move(
        entry.name, entry.type, move.box, size, width, lambda *to: move.packing(entry.name, *to)
    )


def unpacked(
    entry: Entry, layout: Layout, shape: tuple[int, ...], type_: str, codes: Codes
) -> Move:
    """Return how a tensor is unpacked, whose entry is as large as its layout says."""
    source = as_items(entry, type_)
    move = Packed(codes.items(layout.first_copy), shape, source, None, _look(layout, entry))
    width = source.dtype.itemsize
    size = prod(shape) * width
    return Move(entry.name, type_, shape, size, width, lambda *to: move.unpacking(entry.name, *to))


def _in_bits(entry: Entry, layout: Layout, codes: Codes) -> Move:
    """How a tensor is packed whose bits are placed one by one: into bytes."""
    source, (code, between) = as_items(entry, entry.type), codes.bits(copies_last(layout))
    shape = layout_shape(layout, shape_with_copies(layout, entry.shape))
    once = with_copies(layout, between)
    move = Packed(code, shape, source, None, _look(layout, entry), once)
    _, box = move.buffer(entry.shape)
    bit = Fraction(1, 8)
    return Move(entry.name, "u8", box, prod(box), bit, lambda *to: move.packing(entry.name, *to))


def whole_again(
    entry: Entry, layout: Layout, shape: tuple[int, ...], type_: str, codes: Codes
) -> Move:
    """Return how bytes become the elements whose bits they are, of which there are as many."""
    code, between = codes.bits(layout.first_copy)
    look = _look(layout, entry)
    move = Packed(code, layout_shape(layout, shape), entry.stored, None, look, between)
    width = ELEMENT_TYPES[type_].item[1]
    size = prod(shape) * width
    return Move(entry.name, type_, shape, size, width, lambda *to: move.unpacking(entry.name, *to))


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
    for each in layouts:
        codes.check(each, shape)
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
        turned = 1 if source.dtype.isnative else source.dtype.itemsize
        return replace(_copied(entry, turned), native=None, kept=None)
    move = Packed(codes.items(in_rows(source.shape)), source.shape, source, None, _nothing)
    size, width = source.end - source.data, source.dtype.itemsize
    return Move(
        entry.name, entry.type, entry.shape, size, width, lambda *to: move.packing(entry.name, *to)
    )


def as_it_is(entry: Entry) -> Move:
    """Return how a tensor is taken over in its format, byte for byte."""
    return _copied(entry, 1)


def _copied(entry: Entry, turned: int) -> Move:
    """How bytes are taken over, those of items of so many bytes the other way round."""
    source = entry.stored
    size = source.end - source.data
    flat = Stored(source.place, source.handle, source.data, BYTE, (size,))

    def part(target: Target, start: int) -> Part:
        into = target.array(start, BYTE, (size,))

        def moving(handle: int, sum_up: Sum) -> Copying:
            return Copying(flat, replace(into, handle=handle), sum_up, turned)

        def cut(room: int) -> Stretches:
            return Stretches(size, max(room - room % turned, turned))

        return Part(entry.name, cut, moving, lambda units: stretched(size, units))

    return Move(entry.name, entry.type, entry.shape, size, 1, part, entry.native, entry)


def _converted(
    entry: Entry,
    codes: tuple[Packs, Packs],
    shape: tuple[int, ...],
    made: tuple[int, ...],
    word: StorageName,
) -> Move:
    source = entry.stored

    def part(target: Target, start: int) -> Part:
        into = target.array(start, source.dtype, (prod(made),))
        return converting(entry.name, codes, shape, source, into, word)

    width = source.dtype.itemsize
    return Move(entry.name, entry.type, made, prod(made) * width, width, part)


def as_items(entry: Entry, type_: str | None) -> Stored:
    """Return the items as what elements travel in, in place of unsigned integers."""
    assert type_ is not None
    kind, width = ELEMENT_TYPES[type_].item
    code = "?" if kind == "b" else f"{kind}{width}"
    order = entry.stored.dtype.byteorder
    return replace(entry.stored, dtype=np.dtype(code).newbyteorder(order))


def _look(layout: Layout, entry: Entry) -> Look:
    return look_at(layout.tensor_element, entry)


def look_at(element: ElementType | None, entry: Entry) -> Look:
    """Return what looks at items whose values need more bits than an element has."""
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
