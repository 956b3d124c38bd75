"""Layouts that hold an element several times, as layouts of a tensor that has every copy.

The axes of copies are the last ones of such a tensor, but for that of the bits of elements, so that
a box of it is a box of the tensor that a file holds, and copies of that. Where an element lies does
not depend on the order of axes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from layoutdsl.files.npy import Array
from layoutdsl.files.pieces.between import BYTE, Between, TensorSide
from layoutdsl.files.pieces.cut import Piece
from layoutdsl.language.integers.expr import Extent
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.model import Layout


def copies_last(layout: Layout) -> Layout:
    """Return the layout of a tensor that has every copy; the layout itself where it holds none."""
    if not layout.copies:
        return layout
    copies = tuple(axis for axis in layout.axes if axis.name in layout.copies)
    bits = layout.element_axes[len(layout.tensor_axes) :]
    return replace(layout.every_copy, axes=(*layout.tensor_axes, *copies, *bits))


def shape_with_copies(layout: Layout, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of that tensor, from the shape of the one without copies."""
    pairs = zip(layout.tensor_axes, shape, strict=True)
    values = {axis.extent.name: n for axis, n in pairs if isinstance(axis.extent, Extent)}
    copies = (axis.extent for axis in layout.axes if axis.name in layout.copies)
    return (*shape, *(evaluate(extent, values) for extent in copies))


def with_copies(layout: Layout, between: Between) -> Between:
    """Return what stands between, where the file of the tensor has an element once.

    It is for packing: what is unpacked is the first of the copies, which is a layout without any.

    Args:
        layout: of the tensor.
        between: the items of `copies_last`, and a file of what a tensor without copies holds.
    """
    if not layout.copies:
        return between
    rank, axes = len(layout.tensor_axes), len(layout.copies)
    inner, buffer, dtype = between.tensor, between.buffer, between.item or BYTE

    def once(piece: Piece) -> Piece:
        starts, extents = (
            (*each[:rank], *each[rank + axes :]) for each in (piece.starts, piece.extents)
        )
        return Piece(starts, extents, piece.first, piece.slots)

    def items(held: Array, piece: Piece) -> Array:
        found = held if inner is None else inner.items(held, once(piece))
        shape = (*found.shape[:rank], *(1,) * axes, *found.shape[rank:])
        return np.broadcast_to(found.reshape(shape), piece.extents)

    def tensor(items: Array, piece: Piece) -> Array:
        first: Any = (*(slice(None),) * rank, *(0,) * axes)
        found: Array = items[first]
        return found if inner is None else inner.tensor(found, once(piece))

    if buffer is not None:
        of_words = buffer.shape
        buffer = replace(buffer, shape=lambda shape: of_words(shape_with_copies(layout, shape)))
    if inner is None:
        return Between(between.item, TensorSide(dtype, items, tensor, 0, axes), buffer)
    side = TensorSide(inner.dtype, items, tensor, inner.cost, inner.axes + axes)
    return Between(between.item, side, buffer)
