"""Buffers by the definition of a layout, for tests of generated code."""

from __future__ import annotations

from itertools import product

import numpy as np

from layoutdsl import Layout

POISON = -77


def expected(layout: Layout, tensor: np.ndarray, fill: int, lead: int) -> np.ndarray:
    """The buffer by the definition: every element at its offset, the rest fill, `lead` before."""
    values = layout.bind(tensor.shape)
    size = layout.size(tensor.shape)
    start = size - int(np.prod(layout.box(tensor.shape)))
    flat = np.full(size, fill, tensor.dtype)
    flat[:start] = lead
    names = [axis.name for axis in layout.axes]
    for index in product(*map(range, tensor.shape)):
        flat[layout.offset_at({**values, **dict(zip(names, index, strict=True))})] = tensor[index]
    return flat.reshape(layout.physical_shape(tensor.shape))
