"""Carried by modules whose elements lie in runs or rows: how these are put and taken.

What `_scatter` means is that the element ``t`` behind the beginning of a run is put ``t`` behind
its offset, for each that the source has, and what `_gathered` returns is taken likewise. A run is
one wide item here, and begins anywhere. `_scatter_rows` and `_take_rows` do so for rows of which
each begins and ends elsewhere; their offsets are those of the axis's first index, held or not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from layoutdsl.code.numpy.support import _Array

# --------------------------------------------------------------------------------------------------

_Offsets = NDArray[np.int64]


def _scatter(flat: _Array, offsets: _Offsets, source: _Array, axis: int, run: int) -> None:
    """Put runs of so many elements along an axis to their offsets."""
    for part, starts in _runs(source, offsets, axis, run):
        width = part.shape[-1]
        if flat.flags.c_contiguous:
            item = f"V{width * flat.itemsize}"
            _wide(flat, width)[starts] = np.ascontiguousarray(part).view(item)[..., 0]
        else:
            flat[starts[..., None] + np.arange(width)] = part


def _gathered(flat: _Array, offsets: _Offsets, axis: int, run: int, extent: int) -> _Array:
    """Return the elements of runs of so many along an axis that has so many in all."""
    shape = (*offsets.shape[:axis], extent, *offsets.shape[axis + 1 :])
    found = np.empty(shape, flat.dtype)
    for part, starts in _runs(found, offsets, axis, run):
        width = part.shape[-1]
        if flat.flags.c_contiguous:
            part[...] = _wide(flat, width)[starts][..., None].view(flat.dtype)
        else:
            part[...] = flat[starts[..., None] + np.arange(width)]
    return found


def _runs(array: _Array, offsets: _Offsets, axis: int, run: int) -> list[tuple[_Array, _Offsets]]:
    """Return runs as the last dimension, and their offsets: the whole ones, then those that end."""
    array, offsets = np.moveaxis(array, axis, -1), np.moveaxis(offsets, axis, -1)
    whole = array.shape[-1] // max(1, run)
    parts: list[tuple[_Array, _Offsets]] = []
    if array.size and whole:
        shape = (*array.shape[:-1], whole, run)
        parts.append((array[..., : whole * run].reshape(shape), offsets[..., :whole]))
    if array.size and array.shape[-1] > whole * run:
        parts.append((array[..., whole * run :], offsets[..., whole]))
    return parts


def _wide(flat: _Array, width: int) -> _Array:
    """Return the items of so many elements of an array, of which one begins at each element."""
    size, step = len(flat) - width + 1, flat.itemsize
    item = np.dtype(f"V{width * step}")
    return np.ndarray((size,), item, flat.view("u1"), 0, (step,))


def _refuse_runs(offsets: _Offsets, size: int, axis: int, run: int, extent: int) -> None:
    """Refuse runs of which an element lies outside the buffer, before anything is written."""
    last = offsets.shape[axis] - 1
    widths = np.empty(offsets.shape[axis], np.int64)
    widths[:last], widths[last:] = run, extent - last * run
    past = offsets + widths.reshape(-1, *[1] * (offsets.ndim - axis - 1))
    if offsets.size and not 0 <= int(offsets.min()) <= int(past.max()) <= size:
        raise ValueError("the layout leaves its buffer at this shape")


def _refuse_rows(
    offsets: _Offsets, lows: _Offsets, highs: _Offsets, size: int, extent: int
) -> None:
    """Refuse rows of which an element lies outside the buffer, before anything is written."""
    lows, highs = np.maximum(lows, 0), np.minimum(highs, extent)
    held = lows < highs
    first, past = (offsets + lows)[held], (offsets + highs)[held]
    if first.size and not 0 <= int(first.min()) <= int(past.max()) <= size:
        raise ValueError("the layout leaves its buffer at this shape")


def _scatter_rows(
    flat: _Array, offsets: _Offsets, lows: _Offsets, highs: _Offsets, source: _Array, axis: int
) -> None:
    """Put what lies between two ends of each row to its offset."""
    rows = np.moveaxis(source, axis, -1)
    for place, first, low, high in _ends(rows, offsets, lows, highs):
        flat[first + low : first + high] = rows[place][low:high]


def _take_rows(
    target: _Array, flat: _Array, offsets: _Offsets, lows: _Offsets, highs: _Offsets, axis: int
) -> None:
    """Take what lies between two ends of each row from its offset."""
    rows = np.moveaxis(target, axis, -1)
    for place, first, low, high in _ends(rows, offsets, lows, highs):
        rows[place][low:high] = flat[first + low : first + high]


def _ends(
    rows: _Array, offsets: _Offsets, lows: _Offsets, highs: _Offsets
) -> list[tuple[tuple[int, ...], int, int, int]]:
    """Return each row that is not empty: its place, its offset, and the ends of what is held."""
    lows, highs = np.maximum(lows, 0), np.minimum(highs, rows.shape[-1])
    numbers = [each.ravel().tolist() for each in (offsets, lows, highs)]
    places = zip(np.ndindex(rows.shape[:-1]), *numbers, strict=True)
    return [each for each in places if each[2] < each[3]]
