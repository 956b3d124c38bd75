"""How much of a graph is run at once: nodes, and parts beside each other, that make no more.

What is held is the memory that a verification takes, besides a model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

from layoutdsl.graphs.emitting.physical import Emission, Emitted
from layoutdsl.graphs.graph import Graph, Node
from layoutdsl.graphs.planning.costs import width
from layoutdsl.graphs.running.onnx_parts import consumed, produced

LEAST_BYTES, MOST_BYTES = 1 << 20, 1 << 23
"""Of values that are made at once, and of weights that are used; a single node may have more.

Small models get less, so that what is run never outweighs what is read."""

SHARE = 8
"""A model may have so much of its weights' bytes made at once."""


def stretches(graph: Graph) -> Iterator[tuple[Node, ...]]:
    """Yield nodes whose results are not too many; all at once where some are no tensors."""
    if any(each.dtype is None for each in graph.values.values()):
        yield graph.nodes
        return
    nodes, size, most = list[Node](), 0, room(graph)
    for node in graph.nodes:
        own = sum(bytes_of(graph, name) for name in (*node.outputs, *_weights(graph, node)))
        if nodes and size + own > most:
            yield tuple(nodes)
            nodes, size = [], 0
        nodes.append(node)
        size += own
    yield tuple(nodes)


def room(graph: Graph) -> int:
    """Return the bytes that are made at once."""
    weights = sum(bytes_of(graph, name) for name in graph.constants)
    return min(max(weights // SHARE, LEAST_BYTES), MOST_BYTES)


def _weights(graph: Graph, node: Node) -> Iterator[str]:
    return (name for name in node.inputs if name in graph.constants)


def bytes_of(graph: Graph, name: str) -> int:
    """Return the bytes of a value as it was written."""
    if not name:
        return 0
    value = graph.values[name]
    return prod(value.shape) * width(value)


def _values_of(part: Emitted, emission: Emission) -> set[str]:
    names = (*consumed(part, emission), *produced(part, emission))
    return {emission.tensors[name].value for name in names}


def when_known(part: Emitted, emission: Emission, of_value: Mapping[str, int]) -> int:
    """Return the stretch after which all that a part is about is known."""
    return max((of_value.get(value, 0) for value in _values_of(part, emission)), default=0)


def last_uses(
    graph: Graph,
    emission: Emission,
    parts: Mapping[int, Emitted],
    when: Mapping[int, int],
    of_value: Mapping[str, int],
) -> dict[str, int]:
    """Return the stretch after which nobody needs a value, by their names."""
    last = dict[str, int]()
    for node in graph.nodes:
        own = max((of_value.get(name, 0) for name in node.outputs if name), default=0)
        last |= {name: max(own, last.get(name, 0)) for name in node.inputs}
    for view in emission.views:
        now = of_value.get(view.value, 0)
        last |= {each: max(now, last.get(each, 0)) for each in (view.source, view.value)}
    for number, part in parts.items():
        for value in _values_of(part, emission):
            last[value] = max(when[number], last.get(value, 0))
    return last


def side_by_side(
    parts: Mapping[int, Emitted], emission: Emission, graph: Graph
) -> Iterator[dict[int, Emitted]]:
    """Yield parts whose operands and results are not too many."""
    few, size, most = dict[int, Emitted](), 0, room(graph)
    for number, part in parts.items():
        names = (*consumed(part, emission), *produced(part, emission))
        tensors = [emission.tensors[name] for name in names]
        own = sum(prod(each.extents) * width(graph.values[each.value]) for each in tensors)
        if few and size + own > most:
            yield few
            few, size = {}, 0
        few[number] = part
        size += own
    if few:
        yield few
