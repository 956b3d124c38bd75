"""Files of GGUF: keys and values, what each tensor is, and the items, each at a multiple.

The reader of gguf-py is not used: it trusts counts (an array that claims 2**60 numbers behind the
end keeps it busy for ever), and maps the file, so that one cut short meanwhile ends the process.

GGUF knows neither unsigned integers nor more than four axes. Such a tensor is written as integers
of the same width, its first axes merged; what it is stands under a key of our own, and is read
again from there.

A file may have the most significant byte of every number first, keys, items and numbers within
blocks alike. What is made of it is written so too; blocks are kept as they are.

Source: ggml, docs/gguf.md, version 3; gguf-py 0.19.0.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

from layoutdsl.files.npy import UnreadableError
from layoutdsl.files.pieces.files import Stored
from layoutdsl.files.weights.bounds import (
    AGAIN,
    MOST_HEADER,
    counted,
    cut_short,
    item_bits,
    refuse_overlap,
    refuse_size,
    refuse_wanted,
    rounded,
    shown,
    stored,
    unreadable,
    word_of,
)
from layoutdsl.files.weights.form import Arranged, Contents, Entry, Wanted, heads_of
from layoutdsl.files.weights.gguf_header import (
    ENTRIES,
    MOST_AXES,
    SAID,
    Info,
    Keys,
    Order,
    read,
    written,
)
from layoutdsl.files.weights.gguf_types import BY_NUMBER, TYPES, WORDS
from layoutdsl.files.weights.json_object import are_numbers, read_object
from layoutdsl.language.meaning.elements import ELEMENT_TYPES


class Gguf:
    """The format of ggml and llama.cpp."""

    name = "gguf"
    suffixes: tuple[str, ...] = (".gguf",)

    def read(self, place: Path, handle: int) -> Contents:
        """Return what an open file says; its items are not looked at.

        Raises:
            UnreadableError: it is no such file, or says what cannot be.
            OSError: it cannot be read.
        """
        size = os.fstat(handle).st_size
        header = read(handle, min(size, MOST_HEADER))
        data, alignment = rounded(header.end, header.keys.alignment), header.keys.alignment
        found = dict[str, Entry]()
        for info in header.infos:
            if info.name in found:
                raise unreadable(self.name, f"two tensors are called {shown(info.name)}")
            one = _entry(info, (place, handle), data, size, alignment)
            found[info.name] = replace(one, stored=_ordered(one.stored, header.keys.order))
        refuse_overlap(
            self.name, [(name, each.stored.data, each.stored.end) for name, each in found.items()]
        )
        entries = tuple(_retyped(found, header.own.get(ENTRIES, b"{}")).values())
        said = _text(header.own[SAID]) if SAID in header.own else None
        return Contents(self.name, entries, said, header.keys, order=header.keys.order)

    def arrange(self, given: Contents | None, wanted: Sequence[Wanted], said: str) -> Arranged:
        """Return how a file of these tensors looks.

        Raises:
            ValueError: the format cannot hold one of them.
        """
        refuse_wanted(wanted)
        keys = given.rest if given is not None and given.form == self.name else Keys()
        place, infos, retyped = 0, list[Info](), dict[str, object]()
        natives = [word_of(each, TYPES, _word, self.name) for each in wanted]
        for each, word in zip(wanted, natives, strict=True):
            found, shape = TYPES[word], _merged(each.shape)
            refuse_size(each, 8 * found.size, found.elements)
            row = each.shape[-1] if each.shape else 1
            if row % found.elements:
                words = f"{shown(each.name)} has rows of {row}"
                raise ValueError(f"{words}, and {word} has blocks of {found.elements}")
            if found.kind is not None and (each.type, each.shape) != (found.kind, shape):
                retyped[each.name] = {"type": each.type or found.kind, "shape": each.shape}
            infos.append(Info(each.name, shape, found.number, place))
            place = rounded(place + each.size, keys.alignment)
        own = {SAID: said} if said else {}
        own |= {ENTRIES: json.dumps(retyped, ensure_ascii=False)} if retyped else {}
        head = written(keys, own, infos)
        if len(head) > MOST_HEADER:
            words = f"the header would have {len(head)} bytes, and {MOST_HEADER} are the most"
            raise ValueError(f"{words}; put the tensors into several files")
        data = rounded(len(head), keys.alignment)
        starts = tuple(data + info.offset for info in infos)
        return Arranged(data + place, ((0, head),), starts, heads_of(wanted, natives, starts))

    def type_of(self, kind: str) -> str:
        """Return the element type that items of a type are read as: our own key keeps it."""
        return kind


def _word(kind: str) -> str:
    return WORDS.get(kind) or f"I{item_bits(kind)}"


def _merged(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape with as many of its first axes merged as make it one of one to four axes.

    Readers differ on tensors without an axis: gguf-py fails on those of ``BF16``.
    """
    more = max(len(shape) - MOST_AXES, 0)
    return (prod(shape[: more + 1]), *shape[more + 1 :])


def _entry(info: Info, file: tuple[Path, int], data: int, whole: int, alignment: int) -> Entry:
    """A tensor, where its items lie in the file and have room there."""
    name, word = info.name, BY_NUMBER.get(info.type)
    if word is None:
        words = f"of the type {info.type}, which this version of ours does not know"
        raise UnreadableError(f"has the tensor {shown(name)} {words}; convert it to another")
    found, elements = TYPES[word], counted(info.shape, name)
    if found.elements > 1 and (not info.shape or info.shape[-1] % found.elements):
        words = f"the rows of {shown(name)} are no whole blocks of {found.elements} of {word}"
        raise unreadable("gguf", words)
    if info.offset % alignment:
        raise unreadable("gguf", f"{shown(name)} does not lie at a multiple of {alignment}")
    size, start = elements // found.elements * found.size, data + info.offset
    if start + size > whole and size:
        raise cut_short(whole, start + size)
    items = stored(file, start, found.kind, info.shape, size)
    return Entry(name, word, found.kind, info.shape, items)


def _ordered(items: Stored, order: Order) -> Stored:
    return replace(items, dtype=items.dtype.newbyteorder(order))


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise unreadable("gguf", f"what it says under `{SAID}` is no UTF-8") from None


def _retyped(found: dict[str, Entry], said: bytes) -> dict[str, Entry]:
    """The tensors as what they are, where our own key says more than GGUF can."""
    for name, what in read_object("gguf", said, f"`{ENTRIES}`").items():
        one = found.get(name)
        kind, shape = _type_and_shape(what)
        fits = item_bits(kind) == item_bits(one.type) if one is not None and one.type else False
        if one is None or not fits or counted(shape, name) != prod(one.shape):
            words = f"`{ENTRIES}` says of {shown(name)} what does not fit"
            raise UnreadableError(f"is not as it was written: {words}; {AGAIN}")
        items = replace(one.stored, shape=shape)
        found[name] = replace(one, type=kind, shape=shape, stored=items)
    return found


def _type_and_shape(found: Any) -> tuple[str, tuple[int, ...]]:
    """What our own key says of a tensor."""
    if isinstance(found, dict):
        kind, shape = found.get("type"), found.get("shape")
        if isinstance(kind, str) and kind in ELEMENT_TYPES and are_numbers(shape):
            return kind, tuple(shape)
    raise unreadable("gguf", f"`{ENTRIES}` names no type and shape")
