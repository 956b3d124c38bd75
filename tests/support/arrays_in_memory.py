"""Arrays that lie in memory in every way: strided, reversed, turned, unaligned, broadcast.

Memory is poisoned beforehand, also around and between items: who writes there is seen.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

POISON = 0xA5
DTYPES = ("u1", "i2", "f4", "f8", "c16", ">i2", ">f4", "f2", "V3", "m8[s]", "?")
Frame = Callable[[np.ndarray], np.ndarray]


def frame(kind: str, shape: tuple[int, ...], dtype: np.dtype) -> tuple[np.ndarray, Frame]:
    """Poisoned bytes, and how an array of that shape is seen in them, away from their ends."""
    item, rank = dtype.itemsize, len(shape)
    guard = 1 if kind == "unaligned" else item
    wide = shape
    if kind == "strided":
        wide = tuple(2 * each + 1 for each in shape)
    elif kind == "apart":
        wide = (*shape, 3)
    elif kind == "turned":
        wide = shape[::-1]
    memory = np.full(prod(wide) * item + 2 * guard, POISON, "u1")

    def view(memory: np.ndarray) -> np.ndarray:
        whole = memory[guard : memory.size - guard].view(dtype).reshape(wide)
        match kind:
            case "strided":
                return whole[(..., *[slice(1, None, 2)] * rank)]
            case "apart":
                return whole[..., 1]
            case "turned":
                return whole.transpose()
            case "reversed":
                return whole[(..., *[slice(None, None, -1)] * rank)]
        return whole

    return memory, view


KINDS = ("plain", "strided", "apart", "turned", "reversed", "unaligned")


def tensor_in(kind: str, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """A read-only tensor of distinct values where the type has as many, in a kind of memory."""
    count = prod(shape)
    if dtype.kind == "V":
        values = np.arange(dtype.itemsize * count).astype("u1").view(dtype)
    else:
        values = (np.arange(count) % 251 + 1).astype(dtype)
    if kind == "broadcast" and shape:
        small = values.reshape(shape)[:1]
        return np.broadcast_to(small, shape)
    memory, view = frame("plain" if kind == "broadcast" else kind, shape, dtype)
    tensor = view(memory)
    tensor[...] = values.reshape(shape)
    tensor.flags.writeable = False
    return tensor


def same_bytes(one: np.ndarray, other: np.ndarray) -> bool:
    return (
        one.shape == other.shape and one.dtype == other.dtype and one.tobytes() == other.tobytes()
    )
