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
from layoutdsl.files.pieces.between import Between
from layoutdsl.files.pieces.cutting import cut_to
from layoutdsl.files.pieces.every_copy import shape_with_copies
from layoutdsl.files.pieces.files import Stored, Target, named, stored_npy, stored_raw
from layoutdsl.files.pieces.moves import Code, Number
from layoutdsl.files.pieces.output import beside
from layoutdsl.files.pieces.packed import Packed, layout_shape, physical
from layoutdsl.files.pieces.runs import Asked, Given, Limits, Watchers, run_asked
from layoutdsl.files.places import followed, identity, refuse_input
from layoutdsl.language.meaning.model import Layout


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


BetweenOf = Callable[[tuple[int, ...]], tuple[Between, Number | None]]
"""From the shape of a tensor to what stands between both files and the code, and what fills."""


def pack_file(
    code: Code,
    source: Path,
    target: Path,
    limits: Limits,
    watchers: Watchers,
    *,
    layout: Layout,
    between: BetweenOf,
    raw: Raw | None,
    about: dict[str, Any],
) -> Done:
    """Pack the tensor in a file into another file.

    Args:
        code: what packs; of a layout that holds copies `copies_last`.
        source: a `.npy` file, or a raw one.
        target: is written whole or not at all: a `.npy` file, or a raw one.
        limits: memory and jobs.
        watchers: who is told.
        layout: what is packed, without open parameters.
        between: what stands between; and what padding holds, that of the layout where it is `None`.
        raw: what the source holds, where it is raw; then the target is too.
        about: plain values that tell this work from others.

    Raises:
        TooLittleError: the memory is too small.
        UnreadableError: the source is not what it has to be.
        OccupiedError: the output is in use, is not ours, or is the source.
        ValueError, TypeError: the arguments do not fit the layout.
        OSError: a file cannot be read or written; its name is in it.
    """
    with opened(source, target) as given:
        tensor = stored_in(given, raw)
        refuse_rank(layout, tensor.shape)
        side, fill = between(tensor.shape)
        shape = layout_shape(layout, shape_with_copies(layout, tensor.shape))
        packed = Packed(code, shape, tensor, fill, watchers.look, side)
        dtype, box = packed.buffer(tensor.shape)
        head = b"" if raw else header(dtype, box)
        part = packed.packing(layout.name, Target(target), len(head))
        size = len(head) + prod(box) * dtype.itemsize
        work = {**about, "verb": "pack", **_told(tensor, tensor.shape, raw)}
        cut_up = cut_to((part,), limits, watchers.tell)
        asked = Asked(*cut_up, (given,), target, size, ((0, head),), work)
        made = run_asked(asked, limits, watchers)
    return Done(tensor.shape, box, tensor.dtype, made.pieces, made.found)


def unpack_file(
    code: Code,
    source: Path,
    target: Path,
    shape: tuple[int, ...],
    limits: Limits,
    watchers: Watchers,
    *,
    between: BetweenOf,
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
        between: what stands between; nothing is filled.
        raw: the type of the items, where the source is raw; then the target is too.
        about: plain values that tell this work from others.

    Raises:
        TooLittleError: the memory is too small.
        UnreadableError: the source is not what it has to be.
        OccupiedError: the output is in use, is not ours, or is the source.
        ValueError, TypeError: the arguments do not fit the layout.
        OSError: a file cannot be read or written; its name is in it.
    """
    layout, (side, _) = code.layout, between(shape)
    inner = physical(code, layout_shape(layout, shape))
    box = inner if side.buffer is None else side.buffer.shape(shape)
    with opened(source, target) as given:
        buffer = stored_in(given, None if raw is None else Raw(raw, box))
        if buffer.shape not in (box, (prod(box),)):
            raise UnreadableError(f"has the shape {buffer.shape}, not {box}")
        if buffer.fortran:
            raise UnreadableError("is in Fortran order, so its slots do not lie in their order")
        if side.buffer is not None and buffer.dtype != side.buffer.word:
            raise UnreadableError(f"holds {buffer.dtype}, and is stored in {side.buffer.word}")
        packed = Packed(code, layout_shape(layout, shape), buffer, None, watchers.look, side)
        dtype = packed.tensor_type
        head = b"" if raw else header(dtype, shape)
        part = packed.unpacking(layout.name, Target(target), len(head))
        size = len(head) + prod(shape) * dtype.itemsize
        work = {**about, "verb": "unpack", **_told(buffer, shape, raw)}
        cut_up = cut_to((part,), limits, watchers.tell)
        asked = Asked(*cut_up, (given,), target, size, ((0, head),), work)
        made = run_asked(asked, limits, watchers)
    return Done(buffer.shape, shape, buffer.dtype, made.pieces, made.found)


def refuse_rank(layout: Layout, shape: tuple[int, ...]) -> None:
    """Fail where a tensor is of another rank than a layout takes.

    Raises:
        UnreadableError: it says which it takes.
    """
    axes = [axis.name for axis in layout.tensor_axes]
    if len(shape) != len(axes):
        words = f"and `{layout.name}` takes one of rank {len(axes)}: {', '.join(axes)}"
        raise UnreadableError(f"is of rank {len(shape)}, {words}")


def _told(source: Stored, shape: tuple[int, ...], raw: object) -> dict[str, Any]:
    """What tells one work on a file from another."""
    return {"shape": list(shape), "raw": raw is not None, "type": source.dtype.str}


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
            raise UnreadableError("is no plain file, and cannot be processed in pieces")
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
