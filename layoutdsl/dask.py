"""Arrays of dask, packed and unpacked block by block: a block is made of exactly its elements.

>>> import dask.array as da
>>> packed = pack(da.ones((2, 200, 3, 4), chunks=(1, 100, 3, 4)), "NCHW16c")
>>> packed.shape, packed.chunks[1]
((2, 13, 3, 4, 16), (6, 7))

Chunks may end where a layout can be taken apart, which is proved for all shapes, and nowhere else:
between such seams the code of the whole packs a part. Chunks that end elsewhere are put together
anew, or refused. What runs, where, and again after a worker was lost, is dask's. This file alone
imports dask, when it is imported; `files/grids.py` says what the parts are, and `files/tasks.py`
what becomes of one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import accumulate, product
from pathlib import Path
from typing import Any, Literal, TypeAlias

from layoutdsl.files.grids import (
    Grid,
    Numbers,
    are_even,
    check_undecided,
    cut_at,
    cuts_of,
    layout_of,
    physical_shape,
    rounded,
)
from layoutdsl.files.tasks import Packs, Unpacks, Writes, expected, opened
from layoutdsl.language.meaning.arguments import called, integers
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.texts.resources import install_command

try:
    import dask.array as da
    from dask.delayed import delayed
except ModuleNotFoundError as missing:
    if missing.name not in ("dask", "dask.array"):
        raise
    needed = f"layoutdsl.dask needs dask: {install_command('dask')}"
    raise ModuleNotFoundError(needed, name="dask") from None

__all__ = ["delayed_into", "pack", "seams", "unpack"]

OffSeam: TypeAlias = Literal["rechunk", "refuse"]

EXTENTS = "an extent for each axis, in order"


def seams(layout: Layout | str) -> dict[str, int]:
    """Return after how many indices of each axis a chunk may end; other axes are in one chunk.

    >>> seams("OIhw4i16o4i")
    {'o': 16, 'i': 16, 'h': 1, 'w': 1}

    Args:
        layout: without open parameters, or the name of one of the library.
    """
    return {each.axis: each.unit for each in cuts_of(layout_of(layout, unproved=True)).seams}


def pack(
    array: Any,
    layout: Layout | str,
    *,
    fill: float | None = None,
    off_seam: OffSeam = "rechunk",
    unproved: bool = False,
) -> Any:
    """Return the buffer of a tensor, as an array of dask in the coordinates of the layout.

    Args:
        array: of dask; the tensor.
        layout: without open parameters, or the name of one of the library.
        fill: the number in padding; that of the layout if left out.
        off_seam: what becomes of chunks that end elsewhere: ``rechunk`` or ``refuse``.
        unproved: also take an undecided layout, after a check of bounds and distinct slots at the
            whole shape.

    Raises:
        ValueError, TypeError: the array does not fit the layout, or its chunks are refused.
        RefusedError: the layout is refuted, or wrong at this shape.
        UnprovedError: the layout is undecided.
    """
    tensor, grid = _tensor(array, layout_of(layout, unproved), off_seam)
    blocks = tensor.to_delayed()

    def block(place: Numbers) -> Any:
        extents, shape = grid.extents(place), grid.block(place)
        packs = delayed(Packs(grid.layout, extents, shape, fill), pure=False, traverse=False)
        return da.from_delayed(packs(blocks[grid.of_tensor(place)]), shape, dtype=tensor.dtype)

    return _joined(block, grid.counts, range(len(grid.counts)), grid.physical, tensor.dtype)


def unpack(
    buffer: Any,
    layout: Layout | str,
    shape: Sequence[int],
    *,
    off_seam: OffSeam = "rechunk",
    unproved: bool = False,
) -> Any:
    """Return the tensor that a buffer holds, as an array of dask; padding is not read.

    Args:
        buffer: of dask, in the coordinates of the layout.
        layout: without open parameters, or the name of one of the library.
        shape: the extents of the tensor.
        off_seam: what becomes of chunks that end elsewhere: ``rechunk`` or ``refuse``.
        unproved: also take an undecided layout, after a check of bounds and distinct slots at the
            whole shape.

    Raises:
        ValueError, TypeError: the buffer does not fit, or its chunks are refused.
        RefusedError: the layout is refuted, or wrong at this shape.
        UnprovedError: the layout is undecided.
    """
    found, extents = layout_of(layout, unproved), integers(shape, "shape", EXTENTS)
    packed, cuts, want = _array(buffer, "buffer"), cuts_of(found), physical_shape(found, extents)
    if packed.shape != want:
        raise ValueError(f"`buffer` has the shape {packed.shape}, not {want}")
    check_undecided(found, extents)
    steps = [cuts.height(extents, number, each.unit) for number, each in enumerate(cuts.seams)]
    chunks = {number: rounded(packed.chunks[number], step) for number, step in enumerate(steps)}
    packed = _rechunked(packed, "buffer", chunks, found, off_seam)
    # The last chunk ends where the tensor does. Its end is no multiple of the step where the last
    # unit is cut short: the 5 rows of `[h, c ^ h%4]` are one chunk, or 4 and 1.
    lengths = (
        cut_at((end // step * seam.unit for end in accumulate(chunks[number][:-1])), extents[axis])
        for number, (step, seam, axis) in enumerate(zip(steps, cuts.seams, cuts.axes, strict=True))
    )
    grid, blocks = Grid(found, extents, tuple(lengths)), packed.to_delayed()

    def block(place: Numbers) -> Any:
        part = grid.extents(place)
        unpacks = delayed(Unpacks(found, grid.block(place), part), pure=False, traverse=False)
        return da.from_delayed(unpacks(blocks[grid.of_buffer(place)]), part, dtype=packed.dtype)

    return _joined(block, grid.counts, cuts.axes, extents, packed.dtype)


def delayed_into(
    array: Any,
    layout: Layout | str,
    out: str | os.PathLike[str],
    *,
    fill: float | None = None,
    off_seam: OffSeam = "rechunk",
    unproved: bool = False,
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
        unproved: also take an undecided layout, after a check of bounds and distinct slots at the
            whole shape.

    Raises:
        ValueError, TypeError: something does not fit, or chunks are refused.
        OSError: the file cannot be opened.
    """
    tensor, grid = _tensor(array, layout_of(layout, unproved), off_seam)
    place, blocks = Path(out).absolute(), tensor.to_delayed()
    with opened(place, grid.physical, tensor.dtype):
        pass
    found = []
    for each in product(*map(range, grid.counts)):
        packs = Packs(grid.layout, grid.extents(each), grid.block(each), fill)
        writes = Writes(packs, place, grid.physical, grid.starts(each))
        found.append(delayed(writes, pure=False, traverse=False)(blocks[grid.of_tensor(each)]))
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


