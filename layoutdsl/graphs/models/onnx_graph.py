"""The main graph of a model as our graph: shapes inferred, constants folded, what is dead left out.

Source: onnx, docs/IR.md, docs/ShapeInference.md.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import replace
from math import prod
from typing import Any

from layoutdsl.graphs.graph import Array, Attribute, Graph, Node, Value
from layoutdsl.graphs.models.fold import folded, folds, shape_of
from layoutdsl.graphs.models.onnx_faults import UnfitModelError
from layoutdsl.graphs.models.onnx_inferred import inferred, kind_of
from layoutdsl.graphs.models.onnx_weights import Weights

ROUNDS = 100
"""How often shapes are inferred again from what was folded meanwhile."""

MOST_ELEMENTS = 1 << 44
"""Of a value: a thousand times what a machine has room for. The solver takes no costs of 1e20."""


def graph_of(proto: Any, weights: Weights, place: str) -> Graph:
    """Return the main graph of a model.

    Args:
        proto: checked, of opset 13 at least, without its weights, which are inputs of it.
        weights: by their names, each read when it is asked for.
        place: of the model, to be named.

    Raises:
        UnfitModelError: shapes contradict each other, or nothing could hold a value.
    """
    from onnx import numpy_helper

    own = {each.name: numpy_helper.to_array(each) for each in proto.graph.initializer}
    constants = ChainMap[str, Array](own, weights)  # type: ignore[arg-type]  # none of which change
    nodes = nodes_of(proto)
    values = dict[str, Value]()
    for _ in range(ROUNDS):
        values |= inferred(proto, own, place)
        before = len(constants)
        _fold(nodes, values, constants)
        if before == len(constants) or not _is_open(nodes, values, constants):
            break
    values |= {name: Value(name, each.shape, kind_of(each.dtype)) for name, each in own.items()}
    values |= {name: Value(name, weights.shape(name), weights.dtype(name)) for name in weights}
    outputs = tuple(each.name for each in proto.graph.output)
    alive = _alive([_given(node, constants) for node in nodes], outputs, constants)
    values |= _open(alive, values)
    _refuse_large(values, place)
    _refuse_misfits(alive, values, place)
    used = {*outputs, *(name for node in alive for name in (*node.inputs, *node.outputs))} - {""}
    inputs = tuple(each.name for each in proto.graph.input if each.name not in weights)
    inputs = tuple(name for name in inputs if name not in constants)
    version = next(each.version for each in proto.opset_import if each.domain in ("", "ai.onnx"))
    return Graph(
        name=proto.graph.name,
        opset=version,
        nodes=alive,
        values={name: each for name, each in values.items() if name in used or name in inputs},
        constants=ChainMap(
            {name: array for name, array in own.items() if name in used},
            weights.only(used),  # type: ignore[arg-type]  # into which nobody writes
        ),
        inputs=inputs,
        outputs=outputs,
    )


def _is_open(
    nodes: list[Node], values: Mapping[str, Value], constants: Mapping[str, Array]
) -> bool:
    """Whether the shape of something is not known yet."""
    names = (name for node in nodes for name in node.outputs if name)
    return any(name not in values and name not in constants for name in names)


def nodes_of(proto: Any) -> list[Node]:
    """Return the nodes of the main graph of a model, before any is folded."""
    return [_node(number, each) for number, each in enumerate(proto.graph.node)]


def _node(number: int, proto: Any) -> Node:
    attributes, opaque = dict[str, Attribute](), False
    for each in proto.attribute:
        found = _attribute(each)
        if found is None:
            opaque = True
        else:
            attributes[each.name] = found
    outer = tuple(captured(proto)) if opaque else ()
    domain = "" if proto.domain in ("", "ai.onnx") else f"{proto.domain}::"
    operator = f"{domain}{proto.op_type}"
    inputs = (*proto.input, *(name for name in outer if name not in proto.input))
    return Node(
        number, proto.name, operator, inputs, tuple(proto.output), attributes, opaque, outer, proto
    )


def _attribute(proto: Any) -> Attribute | None:
    """What an attribute says; nothing where it is a graph or a type."""
    from onnx import AttributeProto, numpy_helper

    match proto.type:
        case AttributeProto.INT:
            return int(proto.i)
        case AttributeProto.FLOAT:
            return float(proto.f)
        case AttributeProto.STRING:
            return str(proto.s.decode("utf-8", "replace"))
        case AttributeProto.INTS:
            return tuple(proto.ints)
        case AttributeProto.FLOATS:
            return tuple(proto.floats)
        case AttributeProto.STRINGS:
            return tuple(each.decode("utf-8", "replace") for each in proto.strings)
        case AttributeProto.TENSOR:
            found: Array = numpy_helper.to_array(proto.t)
            return found
        case _:
            return None


def captured(proto: Any) -> Iterator[str]:
    """Yield values of the outer graph that the bodies of a node use, each once."""
    seen = set[str]()
    bodies = [each.g for each in proto.attribute if each.HasField("g")]
    bodies += [graph for each in proto.attribute for graph in each.graphs]
    for body in bodies:
        own = {each.name for each in (*body.input, *body.initializer)}
        own |= {name for node in body.node for name in node.output}
        used = [name for node in body.node for name in (*node.input, *captured(node))]
        for name in (*used, *(each.name for each in body.output)):
            if name and name not in own and name not in seen:
                seen.add(name)
                yield name


def _fold(
    nodes: list[Node], values: Mapping[str, Value], constants: MutableMapping[str, Array]
) -> None:
    """Add what nodes make of constants, and of shapes, to the constants."""
    for node in nodes:
        if all(name in constants for name in node.outputs if name):
            continue
        first = node.inputs[0] if node.inputs else ""
        if node.operator in ("Shape", "Size") and (first in constants or first in values):
            shape = constants[first].shape if first in constants else values[first].shape
            constants[node.outputs[0]] = shape_of(node, shape)
            continue
        if not folds(node) or not all(name in constants for name in node.inputs if name):
            continue
        found = folded(node, [constants.get(name) for name in node.inputs])
        if found is not None:
            named = zip(node.outputs, found, strict=False)
            constants.update({name: each for name, each in named if name})


def _given(node: Node, constants: Mapping[str, Array]) -> Node:
    """A Resize without the operands that say nothing: constants without elements.

    Source: onnx, docs/Operators.md, Resize: `tf_crop_and_resize` alone reads `roi`, and of `scales`
    and `sizes` the other one may be empty.
    """
    mode = node.attributes.get("coordinate_transformation_mode")
    if node.operator != "Resize" or mode == "tf_crop_and_resize":
        return node
    first, *others = node.inputs
    kept = (name if name not in constants or constants[name].size else "" for name in others)
    return replace(node, inputs=(first, *kept))


def _alive(
    nodes: list[Node], outputs: tuple[str, ...], constants: Mapping[str, Array]
) -> tuple[Node, ...]:
    """The nodes that something is left of, numbered through."""
    wanted, left = set(outputs), list[Node]()
    for node in reversed(nodes):
        if any(name in wanted and name not in constants for name in node.outputs if name):
            left.append(node)
            wanted.update(node.inputs)
    return tuple(replace(node, number=number) for number, node in enumerate(reversed(left)))


def _open(nodes: tuple[Node, ...], values: Mapping[str, Value]) -> dict[str, Value]:
    """Values whose shapes data decides, or nobody knows: they are no tensors to whoever plans."""
    made = (name for node in nodes for name in node.outputs if name and name not in values)
    return {name: Value(name, (), None) for name in made}


def _refuse_large(values: Mapping[str, Value], place: str) -> None:
    """Look whether any value could be in a memory.

    Raises:
        UnfitModelError: one could not.
    """
    for name, each in values.items():
        if prod(each.shape) > MOST_ELEMENTS:
            shape = ", ".join(map(str, each.shape))
            words = f"`{place}`: `{name}` has the shape ({shape})"
            remedy = f"a value has at most {MOST_ELEMENTS} elements; check its inputs and --shape"
            raise UnfitModelError(words, remedy)


def _refuse_misfits(nodes: tuple[Node, ...], values: Mapping[str, Value], place: str) -> None:
    """Look whether the weights of convolutions fit, which the package onnx does not.

    Raises:
        UnfitModelError: those of one do not: nothing runs the model.
    """
    for node in nodes:
        if node.operator not in ("Conv", "ConvTranspose", "ConvInteger"):
            continue
        one, other = (values.get(name) for name in node.inputs[:2])
        if one is None or other is None or None in (one.dtype, other.dtype):
            continue
        group = node.attributes.get("group", 1)
        if min(len(one.shape), len(other.shape)) < 2 or not isinstance(group, int):
            continue
        transposed = node.operator == "ConvTranspose"
        taken = other.shape[0] if transposed else other.shape[1] * group
        if one.shape[1] != taken:
            words = f"{node.operator} `{node.name or node.outputs[0]}` takes `{one.name}` of"
            words += f" {one.shape[1]} channels, and its weights `{other.name}` are for {taken}"
            raise UnfitModelError(f"`{place}`: {words}", "export it again, or check `--shape`")
