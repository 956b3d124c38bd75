"""Nodes that are not held against the original: nothing here runs them, or not twice alike."""

from __future__ import annotations

from collections.abc import Mapping

from layoutdsl.graphs.graph import Graph, Node
from layoutdsl.graphs.models.onnx_read import Model
from layoutdsl.graphs.running.trying import has_kernel

DRAWN = frozenset(
    {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
    | {"Bernoulli", "Multinomial"}
)
"""Operators that make other numbers each time."""


def foreign_nodes(model: Model) -> dict[int, str]:
    """Return the nodes of other domains that nothing here runs, each with a sentence about it."""
    own = {f"{each.domain}::{each.name}" for each in model.proto.functions}
    graph, found = model.graph, dict[str, bool]()
    for node in graph.nodes:
        if "::" in node.operator and node.operator not in found:
            found[node.operator] = node.operator in own or has_kernel(model, node)
    unknown = {name for name in graph.inputs if graph.values[name].dtype is None}
    foreign = dict[int, str]()
    for node in graph.nodes:
        odd = next((name for name in node.inputs if name in unknown), None)
        if not found.get(node.operator, True):
            foreign[node.number] = f"nothing here runs {node.operator}"
        elif _is_drawn(graph, node):
            foreign[node.number] = f"{node.operator} makes other numbers each time"
        elif odd is not None:
            foreign[node.number] = f"{node.operator} takes `{odd}`, which is no tensor of numbers"
        if node.number in foreign:
            made = (name for name in node.outputs if name)
            unknown.update(name for name in made if graph.values[name].dtype is None)
    return foreign


def _is_drawn(graph: Graph, node: Node) -> bool:
    if node.operator == "Dropout" and len(node.inputs) > 2 and node.inputs[2]:
        training = graph.constants.get(node.inputs[2])
        return training is None or bool(training.any())
    return node.operator in DRAWN


def nodes_without_kernels(model: Model, foreign: Mapping[int, str]) -> dict[int, str]:
    """Return nodes of ONNX's own that nothing here runs on the types that they are given."""
    graph, runs = model.graph, dict[tuple[str, ...], bool]()
    found = dict[int, str]()
    for node in graph.nodes:
        kinds = [graph.values[name].dtype for name in node.inputs if name]
        key = (node.operator, *map(str, kinds))
        if node.number in foreign or any(each is None for each in kinds):
            continue
        if key not in runs:
            runs[key] = has_kernel(model, node)
        if not runs[key]:
            words = ", ".join(dict.fromkeys(map(str, kinds)))
            found[node.number] = f"nothing here runs {node.operator} of {words}"
    return found
