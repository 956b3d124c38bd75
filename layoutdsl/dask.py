"""Arrays of dask, packed and unpacked block by block: a block is made of exactly its elements.

>>> import dask.array as da
>>> packed = pack(da.ones((2, 200, 3, 4), chunks=(1, 100, 3, 4)), "NCHW16c")
>>> packed.shape, packed.chunks[1]
((2, 13, 3, 4, 16), (6, 7))

Chunks may end where a layout can be taken apart, which is proved for all shapes, and nowhere else:
between such seams the code of the whole packs a part. Chunks that end elsewhere are put together
anew, or refused. What runs, where, and again after a worker was lost, is dask's. This file alone
imports dask, when it is imported.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise, product
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from layoutdsl.api import compile as compile_
from layoutdsl.api import library
from layoutdsl.meaning.arguments import Kind, called, expect, integers
from layoutdsl.meaning.model import LAYOUT, Layout
from layoutdsl.pieces.cut import lead_of
from layoutdsl.pieces.files import Divided, named, stored_npy
from layoutdsl.pieces.proof import lies_alike, seam_at
from layoutdsl.pieces.seams import Seam, flat

try:
    import dask.array as da
    from dask.delayed import delayed
except ModuleNotFoundError as missing:
    if missing.name not in ("dask", "dask.array"):
        raise
    needed = "layoutdsl.dask needs dask: pip install 'layoutdsl[dask]'"
    raise ModuleNotFoundError(needed, name="dask") from None

__all__ = ["delayed_into", "pack", "seams", "unpack"]

OffSeam: TypeAlias = Literal["rechunk", "refuse"]
Numbers: TypeAlias = tuple[int, ...]

NAMED = Kind("a layout, or the name of one", lambda v: isinstance(v, Layout | str), LAYOUT.help)
EXTENTS = "an extent for each axis, in order"


def seams(layout: Layout | str) -> dict[str, int]:
    """Return after how many indices of each axis a chunk may end; other axes are in one chunk.

    >>> seams("OIhw4i16o4i")
    {'o': 16, 'i': 16, 'h': 1, 'w': 1}

    Args:
        layout: without open parameters, or the name of one of the library.
    """
    return {each.axis: each.unit for each in _cuts(_layout(layout)).seams}


def pack(
    array: Any, layout: Layout | str, *, fill: float | None = None, off_seam: OffSeam = "rechunk"
) -> Any:
    """Return the buffer of a tensor, as an array of dask in the coordinates of the layout.

    Args:
        array: of dask; the tensor.
        layout: without open parameters, or the name of one of the library.
        fill: the number in padding; that of the layout if left out.
        off_seam: what becomes of chunks that end elsewhere: ``rechunk`` or ``refuse``.

    Raises:
        ValueError, TypeError: the array does not fit the layout, or its chunks are refused.
        RefusedError: the layout is refuted.
    """
    tensor, grid = _tensor(array, _layout(layout), off_seam)
    blocks = tensor.to_delayed()

    def block(place: Numbers) -> Any:
        extents, shape = grid.extents(place), grid.block(place)
        packs = delayed(_Packs(grid.layout, extents, shape, fill), pure=False, traverse=False)
        return da.from_delayed(packs(blocks[grid.of_tensor(place)]), shape, dtype=tensor.dtype)

    return _joined(block, grid.counts, range(len(grid.counts)), grid.physical)


def unpack(
    buffer: Any, layout: Layout | str, shape: Sequence[int], *, off_seam: OffSeam = "rechunk"
) -> Any:
    """Return the tensor that a buffer holds, as an array of dask; padding is not read.

    Args:
        buffer: of dask, in the coordinates of the layout.
        layout: without open parameters, or the name of one of the library.
        shape: the extents of the tensor.
        off_seam: what becomes of chunks that end elsewhere: ``rechunk`` or ``refuse``.

    Raises:
        ValueError, TypeError: the buffer does not fit, or its chunks are refused.
        RefusedError: the layout is refuted.
    """
    found, extents = _layout(layout), integers(shape, "shape", EXTENTS)
    packed, cuts, want = _array(buffer, "buffer"), _cuts(found), _physical(found, extents)
    if packed.shape != want:
        raise ValueError(f"`buffer` has the shape {packed.shape}, not {want}")
    steps = [cuts.height(extents, number, each.unit) for number, each in enumerate(cuts.seams)]
    chunks = {number: _rounded(packed.chunks[number], step) for number, step in enumerate(steps)}
    packed = _rechunked(packed, "buffer", chunks, found, off_seam)
    lengths = (
        _cut_at((end // step * seam.unit for end in accumulate(chunks[number])), extents[axis])
        for number, (step, seam, axis) in enumerate(zip(steps, cuts.seams, cuts.axes, strict=True))
    )
    grid, blocks = _Grid(found, extents, tuple(lengths)), packed.to_delayed()

    def block(place: Numbers) -> Any:
        part = grid.extents(place)
        unpacks = delayed(_Unpacks(found, grid.block(place), part), pure=False, traverse=False)
        return da.from_delayed(unpacks(blocks[grid.of_buffer(place)]), part, dtype=packed.dtype)

    return _joined(block, grid.counts, cuts.axes, extents)


def delayed_into(
    array: Any,
    layout: Layout | str,
    out: str | os.PathLike[str],
    *,
    fill: float | None = None,
    off_seam: OffSeam = "rechunk",
) -> list[Any]:
    """Return tasks of dask that pack a tensor into a file, each its own part of it.

    A task returns the bytes that it wrote; where it is done again, as its worker was lost, it
    writes the same. The file is there before, and all workers see it:
    ``numpy.lib.format.open_memmap(out, "w+", dtype, shape)`` makes one.

    Args:
        array: of dask; the tensor.
        layout: without open parameters, or the name of one of the library.
        out: a `.npy` file of the buffer's shape, and of the type of the array.
        fill: the number in padding; that of the layout if left out.
        off_seam: what becomes of chunks that end elsewhere: ``rechunk`` or ``refuse``.

    Raises:
        ValueError, TypeError: something does not fit, or chunks are refused.
        OSError: the file cannot be opened.
    """
    tensor, grid = _tensor(array, _layout(layout), off_seam)
    place, blocks = Path(out).absolute(), tensor.to_delayed()
    with _opened(place, grid.physical, tensor.dtype):
        pass
    found = []
    for each in product(*map(range, grid.counts)):
        packs = _Packs(grid.layout, grid.extents(each), grid.block(each), fill)
        writes = _Writes(packs, place, grid.physical, grid.starts(each))
        found.append(delayed(writes, pure=False, traverse=False)(blocks[grid.of_tensor(each)]))
    return found


@dataclass(frozen=True, slots=True)
class _Cuts:
    """The seams of a layout that a grid may have: the k-th cuts the k-th coordinate, by an axis.

    The theorem of a seam is of one value of every coordinate before it. Where a unit of each of
    those is one value, a box of several is as many pieces side by side, each packed as by itself;
    so it holds of the box too, and chunks may end at any of these seams at once.
    """

    layout: Layout
    seams: tuple[Seam, ...]
    reason: str

    @property
    def axes(self) -> Numbers:
        """The numbers of the axes."""
        names = [axis.name for axis in self.layout.axes]
        return tuple(names.index(each.axis) for each in self.seams)

    def height(self, shape: Numbers, number: int, length: int) -> int:
        """Return the values of a coordinate that so many indices of its axis take."""
        part = list(shape)
        part[self.axes[number]] = min(length, part[self.axes[number]])
        return _physical(self.layout, tuple(part))[number]


@lru_cache(maxsize=256)
def _cuts(layout: Layout) -> _Cuts:
    """Return the seams, as were proved, and why there is no further one."""
    outer, found = flat(layout), list[Seam]()
    if outer != layout and not lies_alike(layout):
        return _Cuts(layout, (), "its outermost tuple may be another number")
    for number in range(len(outer.coordinates)):
        seam = seam_at(outer, number)
        if isinstance(seam, str):
            return _Cuts(layout, tuple(found), seam)
        if seam.axis in {each.axis for each in found}:
            break
        found.append(seam)
        if seam.blocks > 1 or outer != layout:  # parts of a tuple are one coordinate of the buffer
            break
    return _Cuts(layout, tuple(found), "")


@dataclass(frozen=True, slots=True)
class _Grid:
    """A tensor and its buffer, cut alike.

    Attributes:
        shape: of the tensor.
        lengths: of the parts along the axis of each seam.
    """

    layout: Layout
    shape: Numbers
    lengths: tuple[Numbers, ...]

    @property
    def physical(self) -> Numbers:
        """The shape of the buffer."""
        return _physical(self.layout, self.shape)

    @property
    def counts(self) -> list[int]:
        """How many parts there are along each seam."""
        return [len(each) for each in self.lengths]

    def extents(self, place: Numbers) -> Numbers:
        """Return the shape of a part of the tensor."""
        part = list(self.shape)
        for axis, lengths, number in zip(_cuts(self.layout).axes, self.lengths, place, strict=True):
            part[axis] = lengths[number]
        return tuple(part)

    def block(self, place: Numbers) -> Numbers:
        """Return the shape of that part of the buffer."""
        return _physical(self.layout, self.extents(place))

    def starts(self, place: Numbers) -> Numbers:
        """Return where it starts in the buffer."""
        cuts, rest = _cuts(self.layout), len(self.physical) - len(place)
        firsts = (
            sum(cuts.height(self.shape, number, each) for each in lengths[:at])
            for number, (lengths, at) in enumerate(zip(self.lengths, place, strict=True))
        )
        return (*firsts, *[0] * rest)

    def of_tensor(self, place: Numbers) -> Numbers:
        """Return which block of an array of the tensor it is."""
        found = [0] * len(self.shape)
        for axis, number in zip(_cuts(self.layout).axes, place, strict=True):
            found[axis] = number
        return tuple(found)

    def of_buffer(self, place: Numbers) -> Numbers:
        """Return which block of an array of the buffer it is."""
        return (*place, *[0] * (len(self.physical) - len(place)))


@dataclass(frozen=True)
class _Packs:
    """Packs a part, on any worker; other shapes than were promised are an error."""

    layout: Layout
    extents: Numbers
    shape: Numbers
    fill: float | None

    def __call__(self, part: Any) -> Any:
        given = {} if self.fill is None else {"fill": self.fill}
        tensor = _expected(part, self.extents)
        if not self.extents:  # numpy has made a number of it
            tensor = np.asarray(tensor)
        packed = _module(self.layout).pack(tensor, **given)
        return _expected(packed, self.shape)


@dataclass(frozen=True)
class _Unpacks:
    """Unpacks a part, on any worker."""

    layout: Layout
    shape: Numbers
    extents: Numbers

    def __call__(self, part: Any) -> Any:
        tensor = _module(self.layout).unpack(_expected(part, self.shape), self.extents)
        return _expected(tensor, self.extents)


@dataclass(frozen=True)
class _Writes:
    """Packs a part, and writes it to its place in a file."""

    packs: _Packs
    place: Path
    physical: Numbers
    starts: Numbers

    def __call__(self, part: Any) -> int:
        packed = self.packs(part)
        with _opened(self.place, self.physical, packed.dtype) as file:
            file.write(self.starts, packed)
        return int(packed.nbytes)


@contextmanager
def _opened(place: Path, shape: Numbers, dtype: Any) -> Iterator[Divided]:
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


def _layout(layout: Layout | str) -> Layout:
    """Return a layout whose buffer has coordinates to be cut; of codes, where elements are such.

    Raises:
        ValueError: it has none.
    """
    expect(layout=(layout, NAMED))
    found = library(layout) if isinstance(layout, str) else layout
    if found.bit_of is not None:
        raise ValueError(f"`{found.name}` places the bits of its elements, and is packed at once")
    if found.copies:
        raise ValueError(f"`{found.name}` holds copies of its elements, and is packed at once")
    _module(found.of_codes)
    return found.of_codes


def _module(layout: Layout) -> Any:
    return compile_(layout)


def _physical(layout: Layout, shape: Numbers) -> Numbers:
    found: Numbers = tuple(_module(layout).physical_shape(shape))
    if lead_of(layout, shape):
        raise ValueError(f"`{layout.name}` starts later, and its buffer has no coordinates")
    return found


def _array(array: Any, name: str) -> Any:
    """Return an array whose chunks are known.

    Raises:
        TypeError, ValueError: it is none.
    """
    if not isinstance(array, da.Array):
        words = f"`{name}` is {called(array)}, and has to be an array of dask"
        raise TypeError(f"{words}: `dask.array.from_array` makes one")
    if any(each != each for lengths in array.chunks for each in lengths):
        raise ValueError(f"`{name}` has chunks of unknown sizes: call `compute_chunk_sizes()`")
    return array


def _tensor(array: Any, layout: Layout, off_seam: OffSeam) -> tuple[Any, _Grid]:
    """Return a tensor whose chunks end at seams, and how it is cut."""
    tensor, cuts = _array(array, "array"), _cuts(layout)
    _physical(layout, tensor.shape)
    chunks = {
        axis: _rounded(tensor.chunks[axis], seam.unit)
        for axis, seam in zip(cuts.axes, cuts.seams, strict=True)
    }
    tensor = _rechunked(tensor, "array", chunks, layout, off_seam)
    return tensor, _Grid(layout, tensor.shape, tuple(tensor.chunks[axis] for axis in cuts.axes))


def _rounded(lengths: Numbers, step: int) -> Numbers:
    """Return chunks that end at the multiples of a step next to where those given end."""
    ends = ((end + step // 2) // step * step for end in accumulate(lengths[:-1]))
    return _cut_at(ends, sum(lengths))


def _cut_at(ends: Iterable[int], length: int) -> Numbers:
    inner = sorted({end for end in ends if 0 < end < length})
    return tuple(after - before for before, after in pairwise([0, *inner, length]))


def _rechunked(
    array: Any, name: str, chunks: dict[int, Numbers], layout: Layout, off_seam: OffSeam
) -> Any:
    """Return an array with these chunks, and one along every other axis.

    Raises:
        ValueError: it has others, and they are refused; or it would become one.
    """
    wanted = {axis: chunks.get(axis, (extent,)) for axis, extent in enumerate(array.shape)}
    if all(array.chunks[axis] == each for axis, each in wanted.items()):
        return array
    if off_seam not in ("rechunk", "refuse"):
        raise ValueError(f"`off_seam` is {off_seam!r}, and has to be 'rechunk' or 'refuse'")
    if not chunks:
        words = f"`{layout.name}` cannot be taken apart: {_cuts(layout).reason}"
        raise ValueError(f"{words}; if `{name}` fits into memory, give `{name}.rechunk(-1)`")
    if off_seam == "refuse":
        said = {axis: max(each) if _even(each) else each for axis, each in wanted.items()}
        words = f"chunks of `{name}` do not end where `{layout.name}` can be taken apart"
        raise ValueError(f"{words}: give `{name}.rechunk({said})`")
    return array.rechunk(wanted)


def _even(lengths: Numbers) -> bool:
    return len(set(lengths[:-1])) <= 1 and lengths[-1] <= lengths[0]


def _joined(
    block: Callable[[Numbers], Any], counts: Sequence[int], axes: Sequence[int], shape: Numbers
) -> Any:
    """Put blocks together, those of each seam along its axis, to an array of that shape."""

    def part(place: Numbers) -> Any:
        if len(place) == len(counts):
            return block(place)
        parts = [part((*place, number)) for number in range(counts[len(place)])]
        return parts[0] if len(parts) == 1 else da.concatenate(parts, axes[len(place)])

    return _expected(part(()), shape)


def _expected(found: Any, shape: Numbers) -> Any:
    """Return an array, if it has the shape that it has to have.

    Raises:
        RuntimeError: it has another; something that was promised does not hold.
    """
    if tuple(found.shape) != tuple(shape):
        raise RuntimeError(f"an array of the shape {found.shape} came, not {shape}")
    return found
