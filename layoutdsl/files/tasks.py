"""What a worker does with a part: pack it, unpack it, or write it to its place in a file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from layoutdsl.files.grids import Numbers, module_of
from layoutdsl.files.pieces.files import Divided, named, stored_npy
from layoutdsl.language.meaning.model import Layout


@dataclass(frozen=True)
class Packs:
    """Packs a part, on any worker; other shapes than were promised are an error."""

    layout: Layout
    extents: Numbers
    shape: Numbers
    fill: float | None

    def __call__(self, part: Any) -> Any:
        """Return the part of the buffer."""
        given = {} if self.fill is None else {"fill": self.fill}
        tensor = expected(part, self.extents)
        if not self.extents:  # numpy has made a number of it
            tensor = np.asarray(tensor)
        packed = module_of(self.layout).pack(tensor, **given)
        return expected(packed, self.shape)


@dataclass(frozen=True)
class Unpacks:
    """Unpacks a part, on any worker."""

    layout: Layout
    shape: Numbers
    extents: Numbers

    def __call__(self, part: Any) -> Any:
        """Return the part of the tensor."""
        tensor = module_of(self.layout).unpack(expected(part, self.shape), self.extents)
        return expected(tensor, self.extents)


@dataclass(frozen=True)
class Writes:
    """Packs a part, and writes it to its place in a file."""

    packs: Packs
    place: Path
    physical: Numbers
    starts: Numbers

    def __call__(self, part: Any) -> int:
        """Write it, and return how many bytes it has."""
        packed = self.packs(part)
        with opened(self.place, self.physical, packed.dtype) as file:
            file.write(self.starts, packed)
        return int(packed.nbytes)


@contextmanager
def opened(place: Path, shape: Numbers, dtype: Any) -> Iterator[Divided]:
    """The array in a file that several write."""
    with named(place):
        handle = os.open(place, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = stored_npy(place, handle)
        if (found.shape, found.dtype, found.fortran) != (shape, dtype, False):
            words = f"{found.dtype} {found.shape}, and {dtype} {shape} is to be written"
            raise ValueError(f"`{place}` holds {words}")
        yield Divided(place, handle, found.data, found.dtype, found.shape)
    finally:
        os.close(handle)


def expected(found: Any, shape: Numbers) -> Any:
    """Return an array, if it has the shape that it has to have.

    Raises:
        RuntimeError: it has another; something that was promised does not hold.
    """
    if tuple(found.shape) != tuple(shape):
        raise RuntimeError(f"an array of the shape {found.shape} came, not {shape}")
    return found
