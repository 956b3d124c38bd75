"""A graph drawn: nodes in layers, coloured by layout, transforms between them. SVG, no script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from math import prod

from layoutdsl.graphs.graph import Graph
from layoutdsl.graphs.plan import Conversion, Plan
from layoutdsl.graphs.telling.counting import called, node_called
from layoutdsl.graphs.telling.report import size
from layoutdsl.graphs.variants import Held
from layoutdsl.language.meaning.model import Layout

ACROSS, DOWN, BOX = 210, 66, (160, 24)
"""Between columns, between layers, and the size of a node, in pixels."""

LABEL = 60
"""Pixels at the right for the label of an edge, which starts in the middle of its box."""

TURN = 137
"""Degrees between the colours of layouts that are met one after another: no two are near."""

WRITTEN = "light-dark(#e6e6e6, #3b414a)"


@dataclass(frozen=True, slots=True)
class Drawing:
    """A graph as SVG, and what its colours mean."""

    svg: str
    colours: Mapping[str, str]


def drawn(
    graph: Graph,
    plan: Plan,
    given: Mapping[str, Held],
    wanted: Mapping[str, Held],
    layouts: tuple[Layout, ...],
) -> Drawing:
    """Return the picture of a plan.

    Args:
        graph: that was planned.
        plan: of it.
        given: how inputs lie.
        wanted: how outputs lie.
        layouts: that give placings their names.
    """
    return _Picture(graph, plan, given, wanted, layouts).drawing()


class _Picture:
    """Boxes, the lines between them and the colours that were given away."""

    def __init__(
        self,
        graph: Graph,
        plan: Plan,
        given: Mapping[str, Held],
        wanted: Mapping[str, Held],
        layouts: tuple[Layout, ...],
    ) -> None:
        self.graph, self.plan, self.given, self.wanted = graph, plan, given, wanted
        self.layouts = layouts
        self.moves = {(move.value, move.target): move for move in plan.conversions}
        self.makers = {name: node.number for node in graph.nodes for name in node.outputs if name}
        self.layers = self._layers()
        self.places = self._places()
        self.colours: dict[str, str] = {}
        self.labels: dict[str, list[str]] = {}

    def drawing(self) -> Drawing:
        body = [*self._lines(), *self._boxes()]
        wide = max((x for x, _ in self.places.values()), default=0) + ACROSS + LABEL
        high = max((y for _, y in self.places.values()), default=0) + DOWN * 2
        head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}">'
        return Drawing("\n".join([head, *body, "</svg>"]), self.colours)

    def _layers(self) -> dict[str, int]:
        """How deep each input, node and output lies: ``in:x``, ``3``, ``out:y``."""
        found = {f"in:{name}": 0 for name in self.graph.inputs}
        for node in self.graph.nodes:
            sources = [self._source(name) for name in node.inputs]
            above = [found[each] for each in sources if each in found]
            found[str(node.number)] = 1 + max(above, default=0)
        last = 1 + max(found.values(), default=0)
        return found | {f"out:{name}": last for name in self.graph.outputs}

    def _source(self, value: str) -> str:
        return str(self.makers[value]) if value in self.makers else f"in:{value}"

    def _places(self) -> dict[str, tuple[int, int]]:
        used: dict[int, int] = {}
        found: dict[str, tuple[int, int]] = {}
        for name, layer in self.layers.items():
            column = used.get(layer, 0)
            used[layer] = column + 1
            found[name] = (20 + column * ACROSS, 20 + layer * DOWN)
        return found

    def _boxes(self) -> Iterator[str]:
        for name, held in self.given.items():
            yield self._box(f"in:{name}", name, f"input {name}", held)
        for node, variant in zip(self.graph.nodes, self.plan.variants, strict=True):
            words = f"{node_called(node)}, run as {variant.how}"
            yield self._box(str(node.number), node.operator, words, variant.makes[0])
        for name in self.graph.outputs:
            yield self._box(f"out:{name}", name, f"output {name}", self.wanted.get(name))

    def _box(self, where: str, label: str, words: str, held: Held | None) -> str:
        x, y = self.places[where]
        name = "as written" if held is None else called(held, self.layouts)
        colour = self._colour(name)
        title = escape(f"{words}; {name}")
        short = label if len(label) < 24 else f"{label[:22]}…"
        return (
            f"<g><title>{title}</title>"
            f'<rect x="{x}" y="{y}" width="{BOX[0]}" height="{BOX[1]}" rx="4" '
            f'style="fill:{colour}"/>'
            f'<text x="{x + 6}" y="{y + 16}">{escape(short)}</text></g>'
        )

    def _colour(self, name: str) -> str:
        if name not in self.colours:
            known = len([each for each in self.colours if each != "as written"])
            hue = (200 + known * TURN) % 360
            light, dark = 80 - known % 3 * 6, 24 + known % 3 * 3
            turned = f"light-dark(hsl({hue} 60% {light}%), hsl({hue} 45% {dark}%))"
            new = WRITTEN if name == "as written" else turned
            self.colours[name] = new
        return self.colours[name]

    def _lines(self) -> Iterator[str]:
        for node, variant in zip(self.graph.nodes, self.plan.variants, strict=True):
            for value, held in dict.fromkeys(zip(node.inputs, variant.takes, strict=True)):
                if value and value not in self.graph.constants:
                    yield self._line(value, str(node.number), held)
        for value in self.graph.outputs:
            if value not in self.graph.constants:
                yield self._line(value, f"out:{value}", self.wanted.get(value))

    def _line(self, value: str, target: str, held: Held | None) -> str:
        (x1, y1), (x2, y2) = self.places[self._source(value)], self.places[target]
        x1, y1, x2 = x1 + BOX[0] // 2, y1 + BOX[1], x2 + BOX[0] // 2
        move = None if held is None else self.moves.get((value, held))
        style = 'class="moved"' if move else 'class="line"'
        title = escape(self._moved(move) if move else value)
        bend = f"M{x1},{y1} C{x1},{y1 + 24} {x2},{y2 - 24} {x2},{y2}"
        path = f'<path {style} d="{bend}"><title>{title}</title></path>'
        return path + self._labelled(target, self._label(value, move), x2, y2)

    def _labelled(self, target: str, label: str, x: int, y: int) -> str:
        # Labels stand at the ends of edges, where edges of one value have parted; those of one box
        # stand above each other, and the gap between two layers takes three.
        known = self.labels.setdefault(target, [])
        if not label or label in known or len(known) == 3:
            return ""
        known.append(label)
        place = f'x="{x + 6}" y="{y + 5 - 12 * len(known)}"'
        return f'<text class="edge" {place}>{escape(label)}</text>'

    def _label(self, value: str, move: Conversion | None) -> str:
        """The shape of a value, and its bytes; of a transform the bytes that it moves."""
        known = self.graph.values.get(value)
        if known is None or known.dtype is None:
            return ""
        shape = "\u00d7".join(map(str, known.shape)) or "scalar"
        own = size(prod(known.shape) * known.dtype.itemsize)
        return f"{shape}, {size(move.moved)} moved" if move else f"{shape}, {own}"

    def _moved(self, move: Conversion) -> str:
        source, target = called(move.source, self.layouts), called(move.target, self.layouts)
        return f"{move.value}: {source} -> {target}, {size(move.moved)}"
