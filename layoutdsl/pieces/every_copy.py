"""Layouts that hold an element several times, as layouts of a tensor that has every copy.

The axes of copies are the last ones of such a tensor, so that a box of it is a box of the tensor
that a file holds, and copies of that. Where an element lies does not depend on the order of axes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from layoutdsl.files.npy import Array
from layoutdsl.integers.expr import Extent
from layoutdsl.integers.value import evaluate
from layoutdsl.meaning.model import Layout
from layoutdsl.pieces.between import BYTE, Between, TensorSide
from layoutdsl.pieces.cut import Piece


def copies_last(layout: Layout) -> Layout:
    """Return the layout of a tensor that has every copy; the layout itself where it holds none."""
    if not layout.copies:
        return layout
    copies = tuple(axis for axis in layout.axes if axis.name in layout.copies)
    return replace(layout.every_copy, axes=(*layout.element_axes, *copies))


def shape_with_copies(layout: Layout, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of that tensor, from the shape of the one without copies."""
    pairs = zip(layout.element_axes, shape, strict=True)
    values = {axis.extent.name: n for axis, n in pairs if isinstance(axis.extent, Extent)}
    copies = (axis.extent for axis in layout.axes if axis.name in layout.copies)
    return (*shape, *(evaluate(extent, values) for extent in copies))


def with_copies(layout: Layout, between: Between) -> Between:
    """Return what stands between, where the file of the tensor has an element once.

    It is for packing: what is unpacked is the first of the copies, which is a layout without any.

    Args:
        layout: of the tensor.
        between: the items of `copies_last` and its file, which has them as items.
    """
    if not layout.copies:
        return between
    assert between.tensor is None
    axes, buffer, dtype = len(layout.copies), between.buffer, between.item or BYTE

    def items(held: Array, piece: Piece) -> Array:
        return np.broadcast_to(held.reshape(*held.shape, *(1,) * axes), piece.extents)

    def tensor(items: Array, _: Piece) -> Array:
        first: Any = (..., *(0,) * axes)
        found: Array = items[first]
        return found

    if buffer is not None:
        of_words = buffer.shape
        buffer = replace(buffer, shape=lambda shape: of_words(shape_with_copies(layout, shape)))
    return Between(between.item, TensorSide(dtype, items, tensor, 0, axes), buffer)
