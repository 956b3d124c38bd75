"""Arrays in files, read and written box by box, without a map of the whole.

Long runs are read and written where they are; boxes of short runs go through a map of the part of
the file that they lie in. What is written to has its space on the disk before, so that a full disk
is noticed at once.
"""

from __future__ import annotations

import errno
import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, Literal

import numpy as np

from layoutdsl.files.npy import Array, UnreadableError, read_header
from layoutdsl.language.meaning.strided import row_major

SHORT = 4096
"""Bytes of a run below which a map is faster than a call of the system for each."""

NATIVE = np.dtype(np.uint64)
"""A type whose bytes have the order of this machine."""

WINDOW = 1 << 20
"""Bytes of a file that are mapped at once."""


@dataclass(frozen=True, slots=True)
class Stored:
    """An array in a file: most major axis first, or last where ``fortran`` is set.

    Attributes:
        place: of the file, to be named.
        handle: of the open file.
        data: the byte where the items start.
    """

    place: Path
    handle: int
    data: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool = False

    @property
    def end(self) -> int:
        """The bytes up to the last item."""
        return self.data + prod(self.shape) * self.dtype.itemsize

    def flat(self) -> Stored:
        """Return the same items as an array of one axis."""
        return Stored(self.place, self.handle, self.data, self.dtype, (prod(self.shape),))

    def read(self, starts: tuple[int, ...], buffer: Array) -> None:
        """Fill a contiguous buffer, whose shape is that of the box, most major axis first.

        Raises:
            UnreadableError: the file ends before the box.
            OSError: it cannot be read.
        """
        if self._is_scattered(buffer):
            for band, part in self._bands(starts, buffer):
                np.copyto(part, self._mapped(band, part.shape, mmap.ACCESS_READ))
            return
        with named(self.place):
            for run, at in self._pairs(starts, buffer):
                count = 0
                while count < len(run):
                    more = os.preadv(self.handle, [run[count:]], at + count)
                    if more == 0:
                        raise UnreadableError("was cut short while it was read")
                    count += more

    def mapped(self) -> Array:
        """Return a map of all its bytes, which takes memory only where it is looked at.

        Raises:
            UnreadableError: the file ends before them.
            OSError: it cannot be mapped.
        """
        size = self.end - self.data
        flat = Stored(self.place, self.handle, self.data, np.dtype(np.uint8), (size,))
        return flat._mapped((0,), (size,), mmap.ACCESS_READ) if size else np.empty(0, np.uint8)

    def write(self, starts: tuple[int, ...], buffer: Array) -> None:
        """Write a contiguous buffer as the box that starts there.

        Raises:
            OSError: it cannot be written.
        """
        if self._is_scattered(buffer):
            for band, part in self._bands(starts, buffer):
                np.copyto(self._mapped(band, part.shape, mmap.ACCESS_WRITE), part)
            return
        self._write_runs(starts, buffer)

    def _write_runs(self, starts: tuple[int, ...], buffer: Array) -> None:
        with named(self.place):
            for run, at in self._pairs(starts, buffer):
                count = 0
                while count < len(run):
                    count += os.pwrite(self.handle, run[count:], at + count)

    def _is_scattered(self, buffer: Array) -> bool:
        """Whether a box has many short runs; one of no items has none."""
        run = _run(self.shape, buffer.shape)
        return run * self.dtype.itemsize < SHORT and run < buffer.size

    def _pairs(self, starts: tuple[int, ...], buffer: Array) -> Iterator[tuple[memoryview, int]]:
        """The bytes of each run in a buffer, and where they are in the file."""
        if buffer.size == 0:
            return
        width = self.dtype.itemsize
        run = _run(self.shape, buffer.shape) * width
        memory = buffer.reshape(-1).view(np.uint8).data
        for number, place in enumerate(_places(self.shape, starts, buffer.shape)):
            yield memory[number * run : (number + 1) * run], self.data + place * width

    def _bands(
        self, starts: tuple[int, ...], buffer: Array
    ) -> Iterator[tuple[tuple[int, ...], Array]]:
        """Cut a box until the part of the file that each lies in is small: it is memory too."""
        first, past = self._window(starts, buffer.shape)
        wide = next((axis for axis, extent in enumerate(buffer.shape) if extent > 1), None)
        if past - first <= WINDOW or wide is None:
            yield starts, buffer
            return
        half, every = buffer.shape[wide] // 2, (slice(None),) * wide
        later = (*starts[:wide], starts[wide] + half, *starts[wide + 1 :])
        yield from self._bands(starts, buffer[(*every, slice(half))])
        yield from self._bands(later, buffer[(*every, slice(half, None))])

    def _window(self, starts: tuple[int, ...], extents: tuple[int, ...]) -> tuple[int, int]:
        """The first byte of a box, and the one after its last."""
        width, strides = self.dtype.itemsize, row_major(self.shape)
        first = self.data + width * sum(s * t for s, t in zip(starts, strides, strict=True))
        ends = zip(extents, strides, strict=True)
        return first, first + width * (sum((e - 1) * t for e, t in ends) + 1)

    def _mapped(self, starts: tuple[int, ...], extents: tuple[int, ...], access: int) -> Array:
        """A box as a view of a map of the part of the file that it lies in."""
        first, past = self._window(starts, extents)
        page = first - first % mmap.ALLOCATIONGRANULARITY
        try:
            with named(self.place):
                part = mmap.mmap(self.handle, past - page, access=access, offset=page)
        except ValueError:  # there is no such part any more
            raise UnreadableError("was cut short while it was read") from None
        items = np.frombuffer(part, np.uint8)[first - page :].view(self.dtype)
        steps = tuple(self.dtype.itemsize * each for each in row_major(self.shape))
        return np.lib.stride_tricks.as_strided(items, extents, steps)


