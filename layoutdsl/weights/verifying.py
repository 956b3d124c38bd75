"""Whether a packed file is what it says, and what it was made from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from math import prod
from typing import Protocol, cast

import numpy as np

from layoutdsl.meaning.elements import ELEMENT_TYPES
from layoutdsl.meaning.model import Layout
from layoutdsl.meaning.storage import StorageName
from layoutdsl.pieces.amount import Amount
from layoutdsl.pieces.copies import BYTE, Stretches
from layoutdsl.pieces.cut import Piece, TooLargeError, cut
from layoutdsl.pieces.files import Stored
from layoutdsl.pieces.queue import Cut
from layoutdsl.pieces.runs import USUAL, Given, Limits, TooLittleError
from layoutdsl.pieces.sums import Sum, summing
from layoutdsl.weights.compared import Fault, Kept, Placed, PlacedBits, Unlike, fill_bits
from layoutdsl.weights.faults import reading
from layoutdsl.weights.form import Entry
from layoutdsl.weights.moved import in_rows
from layoutdsl.weights.opened import opened_weights
from layoutdsl.weights.packing import Place
from layoutdsl.weights.said import About, Said, Stretch
from layoutdsl.weights.unpacking import (
    Elaborate,
    about_of,
    layouts_of,
    refuse_nonsense,
    refuse_wordless,
)
from layoutdsl.weights.words import Whole

BATCH = 8
"""Pieces for each job that are handed out at once."""


@dataclass(frozen=True, slots=True)
class Verified:
    """What was looked at, and the first fault that was found.

    Attributes:
        tensors: of the file.
        packed: those that are not kept.
        elements: that were compared with what they were; 0 where nothing was given to compare.
        fault: nothing where all is as it has to be.
    """

    tensors: int
    packed: int
    elements: int
    fault: Fault | None


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


def verify_weights(
    packed: Place,
    against: Place | None,
    elaborate: Elaborate,
    limits: Limits,
    progress: Callable[[Amount], None],
) -> Verified:
    """Look at every byte of the tensors of a packed file.

    With what it was made from, the slot of every element holds its bits, by the formula of its
    layout, padding holds the fill, and what was kept is the same. Without it every byte has the
    checksum that was written with it, and padding holds the fill.

    Args:
        packed: a file that `pack_weights` made.
        against: what it was made from.
        elaborate: what layouts mean.
        limits: memory and jobs.
        progress: is told how far it has come.

    Raises:
        UnfitError: a file is not what it has to be, or has changed meanwhile.
        TooLittleError: the memory is too small.
        OSError: a file cannot be read; its name is in it.
    """
    with ExitStack() as open_:
        open_.enter_context(reading(packed.path))
        made = open_.enter_context(opened_weights(packed.path, packed.form))
        about = about_of(made)
        layouts = layouts_of(about, elaborate)
        entries, given = made.contents.entries, list(made.given)
        count = sum(each.layout is not None for each in about.tensors.values())
        if against is None:
            told = _by_sums(entries, about, layouts, limits)
        else:
            was = open_.enter_context(opened_weights(against.path, against.form))
            given += was.given
            told = _by_originals(entries, was.contents.entries, about, layouts, limits)
        checks = [each for each in told if isinstance(each, Check)]
        unlike = next((each for each in told if isinstance(each, Unlike)), None)
        fault = unlike or _first(checks, limits.jobs, progress)
        _refuse_changed(given)
    compared = 0 if against is None else _elements(about)
    return Verified(len(entries), count, compared, fault)


def _refuse_changed(given: list[Given]) -> None:
    for each in given:
        with reading(each.place):
            each.refuse_changed()


def _elements(about: About) -> int:
    """How many elements of packed tensors there are."""
    return sum(prod(each.shape) for each in about.tensors.values() if each.layout is not None)


def _by_sums(
    entries: tuple[Entry, ...], about: About, layouts: dict[str, Layout], limits: Limits
) -> list[Check | Unlike]:
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
        found += [_placed(entry, None, said, layouts, limits)] if said.layout else []
    return found


def _by_originals(
    entries: tuple[Entry, ...],
    originals: tuple[Entry, ...],
    about: About,
    layouts: dict[str, Layout],
    limits: Limits,
) -> list[Check | Unlike]:
    by_name = {each.name: each for each in originals}
    missing = by_name.keys() - {each.name for each in entries}
    found: list[Check | Unlike] = [
        Unlike(name, "is missing in what was made") for name in sorted(missing)
    ]
    for entry in entries:
        said, original = about.tensors[entry.name], by_name.get(entry.name)
        if original is None:
            found.append(Unlike(entry.name, "is none of what it is compared with"))
            continue
        wrong = _other(entry, original, said)
        if wrong is not None:
            found.append(Unlike(entry.name, wrong))
        elif said.layout is not None:
            found.append(_placed(entry, original, said, layouts, limits))
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
    layouts: dict[str, Layout],
    limits: Limits,
) -> Check | Unlike:
    assert said.layout is not None
    layout, size = layouts[said.layout], _bytes(entry).shape[0]
    tensor = None if original is None else original.stored
    if said.words is not None:
        pair, (made,) = (layouts[said.words.layout], layout), entry.stored.flat().shape
        word = cast("StorageName", said.words.word)
        refuse_wordless(entry, (layout, pair[0]), word, said.shape)
        bits = PlacedBits(entry.name, pair, said.shape, tensor, entry.stored)
        needed = 10 * size + 40 * prod(said.shape)
        _refuse_large(entry.name, needed, "packed words are compared at once", limits)
        return Check(entry.name, size, Whole(made, made), bits)
    slots = refuse_nonsense(entry, layout, said.shape)
    flat, width = entry.stored.flat(), entry.stored.dtype.itemsize
    element = ELEMENT_TYPES[said.type]
    if slots * element.item[1] != size or width != element.item[1]:
        return Unlike(entry.name, f"has {size} bytes, and its layout takes {slots} items")
    fill = fill_bits(layout, element, flat.dtype)
    look = Placed(entry.name, layout, said.shape, tensor, flat, fill)
    return Check(entry.name, size, _cut(entry.name, layout, said.shape, look.cost, limits), look)


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
    room = min(limits.memory // limits.jobs // 3, USUAL)
    return Check(entry.name, size, Stretches(size, max(room, 1)), Kept(entry.name, given, made))


def _bytes(entry: Entry) -> Stored:
    stored = entry.stored
    size = stored.end - stored.data
    return Stored(stored.place, stored.handle, stored.data, BYTE, (size,))


def _first(checks: list[Check], jobs: int, progress: Callable[[Amount], None]) -> Fault | None:
    """The first fault, in the order of the file."""
    total, done = sum(each.size for each in checks), 0
    with ThreadPoolExecutor(jobs) as pool:
        for number, check in enumerate(checks, start=1):
            numbers: Iterator[int] = iter(range(check.cut.count))
            while some := list(islice(numbers, BATCH * jobs)):
                progress(Amount(check.name, number, len(checks), done, total))
                pieces = [check.cut.piece(each) for each in some]
                for fault in pool.map(check.look.differs, pieces):
                    if fault is not None:
                        return fault
                done += check.size * len(some) // check.cut.count
    progress(Amount("", len(checks), len(checks), total, total))
    return None
