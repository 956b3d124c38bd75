"""Axes that are summed or looked at as a whole, on the dimensions of a buffer.

Each of these looks whether the buffers are what it is about to say; where they are not, it adds
nothing, and the node becomes a function.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod

from layoutdsl.graphs.emitting.emit_digits import axis_of, extents_of, numbers_of, whole
from layoutdsl.graphs.emitting.emitting import Emitting
from layoutdsl.graphs.emitting.physical import Numbers, Step
from layoutdsl.graphs.graph import Attribute, Node
from layoutdsl.graphs.placings.forms import same_memory
from layoutdsl.graphs.roles.bound import Bound
from layoutdsl.graphs.variants import Held, Variant

NEUTRAL = frozenset(
    {"ReduceSum", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceMax", "ReduceMin", "ReduceProd"}
)
"""What may go over padding, where that holds a number which changes nothing."""


def reduce(out: Emitting, bound: Bound, variant: Variant) -> bool:
    """Add a sum, mean or extreme over all digits of some axes."""
    node, held, result = bound.node, variant.takes[0], variant.makes[0]
    if held is None or result is None:
        return False
    said = node.attributes.get("axes")
    axes = [int(each) for each in said] if isinstance(said, tuple) else numbers_of(out, node, 1)
    if not axes:
        return False
    rank, digits = len(held.placing.shape), out.form(held).digits
    summed = {axis + rank if axis < 0 else axis for axis in axes}
    places = tuple(number for number, digit in enumerate(digits) if digit.axis in summed)
    extents = tuple(1 if digit.axis in summed else digit.extent for digit in digits)
    if not places or prod(extents) != result.placing.slots:
        return False
    if summed & set(held.placing.padded_axes) and node.operator not in NEUTRAL:
        return False
    source = out.take(node.inputs[0], held, extents_of(digits))
    name = out.leave(node.outputs[0], result, extents)
    attributes = {
        key: each for key, each in node.attributes.items() if key not in ("axes", "keepdims")
    }
    attributes["keepdims"] = 1
    if "axes" in node.attributes:
        out.work.append(Step(node.operator, (source,), (name,), {**attributes, "axes": places}))
    else:
        out.work.append(Step(node.operator, (source, Numbers("axes", places)), (name,), attributes))
    return True


ALONG = frozenset(
    {
        "Softmax",
        "LogSoftmax",
        "Hardmax",
        "LpNormalization",
        "TopK",
        "QuantizeLinear",
        "DequantizeLinear",
    }
)
"""Operators that name one axis, by an attribute; their other operands are as they were written."""


def along(out: Emitting, bound: Bound, variant: Variant) -> bool:
    """Add an operator along the dimension that is all of an axis."""
    node, held = bound.node, variant.takes[0]
    made = [each for each in variant.makes if each is not None]
    if held is None or len(made) < len(node.outputs):
        return False
    digits, shape = out.form(held).digits, held.placing.shape
    ranked = node.operator in ("QuantizeLinear", "DequantizeLinear")
    axis = axis_of(node, 1 if ranked else -1, len(shape))
    place = whole(digits, axis, shape[axis])
    if place is None or not all(_is_as_written(out, *each) for each in _rest(node, variant)):
        return False
    after = tuple(
        replace(each, extent=made[0].placing.shape[axis]) if number == place else each
        for number, each in enumerate(digits)
    )
    if not all(same_memory(each.placing, after) for each in made):
        return False
    source = out.take(node.inputs[0], held, extents_of(digits))
    more = tuple(
        out.take_usual(name, out.written(name)) if name else "" for name in node.inputs[1:]
    )
    names = tuple(
        out.leave(name, each, extents_of(after)) if name else ""
        for name, each in zip(node.outputs, made, strict=True)
    )
    attributes: Mapping[str, Attribute] = {**node.attributes, "axis": place}
    out.work.append(Step(node.operator, (source, *more), names, attributes))
    return True


def place_of(out: Emitting, bound: Bound, variant: Variant) -> bool:
    """Add where along an axis the largest or least is, which that axis is one dimension for."""
    node, held, result = bound.node, variant.takes[0], variant.makes[0]
    if held is None or result is None:
        return False
    digits, shape = out.form(held).digits, held.placing.shape
    axis = axis_of(node, 0, len(shape))
    place = whole(digits, axis, shape[axis])
    if place is None:
        return False
    kept = node.attributes.get("keepdims", 1)
    left = [each for number, each in enumerate(digits) if number != place]
    here = left if kept else [replace(d, axis=d.axis - (d.axis > axis)) for d in left]
    if not same_memory(result.placing, here):
        return False
    extents = tuple(1 if k == place else each.extent for k, each in enumerate(digits))
    source = out.take(node.inputs[0], held, extents_of(digits))
    name = out.leave(node.outputs[0], result, extents)
    attributes: Mapping[str, Attribute] = {**node.attributes, "axis": place, "keepdims": 1}
    out.work.append(Step(node.operator, (source,), (name,), attributes))
    return True


def _rest(node: Node, variant: Variant) -> list[tuple[str, Held | None]]:
    return list(zip(node.inputs[1:], variant.takes[1:], strict=True))


def _is_as_written(out: Emitting, name: str, held: Held | None) -> bool:
    return held is None or held == out.written(name)


def tail(out: Emitting, bound: Bound, variant: Variant) -> bool:
    """Add a normalisation over the last axes, which are the last dimensions too."""
    node, held, result = bound.node, variant.takes[0], variant.makes[0]
    if held is None or result is None or held.placing.digits != result.placing.digits:
        return False
    shape = held.placing.shape
    axis = axis_of(node, -1, len(shape))
    inner = shape[axis:]
    digits = held.placing.digits if len(inner) == 1 else out.form(held).digits
    last = digits[len(digits) - len(inner) :]
    wanted = [(axis + number, 1, extent) for number, extent in enumerate(inner)]
    if [(each.axis, each.divisor, each.extent) for each in last] != wanted:
        return False
    if any(node.outputs[1:]):
        return False
    source = out.take(node.inputs[0], held, extents_of(digits))
    more = tuple(
        out.take_usual(name, out.written(name)) if name else "" for name in node.inputs[1:]
    )
    name = out.leave(node.outputs[0], result, extents_of(digits))
    attributes: Mapping[str, Attribute] = {**node.attributes, "axis": -len(inner)}
    out.work.append(Step(node.operator, (source, *more), (name,), attributes))
    return True
