"""Models of some nodes of a graph, and of some parts of what it became, each for itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from layoutdsl.graphs.emitting.physical import Emission, Emitted, Step
from layoutdsl.graphs.graph import Array, Graph, Node
from layoutdsl.graphs.models.onnx_nodes import FUNCTIONS
from layoutdsl.graphs.models.onnx_read import Model
from layoutdsl.graphs.models.onnx_write import LEAST_IR, Writing


def consumed(part: Emitted, emission: Emission) -> tuple[str, ...]:
    """Return the tensors that a part has from others; no constants."""
    made = {name for step in part.work for name in step.outputs}
    used = [each for step in part.work for each in step.inputs if isinstance(each, str) and each]
    own = (name for name in used if name not in made and name not in emission.constants)
    return tuple(dict.fromkeys(own))


def produced(part: Emitted, emission: Emission) -> tuple[str, ...]:
    """Return the tensors that a part leaves."""
    names = (name for step in part.work for name in step.outputs)
    return tuple(name for name in names if name in emission.tensors)


def called(number: int, name: str) -> str:
    """Return what a tensor of a part is called where many parts stand side by side."""
    return f"part{number}/{name}"


def model_of_parts(
    model: Model, emission: Emission, parts: Mapping[int, Emitted]
) -> tuple[Any, dict[str, Array]]:
    """Return a model in which parts stand side by side, and its weights, which are not in it.

    No part has anything from another.

    Args:
        model: that was read.
        emission: of it.
        parts: of that, by numbers that tell their tensors apart.
    """
    from onnx import helper

    graph = model.graph
    inputs, outputs, nodes = list[Any](), list[Any](), list[Any]()
    taken = (each.name for each in model.proto.functions if each.domain == FUNCTIONS)
    writing, constants = Writing(graph, taken), dict[str, Array]()
    for number, part in parts.items():
        for name in consumed(part, emission):
            inputs.append(_info(graph, emission, name, called(number, name)))
        for name in produced(part, emission):
            outputs.append(_info(graph, emission, name, called(number, name)))
        for step in part.work:
            node = writing.node_of(step)
            used = {
                each: emission.constants[each] for each in node.input if each in emission.constants
            }
            constants |= used
            shared = {*used, *writing.constants, ""}
            own = [each if each in shared else called(number, each) for each in node.input]
            made = [called(number, each) if each else "" for each in node.output]
            del node.input[:], node.output[:]
            node.input.extend(own)
            node.output.extend(made)
            node.name = ""
            nodes.append(node)
    found = helper.make_graph(nodes, "parts", inputs, outputs)
    whole = _model(model, found, list(writing.functions.values()))
    return whole, {**constants, **writing.constants}


class Some(Mapping[str, Array]):
    """Some constants of a graph, each read when it is asked for."""

    def __init__(self, constants: Mapping[str, Array], names: tuple[str, ...]) -> None:
        self._constants, self._names = constants, names

    def __getitem__(self, name: str) -> Array:
        return self._constants[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def model_of_nodes(
    model: Model, nodes: Sequence[Node], inputs: Iterable[str], outputs: Iterable[str]
) -> tuple[Any, Mapping[str, Array]]:
    """Return a model of some nodes of a graph, as they were written, and its weights besides."""
    from onnx import helper

    graph = model.graph
    writing = Writing(graph)
    steps = [
        Step(each.operator, each.inputs, each.outputs, each.attributes, each.source)
        for each in nodes
    ]
    protos = [writing.node_of(each) for each in steps]
    used = {name for node in nodes for name in node.inputs if name in graph.constants}
    found = helper.make_graph(
        protos,
        "nodes",
        [_plain(graph, name) for name in inputs],
        [_plain(graph, name) for name in outputs],
    )
    return _model(model, found, []), Some(graph.constants, tuple(sorted(used)))


def _model(model: Model, graph: Any, functions: list[Any]) -> Any:
    from onnx import helper

    imports = list(model.proto.opset_import)
    known = {each.domain for each in imports} | {"", "ai.onnx"}
    more = sorted({node.domain for node in graph.node} - known)
    imports += [helper.make_opsetid(domain, 1) for domain in more]
    version = max(model.proto.ir_version, LEAST_IR)
    found = helper.make_model(graph, opset_imports=imports, ir_version=version)
    found.functions.extend([*model.proto.functions, *functions])
    return found


def _plain(graph: Graph, name: str) -> Any:
    from onnx import helper

    value = graph.values[name]
    assert value.dtype is not None
    kind = helper.np_dtype_to_tensor_dtype(value.dtype)
    return helper.make_tensor_value_info(name, kind, value.shape)


def _info(graph: Graph, emission: Emission, name: str, wanted: str) -> Any:
    from onnx import helper

    tensor = emission.tensors[name]
    dtype = graph.values[tensor.value].dtype
    assert dtype is not None
    kind = helper.np_dtype_to_tensor_dtype(dtype)
    return helper.make_tensor_value_info(wanted, kind, tensor.extents)


def is_unchanged(part: Emitted, graph: Graph) -> bool:
    """Return whether a part is a node of the graph as it stands there."""
    match part.work:
        case (Step(_, inputs, outputs, _, source),) if source is not None and isinstance(
            part.of, int
        ):
            node = graph.nodes[part.of]
            return node.outputs == outputs and node.inputs == inputs
        case _:
            return False


def is_run(part: Emitted, emission: Emission, graph: Graph) -> bool:
    """Return whether a part can be run by itself.

    Inner graphs know values by their names, and what is no tensor, or of any shape, is not drawn.
    """
    ends = (*consumed(part, emission), *produced(part, emission))
    if any(graph.values[emission.tensors[name].value].dtype is None for name in ends):
        return False
    opaque = isinstance(part.of, int) and graph.nodes[part.of].opaque
    names = {step.operator for step in part.work if isinstance(step, Step)}
    return not opaque and not names & RANDOM


RANDOM = frozenset(
    {
        "RandomNormal",
        "RandomNormalLike",
        "RandomUniform",
        "RandomUniformLike",
        "Bernoulli",
        "Multinomial",
    }
)
"""Operators that never do the same twice."""
