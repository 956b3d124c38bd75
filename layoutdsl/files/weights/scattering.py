"""A record taken apart: each of its fields becomes the tensor that it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from layoutdsl.files.npy import Array, UnreadableError
from layoutdsl.files.pieces.between import BYTE
from layoutdsl.files.pieces.cut import Piece
from layoutdsl.files.pieces.files import Stored, Target, in_order
from layoutdsl.files.pieces.moves import ALIGNED, Arena, Moved, Packs
from layoutdsl.files.pieces.queue import Part
from layoutdsl.files.pieces.sums import Sum, Sums
from layoutdsl.files.weights.bounds import shown
from layoutdsl.files.weights.fits import extents_text
from layoutdsl.files.weights.form import Entry
from layoutdsl.files.weights.moved import Codes, Move
from layoutdsl.files.weights.rows import UNPACKED, Rows, part_of, rows_of, rows_of_words, size_of
from layoutdsl.language.meaning.record import Field, Record
from layoutdsl.language.meaning.rule import FromWords
from layoutdsl.language.meaning.storage import STORAGES


@dataclass(frozen=True, slots=True)
class Tensor:
    """What a field becomes: its name, its shape, and how it is packed, where it is."""

    name: str
    shape: tuple[int, ...]
    words: FromWords | None


@dataclass(frozen=True, slots=True)
class Scattering:
    """Rows of a record, of which one field is unpacked.

    Attributes:
        module: the code.
        rows: of the record.
        source: its bytes, of one axis.
        field: the name of the field.
        target: the tensor; words, where it was these.
        sum_up: gives checksums.
        together: the code of words.
        dim: the axis of the tensor along which rows lie.
    """

    module: Packs
    rows: Rows
    source: Stored
    field: str
    target: Stored
    sum_up: Sum
    together: Packs | None = None
    dim: int = 0

    def cost(self, elements: int, slots: int) -> int:
        """Return the bytes that some rows take while they are moved."""
        held = sum(
            prod(each.shape(self.rows.values)) * each.element.item[1]
            for each in self.rows.record.fields
        )
        if self.together is not None:
            field = self.rows.record.field(self.field)
            held += UNPACKED * prod(field.shape(self.rows.values)) + size_of(self.target)
        row = -(-held // self.rows.count)
        return 2 * elements * row + slots + self.rows.scratch(slots) + 4 * ALIGNED

    def move(self, piece: Piece, arena: Arena) -> Moved:
        """Unpack some rows."""
        stored = self._stored(piece, arena)
        found = self.module.unpack(stored, self.rows.of(piece))
        items = getattr(found, self.field)
        items = items if self.together is None else self.together.pack(items)
        items = np.ascontiguousarray(items).view(self.target.dtype.newbyteorder("="))
        items = in_order(items, self.target.dtype)
        box = self.rows.field_box(self.target.shape, piece, self.dim)
        items = items.reshape(box.extents)
        self.target.write(box.starts, items)
        return Moved(Sums(self.sum_up(stored), self.sum_up(items)), items.nbytes)

    def agrees(self, piece: Piece, arena: Arena, sums: Sums) -> bool:
        """Return whether both sides are what they were when the rows were unpacked."""
        if self.sum_up(self._stored(piece, arena)) != sums.read:
            return False
        box = self.rows.field_box(self.target.shape, piece, self.dim)
        items = arena.array(box.extents, self.target.dtype)
        self.target.read(box.starts, items)
        return self.sum_up(items) == sums.written

    def _stored(self, piece: Piece, arena: Arena) -> Array:
        arena.clear()
        stored = arena.array((piece.slots,), BYTE)
        self.source.read((piece.first,), stored)
        return stored


def scattering(
    entry: Entry,
    record: Record,
    values: Mapping[str, int],
    tensors: Sequence[Tensor],
    codes: Codes,
) -> list[Move]:
    """Return how the bytes of a record become the tensors of its fields.

    Args:
        entry: as many bytes as the record has at this shape.
        record: without open parameters.
        values: its extents.
        tensors: of the fields, in their order.
        codes: what runs.

    Raises:
        UnreadableError: a field has no such words.
    """
    codes.check(record, values)
    module, size = codes.record(record), record.size_bits_at(values) // 8
    bytes_ = Stored(entry.stored.place, entry.stored.handle, entry.stored.data, BYTE, (size,))

    def moved(field: Field, tensor: Tensor) -> Move:
        words, rows = tensor.words, rows_of(record, values, (tensor.words,))
        together = None if words is None else _together(field, tensor, values, codes)
        dtype, dim = np.dtype(f"<u{field.element.item[1]}"), 0
        if words is not None:
            dim = rows_of_words(words) or 0
            dtype = np.dtype(STORAGES[words.word].dtype)

        def part(target: Target, start: int) -> Part:
            into = target.array(start, dtype, tensor.shape)

            def moving(handle: int, sum_up: Sum) -> Scattering:
                to = replace(into, handle=handle)
                return Scattering(module, rows, bytes_, field.name, to, sum_up, together, dim)

            return part_of(tensor.name, rows, moving)

        width = dtype.itemsize
        return Move(tensor.name, None, tensor.shape, prod(tensor.shape) * width, width, part)

    return [moved(field, each) for field, each in zip(record.fields, tensors, strict=True)]


def _together(field: Field, tensor: Tensor, values: Mapping[str, int], codes: Codes) -> Packs:
    """The code that makes words of a field.

    Raises:
        UnreadableError: there are no such words.
    """
    assert tensor.words is not None
    layout, shape = tensor.words.layout, field.shape(values)
    codes.check(layout, shape)
    module = codes.words(layout, tensor.words.word)
    try:
        if tuple(module.physical_shape(shape)) == tensor.shape:
            return module
        why = f"`{layout.name}` of {extents_text(shape)} has no such words"
    except ValueError as wrong:
        why = str(wrong)
    raise UnreadableError(f"says of {shown(tensor.name)} what cannot be: {why}; pack it again")
