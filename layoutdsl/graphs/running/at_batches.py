"""A model with an open batch, run at batches that nobody planned for, beside the original."""

from __future__ import annotations

from dataclasses import replace

from layoutdsl.graphs.emitting.physical import Batch, Emission, Tensor, Times
from layoutdsl.graphs.graph import Graph
from layoutdsl.graphs.placings.placing import Digit, Placing
from layoutdsl.graphs.variants import Held

TRIED = (1, 2, 5)
"""Batches at which an open model is run: the one whose axes are repeated, and two others."""


def at_batch(emission: Emission, graph: Graph, number: int) -> Emission:
    """Return an emission with the buffers of inputs and outputs as they are at a batch.

    Args:
        emission: that leaves the batch open.
        graph: at that batch.
        number: the batch.
    """
    batch = emission.batch
    assert batch is not None
    ends = {*emission.inputs, *emission.outputs}
    tensors = {
        name: _tensor(each, batch, graph, number) if name in ends else each
        for name, each in emission.tensors.items()
    }
    return replace(emission, tensors=tensors)


def _tensor(tensor: Tensor, batch: Batch, graph: Graph, number: int) -> Tensor:
    extents = tuple(
        each.factor * number if isinstance(each, Times) else each
        for each in batch.extents[tensor.name]
    )
    lane = tensor.held.lane
    placing = _placing(tensor.held.placing, batch, graph.values[tensor.value].shape, number)
    return Tensor(tensor.name, tensor.value, Held(placing, lane), extents)


def _placing(placing: Placing, batch: Batch, shape: tuple[int, ...], number: int) -> Placing:
    """The same digits; the highest of an axis that follows the batch grows with it."""
    before, most = placing.shape, placing.padded_shape
    digits = [
        Digit(each.axis, each.divisor, each.extent // batch.planned * number)
        if before[each.axis] != shape[each.axis] and each.divisor * each.extent == most[each.axis]
        else each
        for each in placing.digits
    ]
    return Placing(shape, tuple(digits))
