"""Files of tensors packed and unpacked in pieces: what is read, written, and may go wrong."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, Literal

import numpy as np

from layoutdsl.expr import evaluate
from layoutdsl.model import Layout
from layoutdsl.pieces.cut import Cost, Pieces, TooLargeError, cut, values_of
from layoutdsl.pieces.files import (
    Stored,
    UnreadableError,
    header,
    named,
    stored_npy,
    stored_raw,
)
from layoutdsl.pieces.moves import Code, Look, Moving, Number, Packing, Unpacking
from layoutdsl.pieces.output import Output
from layoutdsl.pieces.work import Progress, run

USUAL = 8 << 20
"""Bytes that a piece takes, where more are allowed but not needed: more is no faster."""

KEPT = (OSError, MemoryError, KeyboardInterrupt)
"""After these failures the next run can go on; after others the work itself is wrong."""

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Raw:
    """A file without a header: items of this type, which together have this shape."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may use.

    Attributes:
        memory: bytes of all pieces that are under way; the program itself comes on top of it.
        jobs: pieces at a time.
    """

    memory: int
    jobs: int


@dataclass(frozen=True, slots=True)
class Watchers:
    """Who is told.

    Attributes:
        progress: how far it has come.
        tell: in words, what else is worth knowing.
        look: at every tensor; raises `UnreadableError` where it holds what it must not.
    """

    progress: Progress
    tell: Tell
    look: Look


@dataclass(frozen=True, slots=True)
class Done:
    """What was done: from which array to which, in how many pieces, and how many were there."""

    source: tuple[int, ...]
    result: tuple[int, ...]
    dtype: np.dtype[Any]
    pieces: int
    found: int


class TooLittleError(ValueError):
    """The memory is too small for a piece.

    Attributes:
        needed: bytes that would do for as many jobs.
        reason: why there is no smaller piece.
    """

    def __init__(self, layout: Layout, limits: Limits, cause: TooLargeError) -> None:
        self.needed, self.reason = cause.needed * limits.jobs, cause.reason
        jobs = "" if limits.jobs == 1 else f" for {limits.jobs} jobs"
        super().__init__(
            f"{limits.memory} bytes are too few{jobs}: the smallest piece of `{layout.name}` takes "
            f"{cause.needed}, as {cause.reason}"
        )


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
        OccupiedError: the output is in use.
        ValueError, TypeError: the arguments do not fit the layout.
        OSError: a file cannot be read or written; its name is in it.
    """
    layout = code.layout
    with _opened(source, raw) as tensor:
        if len(tensor.shape) != layout.rank:
            axes = ", ".join(axis.name for axis in layout.axes)
            words = f"and `{layout.name}` takes one of rank {layout.rank}: {axes}"
            raise UnreadableError(f"it is of rank {len(tensor.shape)}, {words}")
        result = _physical(code, tensor.shape)
        lead = _lead(layout, tensor.shape)

        def moving(handle: int, data: int) -> Moving:
            flat = Stored(target, handle, data, tensor.dtype, (prod(result),))
            return Packing(code, tensor, flat, lead, fill, watchers.look)

        what = _What("pack", tensor, tensor.shape, result, raw is not None)
        return _run(code, what, (source, target), limits, watchers, moving, about)


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
        OccupiedError: the output is in use.
        ValueError, TypeError: the arguments do not fit the layout.
        OSError: a file cannot be read or written; its name is in it.
    """
    box = _physical(code, shape)
    lead = _lead(code.layout, shape)
    with _opened(source, None if raw is None else Raw(raw, box)) as buffer:
        if buffer.shape not in (box, (prod(box),)):
            raise UnreadableError(f"it has the shape {buffer.shape}, not {box}")
        if buffer.fortran:
            raise UnreadableError("it is in Fortran order, so its slots do not lie in their order")

        def moving(handle: int, data: int) -> Moving:
            tensor = Stored(target, handle, data, buffer.dtype, shape)
            return Unpacking(code, buffer.flat(), tensor, lead, watchers.look)

        what = _What("unpack", buffer, shape, shape, raw is not None)
        return _run(code, what, (source, target), limits, watchers, moving, about)


@dataclass(frozen=True, slots=True)
class _What:
    """The verb, what it reads, the shape of the tensor and that of the result."""

    verb: Literal["pack", "unpack"]
    source: Stored
    shape: tuple[int, ...]
    result: tuple[int, ...]
    raw: bool


def _physical(code: Code, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(code.module.physical_shape(shape))


def _lead(layout: Layout, shape: tuple[int, ...]) -> int:
    return evaluate(layout.start, values_of(layout, shape))


@contextmanager
def _opened(place: Path, raw: Raw | None) -> Iterator[Stored]:
    with named(place):
        handle = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if raw is None:
            yield stored_npy(place, handle)
        else:
            yield stored_raw(place, handle, raw.dtype, raw.shape)
    finally:
        os.close(handle)


def _run(
    code: Code,
    what: _What,
    places: tuple[Path, Path],
    limits: Limits,
    watchers: Watchers,
    moving: Callable[[int, int], Moving],
    about: dict[str, Any],
) -> Done:
    source, target = places
    head = b"" if what.raw else header(what.source.dtype, what.result)
    size = len(head) + prod(what.result) * what.source.dtype.itemsize
    most = limits.memory // limits.jobs
    pieces, room = _cut(code.layout, what.shape, limits, moving(-1, 0).cost, watchers.tell)
    before = _identity(what.source.handle)
    work = {
        **about,
        "verb": what.verb,
        "shape": list(what.shape),
        "type": what.source.dtype.str,
        "raw": what.raw,
        "input": before,
        "size": size,
    }
    if os.path.realpath(source) == f"{os.path.realpath(target)}.part":
        raise UnreadableError("it is where the unfinished output goes")
    with named(target):
        output = Output(target, work)
        try:
            if not output.resume(size, most, watchers.tell):
                output.begin(size, head, room)
            elif output.room != room:
                pieces = cut(code.layout, what.shape, output.room, moving(-1, 0).cost)
            found = len(output.done)
            if found:
                watchers.tell(f"going on: {found} of {pieces.count} pieces are done")
            try:
                run(
                    pieces, moving(output.handle, len(head)), output, limits.jobs, watchers.progress
                )
                if _identity(what.source.handle) != before:
                    raise UnreadableError("it has changed while it was read")
            except BaseException as failure:
                if not (output.done and isinstance(failure, KEPT)):
                    output.discard()
                raise
            output.finish()
        finally:
            output.close()
    return Done(what.source.shape, what.result, what.source.dtype, pieces.count, found)


def _cut(
    layout: Layout, shape: tuple[int, ...], limits: Limits, cost: Cost, tell: Tell
) -> tuple[Pieces, int]:
    """The pieces, and the bytes that each may take."""
    most = limits.memory // limits.jobs
    usual = min(most, USUAL)
    try:
        return cut(layout, shape, usual, cost), usual
    except TooLargeError as smallest:
        needed = smallest.needed
        if needed > most:
            raise TooLittleError(layout, limits, smallest) from None
        reason = smallest.reason
    pieces = cut(layout, shape, needed, cost)
    if pieces.count == 1:
        tell(f"`{layout.name}` is one piece: {reason}")
    return pieces, needed


def _identity(handle: int) -> list[int]:
    """What is another number once a file has been written."""
    found = os.fstat(handle)
    return [found.st_size, found.st_mtime_ns]
