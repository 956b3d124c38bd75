"""The ways in which a node can be run that has a rule, from how its neighbours may lie."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from layoutdsl.graphs.graph import Graph, Node
from layoutdsl.graphs.placings.placing import Placing, as_written
from layoutdsl.graphs.roles.bound import Bound, Bundle
from layoutdsl.graphs.roles.products import columns, from_product, whole_columns
from layoutdsl.graphs.roles.roles import (
    Joint,
    Template,
    as_channels,
    factors,
    from_joint,
    from_view,
    how,
    lifted,
)

Candidates: TypeAlias = Callable[[str], Iterable[Placing]]
"""How a value may lie; of a constant only as it was written is asked, as it can lie anyhow."""


def offered(bound: Bound, candidates: Candidates) -> Iterator[Template]:
    """Yield the ways of a node that its rule allows, from candidates of its operands and results.

    What another tensor of the node has to be for that need not be a candidate yet.
    """
    name = how(bound)
    if name == "view":
        yield from _views(bound, candidates)
        return
    if name == "product":
        yield from _products(bound, candidates)
        return
    plain = as_channels(bound) if name == "window" else bound
    for joint in _joints(plain, candidates):
        found = from_joint(plain, joint, name)
        if found is not None:
            yield found


def _views(bound: Bound, candidates: Candidates) -> Iterator[Template]:
    for number, each in enumerate((bound.operands[0], bound.results[0])):
        assert each is not None
        for placing in candidates(each.value):
            found = from_view(bound, number, placing)
            if found is not None:
                yield found


def _joints(bound: Bound, candidates: Candidates) -> dict[Joint, None]:
    found: dict[Joint, None] = {}
    for each in (*bound.operands, *bound.results):
        if each is None or each.value in bound.constants:
            continue
        for placing in candidates(each.value):
            joint = lifted(bound, each, placing)
            if joint is not None:
                found[joint] = None
    return found


def _products(bound: Bound, candidates: Candidates) -> Iterator[Template]:
    one, result = bound.operands[factors(bound)[0]], bound.results[0]
    if one is None or result is None:
        return
    ends = list(_columns(bound, result, candidates))
    for placing in candidates(one.value):
        rows = lifted(bound, one, placing)
        if rows is None:
            continue
        summed = [mark for mark in rows if bound.roles.get(mark.label) == "sum"]
        left = rows[: len(rows) - len(summed)]
        for made in dict.fromkeys([whole_columns(bound), *(n for m, n in ends if m == left)]):
            found = from_product(bound, rows, made)
            if found is not None:
                yield found
    for before, made in ends:
        found = from_product(bound, (*before, *_whole_sum(bound, one)), made)
        if found is not None:
            yield found


def _columns(bound: Bound, result: Bundle, candidates: Candidates) -> Iterator[tuple[Joint, Joint]]:
    for placing in candidates(result.value):
        joint = lifted(bound, result, placing)
        if joint is not None:
            yield from columns(bound, joint)


def _whole_sum(bound: Bound, one: Bundle) -> Joint:
    """What is summed, as written: its axes in order."""
    joint = lifted(bound, one, as_written(one.shape)) or ()
    return tuple(mark for mark in joint if bound.roles.get(mark.label) == "sum")


def written(node: Node, graph: Graph) -> Template:
    """Return the way in which all lies as the graph has it, which is always there."""
    takes = tuple(
        None if not name or name in graph.constants else as_written(graph.values[name].shape)
        for name in node.inputs
    )
    makes = tuple(as_written(graph.values[name].shape) if name else None for name in node.outputs)
    return Template(takes, makes, "written")
