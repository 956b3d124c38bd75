"""Files of tensors packed and unpacked in pieces: what is read, and what is made of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from stat import S_ISREG
from typing import Any

import numpy as np

from layoutdsl.files.npy import UnreadableError, header
from layoutdsl.files.places import followed, identity, refuse_input
from layoutdsl.pieces.cut import Pieces, cut, lead_of
from layoutdsl.pieces.files import Stored, named, stored_npy, stored_raw
from layoutdsl.pieces.moves import Code, Look, Number, Packing, Unpacking
from layoutdsl.pieces.output import beside
from layoutdsl.pieces.queue import Part
from layoutdsl.pieces.runs import Asked, Given, Limits, Watchers, cut_to, run_asked
from layoutdsl.pieces.sums import Sum, unsummed


@dataclass(frozen=True, slots=True)
class Raw:
    """A file without a header: items of this type, which together have this shape."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Done:
    """What was done: from which array to which, in how many pieces, and how many were there."""

    source: tuple[int, ...]
    result: tuple[int, ...]
    dtype: np.dtype[Any]
    pieces: int
    found: int


@dataclass(frozen=True, slots=True)
class Packed:
    """A tensor and its buffer, in files.

    Attributes:
        code: what packs and unpacks.
        shape: of the tensor.
        source: what is read: the tensor, or the buffer.
        fill: what padding gets; that of the layout where it is `None`.
        look: at every tensor.
    """

    code: Code
    shape: tuple[int, ...]
    source: Stored
    fill: Number | None
    look: Look

    @property
    def box(self) -> tuple[int, ...]:
        """The shape of the buffer."""
        return physical(self.code, self.shape)

    def packing(self, name: str, target: Path, data: int) -> Part:
        """Return how it is packed, into what starts at a byte of a file."""
        dtype = self.source.dtype

        def moving(handle: int, sum_up: Sum) -> Packing:
            flat = Stored(target, handle, data, dtype, (prod(self.box),))
            return Packing(self.code, self.source, flat, self._lead, self.fill, self.look, sum_up)

        return Part(name, lambda room: self._cut(room, moving(-1, unsummed).cost), moving)

    def unpacking(self, name: str, target: Path, data: int) -> Part:
        """Return how it is unpacked, into what starts at a byte of a file."""
        dtype = self.source.dtype

        def moving(handle: int, sum_up: Sum) -> Unpacking:
            tensor = Stored(target, handle, data, dtype, self.shape)
            flat = self.source.flat()
            return Unpacking(self.code, flat, tensor, self._lead, self.look, sum_up)

        return Part(name, lambda room: self._cut(room, moving(-1, unsummed).cost), moving)

    @property
    def _lead(self) -> int:
        return lead_of(self.code.layout, self.shape)

    def _cut(self, room: int, cost: Callable[[int, int], int]) -> Pieces:
        return cut(self.code.layout, self.shape, room, cost)


def pack_file(
    code: Code,
    source: Path,
    target: Path,
    limits: Limits,
    watchers: Watchers,
    *,
    fill: Number | None,
    raw: Raw | None,
    about: dict[str, Any],
) -> Done:
    """Pack the tensor in a file into another file.

    Args:
        code: what packs, of a layout without open parameters.
        source: a `.npy` file, or a raw one.
        target: is written whole or not at all: a `.npy` file, or a raw one.
        limits: memory and jobs.
        watchers: who is told.
        fill: what padding holds; that of the layout where it is `None`.
        raw: what the source holds, where it is raw; then the target is too.
        about: plain values that tell this work from others.

    Raises:
        TooLittleError: the memory is too small.
        UnreadableError: the source is not what it has to be.
        OccupiedError: the output is in use, is not ours, or is the source.
        ValueError, TypeError: the arguments do not fit the layout.
        OSError: a file cannot be read or written; its name is in it.
    """
    layout = code.layout
    with opened(source, target) as given:
        tensor = stored_in(given, raw)
        if len(tensor.shape) != layout.rank:
            axes = ", ".join(axis.name for axis in layout.axes)
            words = f"and `{layout.name}` takes one of rank {layout.rank}: {axes}"
            raise UnreadableError(f"is of rank {len(tensor.shape)}, {words}")
        packed = Packed(code, tensor.shape, tensor, fill, watchers.look)
        head = _head(tensor, packed.box, raw)
        part = packed.packing(layout.name, target, len(head))
        size = len(head) + prod(packed.box) * tensor.dtype.itemsize
        work = {**about, "verb": "pack", **_told(tensor, tensor.shape, raw)}
        cut_up = cut_to((part,), limits, watchers.tell)
        asked = Asked(*cut_up, (given,), target, size, ((0, head),), work)
        made = run_asked(asked, limits, watchers)
    return Done(tensor.shape, packed.box, tensor.dtype, made.pieces, made.found)


