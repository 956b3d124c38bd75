"""How every generated module moves and fills boxes of slots, word for word.

What `_move` and `_fill` mean is ``target[...] = source`` and ``target[...] = item``, whatever the
arrays are; all that stands here makes that fast. Ordinary code, checked and tested as such;
`numpy_text` copies everything below the line of dashes into what it writes.

numpy moves about one item in a cycle, however wide, and its innermost loop goes along the target's
smallest stride. So items are made wide, loops long, and what is read across rows is read in blocks.
"""

from __future__ import annotations

from functools import lru_cache
from math import gcd

import numpy as np

from layoutdsl.codegen.numpy.support import _Array, _Round

# --------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _rounds(
    shape: tuple[int, ...], targets: tuple[int, ...], sources: tuple[int, ...], width: int
) -> list[_Round]:
    """Return how two arrays are to be seen, round after round, so that few wide items are moved.

    A round is an order of the dimensions, outermost first; the shape that is left when those that
    lie alike on both sides become one; and the type of the item that the last becomes, where it is
    a run on both sides. There are none where nothing is gained.
    """
    rounds: list[_Round] = []
    while True:
        dimensions: list[tuple[int, int, int]] = []
        order = sorted((shape[k] > 1, -abs(targets[k]), k) for k in range(len(shape)))
        for _, _, axis in order:
            extent, target, source = shape[axis], targets[axis], sources[axis]
            if (
                extent > 1
                and dimensions
                and dimensions[-1][1:] == (extent * target, extent * source)
            ):
                dimensions[-1] = (dimensions[-1][0] * extent, target, source)
            elif extent > 1:
                dimensions.append((extent, target, source))
        shape, targets, sources = (tuple([each[k] for each in dimensions]) for k in range(3))
        run = width * shape[-1] if shape and targets[-1] == sources[-1] == width else 0
        wide = {2: "u2", 4: "u4", 8: "u8", 16: "c16"}.get(run)
        if wide is None and 16 < run <= 4096:
            wide = f"V{run}"
        rounds.append((tuple([axis for _, _, axis in order]), shape, wide))
        if wide is None:
            plain = len(rounds) == 1 and _loops(shape, targets, sources) == "plain"
            return [] if plain else rounds
        shape, targets, sources, width = shape[:-1], targets[:-1], sources[:-1], run


def _loops(shape: tuple[int, ...], targets: tuple[int, ...], sources: tuple[int, ...]) -> str:
    """Return how the loops go: as numpy has them, lane by lane, or across lines of the cache."""
    if len(shape) < 2:
        return "plain"
    lanes, step = shape[-1], abs(sources[-1])
    if lanes <= 8 and lanes < max(shape[-3:-1]) and abs(targets[-2]) <= 64:
        return "lanes"
    return "plain" if step < 64 or lanes <= 128 else "across"


def _widest(target: _Array, source: _Array) -> tuple[_Array, _Array]:
    """Return views of both as few wide items, their dimensions in the order of the target's."""
    width = target.itemsize
    raw = {1: "u1", 2: "u2", 4: "u4", 8: "u8", 16: "c16"}.get(width, f"V{width}")
    target, source = target.view(raw), source.view(raw)
    for order, shape, wide in _rounds(target.shape, target.strides, source.strides, width):
        target = target.transpose(order).reshape(shape)
        source = source.transpose(order).reshape(shape)
        if wide is not None:
            wider, from_wider = target.view(wide)[..., 0], source.view(wide)[..., 0]
            if not (wider.flags.aligned and from_wider.flags.aligned):
                break
            target, source = wider, from_wider
    return target, source


def _move(target: _Array, source: _Array, threads: int = 1) -> None:
    """Put the elements of the source into the target; several threads share what is large."""
    size = target.size
    if size < 4096 or (size < 16384 and target.shape[-1] > 8):
        target[...] = source
    elif threads > 1:
        _share(*_widest(target, source), threads)
    elif _rounds(target.shape, target.strides, source.strides, target.itemsize):
        _copy(*_widest(target, source))
    else:
        target[...] = source


def _share(target: _Array, source: _Array, threads: int) -> None:
    """Let threads move parts, more than there are threads, so that none waits long for another."""
    from concurrent.futures import ThreadPoolExecutor  # it is slow to import, and rarely needed

    if target.ndim == 0 or (target.size < 2**19 and target.nbytes < 2**23):
        _copy(target, source)
        return
    longest = target.shape.index(max(target.shape))
    axis = next((k for k in range(longest) if target.shape[k] >= 4 * threads), longest)
    count = min(4 * threads, target.shape[axis])
    ends = [target.shape[axis] * part // count for part in range(count + 1)]
    cuts = [(slice(None),) * axis + (slice(*ends[k : k + 2]),) for k in range(count)]
    with ThreadPoolExecutor(min(threads, count)) as pool:
        list(pool.map(_copy, [target[cut] for cut in cuts], [source[cut] for cut in cuts]))


def _parts(target: _Array, size: int) -> list[slice]:
    """Cut the first dimension so that parts have about so many bytes."""
    rows = max(1, size * target.shape[0] // target.nbytes)
    return [slice(first, first + rows) for first in range(0, target.shape[0], rows)]


def _copy(target: _Array, source: _Array) -> None:
    """Put one into the other; dimensions are in the target's order."""
    loops = _loops(target.shape, target.strides, source.strides)
    if target.size < 1024:
        target[...] = source
    elif loops == "lanes":
        _copy_lanes(target, source)
    elif loops == "across":
        _copy_across(target, source)
    else:
        target[...] = source


def _copy_across(target: _Array, source: _Array) -> None:
    """Copy where the innermost loop reads another line of the cache at every step.

    Lines are read again for the next rows of the target: what is read in one go is kept small, or
    brought together first.
    """
    lanes, step = target.shape[-1], abs(source.strides[-1])
    rows = [abs(each) for each in source.strides]
    across = rows.index(min(rows))
    if target.itemsize >= 4 and target.nbytes > 2**24 and target.shape[across] >= 64:
        _copy_staged(target, source, across)
    elif step > 2048 and lanes <= 512:
        target[...] = source
    else:
        block = 64 if step >= 512 else 256 if step <= 128 else 128
        for first in range(0, lanes, block):
            here = (..., slice(first, first + block))
            target[here] = source[here]


def _copy_lanes(target: _Array, source: _Array) -> None:
    """Copy lane by lane, so that the innermost loop is not the last, short dimension.

    Lanes lie in one line of the cache. Where a line holds few of their rows, it is written again
    before it is put out.
    """
    far = abs(target.strides[-2]) >= 16
    if far and target.shape[0] > 1 and target.ndim > 2 and target.nbytes > 2**20:
        for part in _parts(target, 2**19):
            _copy_lanes(target[part], source[part])
        return
    for lane in range(target.shape[-1]):
        _copy(target[..., lane], source[..., lane])


def _copy_staged(target: _Array, source: _Array, across: int) -> None:
    """Copy by way of a block in the cache: whole pieces of the source's rows, and then turned.

    Rows of the block lie a line further apart than they are long, so that they do not push each
    other out.
    """
    rows, columns = min(256, target.shape[-1]), min(256, target.shape[across])
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
