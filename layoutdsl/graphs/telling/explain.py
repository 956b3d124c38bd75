"""Why a value lies as it does, and why it is moved: all that the plan could choose from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from layoutdsl.graphs.graph import Graph, Node
from layoutdsl.graphs.plan import Plan
from layoutdsl.graphs.planning.costs import makers_of
from layoutdsl.graphs.telling.counting import called, lane_text, node_called
from layoutdsl.graphs.telling.figures import Figures
from layoutdsl.graphs.telling.report import count, sentence, size
from layoutdsl.graphs.variants import Held
from layoutdsl.graphs.ways.ways import Ways
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.texts.faults import UnknownNameError, did_you_mean
from layoutdsl.language.texts.values import shortened


@dataclass(frozen=True)
class Explaining:
    """A plan that questions are asked of.

    Attributes:
        graph: that was planned.
        ways: all that the plan chose from.
        plan: of it.
        layouts: that give placings their names.
        figures: what the plan comes to.
    """

    graph: Graph
    ways: Ways
    plan: Plan
    layouts: tuple[Layout, ...]
    figures: Figures

    def all(self) -> Iterator[str]:
        """Yield why each transform is left, and which nodes are as written because of what."""
        for each in sorted(self.figures.left, key=lambda left: -left.bytes):
            yield sentence(each)
        for gap in self.figures.gaps:
            node = node_called(self.graph.nodes[gap.node])
            yield f"{node} is as written: {gap.reason}; {size(gap.bytes)} moved there"
        for number, reasons in self.ways.reasons.items():
            for reason in reasons:
                yield f"{node_called(self.graph.nodes[number])}: {reason}"
        own, planned = self.figures.written.transforms, self.figures.planned
        if own != planned:
            yield (
                f"the written file has {count(own.count, 'transform')}, {size(own.bytes)}: "
                f"{planned.count} of the plan, and those beside nodes without an operator in "
                "their layout, or where padding is filled by a copy"
            )
        for number in self.ways.quantised:
            yield f"{node_called(self.graph.nodes[number])} is as written: it is quantised"
        if not (self.figures.left or self.figures.gaps or self.ways.quantised or own.count):
            yield "nothing is moved, and every node has a rule"

    def one(self, name: str) -> Iterator[str]:
        """Yield who makes a value and how, who takes it, and what else could have been.

        Raises:
            UnknownNameError: there is no such value.
        """
        if name not in self.graph.values:
            hint = did_you_mean(name, self.graph.values) or "--explain alone names what is moved"
            raise UnknownNameError(f"the model has no value `{name}`", hint)
        value = self.graph.values[name]
        shape = ", ".join(map(str, value.shape))
        yield f"`{shortened(name)}` is {value.dtype} of shape ({shape})"
        if name in self.graph.constants:
            yield "it is constant: laid beforehand as each reader wants it, which costs nothing"
        else:
            yield from self._made(name)
        yield from self._taken(name)
        for move, left in zip(self.plan.conversions, self.figures.left, strict=True):
            if move.value == name:
                yield f"moved: {sentence(left)}"

    def _made(self, name: str) -> Iterator[str]:
        if name in self.ways.given:
            yield f"the caller gives it {self._held(self.ways.given[name])}"
            return
        node, place = next(
            (node, node.outputs.index(name)) for node in self.graph.nodes if name in node.outputs
        )
        made = self.plan.variants[node.number].makes[place]
        yield f"{self._node(node)} makes it {self._held(made)}"
        others = [each for each in makers_of(self.graph, self.ways.variants)[name] if each != made]
        if others:
            yield f"  it could make it {', '.join(map(self._held, others))}"

    def _taken(self, name: str) -> Iterator[str]:
        for node in self.graph.nodes:
            if name not in node.inputs:
                continue
            place = node.inputs.index(name)
            held = self.plan.variants[node.number].takes[place]
            yield f"{self._node(node)} takes it {self._held(held)}"
            every = (each.takes[place] for each in self.ways.variants[node.number])
            others = [each for each in dict.fromkeys(every) if each != held]
            if others:
                yield f"  it could take it {', '.join(map(self._held, others))}"
        if name in self.ways.wanted:
            yield f"the caller takes it {self._held(self.ways.wanted[name])}"

    def _node(self, node: Node) -> str:
        reason = self.ways.bound[node.number]
        if isinstance(reason, str):
            return f"{node_called(node)} (as written: {reason})"
        names = self.ways.anchors.get(node.number)
        asked = f" (asked to be in {' or '.join(names)})" if names else ""
        return f"{node_called(node)}{asked}"

    def _held(self, held: Held | None) -> str:
        if held is None:
            return "as written"
        padding = f" with padding {lane_text(held)}" if held.lane is not None else ""
        return f"{called(held, self.layouts)}{padding}"
