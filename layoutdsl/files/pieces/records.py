"""Rows of a record packed and unpacked: fields read from several places, bytes in one, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, Protocol

import numpy as np

from layoutdsl.files.npy import Array
from layoutdsl.files.pieces.between import BYTE
from layoutdsl.files.pieces.cut import Piece
from layoutdsl.files.pieces.files import Stored
from layoutdsl.files.pieces.moves import ALIGNED, Arena, Moved
from layoutdsl.files.pieces.rows import shape_of_rows
from layoutdsl.files.pieces.sums import Sum, Sums
from layoutdsl.language.meaning.record import Field, Record

TIMES, MOST = 10, 8 << 20
"""Bytes that the code of a record takes for each of its buffer; where it goes by rows, at most."""


class Moves(Protocol):
    """What code for a record does; `layoutdsl.compile` returns it."""

    @property
    def pack(self) -> Callable[..., Array]:
        """From a shape and fields to bytes."""

    @property
    def unpack(self) -> Callable[..., Any]:
        """From bytes and a shape to a named tuple of fields."""


@dataclass(frozen=True, slots=True)
class Fields:
    """A record, its code, and the fields in files.

    Attributes:
        record: what is packed.
        module: its code.
        by_rows: whether that goes by rows itself, so that it takes little beside.
        values: the shape.
        extent: along which pieces are rows.
        stored: each field.
    """

    record: Record
    module: Moves
    by_rows: bool
    values: Mapping[str, int]
    extent: str
    stored: Mapping[str, Stored]

    def cost(self, rows: int, size: int) -> int:
        """Return the bytes that so many rows take while they are moved."""
        boxes = (self._box(each, rows) for each in self.record.fields)
        items = sum(
            prod(box) * self.stored[field.name].dtype.itemsize + ALIGNED
            for field, box in zip(self.record.fields, boxes, strict=True)
        )
        beside = min(TIMES * size, MOST) if self.by_rows else TIMES * size
        return items + 2 * size + beside + 4 * ALIGNED

    def shape(self, piece: Piece) -> dict[str, int]:
        """Return the shape of the rows of a piece."""
        return shape_of_rows(self.values, self.extent, piece.extents[0])

    def _box(self, field: Field, rows: int) -> tuple[int, ...]:
        return field.shape(shape_of_rows(self.values, self.extent, rows))

    def starts(self, field: Field, piece: Piece) -> tuple[int, ...]:
        """Return where the rows of a piece begin in a field: what as many rows before it have."""
        if piece.starts[0] == 0:
            return (0,) * len(field.extents)
        first, *others = self._box(field, piece.starts[0])
        return (first, *(0 for _ in others))

    def read(self, piece: Piece, arena: Arena) -> dict[str, Array]:
        """Return the fields of a piece."""
        found: dict[str, Array] = {}
        for field in self.record.fields:
            stored = self.stored[field.name]
            found[field.name] = arena.array(self._box(field, piece.extents[0]), stored.dtype)
            stored.read(self.starts(field, piece), found[field.name])
        return found


@dataclass(frozen=True, slots=True)
class PackingRows:
    """Rows of a record, packed.

    Attributes:
        fields: what is read.
        target: the bytes.
        sum_up: gives checksums.
    """

    fields: Fields
    target: Stored
    sum_up: Sum

    def cost(self, rows: int, size: int) -> int:
        """Return the bytes that so many rows take while they are moved."""
        return self.fields.cost(rows, size)

    def move(self, piece: Piece, arena: Arena) -> Moved:
        """Pack the rows of a piece."""
        arena.clear()
        given = self.fields.read(piece, arena)
        packed = self.fields.module.pack(shape=self.fields.shape(piece), **given).reshape(-1)
        self.target.write((piece.first,), packed)
        return Moved(Sums(_summed(self.sum_up, given), self.sum_up(packed)), packed.nbytes)

    def agrees(self, piece: Piece, arena: Arena, sums: Sums) -> bool:
        """Return whether fields and bytes of a piece are what they were when it was packed."""
        arena.clear()
        if _summed(self.sum_up, self.fields.read(piece, arena)) != sums.read:
            return False
        return self.sum_up(_bytes(self.target, piece, arena)) == sums.written


@dataclass(frozen=True, slots=True)
class UnpackingRows:
    """Rows of a record, unpacked.

    Attributes:
        fields: what is written.
        source: the bytes.
        sum_up: gives checksums.
    """

    fields: Fields
    source: Stored
    sum_up: Sum

    def cost(self, rows: int, size: int) -> int:
        """Return the bytes that so many rows take while they are moved."""
        return self.fields.cost(rows, size)

    def move(self, piece: Piece, arena: Arena) -> Moved:
        """Unpack the rows of a piece."""
        arena.clear()
        packed = _bytes(self.source, piece, arena)
        found = self.fields.module.unpack(packed, self.fields.shape(piece))._asdict()
        for field in self.fields.record.fields:
            target = self.fields.stored[field.name]
            target.write(self.fields.starts(field, piece), found[field.name])
        written = sum(each.nbytes for each in found.values())
        return Moved(Sums(self.sum_up(packed), _summed(self.sum_up, found)), written)

    def agrees(self, piece: Piece, arena: Arena, sums: Sums) -> bool:
        """Return whether bytes and fields of a piece are what they were when it was unpacked."""
        arena.clear()
        if self.sum_up(_bytes(self.source, piece, arena)) != sums.read:
            return False
        return _summed(self.sum_up, self.fields.read(piece, arena)) == sums.written


def _bytes(side: Stored, piece: Piece, arena: Arena) -> Array:
    found = arena.array((piece.slots,), BYTE)
    side.read((piece.first,), found)
    return found


def _summed(sum_up: Sum, given: Mapping[str, Array]) -> str:
    """The checksums of all fields, one behind the other."""
    return "".join(sum_up(np.ascontiguousarray(each)) for each in given.values())
