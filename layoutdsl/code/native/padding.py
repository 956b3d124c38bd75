"""Padding that a caller's buffer keeps: C writes whole vectors, so it is put back afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from layoutdsl.code.native.calls import Array, Ready, moved
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.model import Layout

if TYPE_CHECKING:
    from layoutdsl.code.arrays.axes import Axes

SHORT = 8
"""Bytes of padding in a row that take longer to put back than to go round."""
FEW = 1 << 12
"""Slots of padding that are put back in no time."""


def moved_beside_padding(
    layout: Layout,
    prepared: Ready,
    src: object,
    out: object,
    extents: tuple[int, ...],
    threads: int,
) -> Array | None:
    """Return ``out`` with the elements in it, its padding as it was; `None` if NumPy has to.

    Args:
        layout: that of the buffer that is written.
        prepared: as for `moved`, and so are the arrays and threads.
        extents: of the tensor, checked.
    """
    if not isinstance(out, np.ndarray) or out.shape != prepared.result:
        return None
    if out.dtype != prepared.dtype:
        return None
    axes = _axes(layout.every_copy)
    if axes is None:
        return None
    places = list(_padding(axes, out, layout.bind(extents)))
    if any(each.size > FEW and each.shape[-1] * each.itemsize < SHORT for each in places):
        return None  # numpy, which leaves it alone, is sooner done
    with _kept(places):
        return moved(prepared, src, out, threads)


@cache
def _axes(layout: Layout) -> Axes | None:
    """Return the axes whose ends leave all the padding of a layout; `None` if others do."""
    from layoutdsl.code.arrays.axes import axes_of
    from layoutdsl.code.moves import Fallback

    found = axes_of(None, layout)
    if isinstance(found, Fallback) or found.has_gaps or found.target.layout.is_flat:
        return None
    return None if any(each.turned for each in found.target.splits) else found


def _padding(axes: Axes, buffer: Array, values: Mapping[str, int]) -> Iterator[Array]:
    """Yield boxes of all slots that hold no element, as views of a contiguous buffer."""
    from layoutdsl.code.arrays.fills import beyond

    if not axes.has_padding:
        return
    shape = [evaluate(each.extent, values) for each in axes.target.dimensions]
    slots = buffer.reshape(shape)
    for each in beyond(axes):
        if each.left is None or evaluate(each.left, values):
            at: list[int | slice] = [slice(None)] * len(shape)
            for dimension, place in each.at.items():
                at[dimension] = evaluate(place, values)
            at[each.dimension] = slice(evaluate(each.first, values), None)
            yield slots[tuple(at)]


@contextmanager
def _kept(places: list[Array]) -> Iterator[None]:
    """Leave some boxes as they are, whatever is written there meanwhile."""
    held = [each.copy() for each in places]
    try:
        yield
    finally:
        for place, before in zip(places, held, strict=True):
            place[...] = before
