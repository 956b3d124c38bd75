"""What the header of a GGUF file says: its keys, and what each tensor is.

Keys of others are kept as they stand; what is under them is passed over, each value by its bytes.

Source: ggml, docs/gguf.md, version 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from struct import pack
from typing import Literal

from layoutdsl.files.weights.bounds import exactly, shown, unreadable
from layoutdsl.files.weights.cursor import Cursor

_MAGIC, _VERSION, _VERSIONS = b"GGUF", 3, (2, 3)
ALIGNMENT, SAID, ENTRIES = "general.alignment", "layoutdsl", "layoutdsl.entries"
_ALIGNED, _MOST_ALIGNED = 32, 65536
MOST_AXES = 4
_MOST_COUNT = 1 << 18
"""Keys, and tensors: large models have some thousands."""

Order = Literal["<", ">"]

_WIDTHS = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_U32, _TEXT, _ARRAY = 4, 8, 9
"""Types of values: of each the bytes; texts and arrays say how many they have."""


@dataclass(frozen=True, slots=True)
class Keys:
    """What a file says besides tensors.

    Attributes:
        pairs: keys with their values, but for ours, as they stand in the file.
        count: how many.
        alignment: bytes; tensors lie at multiples of it.
        order: of the bytes of numbers and items: ``<``, the least significant first, or ``>``.
    """

    pairs: bytes = b""
    count: int = 0
    alignment: int = _ALIGNED
    order: Order = "<"


@dataclass(frozen=True, slots=True)
class Info:
    """What a header says of a tensor: its place counts from where items begin."""

    name: str
    shape: tuple[int, ...]
    type: int
    offset: int


@dataclass(frozen=True, slots=True)
class Header:
    """All that a file says before its items.

    Attributes:
        keys: of others.
        own: what stands under ours.
        infos: the tensors.
        end: the byte behind it.
    """

    keys: Keys
    own: Mapping[str, bytes]
    infos: tuple[Info, ...]
    end: int


def read(handle: int, end: int) -> Header:
    """Return what an open file says.

    Args:
        handle: of the file.
        end: the byte that a header must not go beyond.

    Raises:
        UnreadableError: it is no such file.
        OSError: it cannot be read.
    """
    cursor = Cursor(handle, 0, end)
    tensors, pairs = _counts(cursor)
    keys, own = _keys(cursor, handle, pairs)
    infos = tuple(_info(cursor) for _ in range(tensors))
    return Header(keys, own, infos, cursor.place)


def written(keys: Keys, own: Mapping[str, str], infos: Sequence[Info]) -> bytes:
    """Return the header that says this, without what fills it up to the items."""
    order = keys.order
    kind = pack(f"{order}I", _TEXT)
    texts = [_spelled(key, order) + kind + _spelled(text, order) for key, text in own.items()]
    counts = pack(f"{order}IQQ", _VERSION, len(infos), keys.count + len(texts))
    tensors = [
        _spelled(info.name, order)
        + pack(f"{order}I{len(info.shape)}Q", len(info.shape), *info.shape[::-1])
        + pack(f"{order}IQ", info.type, info.offset)
        for info in infos
    ]
    return b"".join((_MAGIC, counts, keys.pairs, *texts, *tensors))


def _spelled(text: str, order: Order) -> bytes:
    data = text.encode("utf-8")
    return pack(f"{order}Q", len(data)) + data


def _counts(cursor: Cursor) -> tuple[int, int]:
    """How many tensors and keys a file has."""
    if cursor.end < 24 or cursor.take(4) != _MAGIC:
        raise unreadable("gguf", "it does not start as one")
    version = cursor.number(4)
    if not version & 0xFFFF:  # versions are small: it is the other way round
        cursor.most_first, version = True, int.from_bytes(version.to_bytes(4, "little"), "big")
    if version not in _VERSIONS:
        raise unreadable("gguf", f"it is of version {version}, and 2 and 3 are known")
    tensors, pairs = cursor.number(8), cursor.number(8)
    if max(tensors, pairs) > _MOST_COUNT:
        words = f"it claims {tensors} tensors and {pairs} keys, and {_MOST_COUNT} are the most"
        raise unreadable("gguf", words)
    return tensors, pairs


def _keys(cursor: Cursor, handle: int, count: int) -> tuple[Keys, Mapping[str, bytes]]:
    """What stands under the keys of others, and under ours."""
    seen, own, kept, alignment = set[str](), dict[str, bytes](), bytearray(), _ALIGNED
    for _ in range(count):
        start = cursor.place
        key = _name(cursor, "a key")
        if key in seen:
            raise unreadable("gguf", f"it says {shown(key)} twice")
        seen.add(key)
        kind = cursor.number(4)
        if key in (SAID, ENTRIES):
            if kind != _TEXT:
                raise unreadable("gguf", f"what it says under {shown(key)} is no text")
            own[key] = cursor.take(cursor.number(8))
            continue
        if key == ALIGNMENT:
            alignment = _alignment(kind, cursor)
        else:
            _skip_value(cursor, kind, key)
        kept += exactly(handle, start, cursor.place - start)
    order: Order = ">" if cursor.most_first else "<"
    return Keys(bytes(kept), count - len(own), alignment, order), own


def _alignment(kind: int, cursor: Cursor) -> int:
    found = cursor.number(4) if kind == _U32 else 0
    if not 0 < found <= _MOST_ALIGNED or found & (found - 1):
        words = f"its `{ALIGNMENT}` is no power of two up to {_MOST_ALIGNED}"
        raise unreadable("gguf", words)
    return found


def _skip_value(cursor: Cursor, kind: int, key: str) -> None:
    count = 1
    if kind == _ARRAY:
        kind, count = cursor.number(4), cursor.number(8)
    if kind == _TEXT:
        cursor.skip_texts(count, 8)
    elif kind in _WIDTHS:
        cursor.skip(count * _WIDTHS[kind])
    else:
        raise unreadable("gguf", f"its value of {shown(key)} is of no known type ({kind})")


def _name(cursor: Cursor, what: str) -> str:
    try:
        return cursor.take(cursor.number(8)).decode("utf-8")
    except UnicodeDecodeError:
        raise unreadable("gguf", f"the name of {what} is no UTF-8") from None


def _info(cursor: Cursor) -> Info:
    name = _name(cursor, "a tensor")
    rank = cursor.number(4)
    if rank > MOST_AXES:
        words = f"{shown(name)} is of rank {rank}, and {MOST_AXES} axes are the most"
        raise unreadable("gguf", words)
    dims = tuple(cursor.number(8) for _ in range(rank))
    return Info(name, dims[::-1], cursor.number(4), cursor.number(8))
