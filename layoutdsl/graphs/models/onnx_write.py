"""What comes out of a plan as a model of ONNX, with functions of its own or in plain operators.

Every node and every value says how it lies, in its `metadata_props`: `layoutdsl.layout` and
`layoutdsl.lane`.

Source: onnx.proto of 1.23, FunctionProto; onnx, docs/IR.md, "Functions" and "Metadata".
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from layoutdsl.graphs.emitting.laying import Constants, Recipe
from layoutdsl.graphs.emitting.physical import (
    Batch,
    Call,
    Emission,
    Numbers,
    Operand,
    Scalar,
    Step,
    Tensor,
    Times,
)
from layoutdsl.graphs.graph import Array, Attribute, Graph
from layoutdsl.graphs.models.onnx_faults import UnfitModelError, line_of
from layoutdsl.graphs.models.onnx_nodes import (
    FUNCTIONS,
    attribute_of,
    function_of,
    node_of,
    own_attributes,
)
from layoutdsl.graphs.models.onnx_read import Model
from layoutdsl.graphs.placings.placing import as_written
from layoutdsl.graphs.variants import Held

LEAST_IR = 10
"""The first version of the format in which nodes and values have metadata."""

LAYOUT, LANE = "layoutdsl.layout", "layoutdsl.lane"


def model_of(model: Model, emission: Emission, said: Mapping[str, str]) -> Any:
    """Return a model, as the package onnx has it; of the same emission always the same.

    Args:
        model: that was read: what it says besides its graph is kept.
        emission: what it became.
        said: metadata of the model, by its keys.
    """
    result, constants = shell_of(model, emission, said)
    result.graph.initializer.extend(initialisers(constants))
    return result


def shell_of(
    model: Model, emission: Emission, said: Mapping[str, str]
) -> tuple[Any, Mapping[str, Array]]:
    """Return the same without its weights, and these by their names, in order.

    They are laid out when they are asked for.
    """
    import onnx

    proto, graph = model.proto, model.graph
    result = onnx.ModelProto()
    result.opset_import.extend(proto.opset_import)
    result.functions.extend(proto.functions)
    result.metadata_props.extend(each for each in proto.metadata_props if each.key not in said)
    result.producer_name, result.producer_version = proto.producer_name, proto.producer_version
    result.doc_string, result.domain = proto.doc_string, proto.domain
    result.ir_version = max(proto.ir_version, LEAST_IR)
    writing = Writing(graph, (each.name for each in proto.functions if each.domain == FUNCTIONS))
    for part in emission.parts:
        for work in part.work:
            writing.add(work, emission)
    result.graph.name = proto.graph.name or "graph"
    result.graph.doc_string = proto.graph.doc_string
    result.graph.node.extend(writing.nodes)
    result.graph.input.extend(_ends(graph, emission, emission.inputs, proto.graph.input))
    result.graph.output.extend(_ends(graph, emission, emission.outputs, proto.graph.output))
    made = {name for node in writing.nodes for name in node.output}
    inside = [each for name, each in emission.tensors.items() if name in made]
    ends = {*emission.inputs, *emission.outputs}
    result.graph.value_info.extend(
        _value(graph, each, emission)
        for each in inside
        if each.name not in ends and graph.values[each.value].dtype is not None
    )
    known = {each.domain for each in result.opset_import}
    domains = sorted({node.domain for node in writing.nodes} - known - {""})
    result.opset_import.extend(onnx.helper.make_opsetid(domain, 1) for domain in domains)
    result.functions.extend(writing.functions.values())
    for key, text in said.items():
        entry = result.metadata_props.add()
        entry.key, entry.value = key, text
    defaults = _defaults(model, emission)
    constants = ChainMap(writing.constants, emission.constants, defaults)
    return _inlined(result, constants) if emission.inlined else result, constants


def _inlined(shell: Any, constants: Iterable[str]) -> Any:
    """A model without functions: their bodies stand where they are called.

    Raises:
        UnfitModelError: the result is no valid model.
    """
    from onnx import TensorProto, checker, helper, inliner

    # The inliner chooses new names. Weights are not in the shell: as inputs they keep theirs.
    whole = type(shell)()
    whole.CopyFrom(shell)
    own = {each.name for each in shell.graph.input}
    whole.graph.input.extend(
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [])
        for name in constants
        if name not in own
    )
    try:
        found = inliner.inline_local_functions(whole)
        used = {node.domain for node in found.graph.node}
        kept = [each for each in found.opset_import if each.domain in {*used, "", "ai.onnx"}]
        del found.opset_import[:]
        found.opset_import.extend(kept)
        checker.check_model(found)
        if found.functions:
            raise ValueError(f"the function `{found.functions[0].name}` stays")
    except Exception as error:  # the checker's own, or whatever C++ throws
        words = f"the model with its functions inlined is not valid: {line_of(error)}"
        raise UnfitModelError(words, "write them with `--emit functions`") from None
    del found.graph.input[len(shell.graph.input) :]
    return found


def _defaults(model: Model, emission: Emission) -> Constants:
    """Defaults of inputs, laid as the caller gives these."""
    found = Constants()
    for name in emission.inputs:
        if name in model.defaults:
            tensor = emission.tensors[name]
            held = tensor.held
            placing = None if held.placing == as_written(held.placing.shape) else held.placing
            fill = None if held.lane is None else held.lane.number
            found.lay(name, Recipe(model.defaults, tensor.value, placing, fill, tensor.extents))
    return found


def _ends(
    graph: Graph, emission: Emission, names: Iterable[str], known: Iterable[Any]
) -> Iterator[Any]:
    """Inputs or outputs; those that are no tensors of numbers as the model had them."""
    given = {each.name: each for each in known}
    for name in names:
        plain = graph.values[emission.tensors[name].value].dtype is None
        yield given[name] if plain else _value(graph, emission.tensors[name], emission)


class Writing:
    """Nodes and functions so far.

    Attributes:
        nodes: of the graph.
        functions: by what they say, but for their names.
        constants: small operands of nodes, by their names.

    Args:
        graph: that is written.
        taken: names of functions that the model has of its own.
    """

    def __init__(self, graph: Graph, taken: Iterable[str] = ()) -> None:
        self.nodes = list[Any]()
        self.functions = dict[bytes, Any]()
        self.constants = dict[str, Array]()
        self._graph = graph
        self._names = set(taken)
        self._known = dict[tuple[Any, ...], str]()

    def add(self, work: Step | Call, emission: Emission) -> None:
        """Add a step, or a call with its function."""
        node = self.node_of(work)
        _say_layout(node, work, emission)
        self.nodes.append(node)

    def node_of(self, work: Step | Call) -> Any:
        """Return the node for a step, or for a call, whose function is added."""
        return self._step(work) if isinstance(work, Step) else self._call(work)

    def _step(self, step: Step) -> Any:
        inputs = [self._operand(each) for each in step.inputs]
        return node_of(step, inputs, step.attributes)

    def _operand(self, operand: Operand) -> str:
        match operand:
            case Numbers(_, numbers):
                return self._constant(np.array(numbers, np.int64), "numbers")
            case Scalar(number, dtype):
                return self._constant(np.array(number).astype(dtype), "fill")
            case _:
                return operand

    def _constant(self, array: Array, word: str) -> str:
        key = word, str(array.dtype), array.shape, array.tobytes()
        if key not in self._known:
            text = "_".join(map(str, array.reshape(-1).tolist()))
            name, number = f"{word}@{text}"[:60], 1
            while name in self._graph.values or name in self.constants:
                number += 1
                name = f"{word}@{text}"[:60] + f"@{number}"
            self.constants[name] = array
            self._known[key] = name
        return self._known[key]

    def _call(self, call: Call) -> Any:
        from onnx import helper

        numbers = {
            each.name: each.numbers
            for step in call.body
            for each in step.inputs
            if isinstance(each, Numbers)
        }
        own = own_attributes(call)
        function = function_of(call, sorted(numbers), sorted(own), self._graph.opset)
        name = self._name_of(function, call.name)
        node = helper.make_node(name, call.inputs, call.outputs, domain=FUNCTIONS)
        given: dict[str, Attribute] = {**numbers, **own}
        node.attribute.extend(attribute_of(*each) for each in given.items())
        return node

    def _name_of(self, function: Any, wanted: str) -> str:
        """The name of a function that says this; one of its own where there is none."""
        key = function.SerializeToString(deterministic=True)
        if key not in self.functions:
            name, number = wanted, 1
            while name in self._names:
                number += 1
                name = f"{wanted}_{number}"
            self._names.add(name)
            function.name = name
            self.functions[key] = function
        return str(self.functions[key].name)


def _say_layout(node: Any, work: Step | Call, emission: Emission) -> None:
    """Say of a node how its results lie."""
    tensors = [emission.tensors[name] for name in work.outputs if name in emission.tensors]
    if not tensors:
        return
    entry = node.metadata_props.add()
    entry.key, entry.value = LAYOUT, "; ".join(layout_text(each.held) for each in tensors)
    lanes = [lane_text(each.held) for each in tensors]
    if any(lanes):
        entry = node.metadata_props.add()
        entry.key, entry.value = LANE, "; ".join(lanes)


def layout_text(held: Held) -> str:
    """Return how a value lies, as metadata has it: ``[d0, d1/16, d2, d3, d1%16]``."""
    placing = held.placing
    words = list[str]()
    for digit in placing.digits:
        over = f"d{digit.axis}" if digit.divisor == 1 else f"d{digit.axis}/{digit.divisor}"
        most = digit.divisor * digit.extent >= placing.padded_shape[digit.axis]
        words.append(over if most else f"{over}%{digit.extent}")
    return f"[{', '.join(words)}]"


def lane_text(held: Held) -> str:
    """Return what padding holds; nothing where there is none."""
    if held.lane is None:
        return ""
    return "?" if held.lane.number is None else str(held.lane.number)


def extents_said(tensor: Tensor, emission: Emission) -> tuple[int | str | None, ...]:
    """Return the shape of a tensor, with the name of a batch that is open where it is just that."""
    batch = emission.batch
    if batch is None:
        return tensor.extents
    said = batch.extents[tensor.name]
    return tuple(each if isinstance(each, int) else _open(each, batch) for each in said)


def _open(extent: Times, batch: Batch) -> str | None:
    return batch.name if batch.name and extent.factor == 1 else None


def _value(graph: Graph, tensor: Tensor, emission: Emission) -> Any:
    from onnx import helper

    dtype = graph.values[tensor.value].dtype
    assert dtype is not None
    kind = helper.np_dtype_to_tensor_dtype(dtype)
    found = helper.make_tensor_value_info(tensor.name, kind, extents_said(tensor, emission))
    entry = found.metadata_props.add()
    entry.key, entry.value = LAYOUT, layout_text(tensor.held)
    if tensor.held.lane is not None:
        entry = found.metadata_props.add()
        entry.key, entry.value = LANE, lane_text(tensor.held)
    return found


def items_of(array: Array) -> Array:
    """Return the bytes of an array, in order, which are not copied where they lie so."""
    return np.asarray(array, order="C").reshape(-1).view(np.uint8)


def initialisers(*constants: Mapping[str, Array]) -> Iterator[Any]:
    """Yield arrays as a graph holds them."""
    from onnx import numpy_helper

    for name, array in _all(constants):
        yield numpy_helper.from_array(np.asarray(array, order="C"), name)


def _all(constants: Iterable[Mapping[str, Array]]) -> Iterator[tuple[str, Array]]:
    for each in constants:
        yield from each.items()
