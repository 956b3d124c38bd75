"""Counts of the written model: nodes that run at every inference, and transforms among them.

Nothing here reads the plan's own figures. An engine that has an operator in the planned layout runs
one node; where it has none, Transposes stand around the node, and they are what is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from math import prod
from typing import Any

from layoutdsl.graphs.emitting.physical import Call, Emission, Emitted, Numbers, Step
from layoutdsl.graphs.graph import Graph
from layoutdsl.graphs.models.onnx_nodes import FUNCTIONS
from layoutdsl.graphs.planning.costs import width
from layoutdsl.graphs.telling.figures import Amount, Nodes, Written

COUNTED = ("Transpose", "Reshape", "Cast")
"""Operators whose nodes are told: what layouts usually cost in a model."""

MOVING = frozenset({"Transpose", "com.microsoft.nchwc::ReorderInput"})
MOVING |= {"com.microsoft.nchwc::ReorderOutput"}
"""Operators that only move elements."""

MASK = "@padding"
"""Part of the name of the operand that holds the padding mask of a buffer."""

ALONG = frozenset({"Reshape", "Identity"})
"""Operators that leave elements where they are."""


def written_of(graph: Graph, emission: Emission, before: Any, after: Any) -> Written:
    """Return what is counted in a model that was written.

    Args:
        graph: that was planned.
        emission: what each node became, with a number for every extent.
        before: the model that was read, as the package onnx has it.
        after: the model that is written.
    """
    inlined = not any(each.domain == FUNCTIONS for each in after.functions)
    own, inside = list[int](), list[int]()
    for part in emission.parts:
        for work, names, moves in _scopes(part):
            found = [*_transforms(graph, emission, part, work, names)]
            (inside if moves and not inlined else own).extend(found)
    bodies = {each.name: each.node for each in after.functions if each.domain == FUNCTIONS}
    called = [each.op_type for each in after.graph.node if each.domain == FUNCTIONS]
    outside, written = Counter(_operators(before.graph.node)), Counter(_operators(after.graph.node))
    in_calls = Counter[str]()
    for name, times in Counter(called).items():
        in_calls += Counter(
            {key: times * n for key, n in Counter(_operators(bodies[name])).items()}
        )
    nodes = tuple(
        Nodes(each, outside[each], written[each], in_calls[each])
        for each in COUNTED
        if outside[each] or written[each] or in_calls[each]
    )
    return Written(Amount(len(own), sum(own)), Amount(len(inside), sum(inside)), nodes)


def _operators(nodes: Iterable[Any]) -> Iterator[str]:
    return (each.op_type for each in nodes if each.domain in ("", "ai.onnx"))


def _scopes(part: Emitted) -> Iterator[tuple[tuple[Step, ...], Mapping[str, str], bool]]:
    """Steps that stand together, the tensors that they call otherwise, and whether in a kernel.

    A function that only converts a value is a transform of the model itself.
    """
    yield tuple(each for each in part.work if isinstance(each, Step)), {}, False
    for each in part.work:
        if isinstance(each, Call):
            taken = (name for name in each.inputs if name)
            names = dict(zip(each.takes, taken, strict=True))
            names |= zip(each.makes, (name for name in each.outputs if name), strict=True)
            yield each.body, names, isinstance(part.of, int)


def _transforms(
    graph: Graph,
    emission: Emission,
    part: Emitted,
    steps: tuple[Step, ...],
    names: Mapping[str, str],
) -> Iterator[int]:
    """Yield the bytes of each transform: steps on one value behind each other are one.

    They are those of the elements that are read and of the slots that are written.
    """
    came, chains = dict[str, str](), dict[str, list[str]]()  # the first and last tensor of each
    for step in steps:
        place = 2 if step.operator == "Where" else int(step.operator in ("Or", "And"))
        source = step.inputs[place] if len(step.inputs) > place else ""
        if not isinstance(source, str):
            continue
        chain = chains.get(source)
        if chain is None and _moves(graph, part, step):
            chain = [came.get(source, source), ""]
        elif chain is not None and not (step.operator in ALONG or _moves(graph, part, step)):
            continue
        if chain is not None:
            chain[1] = step.outputs[0]
            chains[step.outputs[0]] = chain
        elif step.operator in ALONG:
            came[step.outputs[0]] = came.get(source, source)
    for start, end in {id(each): each for each in chains.values()}.values():
        first, last = (emission.tensors.get(names.get(each, each)) for each in (start, end))
        known = last or first
        assert known is not None, (start, end)
        value = graph.values[known.value]
        elements = prod(value.shape)
        slots = elements if last is None else prod(last.extents)
        yield (elements + slots) * width(value)


def _moves(graph: Graph, part: Emitted, step: Step) -> bool:
    more = [each for each in step.inputs[1:] if isinstance(each, Numbers)]
    if step.operator in ("Pad", "Slice"):  # the model's own call their numbers as ONNX does
        return step.source is None and bool(more) and more[0].name not in ("pads", "starts")
    if step.operator in ("Where", "Or", "And"):
        return isinstance(mask := step.inputs[0], str) and MASK in mask
    if step.operator == "Transpose" and isinstance(part.of, int):
        node = graph.nodes[part.of]
        if step.operator == node.operator:
            return _is_moved(graph.values[node.inputs[0]].shape, node.attributes.get("perm"))
    return step.operator in MOVING


def _is_moved(shape: tuple[int, ...], order: Any) -> bool:
    """Whether a Transpose of a shape changes memory: axes of one element may go anywhere."""
    order = tuple(order) if order else tuple(reversed(range(len(shape))))
    left = [axis for axis in order if axis < len(shape) and shape[axis] != 1]
    return left != sorted(left)
