"""A node read by a rule: which axis of the rule each axis of its operands and results is.

Axes of the same label are one axis, in every operand and result. Attributes, and operands that are
constant, name axes by their numbers; what they do with them is a role, as if the rule named them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from layoutdsl.graphs.graph import Graph, Node
from layoutdsl.graphs.roles.attributes import boundaries_of, grow, roles_of, settings_of
from layoutdsl.graphs.roles.bound import (
    CHANGING,
    SUMMED,
    Bound,
    Bundle,
    Known,
    UnfitError,
    condition_values,
    integers,
)
from layoutdsl.graphs.roles.views import steps_of
from layoutdsl.language.meaning.operator import OperandPattern, OperatorRule, Role


def bind(node: Node, graph: Graph, rule: OperatorRule) -> Bound | str:
    """Return the node as the rule has it, or the reason why it does not fit."""
    try:
        return _bound(node, graph, rule)
    except UnfitError as reason:
        return str(reason)


def rule_of(node: Node, graph: Graph, rules: Iterable[OperatorRule]) -> Bound | str:
    """Return the node by the first rule that it fits, or why there is none."""
    reason = f"no rule says what {node.operator} does with axes"
    if node.opaque:
        return f"an attribute of {node.operator} is not read"
    for rule in rules:
        if node.operator in rule.operators:
            found = bind(node, graph, rule)
            if isinstance(found, Bound):
                return found
            reason = found
    return reason


def _bound(node: Node, graph: Graph, rule: OperatorRule) -> Bound:
    inputs = _paired(node.inputs, rule.operands, "operands")
    outputs = _paired(node.outputs, rule.results, "results")
    ends = [graph.values[name] for name in (*node.inputs, *node.outputs) if name]
    if any(each.dtype is None for each in ends):
        raise UnfitError("the shape of a value is not known beforehand, or it is no numbers")
    if any(0 in each.shape for each in ends):
        raise UnfitError("a tensor of it has no elements")
    settings = settings_of(node, graph, rule)
    operands = tuple(_bundle(graph, *each) for each in inputs)
    first = next((each for each in operands if each is not None), None)
    if first is None:
        raise UnfitError("it has no operand with axes")
    roles = roles_of(rule, settings, first)
    results = tuple(_result(graph, *each, first, roles, settings) for each in outputs)
    constants = frozenset(each for each in node.inputs if each in graph.constants)
    bound = Bound(node, rule, operands, results, roles, {}, {}, settings, constants)
    if "renamed" in rule.attributes.values():
        return _view(bound, first)
    grow(bound, roles)
    bound = replace(bound, extents=_extents(bound))
    _ask_where(bound)
    return replace(bound, boundaries=dict(boundaries_of(bound)))


def _paired(
    names: Sequence[str], patterns: Sequence[OperandPattern], what: str
) -> list[tuple[str, OperandPattern]]:
    rest = patterns[-1] if patterns and patterns[-1].many else None
    found: list[tuple[str, OperandPattern]] = []
    for number, name in enumerate(names):
        pattern = patterns[number] if number < len(patterns) else rest
        if pattern is None:
            if name:
                raise UnfitError(f"it has more {what} than the rule")
            continue
        if not name and what == "operands" and not pattern.optional:
            raise UnfitError(f"its operand `{pattern.name}` is missing")
        found.append((name, pattern))
    left = [each for each in patterns[len(names) :] if not (each.optional or each.many)]
    if left and what == "operands":
        raise UnfitError(f"its operand `{left[0].name}` is missing")
    return found


def _bundle(graph: Graph, name: str, pattern: OperandPattern) -> Bundle | None:
    if not name or pattern.axes is None:
        return None
    shape = graph.values[name].shape
    return Bundle(name, _labels(pattern, shape), shape)


def _labels(pattern: OperandPattern, shape: tuple[int, ...]) -> tuple[str, ...]:
    axes = pattern.axes or ()
    own = [axis for axis in axes if not axis.many]
    more = len(shape) - len(own)
    if more < 0 or (more and len(own) == len(axes)):
        raise UnfitError(f"`{pattern.name}` has {len(shape)} axes" if pattern.name else "its rank")
    labels: list[str] = []
    for axis in axes:
        if axis.many:
            labels += [f"{axis.name}..{more - number}" for number in range(more)]
        else:
            labels.append(axis.name)
    if len(set(labels)) < len(labels):
        raise UnfitError(f"`{pattern.name}` has one axis of the rule twice")
    return tuple(labels)


def _result(
    graph: Graph,
    name: str,
    pattern: OperandPattern,
    first: Bundle,
    roles: Mapping[str, Role],
    settings: Mapping[str, Known],
) -> Bundle | None:
    if not name:
        return None
    shape = graph.values[name].shape
    if "keepdims" in settings and integers(settings["keepdims"]) == (0,):
        gone = SUMMED | {"whole"}  # the place of the largest is one number of all its axis
        left = tuple(each for each in first.labels if roles.get(each) not in gone)
        if len(left) == len(shape):
            return Bundle(name, left, shape)
    picked = [number for number, each in enumerate(first.labels) if roles.get(each) == "gathered"]
    if picked:
        start, end = picked[0], picked[-1] + 1
        inner = (
            f"{first.labels[start]}@{k}" for k in range(len(shape) - len(first.shape) + end - start)
        )
        labels = (*first.labels[:start], *inner, *first.labels[end:])
        if len(labels) != len(shape):
            raise UnfitError("its result has another rank")
        return Bundle(name, labels, shape)
    return Bundle(name, _labels(pattern, shape), shape)


def _view(bound: Bound, first: Bundle) -> Bound:
    result = bound.results[0] if bound.results else None
    if result is None or len(bound.results) != 1:
        raise UnfitError("a view has one result")
    steps = steps_of(bound.node.operator, bound.settings, first.shape, result.shape)
    if isinstance(steps, str):
        raise UnfitError(steps)
    return replace(bound, steps=steps, roles={}, extents={})


def _extents(bound: Bound) -> dict[str, int]:
    """The extent of each label; one that is another somewhere has to be changed by its role."""
    found: dict[str, int] = {}
    for each in (*bound.operands, *bound.results):
        for label, extent in zip(each.labels, each.shape, strict=True) if each else ():
            known = found.get(label, 1)
            role = bound.roles.get(label)
            if 1 not in (known, extent) and known != extent and role not in CHANGING | SUMMED:
                raise UnfitError(f"axes of {known} and {extent} elements are one axis of the rule")
            found[label] = max(known, extent)
    for result in bound.results:
        for label, extent in zip(result.labels, result.shape, strict=True) if result else ():
            if extent != found[label] and bound.roles.get(label) not in CHANGING | SUMMED:
                raise UnfitError("its result is smaller than its operands")
    return found


def _ask_where(bound: Bound) -> None:
    values = condition_values(bound)
    for each in bound.rule.where:
        try:
            holds = each.holds(values)
        except KeyError:
            holds = False
        if not holds:
            raise UnfitError(f"the rule is for nodes where {each}")
