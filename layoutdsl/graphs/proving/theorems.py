"""Whether what a plan does at each node is right: proved for all shapes, or for those of the graph.

The claims are those of `claims.py`. One that says the same in the same words needs no proof; all
others are asked of the prover, once for all nodes that have them. One that is not proved for all
shapes is tried at every index of the shape that the graph has.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Literal, TypeAlias

import numpy as np

from layoutdsl.graphs.graph import Graph
from layoutdsl.graphs.placings.placing import Placing
from layoutdsl.graphs.plan import Plan
from layoutdsl.graphs.proving.claims import pairs, placed_pairs
from layoutdsl.graphs.proving.pair import Pair
from layoutdsl.graphs.roles.roles import Template
from layoutdsl.graphs.variants import Variant
from layoutdsl.graphs.ways.ways import Ways
from layoutdsl.language.integers.expr import MixedRadix, coordinate_text
from layoutdsl.language.integers.grids import indices, over, plain
from layoutdsl.language.meaning.claims import Claim, EqualsLayout, Sound
from layoutdsl.language.meaning.model import Layout
from layoutdsl.proof.prover.check import attempt, check
from layoutdsl.proof.prover.verdict import Proved

Status: TypeAlias = Literal["everywhere", "here", "undecided", "refuted"]

_WORST: tuple[Status, ...] = ("everywhere", "here", "undecided", "refuted")
MOST = 1 << 26
"""Indices of a shape that are tried."""


@dataclass(frozen=True, slots=True)
class Theorems:
    """What was found of the rules that a plan uses.

    Attributes:
        used: rules with the placings that they are used for, each once for what it has to show.
        everywhere: of these, how many are proved for all extents.
        here: how many hold at every index of the shapes that the graph has.
        undecided: sentences about those of which neither is known.
        refuted: sentences about those that are wrong.
    """

    used: int
    everywhere: int
    here: int
    undecided: tuple[str, ...]
    refuted: tuple[str, ...]


def proved_rules(graph: Graph, ways: Ways, plan: Plan) -> Theorems:
    """Return what was found of every rule that a plan uses, and of the layouts it requires."""
    found: dict[tuple[str, frozenset[Pair]], tuple[Status, str]] = {}
    wrong: dict[str, None] = {}
    for variant in plan.variants:
        node, bound = graph.nodes[variant.node], ways.bound[variant.node]
        if isinstance(bound, str) or variant.how in ("anchor", "written"):
            continue
        own = pairs(bound, template_of(variant))
        if isinstance(own, str):
            wrong[f"{node.operator} `{node.name or node.number}`: {own}"] = None
            continue
        status, text = _worst(own)
        key = (bound.rule.place, frozenset(own))
        if _WORST.index(status) >= _WORST.index(found.get(key, ("everywhere", ""))[0]):
            found[key] = status, f"{node.operator} `{node.name or node.number}`: {text}"
    for layout, placing in used_layouts(ways, plan):
        own = placed_pairs(layout, placing)
        status, text = _worst(own)
        found[layout.name, frozenset(own)] = status, f"layout `{layout.name}`: {text}"
        found[layout.name, frozenset()] = sound(layout), f"layout `{layout.name}` is not proved"
    count = [status for status, _ in found.values()]
    refuted = (*wrong, *(text for status, text in found.values() if status == "refuted"))
    return Theorems(
        len(found) + len(wrong),
        count.count("everywhere"),
        count.count("here"),
        tuple(text for status, text in found.values() if status == "undecided"),
        refuted,
    )


def template_of(variant: Variant) -> Template:
    """Return a way without what its padding holds."""
    takes = tuple(None if each is None else each.placing for each in variant.takes)
    makes = tuple(None if each is None else each.placing for each in variant.makes)
    return Template(takes, makes, variant.how)


def used_layouts(ways: Ways, plan: Plan) -> Iterator[tuple[Layout, Placing]]:
    """Yield the named layouts that a plan requires, with their placings."""
    used = {
        held.placing
        for variant in plan.variants
        if not isinstance(ways.bound[variant.node], str)
        for held in (*variant.takes, *variant.makes)
        if held is not None
    }
    for layout, placing in ways.layouts:
        if placing in used:
            yield layout, placing


def _worst(own: tuple[Pair, ...]) -> tuple[Status, str]:
    """The least that is known of several claims, and the claim."""
    found: tuple[Status, str] = "everywhere", ""
    for pair in own:
        status = decided(pair)
        if _WORST.index(status) > _WORST.index(found[0]):
            found = status, f"{_written(pair.lies)} == {_written(pair.read)}"
    return found


def _written(layout: Layout) -> str:
    return f"[{', '.join(map(coordinate_text, layout.coordinates))}]"


def decided(pair: Pair) -> Status:
    """Return what is known of two layouts: equal for all shapes, for those of the node, or not."""
    if pair.is_reflexive or _is_proved(pair) or _is_proved(pair.summed):
        return "everywhere"
    return _tried(pair, pair.values)


@lru_cache(maxsize=4096)
def _is_proved(pair: Pair) -> bool:
    text = f"prove {pair.lies.name} == {pair.read.name}"
    claim = Claim("prove", pair.lies, EqualsLayout(pair.read), (), text)
    return isinstance(attempt(claim), Proved)


@lru_cache(maxsize=4096)
def _tried(pair: Pair, values: tuple[tuple[str, int], ...]) -> Status:
    """Every index of the shape that the node has, in integers."""
    given = {name: number for name, number in values if name in pair.lies.symbols}
    shape = pair.lies.shape_of(given)
    if prod(shape) > MOST:
        return "undecided"
    known = {name: plain(number) for name, number in given.items()}
    for place, (axis, extent) in enumerate(zip(pair.lies.axes, shape, strict=True)):
        known[axis.name] = indices(extent, place, len(shape))
    one, other = (
        over(MixedRadix(each.coordinates), known).number for each in (pair.lies, pair.read)
    )
    sizes = {pair.lies.size(given), pair.read.size(given)}
    return "here" if len(sizes) == 1 and bool(np.all(one == other)) else "refuted"


@lru_cache(maxsize=256)
def sound(layout: Layout) -> Status:
    """Return whether a layout is proved to give each element a slot of its own, for all shapes."""
    text = f"prove {layout.name}"
    match check(Claim("prove", layout, Sound(), (), text)).status:
        case "proved":
            return "everywhere"
        case "refuted":
            return "refuted"
        case _:
            return "undecided"
