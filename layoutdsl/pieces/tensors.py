"""Files of tensors packed and unpacked in pieces: what is read, and what is made of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from stat import S_ISREG
from typing import Any

import numpy as np

from layoutdsl.files.npy import UnreadableError
from layoutdsl.files.places import Identity, followed, identity, refuse_input
from layoutdsl.pieces.cut import lead_of
from layoutdsl.pieces.files import Stored, named, stored_npy, stored_raw
from layoutdsl.pieces.moves import Code, Moving, Number, Packing, Unpacking
from layoutdsl.pieces.output import beside
from layoutdsl.pieces.runs import Asked, Done, Limits, Watchers, run_asked
from layoutdsl.pieces.sums import Sum


@dataclass(frozen=True, slots=True)
class Raw:
    """A file without a header: items of this type, which together have this shape."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]


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
        tensor = given.stored(raw)
        if len(tensor.shape) != layout.rank:
            axes = ", ".join(axis.name for axis in layout.axes)
            words = f"and `{layout.name}` takes one of rank {layout.rank}: {axes}"
            raise UnreadableError(f"is of rank {len(tensor.shape)}, {words}")
        result = physical(code, tensor.shape)
        lead = lead_of(layout, tensor.shape)

        def moving(handle: int, data: int, sum_up: Sum) -> Moving:
            flat = Stored(target, handle, data, tensor.dtype, (prod(result),))
            return Packing(code, tensor, flat, lead, fill, watchers.look, sum_up)

        work = {**about, "verb": "pack", "shape": tensor.shape, "raw": raw is not None}
        asked = Asked(layout, tensor, given.before, target, tensor.shape, result, moving, work)
        return run_asked(asked, limits, watchers)


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
    lead = lead_of(code.layout, shape)
    with opened(source, target) as given:
        buffer = given.stored(None if raw is None else Raw(raw, box))
        if buffer.shape not in (box, (prod(box),)):
            raise UnreadableError(f"has the shape {buffer.shape}, not {box}")
        if buffer.fortran:
            raise UnreadableError("is in Fortran order, so its slots do not lie in their order")

        def moving(handle: int, data: int, sum_up: Sum) -> Moving:
            tensor = Stored(target, handle, data, buffer.dtype, shape)
            return Unpacking(code, buffer.flat(), tensor, lead, watchers.look, sum_up)

        work = {**about, "verb": "unpack", "shape": shape, "raw": raw is not None}
        asked = Asked(code.layout, buffer, given.before, target, shape, shape, moving, work)
        return run_asked(asked, limits, watchers)


def physical(code: Code, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of the buffer."""
    return tuple(code.module.physical_shape(shape))


@dataclass(frozen=True, slots=True)
class Given:
    """An open file, and what it was before it was read."""

    place: Path
    handle: int
    before: Identity

    def stored(self, raw: Raw | None) -> Stored:
        """Return the array in the file."""
        if raw is None:
            return stored_npy(self.place, self.handle)
        return stored_raw(self.place, self.handle, raw.dtype, raw.shape)


@contextmanager
def opened(source: Path, target: Path) -> Iterator[Given]:
    """Open a file once, for whoever reads of it; it is none that the output takes the place of."""
    with named(source):
        handle = os.open(source, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not S_ISREG(os.fstat(handle).st_mode):
            raise UnreadableError("is no plain file, and cannot be taken apart")
        with named(target):
            for each in (target, *beside(followed(target))):
                refuse_input(each, handle, "input")
        yield Given(source, handle, identity(handle))
    finally:
        os.close(handle)
