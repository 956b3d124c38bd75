"""Carried by modules of records: how parts are moved at one shape.

Items are moved by a module for each part; here bits are taken out of elements, items are put
together without room between them, and the bytes of a part go into its window of every block. Bytes
that several parts share are put together first, so that each byte of a buffer is written once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from layoutdsl.code.numpy.dense import _bits_of, _dense, _of_bits, _opened
from layoutdsl.code.numpy.support import _Array

# --------------------------------------------------------------------------------------------------

_Bytes = NDArray[np.uint8]
_Extents = Mapping[str, int]  # of a record, by name
_Window = tuple[int, int, int]  # the bytes of a block, the first of those meant, and how many


class _Field(NamedTuple):
    """A tensor of a record: what it travels in, the bits of an element, and its parts."""

    name: str
    kind: str
    bits: int
    signed: bool
    narrow: tuple[int, int] | None
    parts: int
    rank: int
    shape: Callable[[_Extents], tuple[int, ...]]


class _FieldPart(NamedTuple):
    """Where some bits of some elements of a field lie."""

    field: str
    module: Callable[[_Extents], Any]  # moves its items
    digits: Callable[[_Extents], tuple[int, ...]]  # the extents of all digits of an index
    picked: tuple[Any, ...]
    shape: Callable[[_Extents], tuple[int, ...]]  # of the tensor that the module takes
    kind: str  # what it holds travels in
    low: int
    bits: int
    signed: bool
    whole: bool
    stored: str  # an item, as it is stored: its type, its bits, and where the part begins in it
    slot: int
    shift: int
    placed: bool  # each bit by itself
    region: Callable[[_Extents], tuple[int, int]]  # the first bit, and the one behind the last
    window: _Window | None


class _Stretch(NamedTuple):
    """Parts that share bytes, and the window of all of them; without one, all of their region."""

    parts: tuple[_FieldPart, ...]
    window: _Window | None


class _PartJob:
    """The moves of one part at one shape; options are those that the functions of modules take."""

    def __init__(self, part: _FieldPart, values: _Extents) -> None:
        self.part, self._module = part, part.module(values)
        self.extents = part.digits(values)
        self._shape = part.shape(values)
        self._box: tuple[int, ...] = self._module.physical_shape(self._shape)
        first, end = part.region(values)
        if first % 8:
            message = f"a part of `{part.field}` starts at bit {first}, in the midst of a byte"
            raise ValueError(f"{message}: such a buffer is not packed")
        self._region = slice(first // 8, -(-end // 8))
        self._mask = (1 << part.bits) - 1

    def pack(self, tensor: _Array, **options: int) -> _Bytes:
        """Return the bytes of the part: its windows one after the other, or all of its region."""
        part = self.part
        held: Any = tensor.reshape(self.extents)[part.picked]
        if part.stored != part.kind or part.low or not part.whole:
            held = held.view(f"u{held.dtype.itemsize}")
        if part.low:
            held = held >> held.dtype.type(part.low)
        if part.placed:
            held = _bits_of(held, part.bits)
        elif part.slot != part.bits:
            held = (held & held.dtype.type(self._mask)).astype(part.stored, copy=False)
            held = held << held.dtype.type(part.shift)
        elif not part.whole and (part.slot == 1 or part.slot >= 8):
            held = (held & held.dtype.type(self._mask)).astype(part.stored, copy=False)
        elif held.dtype.itemsize > 1 and part.slot < 8:
            held = held.astype("u1")
        # what is left above narrow bits, `_dense` takes away
        tensor = np.asarray(held)  # what is of no dimension becomes a number on the way
        return _dense(self._module.pack(tensor, fill=0, **options), part.slot)

    def unpack(self, flat: _Bytes, out: _Array, **options: int) -> _Array:
        """Return what the part holds, in items of its type; it may be `out`."""
        part = self.part
        data = np.ascontiguousarray(self.rows(flat, part.window)).reshape(-1).view("u1")
        items = _opened(data, part.slot, prod(self._box), part.stored).reshape(self._box)
        if part.placed:
            found = self._module.unpack(items, self._shape, **options)
            return _of_bits(found, part.bits, part.kind)
        if part.slot == part.bits:
            narrow = part.slot < 8
            if narrow and part.whole and part.signed:
                items = _signed(items, "u1", part.bits, part.signed)
            into = out.view(part.stored) if part.whole and out.flags.c_contiguous else None
            found = self._module.unpack(items, self._shape, into, **options)
            return out if found is into else found
        moved = self._module.unpack(items, self._shape, **options)
        moved = moved >> moved.dtype.type(part.shift)
        moved &= moved.dtype.type(self._mask)
        return _signed(moved.astype(f"u{part.kind[1:]}"), part.kind, part.bits, part.signed)

    def rows(self, flat: _Bytes, window: _Window | None) -> _Array:
        """Return a window of every block of the part's region, an item each; or all its bytes."""
        region = flat[self._region]
        if window is None:
            return region
        # numpy moves items of any size at the speed of a copy, rows of few bytes ten times slower
        block, first, count = window
        return np.ndarray((len(region) // block,), f"V{count}", region, first, (block,))


class _Job:
    """The moves of a record at one shape."""

    def __init__(self, stretches: Sequence[_Stretch], values: _Extents, full: bool) -> None:
        self._stretches = [
            (each.window, [_PartJob(part, values) for part in each.parts]) for each in stretches
        ]
        self._full = full

    def pack(self, flat: _Bytes, tensors: Mapping[str, _Array], **options: int) -> None:
        """Write all bytes of a buffer."""
        if not self._full:
            flat[...] = 0
        for window, jobs in self._stretches:
            joined = jobs[0].pack(tensors[jobs[0].part.field], **options)
            if len(jobs) > 1:
                joined = _widened(joined, jobs[0].part.window, window)
                for job in jobs[1:]:
                    data = job.pack(tensors[job.part.field], **options)
                    _join(joined, data, job.part, window)
            rows = jobs[0].rows(flat, window)
            rows[...] = joined.view(rows.dtype)

    def unpack(self, flat: _Bytes, fields: Mapping[str, _Array], **options: int) -> None:
        """Fill tensors with what a buffer holds; fields of several parts are 0 before."""
        for _, jobs in self._stretches:
            for job in jobs:
                part, whole = job.part, fields[job.part.field]
                view: Any = whole.reshape(job.extents)[part.picked]
                if part.whole:
                    view = view.view(part.kind)
                found = job.unpack(flat, view, **options)
                if part.whole:
                    if found is not view:
                        view[...] = found.reshape(view.shape).view(view.dtype)
                    continue
                plain: Any = found.view(f"u{found.dtype.itemsize}").astype(view.dtype, copy=False)
                if part.low:
                    plain = plain << plain.dtype.type(part.low)
                view |= plain.reshape(view.shape)


def _fill_all(stretches: Sequence[_Stretch]) -> bool:
    """Whether the stretches of one region leave no byte of a block."""
    windows = [each.window for each in stretches]
    known = [each for each in windows if each is not None]
    blocks = {block for block, _, _ in known}
    return len(known) == len(windows) and blocks == {sum(count for _, _, count in known)}


def _stretches(parts: Sequence[_FieldPart], regions: Sequence[int]) -> Iterator[_Stretch]:
    """Yield parts by the bytes that they touch: no two stretches share a byte."""
    for number in sorted(set(regions)):
        own = [part for part, region in zip(parts, regions, strict=True) if region == number]
        windows = [each.window for each in own if each.window is not None]
        if len(windows) < len(own):
            yield _Stretch(tuple(own), None)
            continue
        joined: list[_Window] = []
        for block, first, count in sorted(windows, key=lambda each: each[1]):
            if joined and first < joined[-1][1] + joined[-1][2]:
                _, begin, length = joined.pop()
                joined.append((block, begin, max(begin + length, first + count) - begin))
            else:
                joined.append((block, first, count))
        for window in joined:
            end = window[1] + window[2]
            inside = (each for each in own if each.window and window[1] <= each.window[1] < end)
            yield _Stretch(tuple(inside), window)


def _widened(data: _Bytes, own: _Window | None, window: _Window | None) -> _Bytes:
    """Return the bytes of a part with room for those of others that share a window with it."""
    if own is None or window is None or own == window:
        return data
    wide = np.zeros((len(data) // own[2], window[2]), "u1")
    first = own[1] - window[1]
    wide[:, first : first + own[2]] = data.reshape(len(wide), -1)
    return wide.reshape(-1)


def _join(joined: _Bytes, data: _Bytes, part: _FieldPart, window: _Window | None) -> None:
    """Add the bytes of a part to those of others."""
    if part.window is None or window is None:
        joined |= data
        return
    first = part.window[1] - window[1]
    wide = joined.reshape(-1, window[2])
    wide[:, first : first + part.window[2]] |= data.reshape(len(wide), -1)


def _signed(whole: _Array, kind: str, bits: int, signed: bool) -> _Array:
    """Return elements whose bits were put together as what they travel in."""
    if signed and bits < 8:
        half = 2 ** (bits - 1)
        flat: Any = whole.reshape(-1)
        whole = (((flat & (2 * half - 1)) ^ half) - half & 0xFF).astype("u1").reshape(whole.shape)
    return whole.view(kind)
