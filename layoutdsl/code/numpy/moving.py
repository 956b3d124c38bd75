"""How every generated module moves and fills boxes of slots, word for word.

What `_move` and `_fill` mean is ``target[...] = source`` and ``target[...] = item``, whatever the
arrays are; all that stands here makes that fast, by a way that `ways` finds. Ordinary code, checked
and tested as such; `numpy_text` copies everything below the line of dashes into what it writes.
"""

from __future__ import annotations

from math import gcd
from time import perf_counter

import numpy as np

from layoutdsl.code.numpy.support import _Array, _Cuts, _Way
from layoutdsl.code.numpy.ways import _way

# --------------------------------------------------------------------------------------------------


def _move(target: _Array, source: _Array, threads: int = 1) -> None:
    """Put the elements of the source into the target; several threads share what is large."""
    if target.size < 2048:
        target[...] = source
        return
    way = _way(target.shape, target.strides, source.strides, target.itemsize)
    ways, taken = way[3], way[4]
    if len(ways) == 1 and ways[0][0] == "plain" and threads == 1:
        target[...] = source
        return
    trial = len(taken)
    if trial == len(ways):
        trial = min(taken, key=taken.__getitem__)
    started = perf_counter()
    _by(target, source, way, trial, threads)
    if trial not in taken:
        # what gains less than a tenth by one trial may have been lucky
        taken[trial] = (perf_counter() - started) * (9 if ways[trial][0] == "plain" else 10)


def _by(target: _Array, source: _Array, way: _Way, trial: int, threads: int) -> None:
    """Put one into the other by one of its ways."""
    (order, shape, wide), (how, cuts) = way[:3], way[3][trial]
    if how != "plain":
        if order:
            target, source = target.transpose(order), source.transpose(order)
        if shape:
            target, source = target.reshape(shape), source.reshape(shape)
        if wide:
            target, source = target.view(wide)[..., 0], source.view(wide)[..., 0]
    if threads > 1:
        _share(target, source, how, cuts, threads)
    else:
        _copy(target, source, how, cuts)


def _share(target: _Array, source: _Array, how: str, cuts: _Cuts, threads: int) -> None:
    """Let threads move parts, more than there are threads, so that none waits long for another."""
    from concurrent.futures import ThreadPoolExecutor  # it is slow to import, and rarely needed

    if target.ndim == 0 or (target.size < 2**19 and target.nbytes < 2**23):
        _copy(target, source, how, cuts)
        return
    longest = target.shape.index(max(target.shape))
    axis = next((k for k in range(longest) if target.shape[k] >= 4 * threads), longest)
    count = min(4 * threads, target.shape[axis])
    ends = [target.shape[axis] * part // count for part in range(count + 1)]
    parts = [(slice(None),) * axis + (slice(*ends[k : k + 2]),) for k in range(count)]
    with ThreadPoolExecutor(min(threads, count)) as pool:
        pairs = [target[part] for part in parts], [source[part] for part in parts]
        list(pool.map(_copy, *pairs, [how] * count, [cuts] * count))


def _copy(target: _Array, source: _Array, how: str, cuts: _Cuts) -> None:
    """Put one into the other by a way, both seen as it has them."""
    if not cuts:
        target[...] = source
        return
    axis, step = cuts[0]
    if how == "staged":
        _copy_staged(target, source, axis, step)
        return
    for first in range(0, target.shape[axis], step):
        part = (*[slice(None)] * axis, slice(first, first + step))
        _copy(target[part], source[part], how, cuts[1:])


def _copy_staged(target: _Array, source: _Array, across: int, most: int) -> None:
    """Copy by way of a block in the cache: whole pieces of the source's rows, and then turned.

    Rows of the block lie a line further apart than they are long, so that they do not push each
    other out.
    """
    rows, columns = min(most, target.shape[-1]), min(most, target.shape[across])
    block = np.empty((rows, columns + 64 // target.itemsize), target.dtype)
    outer = target.shape[:across] + target.shape[across + 1 : -1]
    order = [k for k in range(target.ndim - 1) if k != across] + [across, target.ndim - 1]
    target, source = target.transpose(order), source.transpose(order)
    for place in np.ndindex(outer):
        here, there = target[place], source[place].transpose()
        for first in range(0, there.shape[0], rows):
            for left in range(0, there.shape[1], columns):
                part = there[first : first + rows, left : left + columns]
                held = block[: part.shape[0], : part.shape[1]]
                held[...] = part
                here[left : left + columns, first : first + rows] = held.transpose()


def _fill(target: _Array, item: _Array) -> None:
    """Put one item into every place of the target; short runs of bytes as a few wide items."""
    if target.itemsize > 1 or target.size < 4096 or not _short_runs(target):
        target[...] = item
    elif target.shape[0] > 1 and target.nbytes > 2**19:
        for part in _parts(target, 2**18):
            _fill_runs(target[part], item)
    else:
        _fill_runs(target, item)


def _parts(target: _Array, size: int) -> list[slice]:
    """Cut the first dimension so that parts have about so many bytes."""
    rows = max(1, size * target.shape[0] // target.nbytes)
    return [slice(first, first + rows) for first in range(0, target.shape[0], rows)]


def _short_runs(target: _Array) -> bool:
    """Whether the last dimension is a short run that does not touch the next one."""
    return (
        target.ndim > 2 and target.strides[-1] == 1 and target.shape[-1] < target.strides[-2] <= 32
    )


def _fill_runs(target: _Array, item: _Array) -> None:
    """Fill runs of bytes piece by piece, each as wide as it is aligned."""
    values = np.empty(target.shape[-1], target.dtype)
    values[...] = item
    slots, values = target.view("u1"), values.view("u1")
    address = target.__array_interface__["data"][0]
    first, grain = 0, gcd(8, *target.strides[:-1])
    while first < len(values):
        size = min(gcd(address + first, grain), 1 << (len(values) - first).bit_length() - 1)
        wide, past = {1: "u1", 2: "u2", 4: "u4", 8: "u8"}[size], first + size
        slots[..., first:past].view(wide)[...] = values[first:past].copy().view(wide)
        first = past
