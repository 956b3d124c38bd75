"""What attributes say of a node's axes, and operands that are constant: roles, and boundaries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import Any

import numpy as np

from layoutdsl.graphs.graph import Graph, Node
from layoutdsl.graphs.roles.bound import SUMMED, Bound, Bundle, Known, UnfitError, integers
from layoutdsl.language.meaning.operator import OperatorRule, Role


def settings_of(node: Node, graph: Graph, rule: OperatorRule) -> dict[str, Known]:
    """Return what a rule calls by name: defaults, attributes, and operands that are constant.

    An `axis` below 0 is counted from the front, by the rank of the first operand.
    """
    found: dict[str, Known] = {**rule.defaults, **node.attributes}
    axis, shape = found.get("axis"), graph.values[node.inputs[0]].shape if node.inputs[0] else ()
    if isinstance(axis, int) and -len(shape) <= axis < 0:
        found["axis"] = axis + len(shape)  # conditions of rules count axes from the front
    for pattern, name in zip(rule.operands, node.inputs, strict=False):
        if pattern.axes is None and name:
            known = graph.constants.get(name)
            asked = rule.attributes.get(pattern.name) not in (None, "renamed")
            if known is None and (asked or pattern.name in ("starts", "ends", "steps")):
                raise UnfitError(f"its operand `{pattern.name}` depends on data")
            found[pattern.name] = known
    if rule.attributes.get("batch_dims") == "gathered":
        found["batch_dims"] = _picked(node, graph, integers(found["batch_dims"]))
    return found


def _picked(node: Node, graph: Graph, batch: tuple[int, ...]) -> tuple[int, ...]:
    """The axes that indices pick from: those of the batch, and one for each number of an index."""
    shape = graph.values[node.inputs[1]].shape
    if not shape:
        raise UnfitError("its indices have no axes")
    return tuple(range(sum(batch) + shape[-1]))


def roles_of(rule: OperatorRule, settings: Mapping[str, Known], first: Bundle) -> dict[str, Role]:
    """Return the roles of labels: those that patterns name, and those that attributes do."""
    found: dict[str, Role] = {}
    patterns = [each for each in (*rule.operands, *rule.results) if each.axes]
    named = {axis.name: axis.role for each in patterns for axis in each.axes or ()}
    for each in patterns:
        named |= {axis.name: axis.role for axis in each.axes or () if axis.role != "through"}
    rank = len(first.shape)
    for label in first.labels:
        role = named.get(label.split("..")[0], "through")
        if role != "through":
            found[label] = role
    found |= {name: role for name, role in named.items() if role != "through" and name}
    for name, role in rule.attributes.items():
        if role in ("keep", "renamed", "grown", "scaled"):
            continue
        for axis in _axes(name, role, settings, rank):
            found[first.labels[axis]] = role
    return found


def _axes(name: str, role: Role, settings: Mapping[str, Known], rank: int) -> Iterator[int]:
    """The axes that an attribute names, from 0 on."""
    known = settings.get(name)
    numbers = integers(known)
    if known is None or (not numbers and role in SUMMED):
        if "starts" in settings:
            numbers = tuple(range(len(integers(settings["starts"]))))
        elif role not in SUMMED:
            raise UnfitError(f"it does not say its `{name}`")
        elif integers(settings.get("noop_with_empty_axes")) != (1,):
            numbers = tuple(range(rank))
    if any(not -rank <= each < rank for each in numbers):
        raise UnfitError(f"`{name}` names no axis of it")
    numbers = tuple(each % rank for each in numbers)
    yield from range(numbers[0], rank) if role == "tail" else numbers


def grow(bound: Bound, roles: dict[str, Role]) -> None:
    """Axes that pads, scales or sizes change: those that are another extent afterwards, or move."""
    for name, role in bound.rule.attributes.items():
        first, result = bound.operands[0], bound.results[0]
        if role not in ("grown", "scaled") or first is None or result is None:
            continue
        if len(first.shape) != len(result.shape):
            raise UnfitError("its result has another rank")
        moved = _moved(bound, name, role, len(first.shape))
        for number, label in enumerate(first.labels):
            if moved[number] or first.shape[number] != result.shape[number]:
                roles[label] = role


def _moved(bound: Bound, name: str, role: Role, rank: int) -> list[bool]:
    known = bound.settings.get(name)
    numbers: Any = [] if known is None or isinstance(known, str) else np.asarray(known).reshape(-1)
    named = integers(bound.settings.get("axes")) or tuple(range(rank))
    found = [False] * rank
    for place, axis in enumerate(named):
        if role == "grown":
            pads = [float(each) for each in numbers[place :: len(named)]]
            found[axis % rank] = any(pads) or not pads
        elif name == "scales" and len(numbers):
            found[axis % rank] = float(numbers[place]) != 1.0
    return found


def boundaries_of(bound: Bound) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield each axis that is joined or cut, and where its pieces end but for the last."""
    for label in bound.of_role("joined", "cut"):
        if "starts" in bound.settings:
            yield label, _slice(bound, label)
            continue
        many = bound.operands if bound.roles[label] == "joined" else bound.results
        pieces = [each for each in many if each is not None and label in each.labels]
        extents = [each.shape[each.labels.index(label)] for each in pieces]
        yield label, tuple(accumulate(extents))[:-1]


def _slice(bound: Bound, label: str) -> tuple[int, ...]:
    """Where a slice starts and ends; one that skips elements, or goes back, keeps no block."""
    first = bound.operands[0]
    assert first is not None
    if label not in first.labels:
        raise UnfitError("the rule cuts an axis that is none of its first operand")
    axis, rank = first.labels.index(label), len(first.shape)
    extent = first.shape[axis]
    starts = integers(bound.settings["starts"])
    named = integers(bound.settings.get("axes")) or tuple(range(len(starts)))
    numbers = [each % rank for each in named]
    if axis not in numbers:
        raise UnfitError("the rule cuts an axis that `axes` does not name")
    place = numbers.index(axis)
    steps = integers(bound.settings.get("steps")) or (1,) * len(named)
    start, end, step = slice(
        starts[place], integers(bound.settings["ends"])[place], steps[place]
    ).indices(extent)
    if step != 1:
        return (1,)
    return (start,) if end == extent else (start, end)