class Divided(Stored):
    """An array in a file that other machines write other items of.

    A map is written back by pages, with what this machine knew of the items of others. So short
    runs are written one by one.
    """

    __slots__ = ()

    def write(self, starts: tuple[int, ...], buffer: Array) -> None:
        """Write a contiguous buffer as the box that starts there, and nothing else."""
        self._write_runs(starts, buffer)


@dataclass(frozen=True, slots=True)
class Target:
    """A file that arrays are written to, which is opened later.

    Attributes:
        place: where it goes.
        kind: how it is written: `Divided`, where other machines write it too.
        order: of the bytes of its items, ``<`` or ``>``; `None` where it is that of their type.
    """

    place: Path
    kind: type[Stored] = Stored
    order: Literal["<", ">"] | None = None

    def array(self, data: int, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Stored:
        """Return an array in it whose items start at some byte; it has no handle yet."""
        found = dtype if self.order is None else dtype.newbyteorder(self.order)
        return self.kind(self.place, -1, data, found, shape)


def in_order(items: Array, dtype: np.dtype[Any]) -> Array:
    """Return items with their bytes in the order that a type has; the same where they have it."""
    if items.dtype.isnative == dtype.isnative or items.dtype.itemsize == 1:
        return items
    return items.astype(items.dtype.newbyteorder())


def _outer(shape: tuple[int, ...], extents: tuple[int, ...]) -> int:
    """The axes before the first of a run: those after it are whole."""
    whole = len(shape)
    while whole and extents[whole - 1] == shape[whole - 1]:
        whole -= 1
    return max(whole - 1, 0)


def _run(shape: tuple[int, ...], extents: tuple[int, ...]) -> int:
    """How many items of a box lie side by side."""
    return prod(extents[_outer(shape, extents) :])


def _places(
    shape: tuple[int, ...], starts: tuple[int, ...], extents: tuple[int, ...]
) -> Iterator[int]:
    """Where each run of a box starts, in items."""
    outer, strides = _outer(shape, extents), row_major(shape)
    first = sum(s * t for s, t in zip(starts, strides, strict=True))
    steps = [range(0, e * t, t) for e, t in zip(extents[:outer], strides, strict=False)]
    return (first + sum(each) for each in product(*steps))


@contextmanager
def named(place: Path) -> Iterator[None]:
    """A failure of the system inside is about this file."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(place)
        raise


def stored_npy(place: Path, handle: int) -> Stored:
    """Return the array of an open `.npy` file; its items are not looked at.

    Raises:
        UnreadableError: it is none, holds Python objects, or is cut short.
    """
    found = read_header(handle)
    return Stored(place, handle, found.data, found.dtype, found.shape, found.fortran)


def stored_raw(place: Path, handle: int, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Stored:
    """Return an array without a header, which is all of a file.

    Raises:
        UnreadableError: the file has another size.
    """
    found, size = Stored(place, handle, 0, dtype, shape), os.fstat(handle).st_size
    if size != found.end:
        words = f"{size} bytes, and {' x '.join(map(str, shape))} of {dtype.name} are {found.end}"
        raise UnreadableError(f"has {words}")
    return found


def reserve(handle: int, place: Path, size: int) -> None:
    """Give a new file its size and its space on the disk.

    Raises:
        OSError: there is not as much.
    """
    free = os.fstatvfs(handle)
    if size > free.f_bavail * free.f_frsize:
        words = f"it needs {size} bytes, and {free.f_bavail * free.f_frsize} are free"
        raise OSError(errno.ENOSPC, words, str(place))
    if hasattr(os, "posix_fallocate") and size:
        os.posix_fallocate(handle, 0, size)
    else:
        os.ftruncate(handle, size)
