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
from layoutdsl.propagation.running.onnx_run import RunError
from layoutdsl.propagation.running.onnx_sections import run_anyhow, run_in_sections
from layoutdsl.propagation.running.samples import far_apart, sampled
from layoutdsl.propagation.running.stretches import bytes_of, room
from layoutdsl.propagation.running.trying import laid


def compare_outputs(
    model: Model, emission: Emission, result: Any, weights: Mapping[str, Array]
) -> tuple[float, float, tuple[str, ...]]:
    """Return how far apart outputs are, and the original's for another input; what was not run."""
    graph = model.graph
    one, other = sampled(graph, 0), sampled(graph, 1)
    wanted = [
        name
        for name in dict.fromkeys(graph.outputs)
        if name not in one and name not in graph.constants and graph.values[name].dtype is not None
    ]
    if not wanted:
        return 0.0, 0.0, ()
    feeds = {name: laid(emission.tensors[name], one, graph, "said") for name in one}
    sizes = {name: bytes_of(graph, name) for name in graph.values}
    (expected, moved), unrun = _originals(model, (one, other), wanted, sizes)
    laid_out = {
        name: prod(each.extents) * width(graph.values[each.value])
        for name, each in emission.tensors.items()
    }
    found = _run(model, result, feeds, wanted, weights, laid_out)
    apart = sensitivity = 0.0
    for name in wanted:
        placing = emission.tensors[name].held.placing
        if found[name].size != placing.slots:
            return inf, sensitivity, unrun
        buffer = found[name].reshape(placing.physical_shape)
        apart = max(apart, far_apart(unpacked(buffer, placing), expected[name]))
        sensitivity = max(sensitivity, far_apart(moved[name], expected[name]))
    return apart, sensitivity, unrun


def _originals(
    model: Model,
    inputs: Sequence[Mapping[str, Array]],
    wanted: Sequence[str],
    sizes: Mapping[str, int],
) -> tuple[list[dict[str, Array]], tuple[str, ...]]:
    """What the original makes of each input: as it was written, before anything was raised."""
    older, unrun = model.older, tuple[str, ...]()
    if older is not None:
        try:
            own: Mapping[str, Array] = older.weights
            return [_run(model, older.proto, one, wanted, own, sizes) for one in inputs], ()
        except RunError as error:
            words = f"nothing here runs the model as it is written, of opset {older.version}"
            unrun = (f"{words}, so that what the package onnx raised it to was compared: {error}",)
    original, own = model_of_nodes(model, model.graph.nodes, inputs[0], wanted)
    return [_run(model, original, one, wanted, own, sizes) for one in inputs], unrun


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
