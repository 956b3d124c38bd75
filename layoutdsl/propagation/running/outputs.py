"""Outputs of a whole model, beside those of what it became."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, prod
from typing import Any

from layoutdsl.propagation.emitting.physical import Emission
from layoutdsl.propagation.graph import Array
from layoutdsl.propagation.models.onnx_read import Model
from layoutdsl.propagation.placings.packing import unpacked
from layoutdsl.propagation.planning.costs import width
from layoutdsl.propagation.running.onnx_parts import model_of_nodes
from layoutdsl.propagation.running.onnx_sections import run_anyhow, run_in_sections
from layoutdsl.propagation.running.samples import far_apart, sampled
from layoutdsl.propagation.running.stretches import bytes_of, room
from layoutdsl.propagation.running.trying import laid


def compare_outputs(
    model: Model, emission: Emission, result: Any, weights: Mapping[str, Array]
) -> tuple[float, float]:
    """How far apart the outputs of the whole are, and the original's for another input."""
    graph = model.graph
    one, other = sampled(graph, 0), sampled(graph, 1)
    wanted = [
        name
        for name in dict.fromkeys(graph.outputs)
        if name not in one and name not in graph.constants and graph.values[name].dtype is not None
    ]
    if not wanted:
        return 0.0, 0.0
    original, own = model_of_nodes(model, graph.nodes, one, wanted)
    feeds = {name: laid(emission.tensors[name], one, graph, "said") for name in one}
    sizes = {name: bytes_of(graph, name) for name in graph.values}
    expected = _run(model, original, one, wanted, own, sizes)
    moved = _run(model, original, other, wanted, own, sizes)
    laid_out = {
        name: prod(each.extents) * width(graph.values[each.value])
        for name, each in emission.tensors.items()
    }
    found = _run(model, result, feeds, wanted, weights, laid_out)
    apart = sensitivity = 0.0
    for name in wanted:
        placing = emission.tensors[name].held.placing
        if found[name].size != placing.slots:
            return inf, sensitivity
        buffer = found[name].reshape(placing.physical_shape)
        apart = max(apart, far_apart(unpacked(buffer, placing), expected[name]))
        sensitivity = max(sensitivity, far_apart(moved[name], expected[name]))
    return apart, sensitivity


def _run(
    model: Model,
    whole: Any,
    feeds: Mapping[str, Array],
    wanted: Sequence[str],
    weights: Mapping[str, Array],
    sizes: Mapping[str, int],
) -> dict[str, Array]:
    """What a model makes, or what it became: in sections, where all values are tensors."""
    if any(each.dtype is None for each in model.graph.values.values()):
        return run_anyhow(whole, feeds, wanted, weights)
    return run_in_sections(whole, feeds, wanted, weights, sizes, room(model.graph))
