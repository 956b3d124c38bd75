"""A whole model, run from its inputs to its outputs some nodes at a time.

Nothing but the values on the way is held between two sections, so that a model takes no more memory
than its widest place. What a section makes is what the next one gets: differences add up as they do
where all is run at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from layoutdsl.graphs.graph import Array
from layoutdsl.graphs.models.onnx_graph import captured
from layoutdsl.graphs.running.onnx_parts import Some
from layoutdsl.graphs.running.onnx_run import Effort, RunError, run


def run_in_sections(
    model: Any,
    feeds: Mapping[str, Array],
    wanted: Sequence[str],
    weights: Mapping[str, Array],
    sizes: Mapping[str, int],
    most: int,
    effort: Effort = "optimised",
) -> dict[str, Array]:
    """Return what a model makes.

    Args:
        model: of ONNX, whose values are tensors.
        feeds: its inputs.
        wanted: names of its outputs, none of which is an input or a weight.
        weights: that it asks for, besides those that it has in it.
        sizes: bytes of its values and weights, by their names; others are small.
        most: bytes that are made at once, and of weights that are used; one node may have more.
        effort: whether it is run as it is, or as fast as can be.

    Raises:
        RunError: it cannot be run.
    """
    nodes = list(model.graph.node)
    uses = [(*node.input, *captured(node)) for node in nodes]
    last = {name: number for number, names in enumerate(uses) for name in names if name}
    last |= {name: len(nodes) for name in wanted}
    values = dict(feeds)
    for first, end in _sections(nodes, uses, weights, sizes, most):
        made = [name for node in nodes[first:end] for name in node.output if name]
        left = [name for name in made if last.get(name, -1) >= end]
        used = dict.fromkeys(name for names in uses[first:end] for name in names)
        given = {name: values[name] for name in used if name in values}
        own = Some(weights, tuple(name for name in used if name in weights))
        if left:
            section = _section(model, nodes[first:end], given, left)
            values |= run_anyhow(section, given, left, own, effort)
        del given
        values = {name: array for name, array in values.items() if last.get(name, -1) >= end}
    return {name: values[name] for name in wanted}


def run_anyhow(
    model: Any,
    feeds: Mapping[str, Array],
    wanted: Sequence[str],
    weights: Mapping[str, Array],
    effort: Effort = "optimised",
) -> dict[str, Array]:
    """Return what a model makes; it is run as it is where what would make it faster fails on it.

    onnxruntime 1.32 dies of making some models faster in which a graph inside of a node uses what
    was quantised outside, and takes the process with it.

    Raises:
        RunError: it cannot be run.
    """
    captures = any(next(captured(node), None) is not None for node in model.graph.node)
    if effort != "as it is" and not captures:
        with suppress(RunError):
            return run(model, feeds, wanted, effort, weights)
    return run(model, feeds, wanted, weights=weights)


def _sections(
    nodes: Sequence[Any],
    uses: Sequence[tuple[str, ...]],
    weights: Mapping[str, Array],
    sizes: Mapping[str, int],
    most: int,
) -> Iterator[tuple[int, int]]:
    """The first node of each section, and the first behind it."""
    first = size = 0
    for number, node in enumerate(nodes):
        names = (*node.output, *(name for name in uses[number] if name in weights))
        own = sum(sizes.get(name, 0) for name in names)
        if number > first and size + own > most:
            yield first, number
            first, size = number, 0
        size += own
    yield first, len(nodes)


def _section(
    model: Any, nodes: Sequence[Any], given: Mapping[str, Array], left: Sequence[str]
) -> Any:
    """A model of some nodes of another one."""
    from onnx import helper

    inputs = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
        )
        for name, array in given.items()
    ]
    outputs = [helper.make_empty_tensor_value_info(name) for name in left]
    used = {name for node in nodes for name in (*node.input, *captured(node))}
    inside = [each for each in model.graph.initializer if each.name in used]
    graph = helper.make_graph(nodes, "section", inputs, outputs, inside)
    found = type(model)()
    found.ir_version = model.ir_version
    found.opset_import.extend(model.opset_import)
    found.functions.extend(model.functions)
    found.graph.CopyFrom(graph)
    return found
