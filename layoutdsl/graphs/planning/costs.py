"""What a choice of variants moves, and what that costs, in integers.

A node needs its operands held in some ways and makes its results in some; where the two differ, a
value is moved once for all who need it so. Constants are laid beforehand and cost nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import TypeAlias

from layoutdsl.graphs.graph import Graph, Value
from layoutdsl.graphs.plan import Conversion
from layoutdsl.graphs.variants import Held, Variant, Variants

PER_BYTE = 1000
"""What a plan pays for each byte that is read or written."""

PER_MOVE = 500
"""What it pays for each move: less than a byte, so the number of moves decides between equals."""


def moved_bytes(value: Value, target: Held) -> int:
    """Return the bytes of the elements that are read, and of the slots that are written."""
    return (prod(value.shape) + target.placing.slots) * width(value)


def refilled_bytes(value: Value, target: Held) -> int:
    """Return the bytes of the padding."""
    return (target.placing.slots - prod(value.shape)) * width(value)


def width(value: Value) -> int:
    """Return the bytes of an element."""
    return 0 if value.dtype is None else value.dtype.itemsize


def price(moved: int) -> int:
    """Return what a plan pays for one move of so many bytes."""
    return PER_BYTE * moved + PER_MOVE


Needs: TypeAlias = tuple[dict[tuple[str, Held], tuple[int, ...]], ...]
"""Of each reader: what may be needed, and the variants that need it."""


def needs_of(graph: Graph, variants: Variants, wanted: Mapping[str, Held]) -> Needs:
    """Return what each node may need, and behind them what the caller wants; no constants."""
    found: list[dict[tuple[str, Held], tuple[int, ...]]] = []
    for node, ways in zip(graph.nodes, variants, strict=True):
        needs: dict[tuple[str, Held], list[int]] = defaultdict(list)
        for number, way in enumerate(ways):
            both = zip(node.inputs, way.takes, strict=True)
            for value, held in dict.fromkeys(both):
                if value and held is not None and value not in graph.constants:
                    needs[value, held].append(number)
        found.append({each: tuple(numbers) for each, numbers in needs.items()})
    taken = [each for each in wanted.items() if each[0] not in graph.constants]
    found.append(dict.fromkeys(taken, (0,)))
    return tuple(found)


def makers_of(graph: Graph, variants: Variants) -> dict[str, dict[Held, tuple[int, ...]]]:
    """Return of each result how it may be made, and by which variants of its node."""
    found: dict[str, dict[Held, tuple[int, ...]]] = {}
    for node, ways in zip(graph.nodes, variants, strict=True):
        for place, value in enumerate(node.outputs):
            made: dict[Held, list[int]] = defaultdict(list)
            for number, way in enumerate(ways):
                held = way.makes[place]
                if held is not None:
                    made[held].append(number)
            if value:
                found[value] = {held: tuple(numbers) for held, numbers in made.items()}
    return found


def may_refill(source: Held, target: Held) -> bool:
    """Return whether only padding tells two ways to hold a value apart."""
    return source.placing == target.placing and None not in (source.lane, target.lane)


def costed(
    graph: Graph,
    variants: Variants,
    given: Mapping[str, Held],
    wanted: Mapping[str, Held],
    chosen: Sequence[int],
) -> tuple[tuple[Variant, ...], int, tuple[Conversion, ...]]:
    """Return the variants that were chosen, what they cost and what they move.

    Args:
        graph: of nodes and values.
        variants: of each node.
        given: how inputs lie.
        wanted: how outputs lie.
        chosen: the number of the variant of each node.
    """
    ways = tuple(variants[node][number] for node, number in enumerate(chosen))
    held = dict(given)
    for node, way in zip(graph.nodes, ways, strict=True):
        held |= {
            name: made for name, made in zip(node.outputs, way.makes, strict=True) if name and made
        }
    needs = needs_of(graph, tuple((way,) for way in ways), wanted)
    asked = dict.fromkeys(each for reader in needs for each in reader)
    moves = tuple(_moves(graph, held, asked))
    return ways, sum(move.cost for move in moves), moves


def _moves(
    graph: Graph, held: Mapping[str, Held], asked: Mapping[tuple[str, Held], object]
) -> Iterator[Conversion]:
    for value, target in asked:
        source = held[value]
        if source == target:
            continue
        tensor = graph.values[value]
        refill = may_refill(source, target)
        moved = refilled_bytes(tensor, target) if refill else moved_bytes(tensor, target)
        yield Conversion(value, source, target, moved, price(moved))
