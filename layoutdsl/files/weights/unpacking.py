"""Weights unpacked by what the packed file says of itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

from layoutdsl.files.npy import UnreadableError
from layoutdsl.files.pieces.runs import Limits, Tell, Watchers
from layoutdsl.files.weights.bounds import item_bits, shown
from layoutdsl.files.weights.faults import reading
from layoutdsl.files.weights.form import Entry
from layoutdsl.files.weights.held import (
    Elaborate,
    Held,
    account_of,
    refuse_bitless,
    refuse_nonsense,
    refuse_wordless,
    stored_before,
    values_of,
)
from layoutdsl.files.weights.making import Making, make
from layoutdsl.files.weights.moved import (
    Codes,
    Move,
    as_it_is,
    kept,
    refuse_size,
    restored,
    unpacked,
    whole_again,
)
from layoutdsl.files.weights.opened import Weights, opened_weights
from layoutdsl.files.weights.packing import Done, Place
from layoutdsl.files.weights.said import About, Said
from layoutdsl.files.weights.scattering import Tensor, scattering
from layoutdsl.language.meaning.storage import StorageName


def unpack_weights(
    source: Place,
    target: Place,
    elaborate: Elaborate,
    codes: Codes,
    limits: Limits,
    watchers: Watchers,
) -> Done:
    """Unpack the tensors of a file that layoutdsl has packed, by what it says of itself.

    It raises what `pack_weights` does.

    Args:
        source: what is read.
        target: is written whole or not at all.
        elaborate: what layouts mean.
        codes: what runs.
        limits: memory and jobs.
        watchers: who is told.
    """
    with opened_weights(source.path, source.form) as weights, reading(source.path):
        making = making_unpacked(weights, target, elaborate, codes, watchers.tell)
        weights.contents.look()
        made = make(making, limits, watchers)
    return Done(making.moved, len(making.moves) - making.moved, made.pieces, made.found)


def making_unpacked(
    weights: Weights,
    target: Place,
    elaborate: Elaborate,
    codes: Codes,
    tell: Tell = lambda _: None,
) -> Making:
    """Return what is made where tensors are unpacked by what their file says of itself.

    Args:
        weights: the packed file, open.
        target: what is made.
        elaborate: what layouts mean.
        codes: what runs.
        tell: is told where the order of the original file is unknown.

    Raises:
        UnreadableError: it says nothing, or nothing that fits.
    """
    about, held = account_of(weights, elaborate)
    back = _Back(about, held, weights.contents.form, target.form.name, codes)
    moves = tuple(move for each in weights.contents.entries for move in back.moves(each))
    if about.check is None and held.records:
        tell("the file does not say in which order its tensors were: layoutdsl 0.1.0 packed it")
    if about.order:
        moves = tuple(move for _, move in sorted(zip(about.order, moves, strict=True), key=_first))
    kept_ = sum(not each.is_packed for each in about.tensors.values())
    count = len(moves) - kept_
    return Making(weights, target.path, target.form, moves, _nothing, "unpack weights", count)


def _first(pair: tuple[int, Move]) -> int:
    return pair[0]


def _nothing(*_: object) -> None:
    """An unpacked file gets no account."""


@dataclass(frozen=True, slots=True)
class _Back:
    """How tensors become what they were.

    Attributes:
        about: what the file says of them.
        held: the layouts and records that it speaks of.
        form: of the file.
        target: the format of the result.
        codes: what runs.
    """

    about: About
    held: Held
    form: str
    target: str
    codes: Codes

    def moves(self, entry: Entry) -> list[Move]:
        """Return how a tensor is moved; types and words are those that it had, if it had any."""
        said = self.about.tensors[entry.name]
        if said.fields is None:
            return [self._move(entry, said)]
        record, sources = self.held.records[said.fields.record], said.fields.sources
        values = values_of(entry, record, said.fields, self.held)
        tensors = [Tensor(s.name, s.shape, stored_before(s, self.held)) for s in sources]
        moves = scattering(entry, record, values, tensors, self.codes)
        same = self.about.form == self.target
        return [
            replace(move, type=each.type, native=each.native if same else None)
            for move, each in zip(moves, sources, strict=True)
        ]

    def _move(self, entry: Entry, said: Said) -> Move:
        if said.layout is None and self.form == self.target:
            return as_it_is(entry)
        layout = None if said.layout is None else self.held.layouts[said.layout]
        in_bits = layout is not None and layout.bit_of is not None and said.words is None
        held = "u8" if in_bits else said.type
        if held and item_bits(held) != 8 * entry.stored.dtype.itemsize:
            words = f"says that {shown(entry.name)} was of {said.type}, and it is of {entry.native}"
            raise UnreadableError(f"{words}; pack it again")
        native = said.native if said.native and self.about.form == self.target else None
        found = self._moved(entry, said)
        return replace(found, type=said.type or entry.type, native=native)

    def _moved(self, entry: Entry, said: Said) -> Move:
        if said.layout is None:
            return kept(entry, self.codes)
        layout = self.held.layouts[said.layout]
        if said.words is not None:
            word = cast("StorageName", said.words.word)
            pair, shapes = (
                (layout, self.held.layouts[said.words.layout]),
                (said.shape, said.original),
            )
            refuse_wordless(entry, (layout.first_copy, pair[1]), word, said.shape)
            return restored(entry, pair, shapes, word, self.codes)
        if layout.bit_of is not None:
            refuse_bitless(entry, layout.first_copy, said)
            return whole_again(entry, layout, said.shape, said.type, self.codes)
        slots = refuse_nonsense(entry, layout.first_copy, said.shape)
        refuse_size(entry, slots * entry.stored.dtype.itemsize, layout, said.shape)
        return unpacked(entry, layout, said.shape, said.type, self.codes)
