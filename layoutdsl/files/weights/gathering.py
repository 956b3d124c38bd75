"""Tensors that become one, as fields of a record.

A record whose rows know nothing of one another is moved some rows at a time: they are a record of
their own, in one stretch of its bytes. Any other is moved at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

import numpy as np

from layoutdsl.files.npy import Array
from layoutdsl.files.pieces.between import BYTE
from layoutdsl.files.pieces.cut import Piece
from layoutdsl.files.pieces.files import NATIVE, Stored, Target, in_order
from layoutdsl.files.pieces.moves import ALIGNED, Arena, Look, Moved, Packs
from layoutdsl.files.pieces.queue import Part
from layoutdsl.files.pieces.sums import Sum, Sums
from layoutdsl.files.weights.form import Entry
from layoutdsl.files.weights.gguf_types import TYPES
from layoutdsl.files.weights.groups import Grouped
from layoutdsl.files.weights.moved import Codes, Move, as_items, look_at
from layoutdsl.files.weights.rows import UNPACKED, Rows, part_of, rows_of, rows_of_words, size_of
from layoutdsl.language.meaning.record import Field
from layoutdsl.language.meaning.rule import FromWords
from layoutdsl.language.meaning.storage import STORAGES


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
        return size_of(self.stored) + words


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
        times = 2 + any(not each.stored.dtype.isnative for each in self.sources)
        return times * elements * read + slots + self.rows.scratch(slots) + 4 * ALIGNED

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
        items = in_order(items, NATIVE)
        if source.apart is None:
            return items
        return source.apart.unpack(items, self.rows.field_box(source.shape, piece).extents)


def gathering(grouped: Grouped, form: str, codes: Codes) -> Move:
    """Return how tensors become one.

    Args:
        grouped: which, and as fields of which record.
        form: the format of the result.
        codes: what runs.
    """
    record, values, stored = grouped.group.record, grouped.values, grouped.group.stored
    codes.check(record, values)
    module, rows = codes.record(record), rows_of(record, values, stored)
    of = zip(record.fields, grouped.entries, stored, grouped.shapes, strict=True)
    sources = tuple(_source(*each, codes) for each in of)
    widest = sorted(sources, key=lambda each: -each.stored.dtype.itemsize)

    def part(target: Target, start: int) -> Part:
        into = target.array(start, BYTE, (rows.size,))

        def moving(handle: int, sum_up: Sum) -> Gathering:
            return Gathering(module, rows, tuple(widest), replace(into, handle=handle), sum_up)

        return part_of(grouped.name, rows, moving)

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
    seen = np.dtype(STORAGES[words.word].dtype).newbyteorder(entry.stored.dtype.byteorder)
    items = replace(entry.stored, dtype=seen)
    codes.check(words.layout, shape)
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


def _read_into(items: Array, stored: Stored, box: Piece) -> None:
    """Read a box, most major axis first."""
    if not stored.fortran:
        stored.read(box.starts, items)
        return
    turned = replace(stored, shape=stored.shape[::-1], fortran=False)
    read = np.empty(box.extents[::-1], stored.dtype)
    turned.read(box.starts[::-1], read)
    np.copyto(items, read.T)
