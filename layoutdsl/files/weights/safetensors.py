"""Files of safetensors: eight bytes of length, a header in JSON, and the items without gaps.

Source: huggingface/safetensors, README, "Format"; the names of types from `tensor.rs` of 0.8.0.
``F4`` and ``F6_*`` lie side by side without room between them, and their shape counts elements.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from layoutdsl.files.npy import UnreadableError
from layoutdsl.files.weights.bounds import (
    AGAIN,
    MOST_HEADER,
    counted,
    cut_short,
    exactly,
    item_bits,
    refuse_size,
    refuse_wanted,
    rounded,
    shown,
    stored,
    unreadable,
    word_of,
)
from layoutdsl.files.weights.form import Arranged, Contents, Entry, Wanted, heads_of
from layoutdsl.files.weights.json_object import are_numbers, is_text, read_object

TYPES: Mapping[str, tuple[str | None, int]] = {
    "BOOL": ("bool", 8),
    "F4": (None, 4),
    "F6_E2M3": (None, 6),
    "F6_E3M2": (None, 6),
    "U8": ("u8", 8),
    "I8": ("i8", 8),
    "F8_E4M3": ("f8e4m3", 8),
    "F8_E5M2": ("f8e5m2", 8),
    "F8_E8M0": ("e8", 8),
    "F8_E4M3FNUZ": ("f8", 8),
    "F8_E5M2FNUZ": ("f8", 8),
    "I16": ("i16", 16),
    "U16": ("u16", 16),
    "F16": ("f16", 16),
    "BF16": ("bf16", 16),
    "I32": ("i32", 32),
    "U32": ("u32", 32),
    "F32": ("f32", 32),
    "C64": ("c64", 64),
    "F64": ("f64", 64),
    "I64": ("i64", 64),
    "U64": ("u64", 64),
}
"""Each word of the format: the element type, where items are elements, and the bits of one."""

_WORDS = {kind: word for word, (kind, _) in TYPES.items() if kind and kind != "f8"}
_METADATA, _KEY = "__metadata__", "layoutdsl"
_KEYS = {"dtype", "shape", "data_offsets"}
_ALIGNED = 8
_LENGTH = 8


class Safetensors:
    """The format of huggingface/safetensors."""

    name = "safetensors"
    suffixes: tuple[str, ...] = (".safetensors",)

    def read(self, place: Path, handle: int) -> Contents:
        """Return what an open file says; its items are not looked at.

        Raises:
            UnreadableError: it is no such file, or says what cannot be.
            OSError: it cannot be read.
        """
        size = os.fstat(handle).st_size
        if size < _LENGTH:
            raise unreadable(self.name, f"it has {size} bytes, and no length of a header")
        length = int.from_bytes(exactly(handle, 0, _LENGTH), "little")
        if length > MOST_HEADER:
            words = f"its header has {length} bytes, and {MOST_HEADER} are the most"
            raise unreadable(self.name, words)
        data = _LENGTH + length
        if data > size:
            raise cut_short(size, data)
        header = read_object(self.name, exactly(handle, _LENGTH, length), "its header")
        metadata = dict(_metadata(header.pop(_METADATA, {})))
        said = metadata.pop(_KEY, None)
        spans = {name: _span(name, each) for name, each in header.items()}
        _refuse_gaps(spans, size - data)
        entries = []
        for name, (start, end) in spans.items():
            native, shape = header[name]["dtype"], tuple(header[name]["shape"])
            kind = TYPES[native][0]
            items = stored((place, handle), data + start, kind, shape, end - start)
            entries.append(Entry(name, native, kind, shape, items))
        return Contents(self.name, tuple(entries), said, metadata)

    def arrange(self, given: Contents | None, wanted: Sequence[Wanted], said: str) -> Arranged:
        """Return how a file of these tensors looks: the widest items first, so all are aligned.

        Raises:
            ValueError: the format cannot hold one of them.
        """
        refuse_wanted(wanted)
        words = [word_of(each, TYPES, _word, self.name) for each in wanted]
        for each, word in zip(wanted, words, strict=True):
            if each.name == _METADATA:
                raise ValueError(f"`{_METADATA}` is no name of a tensor in safetensors")
            refuse_size(each, TYPES[word][1])
        place, offsets = 0, [0] * len(wanted)
        widest_first = sorted(range(len(wanted)), key=lambda each: -max(TYPES[words[each]][1], 8))
        for number in widest_first:
            offsets[number], place = place, place + wanted[number].size
        metadata = dict(given.rest) if given is not None and given.form == self.name else {}
        metadata |= {_KEY: said} if said else {}
        header: dict[str, Any] = {_METADATA: metadata} if metadata else {}
        for each, word, start in zip(wanted, words, offsets, strict=True):
            ends = [start, start + each.size]
            header[each.name] = {"dtype": word, "shape": each.shape, "data_offsets": ends}
        head = _written(header)
        starts = tuple(len(head) + offset for offset in offsets)
        heads = heads_of(wanted, words, starts)
        return Arranged(len(head) + place, ((0, head),), starts, heads)

    def type_of(self, kind: str) -> str:
        """Return the element type that items of a type are read as."""
        return TYPES[_word(kind)][0] or kind


def _word(kind: str) -> str:
    """The format's word for an element type; items of others are unsigned integers here."""
    return _WORDS.get(kind) or f"U{item_bits(kind)}"


