"""Tensors that become one, as fields of a record, and that one taken apart again.

A record whose rows know nothing of one another is moved some rows at a time: they are a record of
their own, in one stretch of its bytes. Any other is moved at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from layoutdsl.files.npy import Array, UnreadableError
from layoutdsl.meaning.record import Field, Record
from layoutdsl.meaning.rule import FromWords
from layoutdsl.meaning.storage import STORAGES
from layoutdsl.pieces.between import BYTE
from layoutdsl.pieces.cut import Piece
from layoutdsl.pieces.files import Stored, Target
from layoutdsl.pieces.moves import ALIGNED, Arena, Look, Moved, Moving, Packs
from layoutdsl.pieces.queue import Part
from layoutdsl.pieces.sums import Sum, Sums, unsummed
from layoutdsl.weights.bounds import shown
from layoutdsl.weights.fits import extents_text
from layoutdsl.weights.form import Entry
from layoutdsl.weights.gguf_types import TYPES
from layoutdsl.weights.groups import Grouped
from layoutdsl.weights.moved import Codes, Move, as_items, look_at
from layoutdsl.weights.rows import Rows, rows_of, rows_of_words

UNPACKED = 12
"""Bytes for an element that is taken out of words, or put into them."""


@dataclass(frozen=True, slots=True)
class Source:
    """The tensor of a field.

    Attributes:
        field: its name there.
        stored: its items; words, where it is packed already.
        look: looks at elements.
        shape: of the field.
        apart: the code of words.
        dim: the axis of the items along which rows lie.
    """

    field: str
    stored: Stored
    look: Look
    shape: tuple[int, ...]
    apart: Packs | None = None
    dim: int = 0

    @property
    def bytes(self) -> int:
        """All that is read, with what elements take that are taken out of words."""
        words = 0 if self.apart is None else UNPACKED * prod(self.shape)
        return _size(self.stored) + words


@dataclass(frozen=True, slots=True)
class Tensor:
    """What a field becomes: its name, its shape, and how it is packed, where it is."""

    name: str
    shape: tuple[int, ...]
    words: FromWords | None


@dataclass(frozen=True, slots=True)
class Gathering:
    """Rows of several tensors, packed as rows of a record.

    Attributes:
        module: the code.
        rows: of the record.
        sources: the tensors, the widest items first.
        target: the bytes of the record, of one axis.
        sum_up: gives checksums.
    """

    module: Packs
    rows: Rows
    sources: tuple[Source, ...]
    target: Stored
    sum_up: Sum

    def cost(self, elements: int, slots: int) -> int:
        """Return the bytes that some rows take while they are moved."""
        rows = self.rows.count
        read = sum(-(-each.bytes // rows) for each in self.sources)
        return 2 * elements * read + slots + self.rows.scratch(slots) + 4 * ALIGNED

    def move(self, piece: Piece, arena: Arena) -> Moved:
        """Pack some rows."""
        arena.clear()
        memory, fields = self._read(piece, arena)
        for each in self.sources:
            each.look(fields[each.field])
        read = self.sum_up(memory)
        values = self.rows.of(piece)
        out = arena.array(tuple(self.module.physical_shape(values)), BYTE)
        packed = self.module.pack(out=out, shape=values, **fields).reshape(-1)
        self.target.write((piece.first,), packed)
        return Moved(Sums(read, self.sum_up(packed)), packed.nbytes)

    def agrees(self, piece: Piece, arena: Arena, sums: Sums) -> bool:
        """Return whether both sides are what they were when the rows were packed."""
        arena.clear()
        if self.sum_up(self._read(piece, arena)[0]) != sums.read:
            return False
        stored = arena.array((piece.slots,), BYTE)
        self.target.read((piece.first,), stored)
        return self.sum_up(stored) == sums.written

    def _read(self, piece: Piece, arena: Arena) -> tuple[Array, dict[str, Array]]:
        """All items of some rows side by side, and as the fields that they are."""
        boxes = [self.rows.field_box(s.stored.shape, piece, s.dim) for s in self.sources]
        sizes = [
            prod(box.extents) * each.stored.dtype.itemsize
            for box, each in zip(boxes, self.sources, strict=True)
        ]
        memory = arena.array((sum(sizes),), BYTE)
        found, first = dict[str, Array](), 0
        for each, box, size in zip(self.sources, boxes, sizes, strict=True):
            items = memory[first : first + size].view(each.stored.dtype).reshape(box.extents)
            _read_into(items, each.stored, box)
            found[each.field], first = self._elements(each, items, piece), first + size
        return memory, found

    def _elements(self, source: Source, items: Array, piece: Piece) -> Array:
        if source.apart is None:
            return items
        return source.apart.unpack(items, self.rows.field_box(source.shape, piece).extents)


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
            held += UNPACKED * prod(field.shape(self.rows.values)) + _size(self.target)
        row = -(-held // self.rows.count)
        return 2 * elements * row + slots + self.rows.scratch(slots) + 4 * ALIGNED

    def move(self, piece: Piece, arena: Arena) -> Moved:
        """Unpack some rows."""
        stored = self._stored(piece, arena)
        found = self.module.unpack(stored, self.rows.of(piece))
        items = getattr(found, self.field)
        items = items if self.together is None else self.together.pack(items)
        items = np.ascontiguousarray(items).view(self.target.dtype)
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


def gathering(grouped: Grouped, form: str, codes: Codes) -> Move:
    """Return how tensors become one.

    Args:
        grouped: which, and as fields of which record.
        form: the format of the result.
        codes: what runs.
    """
    record, values, stored = grouped.group.record, grouped.values, grouped.group.stored
    module, rows = codes.record(record), rows_of(record, values, stored)
    of = zip(record.fields, grouped.entries, stored, grouped.shapes, strict=True)
    sources = tuple(_source(*each, codes) for each in of)
    widest = sorted(sources, key=lambda each: -each.stored.dtype.itemsize)

    def part(target: Target, start: int) -> Part:
        into = target.array(start, BYTE, (rows.size,))

        def moving(handle: int, sum_up: Sum) -> Gathering:
            return Gathering(module, rows, tuple(widest), replace(into, handle=handle), sum_up)

        return _part(grouped.name, rows, moving)

    native = _native(grouped, rows.size) if form == "gguf" else None
    if native is not None:
        shape = tuple(record.frame.shape_of(values))
        return Move(grouped.name, None, shape, rows.size, 1, part, native)
    box = tuple(module.physical_shape(values))
    return Move(grouped.name, "u8", box, rows.size, 1, part)


def _source(
    field: Field, entry: Entry, words: FromWords | None, shape: tuple[int, ...], codes: Codes
) -> Source:
    if words is None:
        look = look_at(field.element, entry)
        return Source(field.name, as_items(entry, entry.type), look, shape)
    items = replace(entry.stored, dtype=np.dtype(STORAGES[words.word].dtype))
    apart = codes.words(words.layout, words.word)
    return Source(field.name, items, _nothing, shape, apart, rows_of_words(words) or 0)


def _nothing(_: Array) -> None:
    """Look at nothing: words hold no more bits than elements have."""


def _native(grouped: Grouped, size: int) -> str | None:
    """The type of GGUF that the record is, where it has one for such a shape."""
    word = TYPES.get(grouped.group.native or "")
    shape = grouped.group.record.frame.shape_of(grouped.values)
    if word is None or len(shape) != 2 or shape[-1] % word.elements:
        return None
    return grouped.group.native if prod(shape) // word.elements * word.size == size else None


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

            return _part(tensor.name, rows, moving)

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
    module = codes.words(layout, tensor.words.word)
    try:
        if tuple(module.physical_shape(shape)) == tensor.shape:
            return module
        why = f"`{layout.name}` of {extents_text(shape)} has no such words"
    except ValueError as wrong:
        why = str(wrong)
    raise UnreadableError(f"says of {shown(tensor.name)} what cannot be: {why}; pack it again")


def _part(name: str, rows: Rows, moving: Callable[[int, Sum], Moving]) -> Part:
    return Part(name, lambda room: rows.cut(room, moving(-1, unsummed).cost), moving, rows.again)


def _size(stored: Stored) -> int:
    return prod(stored.shape) * stored.dtype.itemsize


def _read_into(items: Array, stored: Stored, box: Piece) -> None:
    """Read a box, most major axis first."""
    if not stored.fortran:
        stored.read(box.starts, items)
        return
    turned = replace(stored, shape=stored.shape[::-1], fortran=False)
    read = np.empty(box.extents[::-1], stored.dtype)
    turned.read(box.starts[::-1], read)
    np.copyto(items, read.T)
