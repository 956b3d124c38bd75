"""Carried by modules of records: fields to one buffer of bytes, and back.

What is different from record to record, expressions over its extents most of all, comes as values
and functions of a shape. Items are moved by a module for each part; here bits are taken out of
elements, items are put together without room between them, and the bytes of a part go into its
window of every block. Bytes that several parts share are put together first, so that each byte of a
buffer is written once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from layoutdsl.codegen.numpy.dense import _bits_of, _dense, _of_bits, _opened
from layoutdsl.codegen.numpy.support import (
    _Array,
    _array,
    _destination,
    _travels,
    _within,
    _workers,
)

# --------------------------------------------------------------------------------------------------

_Bytes = NDArray[np.uint8]
_Extents = Mapping[str, int]  # of a record, by name
_Window = tuple[int, int, int]  # the bytes of a block, the first of those meant, and how many
_PIECE = (
    1 << 19
)  # bytes of a buffer that are moved at a time: they and what is in between fit into caches
_JOBS = 8  # shapes whose moves are kept


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


class _Part(NamedTuple):
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

    parts: tuple[_Part, ...]
    window: _Window | None


class _PartJob:
    """The moves of one part at one shape."""

    def __init__(self, part: _Part, values: _Extents) -> None:
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

    def pack(self, tensor: _Array, threads: int) -> _Bytes:
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
        return _dense(self._module.pack(tensor, fill=0, threads=threads), part.slot)

    def unpack(self, flat: _Bytes, threads: int, out: _Array) -> _Array:
        """Return what the part holds, in items of its type; it may be `out`."""
        part = self.part
        data = np.ascontiguousarray(self.rows(flat, part.window)).reshape(-1).view("u1")
        items = _opened(data, part.slot, prod(self._box), part.stored).reshape(self._box)
        if part.placed:
            found = self._module.unpack(items, self._shape, threads=threads)
            return _of_bits(found, part.bits, part.kind)
        if part.slot == part.bits:
            narrow = part.slot < 8
            if narrow and part.whole and part.signed:
                items = _signed(items, "u1", part.bits, part.signed)
            into = out.view(part.stored) if part.whole and out.flags.c_contiguous else None
            found = self._module.unpack(items, self._shape, into, threads=threads)
            return out if found is into else found
        moved = self._module.unpack(items, self._shape, threads=threads)
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

    def pack(self, flat: _Bytes, tensors: Mapping[str, _Array], threads: int) -> None:
        """Write all bytes of a buffer."""
        if not self._full:
            flat[...] = 0
        for window, jobs in self._stretches:
            joined = jobs[0].pack(tensors[jobs[0].part.field], threads)
            if len(jobs) > 1:
                joined = _widened(joined, jobs[0].part.window, window)
                for job in jobs[1:]:
                    _join(joined, job.pack(tensors[job.part.field], threads), job.part, window)
            rows = jobs[0].rows(flat, window)
            rows[...] = joined.view(rows.dtype)

    def unpack(self, flat: _Bytes, fields: Mapping[str, _Array], threads: int) -> None:
        """Fill tensors with what a buffer holds; fields of several parts are 0 before."""
        for _, jobs in self._stretches:
            for job in jobs:
                part, whole = job.part, fields[job.part.field]
                view: Any = whole.reshape(job.extents)[part.picked]
                if part.whole:
                    view = view.view(part.kind)
                found = job.unpack(flat, threads, view)
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


def _stretches(parts: Sequence[_Part], regions: Sequence[int]) -> Iterator[_Stretch]:
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


def _join(joined: _Bytes, data: _Bytes, part: _Part, window: _Window | None) -> None:
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


def _rows_of(tensors: Mapping[str, _Array], rows: Any) -> dict[str, _Array]:
    """Return some rows of tensors."""
    return {name: each[rows] if each.ndim else each for name, each in tensors.items()}


class _Record:
    """Packs and unpacks the fields of one record."""

    def __init__(
        self,
        name: str,
        names: Sequence[str],
        fields: Sequence[_Field],
        parts: Sequence[_Part],
        regions: Sequence[int],
        bind: Callable[[Any], dict[str, int]],
        box: Callable[[_Extents], tuple[int, ...]],
        solve: Sequence[tuple[str, int, str, int]],
        along: str | None,
        first: bool,
    ) -> None:
        self.name, self._names, self.bind = name, tuple(names), bind
        self.fields = {each.name: each for each in fields}
        self._box, self._solve, self._along = box, solve, along
        self._stretches = tuple(_stretches(parts, regions))
        self._full = first and _fill_all(self._stretches)
        self._jobs: dict[tuple[tuple[str, int], ...], _Job] = {}

    def physical_shape(self, shape: Any) -> tuple[int, ...]:
        """Return the shape of the buffer, in bytes."""
        return self._box(self.bind(shape))

    def shape_of(self, fields: Mapping[str, Any]) -> dict[str, int]:
        """Return the shape of a record whose fields have these shapes."""
        tensors = self._tensors(fields)
        found: dict[str, int] = {}
        for name, field in self.fields.items():
            if tensors[name].ndim != field.rank:
                message = f"`{field.name}` has {tensors[name].ndim} dimensions"
                raise ValueError(f"{message}, and takes {field.rank}")
        for name, axis, extent, factor in self._solve:
            found.setdefault(extent, tensors[name].shape[axis] * factor)
        for each in self._names:
            if each not in found:
                message = f"the fields of `{self.name}` do not say what `{each}` is"
                raise ValueError(f"{message}: give `shape`")
        values = self.bind(found)
        self._expect_shapes(tensors, values)
        return values

    def _tensors(self, fields: Mapping[str, Any]) -> dict[str, _Array]:
        for name in fields:
            if name not in self.fields:
                known = ", ".join(f"`{each}`" for each in self.fields)
                raise ValueError(f"record `{self.name}` has no field `{name}`; it has {known}")
        for name in self.fields:
            if name not in fields:
                raise ValueError(f"the field `{name}` of `{self.name}` is missing")
        return {name: _array(fields[name], name) for name in self.fields}

    def _expect_shapes(self, tensors: Mapping[str, _Array], values: _Extents) -> None:
        for name, field in self.fields.items():
            wanted = field.shape(values)
            if tensors[name].shape != wanted:
                given = " ".join(f"{extent}={value}" for extent, value in values.items())
                message = f"`{name}` has the shape {tensors[name].shape}"
                raise ValueError(f"{message}, and takes {wanted} at {given}")

    def pack(self, fields: Mapping[str, Any], out: Any, threads: int, shape: Any) -> _Bytes:
        """Return the bytes of a record; bits that no field holds are 0."""
        _workers(threads)
        values = self.shape_of(fields) if shape is None else self.bind(shape)
        tensors = self._tensors(fields)
        self._expect_shapes(tensors, values)
        for name, field in self.fields.items():
            _travels(tensors[name], field.kind[0], int(field.kind[1:]))
            if field.narrow is not None:
                try:
                    _within(tensors[name], *field.narrow)
                except ValueError as error:
                    raise ValueError(f"`{name}`: {error}") from None
        box = self._box(values)
        target: Any = None
        if out is not None:
            target = _destination(out, box, np.zeros(0, "u1"))
            for name, tensor in tensors.items():
                if np.may_share_memory(target, tensor):
                    raise ValueError(f"`out` overlaps `{name}`")
        direct = target is not None and target.flags.c_contiguous
        flat: _Bytes = target.reshape(-1) if direct else np.empty(prod(box), "u1")
        for rows, own, data in self._pieces(flat, values):
            self._job(own).pack(data, _rows_of(tensors, rows), threads)
        if target is None:
            return flat.reshape(box)
        if not direct:
            target[...] = flat.reshape(box)
        packed: _Bytes = target
        return packed

    def unpack(self, src: Any, shape: Any, threads: int) -> dict[str, _Array]:
        """Return the fields of a record; bits that no field holds are not read."""
        _workers(threads)
        values = self.bind(shape)
        box, given = self._box(values), _array(src, "src")
        if given.dtype != np.uint8:
            raise TypeError(f"`src` holds {given.dtype}, and a record is bytes, uint8")
        if given.shape not in (box, (prod(box),)):
            raise ValueError(f"`src` has the shape {given.shape}, and has to have {box}")
        flat: _Bytes = np.ascontiguousarray(given, "u1").reshape(-1)
        found: dict[str, _Array] = {}
        for name, field in self.fields.items():
            extents = field.shape(values)
            several = field.parts > 1  # whose bits are added to zeros, one part after the other
            plain = f"u{field.kind[1:]}"
            found[name] = np.zeros(extents, plain) if several else np.empty(extents, field.kind)
        for rows, own, data in self._pieces(flat, values):
            self._job(own).unpack(data, _rows_of(found, rows), threads)
        for name, field in self.fields.items():
            if field.parts > 1:
                found[name] = _signed(found[name], field.kind, field.bits, field.signed)
        return found

    def _job(self, values: _Extents) -> _Job:
        """The moves at a shape; those of the last shapes are kept, whoever else asks meanwhile."""
        key = tuple(values.items())
        found = self._jobs.get(key)
        if found is None:
            for old in list(self._jobs)[: 1 - _JOBS]:
                self._jobs.pop(old, None)
            self._jobs[key] = found = _Job(self._stretches, values, self._full)
        return found

    def _pieces(
        self, flat: _Bytes, values: dict[str, int]
    ) -> Iterator[tuple[Any, dict[str, int], _Bytes]]:
        """Yield rows, the shape of these and their bytes: as many at a time as caches hold."""
        if self._along is None or not len(flat):
            yield ..., values, flat
            return
        rows = values[self._along]
        each = 8 * len(flat) // rows  # bits
        step = max(1, 8 * _PIECE // each)
        if each % 8:
            step = -(-step // 8) * 8  # so many rows are whole bytes, whatever one of them is
        for first in range(0, rows, step):
            last = min(rows, first + step)
            own = {**values, self._along: last - first}
            yield slice(first, last), own, flat[first * each // 8 : last * each // 8]
