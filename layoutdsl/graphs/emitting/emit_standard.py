"""Operators that ONNX has for one order of axes only, in operators that take any.

They are for models that are to hold nothing but ONNX's own: there a function would be the node
between two transposes, which no plan has counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from layoutdsl.graphs.emitting.emitting import Emitting
from layoutdsl.graphs.emitting.physical import Numbers, Step
from layoutdsl.graphs.graph import Array, Node
from layoutdsl.graphs.placings.packing import packed
from layoutdsl.graphs.placings.placing import Digit, Placing, canonical
from layoutdsl.graphs.variants import Held, Variant

AXES_ARE_OPERANDS = 18
"""The first opset in which axes of means and maxima are operands."""


def emit_standard(out: Emitting, node: Node, variant: Variant) -> bool:
    """Add a node by other operators of ONNX; false where there are none for it."""
    way = BY_OPERATOR.get(node.operator)
    return way is not None and way(out, node, variant)


def _normalise(out: Emitting, node: Node, variant: Variant) -> bool:
    """``x * factor + shift``, both computed beforehand."""
    held, result = variant.takes[0], variant.makes[0]
    constants = [out.graph.constants.get(name) for name in node.inputs[1:5]]
    known = [each for each in constants if each is not None]
    if held is None or result is None or len(known) < 4 or held.placing != result.placing:
        return False
    if node.attributes.get("training_mode", 0) or any(node.outputs[1:]):
        return False
    scale, bias, mean, variance = (each.astype(np.float64) for each in known)
    epsilon = node.attributes.get("epsilon", 1e-5)
    assert isinstance(epsilon, float)
    with np.errstate(all="ignore"):  # a variance below 0 makes NaN, as it does where the model runs
        factor = scale / np.sqrt(variance + epsilon)
    shift = bias - mean * factor
    digits, dtype = out.form(held).digits, out.dtype(node.outputs[0])
    extents = tuple(digit.extent for digit in digits)
    lane = 0 if result.lane is None else result.lane.number or 0
    source = out.take(node.inputs[0], held, extents)
    name = out.new_name(f"{node.outputs[0]}@scaled")
    factors = _channels(out, node, "factor", factor.astype(dtype), digits, 0)
    shifts = _channels(out, node, "shift", shift.astype(dtype), digits, lane)
    out.work.append(Step("Mul", (source, factors), (name,)))
    made = out.leave(node.outputs[0], result, extents)
    out.work.append(Step("Add", (name, shifts), (made,)))
    return True


def _channels(
    out: Emitting,
    node: Node,
    word: str,
    numbers: Array,
    digits: tuple[Digit, ...],
    fill: int | float | bool,
) -> str:
    """A constant with a number for each channel, next to the digits of a value."""
    own = canonical(Digit(0, each.divisor, each.extent) for each in digits if each.axis == 1)
    extents = tuple(each.extent if each.axis == 1 else 1 for each in digits)
    name = out.new_name(f"{node.outputs[0]}@{word}")
    laid = packed(numbers, Placing(numbers.shape, own), fill)
    out.constants[name] = laid.reshape(extents)
    return name


def _pool(operator: str) -> Callable[[Emitting, Node, Variant], bool]:
    def way(out: Emitting, node: Node, variant: Variant) -> bool:
        held, result = variant.takes[0], variant.makes[0]
        if held is None or result is None or any(each > 1 for each in held.placing.padded_axes):
            return False
        digits = out.form(held).digits
        places = tuple(number for number, digit in enumerate(digits) if digit.axis > 1)
        extents = tuple(1 if digit.axis > 1 else digit.extent for digit in digits)
        if not _is_same(result, digits):
            return False
        source = out.take(node.inputs[0], held, tuple(digit.extent for digit in digits))
        name = out.leave(node.outputs[0], result, extents)
        if out.graph.opset >= AXES_ARE_OPERANDS:
            step = Step(operator, (source, Numbers("axes", places)), (name,), {"keepdims": 1})
        else:
            step = Step(operator, (source,), (name,), {"axes": places, "keepdims": 1})
        out.work.append(step)
        return True

    return way


def _is_same(result: Held, digits: tuple[Digit, ...]) -> bool:
    """Whether digits without those of what is pooled are the result's."""
    return canonical(each for each in digits if each.axis < 2) == result.placing.digits


BY_OPERATOR: Mapping[str, Callable[[Emitting, Node, Variant], bool]] = {
    "BatchNormalization": _normalise,
    "GlobalAveragePool": _pool("ReduceMean"),
    "GlobalMaxPool": _pool("ReduceMax"),
}
