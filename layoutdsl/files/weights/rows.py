"""A record of some shape and its rows, of which some are moved at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import prod

from layoutdsl.files.pieces.cut import Piece, TooLargeError
from layoutdsl.files.pieces.files import Stored
from layoutdsl.files.pieces.moves import Moving
from layoutdsl.files.pieces.queue import Part
from layoutdsl.files.pieces.sums import Sum, unsummed
from layoutdsl.language.meaning.bands import rows_along, rows_in
from layoutdsl.language.meaning.record import Record
from layoutdsl.language.meaning.rule import FromWords
from layoutdsl.language.meaning.storage import stored

CHUNK = 1 << 19
"""Bytes of a record that its code moves at a time."""


COPIES = 8
"""So many times over: items, items without room between them, and what is joined of them."""


UNPACKED = 12
"""Bytes for an element that is taken out of words, or put into them."""


@dataclass(frozen=True, slots=True)
class Bands:
    """Rows of a record, some at a time.

    Attributes:
        rows: how many there are; one, where it does not come apart.
        length: of a piece, at least 1.
        width: bytes of a row.
    """

    rows: int
    length: int
    width: int

    @property
    def count(self) -> int:
        """How many pieces there are."""
        return -(-self.rows // self.length)

    @property
    def largest(self) -> Piece:
        """The first: only the last is smaller."""
        return self.piece(0)

    @property
    def units(self) -> tuple[int, ...]:
        """The rows of one."""
        return (self.length,)

    def piece(self, number: int) -> Piece:
        """Return some rows by their number, from 0 on."""
        first = number * self.length
        left = min(self.length, self.rows - first)
        return Piece((first,), (left,), first * self.width, left * self.width)


@dataclass(frozen=True, slots=True)
class Rows:
    """A record of some shape, and its rows.

    Attributes:
        record: without open parameters.
        values: its extents.
        along: the extent of its rows; ``None`` where it does not come apart.
    """

    record: Record
    values: Mapping[str, int]
    along: str | None

    @property
    def count(self) -> int:
        """How many rows there are."""
        return 1 if self.along is None else self.values[self.along]

    @property
    def size(self) -> int:
        """Bytes of the record."""
        return self.record.size_bits_at(self.values) // 8

    def bands(self, length: int) -> Bands:
        """Return the pieces of so many rows."""
        return Bands(self.count, length, self.size // self.count)

    def of(self, piece: Piece) -> dict[str, int]:
        """Return the extents of some rows."""
        if self.along is None:
            return dict(self.values)
        return {**self.values, self.along: piece.extents[0]}

    def field_box(self, shape: tuple[int, ...], piece: Piece, dim: int = 0) -> Piece:
        """Return what some rows are of an array of this shape, which has them along an axis."""
        starts, extents = [0] * len(shape), list(shape)
        if self.along is not None:
            starts[dim], extents[dim] = piece.starts[0], piece.extents[0]
        return Piece(tuple(starts), tuple(extents), 0, 0)

    def cut(self, room: int, cost: Callable[[int, int], int]) -> Bands:
        """Return pieces that take so many bytes, from what some rows take.

        Raises:
            TooLargeError: there are none as small.
        """
        one = self.bands(1).piece(0)
        least = cost(1, one.slots)
        if least > room:
            why = "its rows know of one another" if self.along is None else "it is one row"
            raise TooLargeError(least, why)
        low, high = 1, self.count
        while low < high:
            middle = (low + high + 1) // 2
            fits = cost(middle, middle * one.slots) <= room
            low, high = (middle, high) if fits else (low, middle - 1)
        return self.bands(low)

    def again(self, units: tuple[int, ...]) -> Bands:
        """Return pieces as they were cut before.

        Raises:
            ValueError: there are no such pieces.
        """
        if len(units) != 1 or not 1 <= units[0] <= self.count:
            raise ValueError(f"there are no pieces of {units} rows")
        return self.bands(*units)

    def scratch(self, slots: int) -> int:
        """Return the bytes that its code needs for some bytes of the record."""
        chunk = slots if self.along is None else min(slots, max(CHUNK, self.size // self.count))
        return COPIES * chunk


def rows_of(
    record: Record, values: Mapping[str, int], words: Iterable[FromWords | None] = ()
) -> Rows:
    """Return a record of some shape with its rows, where each is whole bytes.

    Args:
        record: without open parameters.
        values: its extents.
        words: what fields are made of, or become; each has to come apart by rows.
    """
    along = rows_along(record)
    if along is not None and record.size_bits_at(values) % (8 * values[along]):
        along = None
    if not all(each is None or rows_of_words(each) is not None for each in words):
        along = None
    return Rows(record, values, along)


def rows_of_words(words: FromWords) -> int | None:
    """Return the axis of an array of words along which rows lie; or none.

    No word is of two rows: they lie along a coordinate that does not become words, or one whose
    elements are a word each.
    """
    how, found = stored(words.layout, words.word), rows_in(words.layout)
    if found is None or (how.joined == 1 and how.slot_bits == how.words.bits and not how.placed):
        return found
    return found if found < len(words.layout.coordinates) - how.joined else None


def part_of(name: str, rows: Rows, moving: Callable[[int, Sum], Moving]) -> Part:
    """Return what is moved by rows."""
    return Part(name, lambda room: rows.cut(room, moving(-1, unsummed).cost), moving, rows.again)


def size_of(stored: Stored) -> int:
    """Return the bytes of an array in a file."""
    return prod(stored.shape) * stored.dtype.itemsize
