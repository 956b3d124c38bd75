"""What a packed file speaks of: elaborated anew, and held against its tensors."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass
from math import prod
from typing import cast

from layoutdsl.files.npy import UnreadableError
from layoutdsl.files.pieces.cut import box
from layoutdsl.files.pieces.cut import values_of as values_at
from layoutdsl.files.pieces.every_copy import copies_last, shape_with_copies
from layoutdsl.files.weights.bounds import shown
from layoutdsl.files.weights.form import Entry
from layoutdsl.files.weights.groups import unlike
from layoutdsl.files.weights.moved import refuse_size
from layoutdsl.files.weights.opened import Weights
from layoutdsl.files.weights.said import About, Fields, Said, Source, check_of, read
from layoutdsl.language.declaration import declaration, record_declaration
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.bands import values_of_fields
from layoutdsl.language.meaning.elements import ELEMENT_TYPES
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.record import Field, Record
from layoutdsl.language.meaning.rule import FromWords
from layoutdsl.language.meaning.storage import STORAGES, StorageName
from layoutdsl.language.meaning.storage import stored as stored_in

Elaborate = Callable[[str], Layout | Record]
"""From the text of a layout or record to what it means; raises `ValueError` where it is none."""


def about_of(weights: Weights) -> About:
    """Return what a packed file says of itself, which is something of each of its tensors.

    Raises:
        UnreadableError: it says nothing, or nothing that fits.
    """
    said = weights.contents.said
    if said is None:
        words = "says nothing under `layoutdsl`, so it was not packed by it"
        raise UnreadableError(f"{words}; `layoutdsl pack FILE --rules RULES -o OUT` packs it")
    about, contents = read(said), weights.contents
    names = {each.name for each in weights.contents.entries}
    if names != about.tensors.keys():
        first = min(names ^ about.tensors.keys())
        where = "holds" if first in names else "speaks under `layoutdsl` of"
        other = "it says nothing of it" if first in names else "it holds none"
        raise UnreadableError(f"{where} the tensor {shown(first)}, and {other}; pack it again")
    heads = [each.head for each in contents.entries]
    if about.check is not None and about.check != check_of(about, contents.order, heads):
        words = "has changed since it was packed, in its header or in its account under `layoutdsl`"
        raise UnreadableError(f"{words}; restore it from a copy, or pack it again")
    return about


def account_of(weights: Weights, elaborate: Elaborate) -> tuple[About, Held]:
    """Return the account of a packed file, and the layouts and records that it speaks of.

    The account is compared with the header of the file: names, types and shapes. That a checksum
    fits is not enough: files of layoutdsl 0.1.0 have none, and somebody may have written it anew.

    Raises:
        UnreadableError: there is no account, or header and account do not fit one another.
    """
    about = about_of(weights)
    held = held_by(about, elaborate)
    for each in weights.contents.entries:
        _refuse_unlike(each, about, held, weights)
    return about, held


def _refuse_unlike(entry: Entry, about: About, held: Held, weights: Weights) -> None:
    """Fail where the header says another type or shape of a tensor than the account does."""
    said, form = about.tensors[entry.name], weights.form
    layout = None if said.layout is None else held.layouts[said.layout]
    expected: str | None
    if said.fields is not None:
        expected = None if entry.type is None else form.type_of("u8")
    elif not said.type:
        expected = None
    elif layout is None and about.form == form.name:
        expected = said.type if entry.native == said.native else said.native
    else:
        in_bits = layout is not None and layout.bit_of is not None and said.words is None
        expected = form.type_of("u8" if in_bits else said.type)
    if entry.type != expected:
        words = f"says that {shown(entry.name)} is of {entry.native}"
        was = f"its account under `layoutdsl` makes it {expected or 'blocks'}"
        raise UnreadableError(f"{words}, and {was}; pack it again")
    if layout is None or said.words is not None or layout.bit_of is not None:
        return
    refuse_nonsense(entry, layout.first_copy, said.shape)
    if form.name == "raw" or 0 in said.shape:
        return
    box = copies_last(layout).physical_shape(shape_with_copies(layout, said.shape))
    if tuple(box) != entry.shape:
        words = f"holds {shown(entry.name)} of shape {entry.shape}"
        made = f"`{layout.name}` makes {tuple(box)} of {said.shape}"
        raise UnreadableError(f"{words}, and {made}; pack it again")


@dataclass(frozen=True, slots=True)
class Held:
    """What a file speaks of, by their hashes."""

    layouts: dict[str, Layout]
    records: dict[str, Record]


def held_by(about: About, elaborate: Elaborate) -> Held:
    """Return the layouts and records that a file speaks of; each is elaborated anew.

    Raises:
        UnreadableError: a text is none, or not the one that means what it says.
    """
    held = Held({}, {})
    for key, text in about.layouts.items():
        try:
            found = elaborate(text)
        except ValueError as wrong:
            first = str(wrong).splitlines()[0]
            raise UnreadableError(f"speaks of no layout: {shown(text)}: {first}") from None
        if not _is_said(found, text):
            raise UnreadableError(f"speaks of {shown(text)}, which nobody packs by; pack it again")
        match found:
            case Record():
                held.records[key] = found
            case Layout():
                held.layouts[key] = found
    known: list[tuple[str | None, Container[str]]]
    for name, each in about.tensors.items():
        one, other = each.layout, each.words.layout if each.words else None
        record = each.fields.record if each.fields else None
        known = [(one, held.layouts), (other, held.layouts), (record, held.records)]
        sources = each.fields.sources if each.fields else ()
        known += [(s.words.layout, held.layouts) for s in sources if s.words is not None]
        if any(key is not None and key not in some for key, some in known):
            words = f"says under `layoutdsl` what makes no sense of the tensor {shown(name)}"
            raise UnreadableError(f"{words}; pack it again")
    return held


def _is_said(found: Layout | Record, text: str) -> bool:
    """Whether a text is how we write what it means, and is for all tensors of a shape."""
    if isinstance(found, Record):
        return not found.parameters and record_declaration(found) == text
    return not (found.parameters or found.domain) and declaration(found) == text


def stored_before(source: Source, held: Held) -> FromWords | None:
    """Return how the tensor of a field was packed before it became one, where it was."""
    if source.words is None:
        return None
    word = cast("StorageName", source.words.word)
    return FromWords(word, held.layouts[source.words.layout])


def values_of(entry: Entry, record: Record, fields: Fields, held: Held) -> dict[str, int]:
    """Return the extents of a record that a tensor is said to be.

    Raises:
        UnreadableError: its fields do not make it, or it has other bytes.
    """
    if len(fields.sources) != len(record.fields):
        raise _nonsense(entry, ValueError(f"`{record.name}` has {len(record.fields)} fields"))
    pairs = list(zip(record.fields, fields.sources, strict=True))
    for field, source in pairs:
        stored = stored_before(source, held)
        why = unlike(field, source.type, source.native, stored)
        if why is not None:
            raise _nonsense(entry, ValueError(f"{shown(source.name)} {why}"))
        if stored is not None:
            _refuse_words(entry, field, source, stored)
    try:
        values = values_of_fields(record, {field.name: s.field_shape for field, s in pairs})
        bits = record.size_bits_at(values)
    except (ValueError, ZeroDivisionError) as wrong:
        raise _nonsense(entry, wrong) from None
    size = entry.stored.end - entry.stored.data
    if bits != 8 * size:
        words = f"{shown(entry.name)} in {size} bytes, and `{record.name}` has {bits / 8:g}"
        raise UnreadableError(f"holds {words}; pack it again")
    return values


def _refuse_words(entry: Entry, field: Field, source: Source, stored: FromWords) -> None:
    """Fail where words cannot be those of a field."""
    layout = stored.layout
    if layout.copies or layout.tensor_element != field.element:
        wrong = f"`{layout.name}` is not of {field.element.name}"
        raise _nonsense(entry, ValueError(wrong))
    slots = refuse_nonsense(entry, layout, source.elements)
    try:
        bits = slots * stored_in(layout, stored.word).slot_bits
    except ValueError as wrong_:
        raise _nonsense(entry, wrong_) from None
    if bits != prod(source.shape) * STORAGES[stored.word].bits:
        words = f"{source.shape} are no {stored.word} words of `{layout.name}`"
        raise _nonsense(entry, ValueError(f"{words} of {source.elements}"))


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
        values = values_at(layout, extents)
        return evaluate(layout.start, values) + prod(box(layout, values))
    except (ValueError, ZeroDivisionError) as wrong:
        raise _nonsense(entry, wrong) from None


def refuse_bitless(entry: Entry, layout: Layout, said: Said) -> None:
    """Fail where bytes are not the bits of as many elements as a file says.

    Raises:
        UnreadableError: names the tensor.
    """
    slots = refuse_nonsense(entry, layout, said.shape)
    refuse_size(entry, -(-slots // 8), layout, said.shape)
    wanted, element = layout.tensor_element, ELEMENT_TYPES[said.type]
    if wanted is None or wanted.item != element.item:
        raise _nonsense(entry, ValueError(f"`{layout.name}` is not of {said.type}"))


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
