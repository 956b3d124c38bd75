"""What the padding of a node's results holds, from what that of its operands does.

All of it is said of data that are finite: 0 times a NaN is none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from layoutdsl.graphs.graph import Graph
from layoutdsl.graphs.placings.placing import Placing
from layoutdsl.graphs.roles.bound import SUMMED, Bound
from layoutdsl.graphs.roles.roles import Template, factors
from layoutdsl.graphs.variants import Lane
from layoutdsl.graphs.ways.elementwise import evaluated
from layoutdsl.graphs.ways.lanes import UNKNOWN, ZERO, ZERO_POINTS, lane, uniform

_KEPT = ("MaxPool", "GlobalMaxPool", "ReduceMax", "ReduceMin", "ReduceMean", "GlobalAveragePool")
"""What makes of equal numbers that number, however many they are."""
_SUMS = ("ReduceSum", "ReduceL1", "ReduceL2", "ReduceSumSquare")
"""What makes 0 of zeros, as whatever has windows does."""
_SIGNED = ("Div", "Reciprocal", "Pow")
"""What makes an infinity of 0, whose sign is that of the 0, which no lane tells."""


def results(
    bound: Bound, template: Template, held: Sequence[Lane | None], graph: Graph
) -> tuple[Lane | None, ...]:
    """Return what the padding of each result holds; `None` for one without.

    Args:
        bound: the node.
        template: how it is run.
        held: what the padding of each operand holds.
        graph: of the node.
    """
    return tuple(
        None
        if placing is None or not placing.padded_axes
        else _result(bound, template, placing, held, graph)
        if number == 0 or bound.roles
        else UNKNOWN
        for number, placing in enumerate(template.makes)
    )


def _result(
    bound: Bound,
    template: Template,
    placing: Placing,
    held: Sequence[Lane | None],
    graph: Graph,
) -> Lane:
    operator, roles = bound.node.operator, set(bound.roles.values())
    known = {each for each in held if each is not None}
    same = next(iter(known)) if len(known) == 1 else UNKNOWN
    if bound.steps is not None:
        return same
    if "sum" in roles and len(factors(bound)) > 1:
        return _of_sum(bound, template, placing, held, graph)
    if roles & SUMMED or "window" in roles:
        zeros = same == ZERO and (operator in _SUMS or "window" in roles)
        return same if operator in _KEPT or zeros else UNKNOWN
    if "grown" in roles:
        mode = bound.settings.get("mode", "constant")
        value = 0 if "value" not in bound.settings else _setting(bound, "value")
        return same if mode != "constant" or lane(value) == same else UNKNOWN
    if "scaled" in roles:
        nearest = bound.settings.get("mode", "nearest") == "nearest"
        cropped = bound.settings.get("coordinate_transformation_mode") == "tf_crop_and_resize"
        return same if (nearest or same == ZERO) and not cropped else UNKNOWN
    if roles & {"joined", "cut", "gathered"}:
        return same
    if roles:
        return UNKNOWN
    return _evaluated(bound, template, placing, held, graph)


def _setting(bound: Bound, name: str) -> Any:
    known = bound.settings[name]
    return known.reshape(-1)[0] if isinstance(known, np.ndarray) else known


def _of_sum(
    bound: Bound,
    template: Template,
    placing: Placing,
    held: Sequence[Lane | None],
    graph: Graph,
) -> Lane:
    """Padded columns are sums of zeros; padded rows are, where what they are made of is 0."""
    places = ZERO_POINTS.get(bound.node.operator)
    if places is not None:
        zero = 0 if places[1] is None else uniform(bound, places[1], graph)
        made = UNKNOWN if zero is None else lane(zero)
    else:
        made = ZERO
    if template.how != "product":
        return made
    first = factors(bound)[0]
    one, result = bound.operands[first], bound.results[0]
    assert one is not None
    assert result is not None
    rows = [result.labels[axis] for axis in placing.padded_axes]
    if not any(label in one.labels for label in rows):
        return made
    plain = places is None and len(bound.node.inputs) == len(factors(bound))
    return ZERO if plain and held[first] == ZERO else UNKNOWN


def _evaluated(
    bound: Bound,
    template: Template,
    placing: Placing,
    held: Sequence[Lane | None],
    graph: Graph,
) -> Lane:
    if bound.node.operator == "DequantizeLinear" and _is_zero_point(bound, held, graph):
        return ZERO
    result = bound.results[0]
    assert result is not None
    padded = {result.labels[axis] for axis in placing.padded_axes}
    numbers: list[Any] = []
    for number, each in enumerate(bound.operands):
        name = bound.node.inputs[number]
        if not name:
            numbers.append(None)
            continue
        own = template.takes[number]
        held_here = held[number]
        value: Any = None
        if each is not None and own is not None and held_here is not None:
            labels = {each.labels[axis] for axis in own.padded_axes}
            value = held_here.number if labels == padded else None
        else:
            value = uniform(bound, number, graph)
        if value is None:
            return UNKNOWN
        dtype = graph.values[name].dtype
        numbers.append(value if dtype is None else np.asarray(value).astype(dtype)[()])
    if bound.node.operator == "Cast":
        dtype = graph.values[bound.node.outputs[0]].dtype
        return _cast(numbers[0], dtype)
    found = lane(evaluated(bound.node.operator, bound.settings, numbers))
    if bound.node.operator in _SIGNED and found.number in (math.inf, -math.inf):
        return UNKNOWN
    return found


def _is_zero_point(bound: Bound, held: Sequence[Lane | None], graph: Graph) -> bool:
    """Whether padded codes are the zero point of every channel, whatever the scales are."""
    codes = held[0]
    if codes is None or codes.number is None:
        return False
    if len(bound.node.inputs) < 3 or not bound.node.inputs[2]:
        return codes.number == 0
    here = held[2]
    zero = uniform(bound, 2, graph)
    return zero is not None and codes == lane(zero) and (here is None or here == codes)


def _cast(number: Any, dtype: np.dtype[Any] | None) -> Lane:
    """A number as another type; what no integer holds is no number that all agree on."""
    if dtype is None or (dtype.kind in "iu" and not np.isfinite(number)):
        return UNKNOWN
    with np.errstate(all="ignore"):
        return lane(np.asarray(number).astype(dtype)[()])
