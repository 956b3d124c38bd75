"""A plan, counted: what is moved and why, what has padding, and what was laid beforehand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import prod

from layoutdsl.graphs.graph import Graph, Node
from layoutdsl.graphs.models.onnx_read import Model
from layoutdsl.graphs.models.onnx_write import layout_text
from layoutdsl.graphs.placings.forms import form_of
from layoutdsl.graphs.placings.placing import as_written
from layoutdsl.graphs.plan import Conversion, Plan
from layoutdsl.graphs.planning.costs import may_refill, moved_bytes, width
from layoutdsl.graphs.roles.roles import from_view
from layoutdsl.graphs.telling.figures import (
    Amount,
    Anchor,
    Figures,
    Gap,
    Kind,
    Left,
    Padding,
    Weights,
    Written,
)
from layoutdsl.graphs.variants import Held, Variant
from layoutdsl.graphs.ways.ways import Ways
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.texts.values import shortened


def figures_of(
    model: Model, ways: Ways, plan: Plan, layouts: tuple[Layout, ...], written: Written
) -> Figures:
    """Return what a plan comes to.

    Args:
        model: that was planned.
        ways: all variants, and what was asked for.
        plan: of it.
        layouts: that give placings their names.
        written: what was counted in the model that is written.
    """
    graph = model.graph
    told = _Telling(graph, ways, plan, layouts)
    planned = Amount(len(plan.conversions), sum(each.moved for each in plan.conversions))
    return Figures(
        nodes=len(graph.nodes),
        anchors=tuple(told.anchors()),
        alone=told.alone(),
        planned=planned,
        written=written,
        left=tuple(map(told.left, plan.conversions)),
        gaps=tuple(sorted(told.gaps(), key=lambda gap: (-gap.bytes, gap.node))),
        padding=told.padding(),
        weights=told.weights(),
        cost=plan.cost,
        bound=plan.bound,
        rows=len(plan.dual),
        numbers=sum(each != 0 for each in plan.dual),
        defaults=len(model.defaults),
        quantised=dict(Counter(graph.nodes[k].operator for k in ways.quantised).most_common()),
    )


def called(held: Held, layouts: tuple[Layout, ...]) -> str:
    """Return the name of a layout: `as written`, that of the language, or the digits."""
    if held.placing == as_written(held.placing.shape):
        return "as written"
    name = form_of(held.placing, layouts).name
    known = any(name == layout.name for layout in layouts)
    return name if known else layout_text(held)


def node_called(node: Node) -> str:
    """Return a node in words: its name, or that of what it makes."""
    name = node.name or next((each for each in node.outputs if each), str(node.number))
    return f"{node.operator} `{shortened(name)}`"


class _Telling:
    """A plan, looked at from all sides."""

    def __init__(self, graph: Graph, ways: Ways, plan: Plan, layouts: tuple[Layout, ...]) -> None:
        self.graph, self.ways, self.plan, self.layouts = graph, ways, plan, layouts
        self.pairs = tuple(zip(graph.nodes, plan.variants, strict=True))
        self.maker = {value: node for node in graph.nodes for value in node.outputs if value}

    def anchors(self) -> Iterator[Anchor]:
        every = Counter(node.operator for node in self.graph.nodes)
        found = Counter(
            (node.operator, self._layout(node.number, variant))
            for node, variant in self.pairs
            if self.ways.anchors.get(node.number)
        )
        for (operator, name), count in found.items():
            yield Anchor(operator, name, count, every[operator])

    def _layout(self, number: int, variant: Variant) -> str:
        """Which of the layouts that were asked for a node has."""
        names = self.ways.anchors[number]
        held = next((each for each in variant.makes if each is not None), None)
        made = "" if held is None else called(held, self.layouts)
        return made if made in names or len(names) > 1 else names[0]

    def alone(self) -> Amount:
        moved: list[int] = []
        for node, variant in self.pairs:
            if not self.ways.anchors.get(node.number):
                continue
            for value, held in _tensors(node, variant):
                if value not in self.graph.constants and not _is_written(held):
                    moved.append(moved_bytes(self.graph.values[value], held))
        moved += self._views()
        return Amount(len(moved), sum(moved))

    def _views(self) -> Iterator[int]:
        """Bytes that views move as the graph has them: a transpose of memory as written."""
        for bound in self.ways.bound:
            if isinstance(bound, str) or bound.steps is None:
                continue
            (source, *_), (result, *_) = bound.node.inputs, bound.node.outputs
            found = from_view(bound, 0, as_written(self.graph.values[source].shape))
            written = as_written(self.graph.values[result].shape)
            if source not in self.graph.constants and (found is None or found.makes[0] != written):
                yield 2 * prod(written.shape) * width(self.graph.values[result])

    def left(self, move: Conversion) -> Left:
        readers = [
            node
            for node, variant in self.pairs
            if (move.value, move.target) in set(zip(node.inputs, variant.takes, strict=True))
        ]
        taken = self.ways.wanted.get(move.value) == move.target
        words = [f"{node_called(each)}{self._because(each)}" for each in readers]
        words += ["the caller"] * taken
        return Left(
            value=move.value,
            kind=self._kind(move, bool(readers)),
            source=called(move.source, self.layouts),
            target=called(move.target, self.layouts),
            bytes=move.moved,
            maker=self._maker(move.value),
            readers=words[0] + (f" and {len(words) - 1} more" if words[1:] else ""),
        )

    def _kind(self, move: Conversion, is_read: bool) -> Kind:
        if may_refill(move.source, move.target):
            return "refill"
        if move.value in self.graph.inputs:
            return "input"
        return "between" if is_read else "output"

    def _maker(self, value: str) -> str:
        node = self.maker.get(value)
        return "the caller" if node is None else f"{node_called(node)}{self._because(node)}"

    def _because(self, node: Node) -> str:
        reason = self.ways.bound[node.number]
        if isinstance(reason, str):
            return f" (as written: {reason})"
        return " (required)" if self.ways.anchors.get(node.number) else ""

    def gaps(self) -> Iterator[Gap]:
        for number, reason in self.ways.gaps.items():
            node, variant = self.pairs[number]
            touching = set(node.outputs)
            needs = set(zip(node.inputs, variant.takes, strict=True))
            moved = sum(
                move.moved
                for move in self.plan.conversions
                if move.value in touching or (move.value, move.target) in needs
            )
            yield Gap(number, node.name, node.operator, reason, moved)

    def padding(self) -> Padding:
        found = {
            (value, held)
            for node, variant in self.pairs
            for value, held in _tensors(node, variant)
            if held.lane is not None and value not in self.graph.constants
        }
        size = sum(
            (held.placing.slots - prod(held.placing.shape)) * width(self.graph.values[value])
            for value, held in found
        )
        lanes = {lane_text(held) for _, held in found}
        return Padding(len({value for value, _ in found}), size, tuple(sorted(lanes)))

    def weights(self) -> Weights:
        found = {
            (value, held)
            for node, variant in self.pairs
            for value, held in zip(node.inputs, variant.takes, strict=True)
            if held is not None and value in self.graph.constants and not _is_written(held)
        }
        sizes = [(self.graph.values[value], held) for value, held in found]
        before = sum(prod(value.shape) * width(value) for value, _ in sizes)
        after = sum(held.placing.slots * width(value) for value, held in sizes)
        return Weights(len(found), before, after)


def lane_text(held: Held) -> str:
    """Return what padding holds, in words."""
    if held.lane is None:
        return "none"
    return "anything" if held.lane.number is None else f"{float(held.lane.number):g}"


def _tensors(node: Node, variant: Variant) -> Iterator[tuple[str, Held]]:
    takes = zip(node.inputs, variant.takes, strict=True)
    makes = zip(node.outputs, variant.makes, strict=True)
    yield from ((value, held) for value, held in (*takes, *makes) if value and held is not None)


def _is_written(held: Held) -> bool:
    return held.placing == as_written(held.placing.shape)
