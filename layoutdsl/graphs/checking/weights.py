"""Weights held against the definition of a placing, some elements at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from layoutdsl.graphs.checking.onnx_compare import same_bytes
from layoutdsl.graphs.emitting.physical import Tensor
from layoutdsl.graphs.graph import Array
from layoutdsl.graphs.models.onnx_read import Model
from layoutdsl.graphs.placings.placing import Placing

MOST_SLOTS = 1 << 17
"""Of elements that are looked at together."""


def misplaced(tensor: Tensor, found: Array, model: Model) -> Iterator[str]:
    """Yield whether a weight holds each element in its slot, by the definition of digits."""
    array = model.graph.constants.get(tensor.value)
    if array is None:
        array = model.defaults.get(tensor.value)
    placing = tensor.held.placing
    if array is None or found.size != placing.slots or array.shape != placing.shape:
        yield f"the weight `{tensor.name}` is none of the model's"
        return
    flat, padding = found.reshape(-1), np.ones(placing.slots, bool)
    wrong = False
    for piece, slots in elements(array, placing):
        padding[slots] = False
        wrong = wrong or not same_bytes(flat[slots], piece)
    if wrong:
        yield f"the weight `{tensor.name}` has elements in other slots than its layout says"
    number = None if tensor.held.lane is None else tensor.held.lane.number
    fill = np.asarray(0 if number is None else number).astype(found.dtype)
    if padding.any() and flat[padding].tobytes() != np.full(int(padding.sum()), fill).tobytes():
        yield f"the padding of the weight `{tensor.name}` holds something else than {fill}"


def elements(array: Array, placing: Placing) -> Iterator[tuple[Array, Array]]:
    """Yield some elements at a time, along the longest axis, and their slots."""
    axis = int(np.argmax(array.shape)) if array.ndim else 0
    length = array.shape[axis] if array.ndim else 1
    step = max(1, MOST_SLOTS * length // max(1, array.size))
    for start in range(0, length, step):
        where = (slice(None),) * axis + (slice(start, start + step),)
        piece = array[where[: array.ndim]]
        slots = np.zeros(piece.shape, np.int64)
        for digit in placing.digits:
            first = start if digit.axis == axis else 0
            numbers = np.arange(first, first + piece.shape[digit.axis])
            along = [1] * array.ndim
            along[digit.axis] = -1
            slots *= digit.extent
            slots += (numbers // digit.divisor % digit.extent).reshape(along)
        yield piece, slots
