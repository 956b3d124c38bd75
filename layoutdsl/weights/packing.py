"""Weights packed by rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from layoutdsl.meaning.model import Layout
from layoutdsl.meaning.rule import Rule
from layoutdsl.pieces.queue import Queue
from layoutdsl.pieces.runs import Filled, Limits, Watchers
from layoutdsl.show.declaration import declaration
from layoutdsl.weights.chosen import Chosen, Unruled, chosen
from layoutdsl.weights.faults import Problem, UnfitError
from layoutdsl.weights.form import Form
from layoutdsl.weights.making import Making, make, stretches, written_sums
from layoutdsl.weights.moved import Codes, Move, as_it_is, kept, packed
from layoutdsl.weights.opened import Weights, opened_weights
from layoutdsl.weights.said import NOTHING, About, Said, Words, key_of, written


@dataclass(frozen=True, slots=True)
class Place:
    """A file that is named, and its format."""

    path: Path
    form: Form


@dataclass(frozen=True, slots=True)
class Done:
    """What was done: how many tensors were moved and kept, in how many pieces, how many found."""

    moved: int
    kept: int
    pieces: int
    found: int


def pack_weights(
    source: Place,
    target: Place,
    rules: Sequence[Rule],
    unruled: Unruled,
    codes: Codes,
    limits: Limits,
    watchers: Watchers,
) -> Done:
    """Pack the tensors of a file by rules.

    Args:
        source: what is read.
        target: is written whole or not at all.
        rules: the first that fits a name holds.
        unruled: what becomes of a tensor without a rule.
        codes: what runs.
        limits: memory and jobs.
        watchers: who is told.

    Raises:
        UnfitError: rules, tensors or files do not fit; with all that does not.
        TooLittleError: the memory is too small.
        OccupiedError: the output is in use, is not ours, or is the source.
        OSError: a file cannot be read or written; its name is in it.
    """
    with opened_weights(source.path, source.form) as weights:
        _refuse_packed(weights)
        tensors = chosen(weights.contents.entries, rules, unruled)
        form = weights.contents.form
        moves = tuple(_move(each, form, target.form.name, codes) for each in tensors)
        told = _Telling(form, tensors, moves)
        making = Making(weights, target.path, target.form, moves, told.said, "pack weights")
        made = make(making, limits, watchers)
    count = sum(each.layout is not None for each in tensors)
    return Done(count, len(tensors) - count, made.pieces, made.found)


def _refuse_packed(weights: Weights) -> None:
    """What is packed already is not packed again: what it says of itself would be lost."""
    if weights.contents.said is not None:
        message = f"`{weights.place}` is packed already"
        remedy = f"`layoutdsl unpack {weights.place} -o OUT` first"
        raise UnfitError((Problem("file", message, remedy),))


def _move(tensor: Chosen, form: str, target: str, codes: Codes) -> Move:
    if tensor.layout is not None:
        return packed(tensor, codes)
    return as_it_is(tensor.entry) if form == target else kept(tensor.entry, codes)


@dataclass(frozen=True, slots=True)
class _Telling:
    """What a packed file says of its tensors."""

    form: str
    tensors: tuple[Chosen, ...]
    moves: tuple[Move, ...]

    def said(self, queue: Queue, filled: Filled | None) -> str:
        """Return the text, with the checksums where all is moved."""
        layouts: dict[str, str] = {}
        tensors: dict[str, Said] = {}
        for number, (each, move) in enumerate(zip(self.tensors, self.moves, strict=True)):
            sizes = stretches(move, queue, number)
            sums = (NOTHING,) * len(sizes) if filled is None else written_sums(filled, number)
            pairs = tuple(zip(sizes, sums, strict=True))
            tensors[each.entry.name] = _said(each, pairs, layouts)
        token = NOTHING if filled is None else filled.token
        return written(About(token, self.form, layouts, tensors))


def _said(each: Chosen, pairs: tuple[tuple[int, str], ...], layouts: dict[str, str]) -> Said:
    entry = each.entry
    if each.layout is None or entry.type is None:
        return Said(pairs, type=entry.type or "", native=entry.native)
    key = _noted(each.layout, layouts)
    if each.stored is None:
        return Said(pairs, key, each.shape, entry.type, entry.native)
    words = Words(each.stored.word, _noted(each.stored.layout, layouts))
    return Said(pairs, key, each.shape, entry.type, entry.native, words, entry.shape)


def _noted(layout: Layout, layouts: dict[str, str]) -> str:
    text = declaration(layout)
    key = key_of(text)
    layouts[key] = text
    return key