def _written(header: dict[str, Any]) -> bytes:
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    text = text.ljust(rounded(len(text), _ALIGNED))
    if len(text) > MOST_HEADER:
        words = f"the header would have {len(text)} bytes, and {MOST_HEADER} are the most"
        raise ValueError(f"{words}; put the tensors into several files")
    return len(text).to_bytes(_LENGTH, "little") + text


def _metadata(found: Any) -> dict[str, str]:
    if not isinstance(found, dict) or not all(map(is_text, found.values())):
        raise unreadable("safetensors", f"its `{_METADATA}` are no texts by their names")
    return found


def _span(name: str, found: Any) -> tuple[int, int]:
    """Where a tensor lies among the items, where its size is what its shape and type say."""
    tensor = f"its header says of the tensor {shown(name)}"
    if not isinstance(found, dict) or found.keys() != _KEYS:
        raise unreadable(
            "safetensors", f"{tensor} more or less than `dtype`, `shape`, `data_offsets`"
        )
    shape, offsets, native = found["shape"], found["data_offsets"], found["dtype"]
    if not are_numbers(shape) or not are_numbers(offsets) or len(offsets) != 2:
        raise unreadable("safetensors", f"{tensor} a shape or offsets that are no numbers")
    if not isinstance(native, str) or native not in TYPES:
        word = native if isinstance(native, str) else "no text"
        known = f"{', '.join(TYPES)} are known"
        raise UnreadableError(f"has the tensor {shown(name)} of type {shown(word)}, and {known}")
    start, end = offsets
    bits = counted(shape, name) * TYPES[native][1]
    if 8 * (end - start) != bits:
        words = f"{tensor} {end - start} bytes, and its shape and type have {bits / 8:g}"
        raise unreadable("safetensors", words)
    return start, end


def _refuse_gaps(spans: Mapping[str, tuple[int, int]], size: int) -> None:
    """Fail where tensors do not fill the file one after the other, as the format demands."""
    place = 0
    for name, (start, end) in sorted(spans.items(), key=lambda each: each[1]):
        if start != place:
            words = "over another" if start < place else f"{start - place} bytes behind another"
            raise unreadable("safetensors", f"the tensor {shown(name)} lies {words}")
        place = end
    if place > size:
        raise UnreadableError(f"is cut short: {size} bytes of items of {place}; {AGAIN}")
    if place < size:
        raise UnreadableError(f"goes on behind its tensors, by {size - place} bytes; {AGAIN}")
