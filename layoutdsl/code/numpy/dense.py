"""Carried by modules that store elements without room between them: items to bytes, and back.

A bit of an element lies at ``bits*offset + bit``, byte by byte, the lowest bit first, and words are
little-endian. Nothing here knows of layouts: a buffer of items, one element each, goes in and comes
out, and what is proved of it holds of the bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np
from numpy.typing import NDArray

from layoutdsl.code.numpy.support import _Array, _array, _boxed, _destination, _travels, _within

# --------------------------------------------------------------------------------------------------

_Stored = tuple[int, str, int, int, bool, int, str, bool, bool]


def _dense(items: _Array, bits: int) -> NDArray[np.uint8]:
    """Return the bytes of elements of so many bits, the first in the lowest bits."""
    if bits == 8 * items.dtype.itemsize:
        little = items.dtype.newbyteorder("<")
        return np.ascontiguousarray(items, little).reshape(-1).view("u1")
    if bits > 8:
        return np.packbits(_bits_of(items, bits), bitorder="little")
    flat = np.ascontiguousarray(items).reshape(-1).view("u1")
    if bits == 1:
        return np.packbits(flat, bitorder="little")
    size = -(-len(flat) * bits // 8)
    if len(flat) % 8:
        whole = np.zeros(len(flat) + -len(flat) % 8, "u1")
        whole[: len(flat)] = flat
        flat = whole
    if bits == 4:
        pairs = flat.view("<u2") & 0x0F0F
        return (pairs | pairs >> 4).astype("u1")[:size]
    if bits == 2:
        fours = flat.view("<u4") & 0x03030303
        fours = fours | fours >> 6
        return (fours | fours >> 12).astype("u1")[:size]
    eights, mask = flat.view("<u8"), np.uint64(2**bits - 1)
    words = eights & mask
    for place in range(1, 8):
        words = words | (eights >> np.uint64(8 * place) & mask) << np.uint64(bits * place)
    return words.view("u1").reshape(-1, 8)[:, :bits].reshape(-1)[:size]


def _opened(packed: NDArray[np.uint8], bits: int, count: int, kind: str) -> _Array:
    """Return so many elements out of bytes, as items of a type such as ``i1`` or ``f2``."""
    if bits == 8 * np.dtype(kind).itemsize:
        found = packed.view(np.dtype(kind).newbyteorder("<"))[:count]
        return found.astype(kind, copy=False)
    if bits > 8:
        single = np.unpackbits(packed, count=count * bits, bitorder="little")
        return _of_bits(single.reshape(count, bits), bits, kind)
    if bits == 1:
        items = np.unpackbits(packed, count=count, bitorder="little")
    elif bits == 4:
        pairs = packed.astype("<u2")
        items = ((pairs | pairs << 4) & 0x0F0F).view("u1")[:count]
    elif bits == 2:
        fours = packed.astype("<u4")
        fours = fours | fours << 12
        items = ((fours | fours << 6) & 0x03030303).view("u1")[:count]
    else:
        groups = np.zeros((-(-len(packed) // bits), 8), "u1")
        whole = np.zeros(len(groups) * bits, "u1")
        whole[: len(packed)] = packed
        groups[:, :bits] = whole.reshape(-1, bits)
        words, mask = groups.reshape(-1).view("<u8"), np.uint64(2**bits - 1)
        eights = words & mask
        for place in range(1, 8):
            moved = (words >> np.uint64(bits * place) & mask) << np.uint64(8 * place)
            eights = eights | moved
        items = eights.view("u1")[:count]
    if kind == "i1":
        half = 2 ** (bits - 1)
        items = (items ^ half) - half & 0xFF
    return items.astype("u1", copy=False).view(kind)


def _words_shape(
    box: tuple[int, ...], joined: int, bits: int, word: int, single: bool
) -> tuple[int, ...]:
    """Return the shape of a buffer in words: its last dimensions are one, or none if one word is.

    Raises:
        ValueError: they fill no whole words.
    """
    lead = box[: len(box) - joined]
    many, left = divmod(prod(box[len(lead) :]) * bits, word)
    if left:
        filled = f"{many * word + left} bits fill no whole words of {word}"
        raise ValueError(f"{filled}: {left} are left over")
    return lead if single else (*lead, many)


def _bits_of(tensor: _Array, bits: int) -> NDArray[np.uint8]:
    """Return the bits of elements, the lowest first, along one more dimension."""
    little = np.ascontiguousarray(tensor, tensor.dtype.newbyteorder("<"))
    items = little.reshape(*tensor.shape, 1).view("u1")
    return np.unpackbits(items, axis=-1, bitorder="little")[..., :bits]


def _of_bits(found: _Array, bits: int, kind: str) -> _Array:
    """Return elements from their bits, which are the last dimension, as items of a type."""
    width = 8 * np.dtype(kind).itemsize
    if 8 < bits < width:  # of a number with a sign, the bits beyond are copies of the last
        whole = np.zeros((*found.shape[:-1], width), "u1")
        whole[..., :bits] = found.view("u1")
        if kind[0] == "i":
            whole[..., bits:] = whole[..., bits - 1 : bits]
        found = whole
    packed: NDArray[np.uint8] = np.packbits(found.view("u1"), axis=-1, bitorder="little")
    if bits < 8:
        if kind == "i1":
            half = 2 ** (bits - 1)
            packed = ((packed ^ half) - half & 0xFF).astype("u1")
        return packed[..., 0].view(kind)
    return packed.view(np.dtype(kind).newbyteorder("<"))[..., 0].astype(kind, copy=False)


def _pack_words(
    packs: Callable[..., _Array],
    box_of: Callable[..., tuple[int, ...]],
    src: object,
    out: object,
    fill: object,
    stored: _Stored,
) -> _Array:
    """Pack a tensor, and store its slots without room between them."""
    bits, kind, low, high, placed, joined, word, single, keeps = stored
    tensor, slot, item = _array(src, "src"), bits, kind
    if placed:
        _travels(tensor, kind[0], int(kind[1:]))
        if low < high:
            _within(tensor, low, high)
        tensor, slot, item = _bits_of(tensor, bits), 1, "u1"
    box = box_of(tensor.shape)
    shape = _words_shape(box, joined, slot, 8 * np.dtype(word).itemsize, single)
    target = None
    if out is not None:
        target = _destination(out, shape, np.zeros(0, word))
    if fill is not None:
        items = packs(tensor, fill=fill)
    elif target is not None and keeps:
        held = _opened(_bytes(target), slot, prod(box), item).reshape(box)
        items = packs(tensor, np.array(held))
    else:
        items = packs(tensor)
    words = _dense(items, slot).view(word).reshape(shape)
    if target is None:
        return words
    target[...] = words
    return target


def _unpack_words(
    unpacks: Callable[..., _Array],
    box_of: Callable[..., tuple[int, ...]],
    src: object,
    shape: tuple[int, ...] | list[int],
    out: object,
    stored: _Stored,
) -> _Array:
    """Unpack a tensor whose slots are stored without room between them."""
    bits, kind, _, _, placed, _, word, _, _ = stored
    words, slot, item, extents = _array(src, "src"), bits, kind, tuple(shape)
    wanted = _stored_shape(box_of, shape, stored)
    if placed:
        slot, item, extents = 1, "u1", (*extents, bits)
    box = box_of(extents)
    if words.dtype != np.dtype(word):
        raise TypeError(f"`src` holds {words.dtype}, and is stored in {np.dtype(word)}")
    items = _opened(_bytes(_boxed(words, wanted)), slot, prod(box), item).reshape(box)
    if not placed:
        return unpacks(items, extents, out)
    found = _of_bits(unpacks(items, extents), bits, kind)
    if out is None:
        return found
    target = _destination(out, tuple(shape), found)
    target[...] = found
    return target


def _stored_shape(
    box_of: Callable[..., tuple[int, ...]],
    shape: tuple[int, ...] | list[int],
    stored: _Stored,
) -> tuple[int, ...]:
    """Return the shape of the stored array for a tensor of a shape."""
    bits, _, _, _, placed, joined, word, single, _ = stored
    box = box_of((*shape, bits) if placed else shape)
    return _words_shape(box, joined, 1 if placed else bits, 8 * np.dtype(word).itemsize, single)


def _bytes(words: _Array) -> NDArray[np.uint8]:
    """Return the bytes of words, one after the other."""
    return np.ascontiguousarray(words).reshape(-1).view("u1")
