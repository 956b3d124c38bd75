"""Parts of what came out of a plan, each run alone on the numbers of the original graph.

Nothing adds up that way: a part gets what the original made, packed, and what it makes is compared
element by element, and padding with what was said of it. Padding of operands holds first what was
said of it, then junk, and then what is no number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import Any, Literal, TypeAlias

import numpy as np

from layoutdsl.graphs.emitting.physical import Emission, Emitted, Step, Tensor, View
from layoutdsl.graphs.graph import Array, Graph, Node
from layoutdsl.graphs.models.onnx_read import Model
from layoutdsl.graphs.placings.packing import packed, padding_of, unpacked
from layoutdsl.graphs.running.onnx_parts import (
    called,
    consumed,
    is_run,
    is_unchanged,
    model_of_nodes,
    model_of_parts,
    produced,
)
from layoutdsl.graphs.running.onnx_run import KERNELS, OriginalError, RunError, load, run, runner
from layoutdsl.graphs.running.samples import JUNK, Trial, added, drawn, far_apart, near
from layoutdsl.graphs.running.stretches import last_uses, side_by_side, stretches, when_known

Padding: TypeAlias = Literal["said", "junk", "no number"]


@dataclass(slots=True)
class Findings:
    """What was found of parts, as they were tried.

    Attributes:
        nodes: that were held against the original's.
        exact: those of which every bit was the same.
        worst: the largest difference, relative to the largest number of the value.
        where: what it was found in.
        faults: sentences.
    """

    nodes: int = 0
    exact: int = 0
    worst: float = 0.0
    where: str = ""
    faults: list[str] = field(default_factory=list)


def has_kernel(model: Model, node: Node) -> bool:
    """Return whether there is anything here that runs a node, on whatever numbers."""
    graph = model.graph
    names = dict.fromkeys(each for each in node.inputs if each and each not in graph.constants)
    if any(graph.values[each].dtype is None for each in (*names, *filter(None, node.outputs))):
        return True
    try:
        load(*model_of_nodes(model, (node,), names, [each for each in node.outputs if each]))
    except RunError:
        return False
    if runner().name == "onnxruntime":
        return True
    try:  # the reference finds out of types when it is run
        _original(model, (node,), drawn(graph, names))
    except RunError:
        return False
    return True


def try_all(
    model: Model,
    emission: Emission,
    found: Findings,
    foreign: frozenset[int],
    trial: Trial,
) -> None:
    """Run each part alone on what the original graph makes, and note what is found.

    Args:
        model: that was read.
        emission: of it.
        found: is added to.
        foreign: nodes that nothing here runs: what they make is drawn, and they are not tried.
        trial: what the caller feeds and allows.

    Raises:
        OriginalError: the original cannot be run on the inputs.
        RunError: a part cannot be run.
    """
    graph = model.graph
    values: dict[str, Array] = trial.inputs(graph, 0, model.defaults)
    parts = dict(enumerate(emission.parts))
    runs = list(stretches(graph))
    of_value = {name: k for k, nodes in enumerate(runs) for node in nodes for name in node.outputs}
    when = {number: when_known(part, emission, of_value) for number, part in parts.items()}
    last = last_uses(graph, emission, parts, when, of_value)
    for number, nodes in enumerate(runs):
        left = [node for node in nodes if node.number in foreign]
        values |= drawn(graph, [name for node in left for name in node.outputs if name])
        try:
            values |= _original(model, [node for node in nodes if node not in left], values)
        except RunError as error:
            raise OriginalError(str(error)) from None
        refuse_other_shapes(values, graph)
        own = {
            each: part
            for each, part in parts.items()
            if when[each] == number and part.of not in foreign
        }
        _try_parts(model, emission, own, values, found, trial)
        made = {node.number for node in nodes}
        for view in emission.views:
            if view.of in made:
                _try_view(view, values, graph, found)
        values = {name: array for name, array in values.items() if last.get(name, -1) > number}


def refuse_other_shapes(values: Mapping[str, Array], graph: Graph) -> None:
    """Look whether the runtime finds the shapes that the model was planned with.

    Raises:
        OriginalError: it finds another one.
    """
    for name, array in values.items():
        shape = graph.values[name].shape
        if graph.values[name].dtype is not None and array.shape != shape:
            words = f"`{name}` comes out with the shape {array.shape}"
            raise OriginalError(f"{words}, and was planned with {shape}")


def _original(model: Model, nodes: Sequence[Node], values: Mapping[str, Array]) -> dict[str, Array]:
    graph = model.graph
    made = {name for node in nodes for name in node.outputs if name}
    used = dict.fromkeys(name for node in nodes for name in node.inputs if name in values)
    wanted = [
        name
        for node in nodes
        for name in node.outputs
        if name and graph.values[name].dtype is not None
    ]
    inputs = [name for name in used if name not in made]
    if not wanted:
        return {}
    found, weights = model_of_nodes(model, nodes, inputs, wanted)
    return run(found, {name: values[name] for name in inputs}, wanted, weights=weights)


def _try_parts(
    model: Model,
    emission: Emission,
    parts: Mapping[int, Emitted],
    values: Mapping[str, Array],
    found: Findings,
    trial: Trial,
) -> None:
    graph = model.graph
    tried = dict[int, Emitted]()
    for number, part in parts.items():
        if is_unchanged(part, graph):
            found.nodes, found.exact = found.nodes + 1, found.exact + 1
        elif is_run(part, emission, graph) and produced(part, emission):
            tried[number] = part
    for few in side_by_side(tried, emission, graph):
        _try_together(model, emission, few, values, found, trial)


def _try_together(
    model: Model,
    emission: Emission,
    tried: Mapping[int, Emitted],
    values: Mapping[str, Array],
    found: Findings,
    trial: Trial,
) -> None:
    """Run parts beside each other, with whatever their padding may hold."""
    graph = model.graph
    proto, weights = model_of_parts(model, emission, tried)
    apart = dict.fromkeys(tried, 0.0)
    wanted = [called(n, name) for n, part in tried.items() for name in produced(part, emission)]

    def fed(padding: Padding) -> dict[str, Array]:
        return {
            called(number, name): laid(emission.tensors[name], values, graph, padding)
            for number, part in tried.items()
            for name in consumed(part, emission)
        }

    for padding in _paddings(emission, tried):
        results = run(proto, fed(padding), wanted, weights=weights)
        for number, part in tried.items():
            judged = produced(part, emission) if _may_hold(part, padding, emission) else ()
            for name in judged:
                tensor, array = emission.tensors[name], results.pop(called(number, name))
                least = _added(part, tensor, values, graph)
                how = padding, least, trial.rtol or 0.0
                own, fault = _held_against(tensor, array, values, graph, how)
                apart[number] = max(apart[number], own)
                if fault:
                    found.faults.append(f"{_named(part, graph)}: {fault}")
        del results  # before the next are made
    for number, part in tried.items():
        count = isinstance(part.of, int) + len(part.more)
        found.nodes += count
        found.exact += count if apart[number] == 0 else 0
        if apart[number] > found.worst:
            found.worst, found.where = apart[number], _named(part, graph)


def _try_view(view: View, values: Mapping[str, Array], graph: Graph, found: Findings) -> None:
    """Hold the memory of a result against that of the operand, which it is said to be."""
    one, other = (
        packed(_known(name, values, graph), held.placing, 0)
        for name, held in ((view.source, view.lies), (view.value, view.held))
    )
    found.nodes += 1
    if one.tobytes() == other.tobytes():
        found.exact += 1
    else:
        found.faults.append(f"`{view.value}` is not the memory of `{view.source}`")


def _known(name: str, values: Mapping[str, Array], graph: Graph) -> Array:
    found = values.get(name)
    return graph.constants[name] if found is None else found


def _named(part: Emitted, graph: Graph) -> str:
    if isinstance(part.of, str):
        return f"the conversion of `{part.of}`"
    node = graph.nodes[part.of]
    return f"{node.operator} `{node.name or node.outputs[0]}`"


def _paddings(emission: Emission, parts: Mapping[int, Emitted]) -> tuple[Padding, ...]:
    tensors = [
        emission.tensors[name] for part in parts.values() for name in consumed(part, emission)
    ]
    if any(each.held.placing.padded_axes for each in tensors):
        return "said", "junk", "no number"
    return ("said",)


def _may_hold(part: Emitted, padding: Padding, emission: Emission) -> bool:
    """Whether a part is right whatever its operands' padding holds, or this at least.

    What sums, or looks for the largest, over padding counts on what is said of it; a product with
    weights of 0 there counts on a number.
    """
    names = {step.operator for step in part.work if isinstance(step, Step)}
    if any(name.startswith("Reduce") for name in names):
        return padding == "said"
    products = [step for step in part.work if isinstance(step, Step) and step.operator in PRODUCTS]
    if any(step.inputs[1] not in emission.constants for step in products):
        return padding == "said"
    return padding != "no number" or not products


PRODUCTS = frozenset({"MatMul", "Gemm", f"{KERNELS}::Conv"})


def laid(tensor: Tensor, values: Mapping[str, Array], graph: Graph, padding: Padding) -> Array:
    """What an operand of a part is, from what the original made."""
    array = _known(tensor.value, values, graph)
    lane = None if tensor.held.lane is None else tensor.held.lane.number
    fill: Any = JUNK if lane is None else lane
    if padding != "said":
        fill = nan if padding == "no number" and array.dtype.kind == "f" else JUNK
    return packed(array, tensor.held.placing, fill).reshape(tensor.extents)


def _added(part: Emitted, tensor: Tensor, values: Mapping[str, Array], graph: Graph) -> float:
    """What the rounding of a result is relative to, where that is a sum."""
    if isinstance(part.of, str) or part.more:
        return 0.0
    node = graph.nodes[part.of]
    result = _known(tensor.value, values, graph)
    return added(node.operator, _known(node.inputs[0], values, graph), result)


def _held_against(
    tensor: Tensor,
    array: Array,
    values: Mapping[str, Array],
    graph: Graph,
    how: tuple[Padding, float, float],
) -> tuple[float, str]:
    """How far apart a result is from the original's, and what is wrong with it.

    `how` is what padding of operands holds, what rounding is relative to, and what is allowed.
    Where numbers are infinite, nothing is said of padding: 0 times infinity is no number.
    """
    padding, least, rtol = how
    expected = _known(tensor.value, values, graph)
    if array.shape != tensor.extents:
        return np.inf, f"its result `{tensor.name}` is of shape {array.shape}, not {tensor.extents}"
    placing = tensor.held.placing
    buffer = array.reshape(placing.physical_shape)
    own = far_apart(unpacked(buffer, placing), expected, least)
    words = "" if padding == "said" else f" where padding of its operands holds {padding}"
    if own > max(near(expected.dtype), rtol if expected.dtype.kind not in "biu" else 0.0):
        return own, f"`{tensor.value}` differs by {own:.2g}, relative{words}"
    lane = tensor.held.lane
    finite = expected.dtype.kind != "f" or bool(np.isfinite(expected).all())
    if padding == "said" and finite and lane is not None and lane.number is not None:
        lanes = buffer[padding_of(placing)]
        if lanes.size and far_apart(lanes, np.full_like(lanes, lane.number)) > near(lanes.dtype):
            return own, f"padding of `{tensor.value}` does not hold {lane.number}"
    return own, ""
