"""Carried by modules of records: fields to one buffer of bytes, and back.

What is different from record to record, expressions over its extents most of all, comes as values
and functions of a shape; how parts are moved stands in `record_parts.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from layoutdsl.code.numpy.record_parts import (
    _Bytes,
    _Extents,
    _Field,
    _FieldPart,
    _fill_all,
    _Job,
    _signed,
    _stretches,
)
from layoutdsl.code.numpy.support import _Array, _array, _destination, _travels, _within

# --------------------------------------------------------------------------------------------------

_PIECE = (
    1 << 19
)  # bytes of a buffer that are moved at a time: they and what is in between fit into caches
_JOBS = 8  # shapes whose moves are kept


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
        parts: Sequence[_FieldPart],
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

    def pack(self, fields: Mapping[str, Any], out: Any, shape: Any, **options: int) -> _Bytes:
        """Return the bytes of a record; bits that no field holds are 0."""
        values = self.shape_of(fields) if shape is None else self.bind(shape)
        tensors = self._tensors(fields)
        self._expect_shapes(tensors, values)
        for name, field in self.fields.items():
            try:
                _travels(tensors[name], field.kind[0], int(field.kind[1:]))
                if field.narrow is not None:
                    _within(tensors[name], *field.narrow)
            except (TypeError, ValueError) as error:
                raise type(error)(f"`{name}`: {error}") from None
        box = self._box(values)
        target: Any = None
        if out is not None:
            target = _destination(out, box, np.zeros(0, "u1"))
            for name, tensor in tensors.items():
                if np.may_share_memory(target, tensor):
                    raise ValueError(f"`out` overlaps `{name}`")
        direct = target is not None and target.flags.c_contiguous
        flat: _Bytes = target.reshape(-1) if direct else np.empty(prod(box), "u1")
        self._put(flat, tensors, values, **options)
        if target is None:
            return flat.reshape(box)
        if not direct:
            target[...] = flat.reshape(box)
        packed: _Bytes = target
        return packed

    def _put(
        self, flat: _Bytes, tensors: Mapping[str, _Array], values: dict[str, int], **options: int
    ) -> None:
        """Write all bytes of a buffer."""
        for rows, own, data in self._pieces(flat, values):
            self._job(own).pack(data, _rows_of(tensors, rows), **options)

    def unpack(self, src: Any, shape: Any, **options: int) -> dict[str, _Array]:
        """Return the fields of a record; bits that no field holds are not read."""
        values = self.bind(shape)
        box, given = self._box(values), _array(src, "src")
        if given.dtype != np.uint8:
            raise TypeError(f"`src` holds {given.dtype}, and a record is bytes, uint8")
        # GGUF's own packages join the last axes: (rows, bytes of a row).
        joined = [(*box[:axis], prod(box[axis:])) for axis in range(len(box))]
        if given.shape not in (box, *joined):
            raise ValueError(f"`src` has the shape {given.shape}, and has to have {box}")
        return self._taken(np.ascontiguousarray(given, "u1").reshape(-1), values, **options)

    def _taken(self, flat: _Bytes, values: dict[str, int], **options: int) -> dict[str, _Array]:
        """Return what a buffer holds."""
        found: dict[str, _Array] = {}
        for name, field in self.fields.items():
            extents = field.shape(values)
            several = field.parts > 1  # whose bits are added to zeros, one part after the other
            plain = f"u{field.kind[1:]}"
            found[name] = np.zeros(extents, plain) if several else np.empty(extents, field.kind)
        for rows, own, data in self._pieces(flat, values):
            self._job(own).unpack(data, _rows_of(found, rows), **options)
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
