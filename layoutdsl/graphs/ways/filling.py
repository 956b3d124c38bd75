"""Ways to run nodes, with what padding holds: what comes of itself, and what has to be filled in.

Values are gone through in the order of the graph. Where nothing that a value's padding may hold
suits a reader, what does becomes one more candidate, at the cost of filling it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product

from layoutdsl.graphs.graph import Graph, Node
from layoutdsl.graphs.placings.placing import Placing, as_written
from layoutdsl.graphs.roles.bound import Bound
from layoutdsl.graphs.roles.roles import Template
from layoutdsl.graphs.roles.templates import written
from layoutdsl.graphs.variants import Held, Lane, Variant, Variants
from layoutdsl.graphs.ways.lanes import ONE, ZERO, Demand, demands, is_finite, suits, to_fill
from layoutdsl.graphs.ways.padding import results

LANES = 3
"""What the padding of a value in one placing may be."""
MIXED = 4
"""Ways in which the padding of a node's operands is put together."""


def variants_of(
    graph: Graph,
    bound: Sequence[Bound | str],
    templates: Sequence[Sequence[Template]],
    candidates: Mapping[str, Mapping[Placing, None]],
    given: Mapping[str, Held],
) -> Variants:
    """Return the ways of each node, with what all padding holds."""
    held: dict[str, dict[Placing, list[Lane | None]]] = {
        name: {each: [] if each.padded_axes else [None] for each in found}
        for name, found in candidates.items()
    }
    for name, each in given.items():
        if each.lane is not None:
            held[name][each.placing].append(each.lane)
    _settle(held, graph.inputs)
    filling = _Filling(graph, held)
    found: list[tuple[Variant, ...]] = []
    for node, rule, own in zip(graph.nodes, bound, templates, strict=True):
        ways = dict[object, Variant]()
        for way in (way for each in own for way in filling.variants(node, rule, each)):
            ways.setdefault(_memory(graph, node, way), way)
        found.append(
            tuple(ways.values()) or tuple(filling.variants(node, "", written(node, graph)))
        )
        _settle(held, node.outputs)
    return tuple(found)


def _memory(graph: Graph, node: Node, way: Variant) -> object:
    """What two ways have in common that are one: a choice between them would say nothing."""
    takes = tuple(
        None
        if held is None
        or (name in graph.constants and held.placing == as_written(held.placing.shape))
        else held
        for name, held in zip(node.inputs, way.takes, strict=True)
    )
    return takes, way.makes


def _settle(held: Mapping[str, Mapping[Placing, list[Lane | None]]], names: Sequence[str]) -> None:
    """What is only ever packed holds 0."""
    for name in names:
        for lanes in held.get(name, {}).values():
            if not lanes:
                lanes.append(ZERO)


class _Filling:
    """What the padding of values may hold, so far."""

    def __init__(self, graph: Graph, held: Mapping[str, dict[Placing, list[Lane | None]]]) -> None:
        self.graph = graph
        self.held = held

    def variants(self, node: Node, bound: Bound | str, template: Template) -> Iterator[Variant]:
        """Yield the ways that a template is, by what the padding of its operands holds."""
        if isinstance(bound, str):
            yield self._variant(
                node, template, (None,) * len(node.inputs), (None,) * len(node.outputs)
            )
            return
        options: list[list[Lane | None]] = []
        asked = demands(bound, template, self.graph)
        for number, placing in enumerate(template.takes):
            demand: Demand = asked[number] if number < len(asked) else "anything"
            options.append(self._options(node.inputs[number], placing, demand))
        for lanes in islice(product(*options), MIXED):
            made = self._made(node, bound, template, lanes)
            if made is not None:
                yield self._variant(node, template, *made)

    def _options(self, name: str, placing: Placing | None, demand: Demand) -> list[Lane | None]:
        """What the padding of an operand may hold; nothing where it may not have any."""
        if placing is None or not placing.padded_axes:
            return [None]
        if demand == "never":
            return []
        fill = to_fill(demand, self.graph.values[name].dtype)
        if name in self.graph.constants:
            return [fill]
        lanes = self.held[name].setdefault(placing, [])
        suited = [each for each in lanes if suits(each, demand)]
        if suited:
            return suited
        lanes.append(fill)
        return [fill]

    def _made(
        self, node: Node, bound: Bound, template: Template, lanes: tuple[Lane | None, ...]
    ) -> tuple[tuple[Lane | None, ...], tuple[Lane | None, ...]] | None:
        made = results(bound, template, lanes, self.graph)
        if template.how == "elementwise" and not all(map(is_finite, made)):
            ones = tuple(
                ONE if held is not None and name in self.graph.constants else held
                for name, held in zip(node.inputs, lanes, strict=True)
            )
            others = results(bound, template, ones, self.graph)
            if all(map(is_finite, others)):
                lanes, made = ones, others
        return (lanes, made) if self._known(node, template, made) else None

    def _known(self, node: Node, template: Template, made: Sequence[Lane | None]) -> bool:
        """Take what the padding of results holds as one that it may hold, if there is room."""
        for name, placing, each in zip(node.outputs, template.makes, made, strict=True):
            if not name or placing is None or each is None:
                continue
            lanes = self.held[name].setdefault(placing, [])
            if each not in lanes:
                if len(lanes) >= LANES:
                    return False
                lanes.append(each)
        return True

    @staticmethod
    def _variant(
        node: Node,
        template: Template,
        takes: Sequence[Lane | None],
        makes: Sequence[Lane | None],
    ) -> Variant:
        return Variant(
            node.number,
            tuple(map(_held, template.takes, takes)),
            tuple(map(_held, template.makes, makes)),
            template.how,
        )


def _held(placing: Placing | None, lane: Lane | None) -> Held | None:
    if placing is None:
        return None
    return Held(placing, lane if placing.padded_axes else None)