def unpack_file(
    code: Code,
    source: Path,
    target: Path,
    shape: tuple[int, ...],
    limits: Limits,
    watchers: Watchers,
    *,
    raw: np.dtype[Any] | None,
    about: dict[str, Any],
) -> Done:
    """Unpack the buffer in a file into another file.

    Args:
        code: what unpacks, of a layout without open parameters.
        source: a `.npy` file, or a raw one.
        target: is written whole or not at all: a `.npy` file, or a raw one.
        shape: the extents of the tensor.
        limits: memory and jobs.
        watchers: who is told.
        raw: the type of the items, where the source is raw; then the target is too.
        about: plain values that tell this work from others.

    Raises:
        TooLittleError: the memory is too small.
        UnreadableError: the source is not what it has to be.
        OccupiedError: the output is in use, is not ours, or is the source.
        ValueError, TypeError: the arguments do not fit the layout.
        OSError: a file cannot be read or written; its name is in it.
    """
    box = physical(code, shape)
    with opened(source, target) as given:
        buffer = stored_in(given, None if raw is None else Raw(raw, box))
        if buffer.shape not in (box, (prod(box),)):
            raise UnreadableError(f"has the shape {buffer.shape}, not {box}")
        if buffer.fortran:
            raise UnreadableError("is in Fortran order, so its slots do not lie in their order")
        head = _head(buffer, shape, raw)
        packed = Packed(code, shape, buffer, None, watchers.look)
        part = packed.unpacking(code.layout.name, target, len(head))
        size = len(head) + prod(shape) * buffer.dtype.itemsize
        work = {**about, "verb": "unpack", **_told(buffer, shape, raw)}
        cut_up = cut_to((part,), limits, watchers.tell)
        asked = Asked(*cut_up, (given,), target, size, ((0, head),), work)
        made = run_asked(asked, limits, watchers)
    return Done(buffer.shape, shape, buffer.dtype, made.pieces, made.found)


def _head(source: Stored, shape: tuple[int, ...], raw: object) -> bytes:
    """The bytes before the result."""
    return header(source.dtype, shape) if raw is None else b""


def _told(source: Stored, shape: tuple[int, ...], raw: object) -> dict[str, Any]:
    """What tells one work on a file from another."""
    return {"shape": list(shape), "raw": raw is not None, "type": source.dtype.str}


def physical(code: Code, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of the buffer."""
    return tuple(code.module.physical_shape(shape))


def stored_in(given: Given, raw: Raw | None) -> Stored:
    """Return the array in a file."""
    if raw is None:
        return stored_npy(given.place, given.handle)
    return stored_raw(given.place, given.handle, raw.dtype, raw.shape)


@contextmanager
def opened(source: Path, target: Path) -> Iterator[Given]:
    """Open a file once, for whoever reads of it; it is none that the output takes the place of."""
    with opened_input(source) as given:
        refuse_outputs(given, target)
        yield given


@contextmanager
def opened_input(source: Path) -> Iterator[Given]:
    """Open a plain file once, for whoever reads of it.

    Raises:
        UnreadableError: it is a pipe, a folder or a device.
        OSError: it cannot be opened.
    """
    with named(source):
        handle = os.open(source, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not S_ISREG(os.fstat(handle).st_mode):
            raise UnreadableError("is no plain file, and cannot be taken apart")
        yield Given(source, handle, identity(handle))
    finally:
        os.close(handle)


def refuse_outputs(given: Given, target: Path) -> None:
    """Fail where an output, or what lies beside it meanwhile, would take the place of an input.

    Raises:
        OccupiedError: they are one file.
    """
    with named(target):
        for each in (target, *beside(followed(target))):
            refuse_input(each, given.handle, "input")
