"""What of a model is worked out from its batch before anything runs."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence

from layoutdsl.graphs.emitting.following import FixedBatchError, generalised, lined
from layoutdsl.graphs.emitting.lines import Lines, Traced
from layoutdsl.graphs.graph import Array, Graph
from layoutdsl.graphs.models.onnx_graph import nodes_of
from layoutdsl.graphs.models.onnx_read import Model
from layoutdsl.graphs.models.tracing import traced

SHAPES = frozenset({"Shape", "Size"})
"""Operators that the batch becomes a number by."""


def lines_of(
    model: Model, graphs: Sequence[Graph], batches: Sequence[int], weights: Mapping[str, Array]
) -> dict[str, Traced]:
    """Return the constants of a model that its batch has a part in.

    Args:
        model: at one of the batches.
        graphs: at each of them: the same but for extents.
        batches: three at least.
        weights: of the model.
    """
    from onnx import numpy_helper

    nodes = nodes_of(model.proto)
    if not any(node.operator in SHAPES for node in nodes):
        return {}
    own = {each.name: numpy_helper.to_array(each) for each in model.proto.graph.initializer}
    known = ChainMap[str, Array]({}, own, weights)  # type: ignore[arg-type]  # none of which change
    shapes = {name: _extents(name, graphs, batches) for name in graphs[0].values}
    return traced(nodes, shapes, known)


def _extents(name: str, graphs: Sequence[Graph], batches: Sequence[int]) -> Lines:
    found = generalised([each.values[name].shape for each in graphs], batches)
    if found is None:
        raise FixedBatchError(f"the shape of `{name}` does not follow the batch")
    return lined(found)
