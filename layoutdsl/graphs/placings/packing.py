"""Arrays laid as a placing says, and read back: by numpy's own reshape and transpose."""

from __future__ import annotations

import numpy as np

from layoutdsl.graphs.graph import Array
from layoutdsl.graphs.placings.placing import Placing, inverse


def packed(array: Array, placing: Placing, fill: float | int | bool | None) -> Array:
    """Return the buffer of an array, of the placing's physical shape.

    Args:
        array: of the placing's shape.
        placing: where its elements go.
        fill: what padding holds; `None` is 0.

    Raises:
        ValueError: the array has another shape.
    """
    if array.shape != placing.shape:
        raise ValueError(f"the array is {array.shape}, the placing of {placing.shape}")
    pads = [(0, most - own) for own, most in zip(array.shape, placing.padded_shape, strict=True)]
    if any(after for _, after in pads):
        value = np.asarray(0 if fill is None else fill).astype(array.dtype)
        array = np.pad(array, pads, constant_values=value)
    split, order = _split(placing)
    return array.reshape(split).transpose(order).reshape(placing.physical_shape)


def unpacked(buffer: Array, placing: Placing) -> Array:
    """Return the array that a buffer holds, its padding dropped."""
    split, order = _split(placing)
    apart = buffer.reshape([split[number] for number in order])
    whole = apart.transpose(inverse(order)).reshape(placing.padded_shape)
    return whole[tuple(slice(0, extent) for extent in placing.shape)]


def padding_of(placing: Placing) -> Array:
    """Return which slots hold no element: booleans of the physical shape."""
    return packed(np.zeros(placing.shape, bool), placing, fill=True)


def _split(placing: Placing) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The digits axis by axis, each most major first, and the order in which they lie."""
    by_axis = [digit for axis in range(len(placing.shape)) for digit in placing.of_axis(axis)]
    extents = tuple(digit.extent for digit in by_axis)
    return extents, tuple(by_axis.index(digit) for digit in placing.digits)
