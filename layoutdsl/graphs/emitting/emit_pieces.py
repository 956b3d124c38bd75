"""Values put together, cut, made longer and scaled: on the dimensions of a buffer.

Each of these looks whether the buffers are what it is about to say; where they are not, it adds
nothing, and the node becomes a function.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from layoutdsl.graphs.emitting.emit_digits import (
    axis_of,
    cut_down,
    extents_of,
    numbers_of,
    scales_of,
    whole,
)
from layoutdsl.graphs.emitting.emitting import Emitting
from layoutdsl.graphs.emitting.physical import Numbers, Step
from layoutdsl.graphs.graph import Array, Node
from layoutdsl.graphs.placings.forms import same_memory, top_of
from layoutdsl.graphs.roles.bound import Bound
from layoutdsl.graphs.variants import Variant


def join(out: Emitting, bound: Bound, variant: Variant) -> bool:
    """Add a Concat of buffers along the highest digit of the axis."""
    node, result = bound.node, variant.makes[0]
    if result is None or None in variant.takes:
        return False
    digits, axis = out.form(result).digits, axis_of(node, 0, len(result.placing.shape))
    if not any(digit.axis == axis for digit in digits):
        return False
    top = top_of(digits, axis)
    held = [each for each in variant.takes if each is not None]
    pieces = [cut_down(digits, top, each, axis) for each in held]
    whole = [each for each in pieces if each is not None]
    if len(whole) < len(pieces) or sum(each[top].extent for each in whole) != digits[top].extent:
        return False
    inputs = tuple(
        out.take(name, each, extents_of(piece))
        for name, each, piece in zip(node.inputs, held, whole, strict=True)
    )
    name = out.leave(node.outputs[0], result, extents_of(digits))
    out.work.append(Step("Concat", inputs, (name,), {"axis": top}))
    return True


def split(out: Emitting, bound: Bound, variant: Variant) -> bool:
    """Add a Split of a buffer along the highest digit of the axis."""
    node = bound.node
    held, results = variant.takes[0], [each for each in variant.makes if each is not None]
    if held is None or len(results) < len(node.outputs) or "" in node.outputs:
        return False
    digits, axis = out.form(held).digits, axis_of(node, 0, len(held.placing.shape))
    if not any(digit.axis == axis for digit in digits):
        return False
    top = top_of(digits, axis)
    pieces = [cut_down(digits, top, each, axis) for each in results]
    whole = [each for each in pieces if each is not None]
    if len(whole) < len(pieces) or sum(each[top].extent for each in whole) != digits[top].extent:
        return False
    source = out.take(node.inputs[0], held, extents_of(digits))
    sizes = Numbers("split", tuple(each[top].extent for each in whole))
    names = tuple(
        out.leave(name, each, extents_of(piece))
        for name, each, piece in zip(node.outputs, results, whole, strict=True)
    )
    out.work.append(Step("Split", (source, sizes), names, {"axis": top}))
    return True


def cut(out: Emitting, bound: Bound, variant: Variant) -> bool:
    """Add a Slice of a buffer along the highest digits of axes."""
    node = bound.node
    held, result = variant.takes[0], variant.makes[0]
    starts, ends = numbers_of(out, node, 1), numbers_of(out, node, 2)
    if held is None or result is None or starts is None or ends is None:
        return False
    shape, digits = held.placing.shape, out.form(held).digits
    axes = numbers_of(out, node, 3) or list(range(len(starts)))
    steps = numbers_of(out, node, 4) or [1] * len(starts)
    after, cuts = list(digits), list[tuple[int, int, int, int]]()
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        number = axis + len(shape) if axis < 0 else axis
        if number not in {digit.axis for digit in digits}:
            return False
        top = top_of(digits, number)
        below = digits[top].divisor
        if below == 1 and whole(digits, number, shape[number]) is not None:
            cuts.append((top, start, end, step))
            after[top] = replace(digits[top], extent=result.placing.shape[number])
            continue
        first, last, _ = slice(start, end).indices(shape[number])
        if step != 1 or first % below:
            return False
        cuts.append((top, first // below, -(-last // below), 1))
        after[top] = replace(digits[top], extent=-(-last // below) - first // below)
    if not same_memory(result.placing, after):
        return False
    source = out.take(node.inputs[0], held, extents_of(digits))
    name = out.leave(node.outputs[0], result, extents_of(tuple(after)))
    words = ("axes", "starts", "ends", "steps")
    numbers = {
        word: Numbers(word, each) for word, each in zip(words, zip(*cuts, strict=True), strict=True)
    }
    operands = tuple(numbers[word] for word in ("starts", "ends", "axes", "steps"))
    out.work.append(Step("Slice", (source, *operands), (name,)))
    return True


def grow(out: Emitting, bound: Bound, variant: Variant) -> bool:
    """Add a Pad of the dimensions that are all of the axes which get longer."""
    node, held, result = bound.node, variant.takes[0], variant.makes[0]
    pads = numbers_of(out, node, 1)
    if held is None or result is None or pads is None:
        return False
    shape, digits = result.placing.shape, out.form(result).digits
    axes = numbers_of(out, node, 3) or list(range(len(shape)))
    own, before, behind = list(digits), [0] * len(digits), [0] * len(digits)
    for number, said in enumerate(axes):
        axis = said + len(shape) if said < 0 else said
        low, high = pads[number], pads[number + len(axes)]
        if low == high == 0:
            continue
        place = whole(digits, axis, shape[axis])
        if place is None:
            return False
        before[place], behind[place] = low, high
        own[place] = replace(digits[place], extent=held.placing.shape[axis])
    if not same_memory(held.placing, own):
        return False
    source = out.take(node.inputs[0], held, extents_of(tuple(own)))
    value = node.inputs[2] if len(node.inputs) > 2 else ""
    fill = out.take_usual(value, out.written(value)) if value else ""
    name = out.leave(node.outputs[0], result, extents_of(digits))
    operands = (source, Numbers("pads", (*before, *behind)), *((fill,) if fill else ()))
    out.work.append(Step("Pad", operands, (name,), node.attributes))
    return True


MODES = ("nearest", "linear")
"""Of Resize, which is the same along each axis alone."""


def scale(out: Emitting, bound: Bound, variant: Variant) -> bool:
    """Add a Resize of the dimensions that are all of the axes which get another extent."""
    node, held, result = bound.node, variant.takes[0], variant.makes[0]
    if held is None or result is None or node.attributes.get("axes") is not None:
        return False
    if node.attributes.get("mode", "nearest") not in MODES or any(node.inputs[1:2]):
        return False
    if node.attributes.get("keep_aspect_ratio_policy", "stretch") != "stretch":
        return False
    digits, shape = out.form(held).digits, held.placing.shape
    scales, sizes = scales_of(out, node), numbers_of(out, node, 3)
    after, factors = list(digits), np.ones(len(digits), np.float32)
    for axis, extent in enumerate(result.placing.shape):
        factor = extent / shape[axis] if scales is None else scales[axis]
        if extent == shape[axis] and factor == 1:
            continue
        place = whole(digits, axis, shape[axis])
        if place is None:
            return False
        after[place], factors[place] = replace(digits[place], extent=extent), factor
    if not same_memory(result.placing, after) or not _is_run(node, factors):
        return False
    source = out.take(node.inputs[0], held, extents_of(digits))
    extents = extents_of(tuple(after))
    name = out.leave(node.outputs[0], result, extents)
    if sizes is not None:
        step = Step("Resize", (source, "", "", Numbers("sizes", extents)), (name,), node.attributes)
    else:
        wanted = out.new_name(f"{node.outputs[0]}@scales")
        out.constants[wanted] = factors
        step = Step("Resize", (source, "", wanted), (name,), node.attributes)
    out.work.append(step)
    return True


def _is_run(node: Node, factors: Array) -> bool:
    """Whether onnxruntime has a kernel: of linear ones for two axes, side by side, of four."""
    if node.attributes.get("mode", "nearest") == "nearest":
        return True
    scaled = [number for number, factor in enumerate(factors) if factor != 1]
    return len(factors) == 4 and scaled in ([1, 2], [2, 3])