def _tensor(array: Any, layout: Layout, off_seam: OffSeam) -> tuple[Any, Grid]:
    """Return a tensor whose chunks end at seams, and how it is cut."""
    tensor, cuts = _array(array, "array"), cuts_of(layout)
    physical_shape(layout, tensor.shape)
    check_undecided(layout, tensor.shape)
    chunks = {
        axis: rounded(tensor.chunks[axis], seam.unit)
        for axis, seam in zip(cuts.axes, cuts.seams, strict=True)
    }
    tensor = _rechunked(tensor, "array", chunks, layout, off_seam)
    return tensor, Grid(layout, tensor.shape, tuple(tensor.chunks[axis] for axis in cuts.axes))


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
        words = f"`{layout.name}` cannot be taken apart: {cuts_of(layout).reason}"
        raise ValueError(f"{words}; if `{name}` fits into memory, give `{name}.rechunk(-1)`")
    if off_seam == "refuse":
        said = {axis: max(each) if are_even(each) else each for axis, each in wanted.items()}
        words = f"chunks of `{name}` do not end where `{layout.name}` can be taken apart"
        raise ValueError(f"{words}: give `{name}.rechunk({said})`")
    return array.rechunk(wanted)


def _joined(
    block: Callable[[Numbers], Any],
    counts: Sequence[int],
    axes: Sequence[int],
    shape: Numbers,
    dtype: Any,
) -> Any:
    """Put blocks together, along the axis of each seam, to an array of that shape and type."""
    # `concatenate` makes native numbers of big-endian ones. It gets the same bytes, called native.
    swapped = not dtype.isnative and any(count > 1 for count in counts)
    native = dtype.newbyteorder("=")

    def part(place: Numbers) -> Any:
        if len(place) == len(counts):
            return block(place).view(native) if swapped else block(place)
        parts = [part((*place, number)) for number in range(counts[len(place)])]
        return parts[0] if len(parts) == 1 else da.concatenate(parts, axes[len(place)])

    found = expected(part(()), shape)
    return found.view(dtype) if swapped else found
