"""All ways to run a graph: candidates carried to a fixpoint, and what padding holds in each.

Each value starts as it was written, and as anchors have it; rules carry candidates forwards and
backwards. What a plan may choose from is what is left when nothing new comes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from layoutdsl.graphs.graph import Graph, Node
from layoutdsl.graphs.placings.placing import Placing, as_written
from layoutdsl.graphs.placings.reading import filled_with, placed
from layoutdsl.graphs.roles.anchors import Choice, anchored, kernels, layouts_of, placings_of
from layoutdsl.graphs.roles.binding import rule_of
from layoutdsl.graphs.roles.bound import Bound
from layoutdsl.graphs.roles.roles import Template, how
from layoutdsl.graphs.roles.templates import offered, written
from layoutdsl.graphs.variants import Held, Variants
from layoutdsl.graphs.ways.filling import variants_of
from layoutdsl.graphs.ways.lanes import lane
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.operator import Engine

Operators: TypeAlias = Literal["functions", "standard"]
"""Whether what has windows may be run in any layout, or only as ONNX itself has it."""

CODES = frozenset({"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"})
"""Operators between numbers and their codes."""

ON_CODES = frozenset({"ConvInteger", "MatMulInteger", "DynamicQuantizeMatMul"})
"""Operators on codes, besides those that have `QLinear` in their names."""

QUANTISED = "it is quantised"
"""Why a node is as written where quantised nodes are to stay so."""

MOST = 16
"""Candidates of a value. With half as many a shuffled network keeps two transforms more."""


@dataclass(frozen=True)
class Wishes:
    """What is asked of a plan beside what the engine's text says.

    Attributes:
        inputs: layouts in which the caller gives values, by name; others are as written.
        outputs: layouts in which the caller takes them.
        choice: what a preference with several layouts asks.
        operators: what nodes may be that no anchor asks for.
        keeps_quantised: whether quantised nodes stay as written. onnxruntime replaces a float
            operator between DequantizeLinear and QuantizeLinear by one on integers, and finds it no
            more where anything stands between the three.
    """

    inputs: Mapping[str, Layout] = field(default_factory=dict)
    outputs: Mapping[str, Layout] = field(default_factory=dict)
    choice: Choice = "first"
    operators: Operators = "functions"
    keeps_quantised: bool = False


@dataclass(frozen=True)
class Ways:
    """What a plan may choose from.

    Attributes:
        variants: of each node.
        bound: each node by its rule, or why it is as written.
        given: how the inputs lie that the caller gives.
        wanted: how the outputs have to lie.
        anchors: by node, the layouts of which the engine requires one; none where none fits.
        reasons: by node, why layouts that come first in a preference were not taken.
        engine: that was asked.
        layouts: those that the engine names, and where they put values of its nodes.
    """

    variants: Variants
    bound: tuple[Bound | str, ...]
    given: Mapping[str, Held]
    wanted: Mapping[str, Held]
    anchors: Mapping[int, tuple[str, ...]]
    reasons: Mapping[int, tuple[str, ...]]
    layouts: tuple[tuple[Layout, Placing], ...] = ()
    engine: Engine = field(default_factory=Engine)

    @property
    def gaps(self) -> dict[int, str]:
        """The nodes that are as written because no rule fits them, and why."""
        return {
            node: each
            for node, each in enumerate(self.bound)
            if isinstance(each, str) and each != QUANTISED
        }

    @property
    def quantised(self) -> tuple[int, ...]:
        """The nodes that are as written because they are quantised."""
        return tuple(node for node, each in enumerate(self.bound) if each == QUANTISED)


def ways(graph: Graph, engine: Engine, wishes: Wishes) -> Ways:
    """Return all ways to run a graph.

    Raises:
        ValueError: a wish names no input or output, or its layout does not fit.
    """
    given = {name: _held(graph, name, wishes.inputs) for name in graph.inputs}
    wanted = {name: _held(graph, name, wishes.outputs) for name in graph.outputs}
    for name in (*(set(wishes.inputs) - set(given)), *(set(wishes.outputs) - set(wanted))):
        raise ValueError(f"the graph has no such input or output: `{name}`")
    search = _Search(graph, engine, wishes)
    for name, held in (*given.items(), *wanted.items()):
        search.add(name, held.placing)
    search.run()
    variants = variants_of(graph, search.bound, search.all_templates(), search.candidates, given)
    for node in search.anchors:
        if search.anchors[node] and all(each.how != "anchor" for each in variants[node]):
            search.anchors[node] = ()
            search.reasons[node] = (*search.reasons[node], "padding would be summed there")
    named = layouts_of(engine)
    own = (search.bound[number] for number in search.fixed)
    spoken = dict.fromkeys(
        each for bound in own if isinstance(bound, Bound) for each in placings_of(bound, named)
    )
    return Ways(
        variants, search.bound, given, wanted, search.anchors, search.reasons, tuple(spoken), engine
    )


def _held(graph: Graph, name: str, wishes: Mapping[str, Layout]) -> Held:
    shape = graph.values[name].shape
    layout = wishes.get(name)
    if layout is None:
        return Held(as_written(shape), None)
    found = placed(layout, shape)
    if isinstance(found, str):
        raise ValueError(f"`{name}`: {found}")
    return Held(found, lane(filled_with(layout)) if found.padded_axes else None)


def quantised(graph: Graph) -> frozenset[int]:
    """Return the nodes on codes, and those next to a node that makes codes or reads them."""
    coding = [node for node in graph.nodes if _is_on_codes(node.operator)]
    decoded = {
        name for node in coding if node.operator == "DequantizeLinear" for name in node.outputs
    }
    encoded = {
        node.inputs[0] for node in coding if node.operator in CODES - {"DequantizeLinear"}
    } - set(graph.inputs)
    return frozenset(
        node.number
        for node in graph.nodes
        if _is_on_codes(node.operator)
        or not decoded.isdisjoint(node.inputs)
        or not encoded.isdisjoint(node.outputs)
    )


def _is_on_codes(operator: str) -> bool:
    name = operator.rpartition("::")[2]
    return name in CODES | ON_CODES or "QLinear" in name


class _Search:
    """Candidates of values, and the ways of nodes that they make."""

    def __init__(self, graph: Graph, engine: Engine, wishes: Wishes) -> None:
        self.graph, self.engine, self.wishes = graph, engine, wishes
        kept = quantised(graph) if wishes.keeps_quantised else frozenset[int]()
        self.bound = tuple(
            QUANTISED if node.number in kept else rule_of(node, graph, engine.rules)
            for node in graph.nodes
        )
        self.candidates: dict[str, dict[Placing, None]] = {
            name: {as_written(value.shape): None} for name, value in graph.values.items()
        }
        self.anchors: dict[int, tuple[str, ...]] = {}
        self.reasons: dict[int, tuple[str, ...]] = {}
        self.found: list[dict[Template, None]] = [{} for _ in graph.nodes]
        self.fixed: set[int] = set()
        self.near: dict[str, set[int]] = {}
        for node in graph.nodes:
            for name in (*node.inputs, *node.outputs):
                if name and name not in graph.constants:
                    self.near.setdefault(name, set()).add(node.number)

    def add(self, name: str, placing: Placing) -> bool:
        """Make a placing a candidate, whatever others there are."""
        known = self.candidates[name]
        new = placing not in known
        known[placing] = None
        return new

    def run(self) -> None:
        """Carry candidates until nothing new comes."""
        for node in self.graph.nodes:
            self._start(node)
        left = dict.fromkeys(range(len(self.graph.nodes)))
        while left:
            pending, left = list(left), {}
            for number in pending:
                for name in self._spread(number):
                    left.update(dict.fromkeys(sorted(self.near.get(name, ()))))

    def _start(self, node: Node) -> None:
        bound = self.bound[node.number]
        if isinstance(bound, str):
            self.fixed.add(node.number)
            self._keep(node, written(node, self.graph))
            return
        asked = anchored(bound, self.engine, self.wishes.choice)
        own = kernels(bound, self.engine) if asked is None else None
        if asked is not None:
            self.anchors[node.number] = asked.layouts
            self.reasons[node.number] = asked.reasons
        required = () if asked is None else asked.templates
        for each in required or own or ():
            self._keep(node, each)
        if required or own is not None or (asked is not None and how(bound) == "window"):
            self.fixed.add(node.number)
        if not required:
            self._as_written(node, bound)

    def _as_written(self, node: Node, bound: Bound) -> None:
        """The way that is always there; a view renames what is as written, and moves nothing."""
        if bound.steps is None:
            self._keep(node, written(node, self.graph))
            return
        first = node.inputs[0]
        for each in offered(bound, lambda name: self.candidates[name] if name == first else ()):
            self._keep(node, each)

    def _keep(self, node: Node, template: Template) -> set[str]:
        """Take a way, and make what it needs candidates; the values that got new ones."""
        template = self._whole(node, template)
        self.found[node.number][template] = None
        return {name for name, each in self._named(node, template) if self.add(name, each)}

    def _named(self, node: Node, template: Template) -> Iterator[tuple[str, Placing]]:
        names = (*node.inputs, *node.outputs)
        for name, placing in zip(names, template.placings, strict=True):
            if name and placing is not None and name not in self.graph.constants:
                yield name, placing

    def _whole(self, node: Node, template: Template) -> Template:
        """A way with what its rule says nothing of: as written, and constants as they are."""
        takes = list(template.takes) + [None] * (len(node.inputs) - len(template.takes))
        for number, name in enumerate(node.inputs):
            if takes[number] is None and name and name not in self.graph.constants:
                takes[number] = as_written(self.graph.values[name].shape)
        makes = (*template.makes, *(None for _ in node.outputs[len(template.makes) :]))
        return Template(tuple(takes), makes, template.how)

    def _spread(self, number: int) -> set[str]:
        node, bound = self.graph.nodes[number], self.bound[number]
        if number in self.fixed or isinstance(bound, str):
            return set()
        grown: set[str] = set()
        for each in list(offered(bound, lambda name: tuple(self.candidates[name]))):
            whole = self._whole(node, each)
            if whole not in self.found[number] and self._may(node, whole):
                grown |= self._keep(node, whole)
        return grown

    def _may(self, node: Node, template: Template) -> bool:
        if self.wishes.operators == "standard" and template.how == "window":
            return False
        for name, placing in self._named(node, template):
            known = self.candidates[name]
            if placing not in known and len(known) >= MOST:
                return False
        return True

    def all_templates(self) -> tuple[tuple[Template, ...], ...]:
        """Return the ways of each node."""
        return tuple(tuple(each) for each in self.found)
