"""What padding holds: known before anything is run, as it is packed with numbers that we choose.

Packed constants and what a sum makes have 0 there; every other node is evaluated once, on what the
padding of its operands holds. All of it is said of data that are finite: 0 times a NaN is none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import numpy as np

from layoutdsl.graphs.graph import Graph
from layoutdsl.graphs.roles.bound import SUMMED, Bound
from layoutdsl.graphs.roles.roles import Template, factors
from layoutdsl.graphs.variants import Lane

Demand: TypeAlias = Lane | Literal["anything", "finite", "never"]
"""What the padding of an operand has to hold; `never`: it may have none."""

UNKNOWN = Lane(None)
ZERO = Lane(0)
ONE = Lane(1)

_NEUTRAL: Mapping[str, float] = {
    "sum": 0.0,
    "product": 1.0,
    "max": -math.inf,
    "min": math.inf,
}
"""What changes nothing, by role."""

_LOOKED_AT = frozenset({("GatherElements", 1), ("DynamicQuantizeLinear", 0)})
"""Operands whose padding would be taken for elements: for an index, or for the largest of all."""

ZERO_POINTS: Mapping[str, tuple[int, int | None]] = {
    "QLinearConv": (5, 7),
    "QLinearMatMul": (5, 7),
    "ConvInteger": (3, None),
    "MatMulInteger": (3, None),
}
"""Where the numbers of operands stand that are the zero of the weights, and of the result."""


def lane(number: Any) -> Lane:
    """Return a number as a lane; all NaN are one."""
    if number is None:
        return UNKNOWN
    plain = number.item() if isinstance(number, np.generic | np.ndarray) else number
    if isinstance(plain, float) and math.isnan(plain):
        return Lane(math.nan)
    return Lane(plain) if isinstance(plain, int | float | bool) else Lane(float(plain))


def is_finite(held: Lane | None) -> bool:
    """Return whether padding holds a number that zeros make 0 of; of no padding it is true."""
    return held is None or (held.number is not None and math.isfinite(held.number))


def suits(held: Lane | None, demand: Demand) -> bool:
    """Return whether padding holds what is demanded."""
    match demand:
        case "anything":
            return True
        case "finite":
            return is_finite(held)
        case "never":
            return held is None
        case Lane():
            return held is None or held == demand


def to_fill(demand: Demand, dtype: np.dtype[Any] | None) -> Lane:
    """Return what to pack where nothing that is there suits."""
    if isinstance(demand, Lane):
        return of_type(demand, dtype)
    return ZERO


def of_type(held: Lane, dtype: np.dtype[Any] | None) -> Lane:
    """Return an infinity as the least or largest integer, where elements are integers."""
    number = held.number
    if dtype is None or number is None or dtype.kind not in "iu" or not math.isinf(number):
        return held
    info = np.iinfo(dtype)
    return Lane(int(info.min if number < 0 else info.max))


def demands(bound: Bound, template: Template, graph: Graph) -> tuple[Demand, ...]:
    """Return what the padding of each operand has to hold; of constants, what is packed there."""
    shared = factors(bound)
    constant = [name in graph.constants for name in bound.node.inputs]
    found: list[Demand] = []
    for number, (each, placing) in enumerate(zip(bound.operands, template.takes, strict=True)):
        if each is None or placing is None or not placing.padded_axes:
            found.append("anything")
            continue
        roles = {bound.roles.get(each.labels[axis], "through") for axis in placing.padded_axes}
        summed = [role for role in roles if role in SUMMED]
        if (bound.node.operator, number) in _LOOKED_AT:
            found.append("never")
        elif number == 1 and _divides(bound, graph.values[each.value].dtype):
            found.append(ONE)
        elif not summed and len(shared) > 1 and number != shared[0] and not constant[number]:
            # what the plan says of padded columns: they are sums of what is 0 by these
            found.append(_weights(bound, graph) if number in shared else ZERO)
        elif not summed:
            found.append("anything")
        elif len(shared) > 1 and number in shared and roles <= {"sum", "through"}:
            other = any(constant[k] for k in shared if k != number)
            own = _weights(bound, graph) if constant[number] or not other else "finite"
            found.append(own)
        elif len(summed) == 1 and summed[0] in _NEUTRAL:
            neutral = Lane(_NEUTRAL[summed[0]])
            found.append(of_type(neutral, graph.values[each.value].dtype))
        else:
            found.append("never")
    return tuple(found)


def _divides(bound: Bound, dtype: np.dtype[Any] | None) -> bool:
    """Whether the second operand divides integers, which 0 must not even in padding."""
    return bound.node.operator in ("Div", "Mod") and dtype is not None and dtype.kind in "iu"


def _weights(bound: Bound, graph: Graph) -> Demand:
    """What padding of weights holds: what they are 0 by."""
    places = ZERO_POINTS.get(bound.node.operator)
    if places is None:
        return ZERO
    zero = uniform(bound, places[0], graph)
    return "never" if zero is None else lane(zero)


def uniform(bound: Bound, number: int, graph: Graph) -> Any | None:
    """Return the number that a constant is everywhere; 0 for an operand that is absent."""
    name = bound.node.inputs[number] if number < len(bound.node.inputs) else ""
    if not name:
        return 0
    array = graph.constants.get(name)
    if array is None or array.size == 0:
        return None
    first = array.reshape(-1)[0]
    return first if array.size == 1 or bool((array == first).all()) else None
