"""What is looked at of a packed file, tensor by tensor, with or without what it was made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, cast

import numpy as np

from layoutdsl.files.pieces.between import BYTE
from layoutdsl.files.pieces.copies import Stretches
from layoutdsl.files.pieces.cut import Piece, TooLargeError, cut
from layoutdsl.files.pieces.every_copy import copies_last, shape_with_copies
from layoutdsl.files.pieces.files import Stored
from layoutdsl.files.pieces.packed import layout_shape
from layoutdsl.files.pieces.queue import Cut
from layoutdsl.files.pieces.runs import USUAL, Limits, TooLittleError
from layoutdsl.files.pieces.sums import Sum, summing
from layoutdsl.files.weights.compared import Fault, Kept, Placed, Unlike, fill_bits
from layoutdsl.files.weights.compared_bits import PlacedBits
from layoutdsl.files.weights.compared_fields import PlacedFields
from layoutdsl.files.weights.form import Entry
from layoutdsl.files.weights.given import Given, InWords, Items
from layoutdsl.files.weights.held import (
    Held,
    refuse_bitless,
    refuse_nonsense,
    refuse_wordless,
    stored_before,
    values_of,
)
from layoutdsl.files.weights.moved import in_rows
from layoutdsl.files.weights.rows import rows_of
from layoutdsl.files.weights.said import About, Fields, Said, Stretch
from layoutdsl.language.meaning.elements import ELEMENT_TYPES
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.storage import StorageName

TURNED = (
    "is compared with words that lie with their last axis most major; "
    "write them with numpy.ascontiguousarray"
)


class Look(Protocol):
    """Something of a tensor that can be looked at piece by piece."""

    def differs(self, piece: Piece, /) -> Fault | None:
        """Return the first fault within a piece."""


@dataclass(frozen=True, slots=True)
class Check:
    """Pieces of a tensor that are looked at."""

    name: str
    size: int
    cut: Cut
    look: Look


@dataclass(frozen=True, slots=True)
class Summed:
    """Stretches of bytes whose checksums are known."""

    name: str
    stored: Stored
    stretches: tuple[Stretch, ...]
    sum_up: Sum

    def differs(self, piece: Piece) -> Unlike | None:
        """Return that a stretch has another checksum."""
        number, first = piece.first, sum(size for size, _ in self.stretches[: piece.first])
        size, sum_ = self.stretches[number]
        found = np.empty(size, BYTE)
        self.stored.read((first,), found)
        if self.sum_up(found) == sum_:
            return None
        words = f"has changed since it was written, in its bytes {first} to {first + size - 1}"
        return Unlike(self.name, words)


@dataclass(frozen=True, slots=True)
class _Numbered:
    """Stretches by their numbers."""

    count: int

    @property
    def largest(self) -> Piece:
        return self.piece(0)

    def piece(self, number: int) -> Piece:
        return Piece((number,), (1,), number, 1)


def _sources(about: About) -> set[str]:
    """The names of tensors that have become fields."""
    fields = [each.fields.sources for each in about.tensors.values() if each.fields is not None]
    return {source.name for some in fields for source in some}


def _fields(
    entry: Entry,
    originals: Mapping[str, Entry] | None,
    fields: Fields,
    held: Held,
    limits: Limits,
) -> Check | Unlike:
    """A tensor that was made of several; these are by their names."""
    record = held.records[fields.record]
    values, given = values_of(entry, record, fields, held), list[Given]()
    for source in fields.sources if originals is not None else ():
        original = originals.get(source.name) if originals is not None else None
        if original is None:
            return Unlike(source.name, "is none of what it is compared with")
        if (original.type, original.shape) != (source.type, source.shape):
            words = f"was {source.type} of {source.shape} when it was packed"
            kind = original.type or original.native
            return Unlike(source.name, f"{words}, and is compared with {kind} of {original.shape}")
        stored = stored_before(source, held)
        if stored is None:
            given.append(Items(original.stored))
        elif _is_turned(original.stored):
            return Unlike(source.name, TURNED)
        else:
            given.append(InWords(original.stored, stored.layout, source.elements))
    rows, names = rows_of(record, values), tuple(each.name for each in fields.sources)
    look = PlacedFields(entry.name, rows, names, tuple(given), _bytes(entry))
    most = limits.memory // limits.jobs
    try:
        cut_ = rows.cut(min(most, USUAL), look.cost)
    except TooLargeError as smallest:
        if smallest.needed > most:
            raise TooLittleError(entry.name, limits, smallest) from None
        cut_ = rows.cut(smallest.needed, look.cost)
    return Check(entry.name, rows.size, cut_, look)


def by_sums(
    entries: tuple[Entry, ...], about: About, held: Held, limits: Limits
) -> list[Check | Unlike]:
    """Return what is looked at where nothing is given to compare with."""
    sum_up = summing(about.token)
    found: list[Check | Unlike] = []
    for entry in entries:
        said, bytes_ = about.tensors[entry.name], _bytes(entry)
        sizes = [size for size, _ in said.stretches]
        if sum(sizes) != bytes_.shape[0]:
            words = f"has {bytes_.shape[0]} bytes, and {sum(sizes)} were written"
            found.append(Unlike(entry.name, words))
            continue
        _refuse_large(entry.name, max(sizes), "its bytes have one checksum", limits)
        look = Summed(entry.name, bytes_, said.stretches, sum_up)
        found.append(Check(entry.name, sum(sizes), _Numbered(len(sizes)), look))
        found += [_placed(entry, None, said, held, limits)] if said.layout else []
        found += [_fields(entry, None, said.fields, held, limits)] if said.fields else []
    return found


def by_originals(
    entries: tuple[Entry, ...],
    originals: tuple[Entry, ...],
    about: About,
    held: Held,
    limits: Limits,
) -> list[Check | Unlike]:
    """Return what is looked at where the tensors are given that all was made from."""
    by_name = {each.name: each for each in originals}
    alone = {name for name, each in about.tensors.items() if each.fields is None}
    missing = by_name.keys() - alone - _sources(about)
    found: list[Check | Unlike] = [
        Unlike(name, "is missing in what was made") for name in sorted(missing)
    ]
    for entry in entries:
        said, original = about.tensors[entry.name], by_name.get(entry.name)
        if said.fields is not None:
            found.append(_fields(entry, by_name, said.fields, held, limits))
            continue
        if original is None:
            found.append(Unlike(entry.name, "is none of what it is compared with"))
            continue
        wrong = _other(entry, original, said)
        if wrong is not None:
            found.append(Unlike(entry.name, wrong))
        elif said.layout is not None:
            found.append(_placed(entry, original, said, held, limits))
        else:
            found.append(_kept(entry, original, limits))
    return found


def _other(entry: Entry, original: Entry, said: Said) -> str | None:
    """Why a tensor cannot have been made of another."""
    if said.layout is None:
        same = entry.shape == original.shape and _bytes(entry).shape == _bytes(original).shape
        return None if same else f"was {original.native} of {original.shape}, and was kept"
    shape = said.shape if said.words is None else said.original
    if (original.type, original.shape) != (said.type, shape):
        words = f"was {said.type} of {shape} when it was packed"
        return (
            f"{words}, and is compared with {original.type or original.native} of {original.shape}"
        )
    return None


def _placed(
    entry: Entry,
    original: Entry | None,
    said: Said,
    held: Held,
    limits: Limits,
) -> Check | Unlike:
    assert said.layout is not None
    layouts = held.layouts
    layout, size = layouts[said.layout], _bytes(entry).shape[0]
    tensor = None if original is None else original.stored
    if said.words is not None:
        word, was = cast("StorageName", said.words.word), layouts[said.words.layout]
        refuse_wordless(entry, (layout.first_copy, was), word, said.shape)
        if tensor is not None and _is_turned(tensor):
            return Unlike(entry.name, TURNED)
        given = None if tensor is None else InWords(tensor, was, said.shape)
        bits = _bits(entry, layout, said.shape, given)
        return Check(entry.name, size, _cut_bits(bits, limits), bits)
    if layout.bit_of is not None:
        refuse_bitless(entry, layout.first_copy, said)
        items = None if tensor is None else Items(tensor)
        bits = _bits(entry, layout, said.shape, items)
        return Check(entry.name, size, _cut_bits(bits, limits), bits)
    slots = refuse_nonsense(entry, layout.first_copy, said.shape)
    flat, width = entry.stored.flat(), entry.stored.dtype.itemsize
    element = ELEMENT_TYPES[said.type]
    if slots * element.item[1] != size or width != element.item[1]:
        return Unlike(entry.name, f"has {size} bytes, and its layout takes {slots} items")
    fill = fill_bits(layout, element, flat.dtype)
    every, shape = copies_last(layout), shape_with_copies(layout, said.shape)
    look = Placed(entry.name, every, shape, tensor, flat, fill, len(layout.copies))
    return Check(entry.name, size, _cut(entry.name, every, shape, look.cost, limits), look)


def _bits(entry: Entry, layout: Layout, shape: tuple[int, ...], given: Given | None) -> PlacedBits:
    every, extents = copies_last(layout), shape_with_copies(layout, shape)
    return PlacedBits(entry.name, every, extents, given, entry.stored, len(layout.copies))


def _is_turned(words: Stored) -> bool:
    return words.fortran and len(words.shape) > 1


def _cut_bits(bits: PlacedBits, limits: Limits) -> Cut:
    shape = layout_shape(bits.layout, bits.shape)
    return _cut(bits.name, bits.layout, shape, bits.cost, limits)


def _cut(
    name: str,
    layout: Layout,
    shape: tuple[int, ...],
    cost: Callable[[int, int], int],
    limits: Limits,
) -> Cut:
    most = limits.memory // limits.jobs
    try:
        return cut(layout, shape, min(most, USUAL), cost)
    except TooLargeError as smallest:
        if smallest.needed > most:
            raise TooLittleError(name, limits, smallest) from None
        return cut(layout, shape, smallest.needed, cost)


def _refuse_large(name: str, needed: int, why: str, limits: Limits) -> None:
    if needed > limits.memory // limits.jobs:
        raise TooLittleError(name, limits, TooLargeError(needed, why))


def _kept(entry: Entry, original: Entry, limits: Limits) -> Check:
    made, given = _bytes(entry), _bytes(original)
    size = made.shape[0]
    if original.stored.fortran and not entry.stored.fortran and len(original.shape) > 1:
        rows, shape = in_rows(original.shape), original.shape
        turned = Placed(entry.name, rows, shape, original.stored, entry.stored.flat(), None)
        return Check(entry.name, size, _cut(entry.name, rows, shape, turned.cost, limits), turned)
    if original.stored.dtype.isnative != entry.stored.dtype.isnative and size:
        flat, shape = original.stored.flat(), original.stored.flat().shape
        rows = in_rows(shape)
        turned = Placed(entry.name, rows, shape, flat, entry.stored.flat(), None)
        return Check(entry.name, size, _cut(entry.name, rows, shape, turned.cost, limits), turned)
    room = min(limits.memory // limits.jobs // 3, USUAL)
    return Check(entry.name, size, Stretches(size, max(room, 1)), Kept(entry.name, given, made))


def _bytes(entry: Entry) -> Stored:
    stored = entry.stored
    size = stored.end - stored.data
    return Stored(stored.place, stored.handle, stored.data, BYTE, (size,))
