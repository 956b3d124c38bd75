"""Tensors and masks for layouts that hold only part of a shape."""

from __future__ import annotations

import numpy as np

from layoutdsl import Layout


def numbered(shape: tuple[int, ...]) -> np.ndarray:
    return np.arange(1, 1 + int(np.prod(shape)), dtype=np.int32).reshape(shape)


def held(layout: Layout, shape: tuple[int, ...]) -> np.ndarray:
    mask = np.zeros(shape, bool)
    for slot in range(layout.size(shape)):
        index = layout.decode(slot, shape)
        if index is not None:
            mask[index] = True
    return mask
