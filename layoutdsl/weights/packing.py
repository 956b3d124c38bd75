"""Weights packed by rules, and unpacked by what the packed file says of itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import cast

from layoutdsl.files.npy import UnreadableError
from layoutdsl.integers.value import evaluate
from layoutdsl.meaning.model import Layout
from layoutdsl.meaning.rule import Rule
from layoutdsl.meaning.storage import StorageName
from layoutdsl.pieces.cut import box, values_of
from layoutdsl.pieces.queue import Queue
from layoutdsl.pieces.runs import Filled, Limits, Watchers
from layoutdsl.show.declaration import declaration
from layoutdsl.weights.bounds import shown
from layoutdsl.weights.chosen import Chosen, Unruled, chosen
from layoutdsl.weights.faults import Problem, UnfitError, reading
from layoutdsl.weights.form import Entry, Form, Wanted
from layoutdsl.weights.making import Making, make, stretches, written_sums
from layoutdsl.weights.moved import Codes, Move, kept, packed, restored, unpacked
from layoutdsl.weights.opened import Weights, opened_weights
from layoutdsl.weights.said import NOTHING, About, Said, Words, key_of, read, written

Elaborate = Callable[[str], Layout]
"""From the text of a layout to what it means; raises `ValueError` where it is none."""


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
        natives = [_native_kept(each, form, target.form) for each in tensors]
        moves = tuple(
            kept(each.entry, codes, native) if each.layout is None else packed(each, codes)
            for each, native in zip(tensors, natives, strict=True)
        )
        wanted = tuple(
            _wanted(each.entry, each.entry.type, native, move, each.layout)
            for each, native, move in zip(tensors, natives, moves, strict=True)
        )
        told = _Telling(form, tensors, moves)
        to = (target.path, target.form)
        making = Making(weights, to, wanted, moves, told.said, "pack weights")
        made = make(making, limits, watchers)
    count = sum(each.layout is not None for each in tensors)
    return Done(count, len(tensors) - count, made.pieces, made.found)


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
        about = about_of(weights)
        layouts = layouts_of(about, elaborate)
        entries, form = weights.contents.entries, weights.contents.form
        natives = [_native(each, about, form, target.form) for each in entries]
        moves = tuple(
            _unpacked(each, native, about, layouts, codes)
            for each, native in zip(entries, natives, strict=True)
        )
        wanted = tuple(
            _wanted(entry, _type(about, entry), native, move, _of(about, entry).layout)
            for entry, native, move in zip(entries, natives, moves, strict=True)
        )
        to = (target.path, target.form)
        making = Making(weights, to, wanted, moves, lambda *_: "", "unpack weights")
        made = make(making, limits, watchers)
    count = sum(_of(about, each).layout is not None for each in entries)
    return Done(count, len(entries) - count, made.pieces, made.found)


def about_of(weights: Weights) -> About:
    """Return what a packed file says of itself, which is something of each of its tensors.

    Raises:
        UnreadableError: it says nothing, or nothing that fits.
    """
    said = weights.contents.said
    if said is None:
        words = "says nothing under `layoutdsl`, so it was not packed by it"
        raise UnreadableError(f"{words}; `layoutdsl pack FILE --rules RULES -o OUT` packs it")
    about = read(said)
    names = {each.name for each in weights.contents.entries}
    if names != about.tensors.keys():
        first = min(names ^ about.tensors.keys())
        where = "holds" if first in names else "speaks under `layoutdsl` of"
        other = "it says nothing of it" if first in names else "it holds none"
        raise UnreadableError(f"{where} the tensor {shown(first)}, and {other}; pack it again")
    return about


def layouts_of(about: About, elaborate: Elaborate) -> dict[str, Layout]:
    """Return the layouts that a file speaks of, by their hashes; each is elaborated anew.

    Raises:
        UnreadableError: a text is no layout, or not the one that means what it says.
    """
    found: dict[str, Layout] = {}
    for key, text in about.layouts.items():
        try:
            layout = elaborate(text)
        except ValueError as wrong:
            first = str(wrong).splitlines()[0]
            raise UnreadableError(f"speaks of no layout: {shown(text)}: {first}") from None
        if layout.parameters or layout.domain or declaration(layout) != text:
            raise UnreadableError(f"speaks of {shown(text)}, which nobody packs by; pack it again")
        found[key] = layout
    return found


def refuse_nonsense(entry: Entry, layout: Layout, shape: tuple[int, ...]) -> int:
    """Return the slots of the buffer that a file says a tensor has.

    Raises:
        UnreadableError: the layout has no such shape.
    """
    extents = shape if layout.bit_of is None else (*shape, layout.bit_of.bits)
    try:
        if len(shape) != len(layout.tensor_axes):
            raise ValueError(f"`{layout.name}` is of another rank than {shape}")
        layout.bind([each or 1 for each in extents])
    except ValueError as wrong:
        words = f"says of {shown(entry.name)} what cannot be: {wrong}"
        raise UnreadableError(f"{words}; pack it again") from None
    values = values_of(layout, extents)
    return evaluate(layout.start, values) + prod(box(layout, values))


def _refuse_packed(weights: Weights) -> None:
    """What is packed already is not packed again: what it says of itself would be lost."""
    if weights.contents.said is not None:
        message = f"`{weights.place}` is packed already"
        remedy = f"`layoutdsl unpack {weights.place} -o OUT` first"
        raise UnfitError((Problem("file", message, remedy),))


def _wanted(
    entry: Entry, type_: str | None, native: str | None, move: Move, layout: object
) -> Wanted:
    """A tensor to be written; one that is kept in its format is what it was, byte for byte."""
    same = entry if layout is None and native is not None else None
    return Wanted(entry.name, type_, native, move.shape, move.size, same)


def _native_kept(tensor: Chosen, form: str, target: Form) -> str | None:
    """The format's own word for the type of a tensor that is kept in it."""
    is_same = tensor.layout is None and form == target.name
    return tensor.entry.native if is_same else None


def _native(entry: Entry, about: About, form: str, target: Form) -> str | None:
    """The format's own word for a type, where the tensor comes back to where it had that."""
    said = _of(about, entry)
    if form != target.name:
        return None
    if said.layout is None:
        return entry.native
    return said.native if about.form == form else None


def _of(about: About, entry: Entry) -> Said:
    return about.tensors[entry.name]


def _type(about: About, entry: Entry) -> str | None:
    """The type of a tensor before it was packed; a format may have had no word for it."""
    said = _of(about, entry)
    return said.type if said.layout is not None else entry.type


def _unpacked(
    entry: Entry, native: str | None, about: About, layouts: dict[str, Layout], codes: Codes
) -> Move:
    said = _of(about, entry)
    if said.layout is None:
        return kept(entry, codes, native)
    layout = layouts[said.layout]
    others = [] if said.words is None else [layouts[said.words.layout]]
    for each in (layout, *others):
        refuse_nonsense(entry, each, said.shape)
    if said.words is not None:
        pair = layout, layouts[said.words.layout]
        word = cast("StorageName", said.words.word)
        return restored(entry, pair, (said.shape, said.original), word, codes)
    return unpacked(entry, layout, said.shape, said.type, codes)


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
        return Said(pairs)
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
