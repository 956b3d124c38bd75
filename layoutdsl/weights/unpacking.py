"""Weights unpacked by what the packed file says of itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod
from typing import cast

from layoutdsl.files.npy import UnreadableError
from layoutdsl.integers.value import evaluate
from layoutdsl.meaning.model import Layout
from layoutdsl.meaning.storage import STORAGES, StorageName
from layoutdsl.meaning.storage import stored as stored_in
from layoutdsl.pieces.cut import box, values_of
from layoutdsl.pieces.runs import Limits, Watchers
from layoutdsl.show.declaration import declaration
from layoutdsl.weights.bounds import item_bits, shown
from layoutdsl.weights.faults import reading
from layoutdsl.weights.form import Entry
from layoutdsl.weights.making import Making, make
from layoutdsl.weights.moved import Codes, Move, as_it_is, kept, refuse_size, restored, unpacked
from layoutdsl.weights.opened import Weights, opened_weights
from layoutdsl.weights.packing import Done, Place
from layoutdsl.weights.said import About, Said, read

Elaborate = Callable[[str], Layout]
"""From the text of a layout to what it means; raises `ValueError` where it is none."""


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
        back = _Back(about, layouts, weights.contents.form, target.form.name, codes)
        entries = weights.contents.entries
        moves = tuple(map(back.move, entries))
        making = Making(weights, target.path, target.form, moves, _nothing, "unpack weights")
        made = make(making, limits, watchers)
    count = sum(each.layout is not None for each in about.tensors.values())
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
        values = values_of(layout, extents)
        return evaluate(layout.start, values) + prod(box(layout, values))
    except (ValueError, ZeroDivisionError) as wrong:
        raise _nonsense(entry, wrong) from None


def refuse_wordless(
    entry: Entry, layouts: tuple[Layout, Layout], word: StorageName, shape: tuple[int, ...]
) -> None:
    """Fail where a tensor cannot be words of two layouts, or of the first not as many as there are.

    Raises:
        UnreadableError: names the tensor.
    """
    slots = [refuse_nonsense(entry, each, shape) for each in layouts]
    try:
        made, _ = (stored_in(each, word) for each in layouts)
    except ValueError as wrong:
        raise _nonsense(entry, wrong) from None
    bits = slots[0] * made.slot_bits
    if bits % 8 or STORAGES[word].bits != 8 * entry.stored.dtype.itemsize:
        raise _nonsense(entry, ValueError(f"they are no words of {word}"))
    refuse_size(entry, bits // 8, layouts[0], shape)


def _nonsense(entry: Entry, wrong: Exception) -> UnreadableError:
    words = f"says of {shown(entry.name)} what cannot be: {wrong}"
    return UnreadableError(f"{words}; pack it again")


def _nothing(*_: object) -> str:
    """What was unpacked says nothing of itself."""
    return ""


@dataclass(frozen=True, slots=True)
class _Back:
    """How tensors become what they were.

    Attributes:
        about: what the file says of them.
        layouts: by their hashes.
        form: of the file.
        target: the format of the result.
        codes: what runs.
    """

    about: About
    layouts: dict[str, Layout]
    form: str
    target: str
    codes: Codes

    def move(self, entry: Entry) -> Move:
        """Return how a tensor is moved; its type and word are those that it had, if it had any."""
        said = self.about.tensors[entry.name]
        if said.layout is None and self.form == self.target:
            return as_it_is(entry)
        if said.type and item_bits(said.type) != 8 * entry.stored.dtype.itemsize:
            words = f"says that {shown(entry.name)} was of {said.type}, and it is of {entry.native}"
            raise UnreadableError(f"{words}; pack it again")
        native = said.native if said.native and self.about.form == self.target else None
        found = self._moved(entry, said)
        return replace(found, type=said.type or entry.type, native=native)

    def _moved(self, entry: Entry, said: Said) -> Move:
        if said.layout is None:
            return kept(entry, self.codes)
        layout = self.layouts[said.layout]
        if said.words is not None:
            word = cast("StorageName", said.words.word)
            pair, shapes = (layout, self.layouts[said.words.layout]), (said.shape, said.original)
            refuse_wordless(entry, pair, word, said.shape)
            return restored(entry, pair, shapes, word, self.codes)
        slots = refuse_nonsense(entry, layout, said.shape)
        refuse_size(entry, slots * entry.stored.dtype.itemsize, layout, said.shape)
        return unpacked(entry, layout, said.shape, said.type, self.codes)
