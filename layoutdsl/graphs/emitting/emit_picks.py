"""Elements that indices pick, on the dimensions of a buffer.

Each of these looks whether the buffers are what it is about to say; where they are not, it adds
nothing, and the node becomes a function.
"""

from __future__ import annotations

from dataclasses import replace

from layoutdsl.graphs.emitting.emit_digits import axis_of, extents_of, whole
from layoutdsl.graphs.emitting.emitting import Emitting
from layoutdsl.graphs.emitting.physical import Step
from layoutdsl.graphs.placings.forms import same_memory
from layoutdsl.graphs.placings.placing import Digit
from layoutdsl.graphs.roles.bound import Bound
from layoutdsl.graphs.variants import Variant


def gather(out: Emitting, bound: Bound, variant: Variant) -> bool:
    """Add a Gather along the dimension that is all of an axis."""
    node, held, result = bound.node, variant.takes[0], variant.makes[0]
    if held is None or result is None:
        return False
    shape, digits = held.placing.shape, out.form(held).digits
    picked, axis = out.graph.values[node.inputs[1]].shape, axis_of(node, 0, len(shape))
    place = whole(digits, axis, shape[axis])
    if place is None:
        return False
    more = len(picked) - 1
    moved = [replace(each, axis=each.axis + more * (each.axis > axis)) for each in digits]
    inner = [Digit(axis + number, 1, extent) for number, extent in enumerate(picked)]
    after = (*moved[:place], *inner, *moved[place + 1 :])
    if not same_memory(result.placing, after):
        return False
    source = out.take(node.inputs[0], held, extents_of(digits))
    indices = out.take_usual(node.inputs[1], out.written(node.inputs[1]))
    name = out.leave(node.outputs[0], result, extents_of(after))
    out.work.append(Step("Gather", (source, indices), (name,), {"axis": place}))
    return True


def gather_by_many(out: Emitting, bound: Bound, variant: Variant) -> bool:
    """Add a GatherND whose indices name the first dimensions, each all of an axis."""
    node, held, result = bound.node, variant.takes[0], variant.makes[0]
    if held is None or result is None:
        return False
    shape, digits = held.placing.shape, out.form(held).digits
    indices, batch = out.graph.values[node.inputs[1]].shape, node.attributes.get("batch_dims", 0)
    assert isinstance(batch, int)
    picked, inner = batch + indices[-1], len(indices) - 1
    if any(whole(digits, axis, shape[axis]) != axis for axis in range(picked)):
        return False
    moved = [replace(each, axis=each.axis + inner - picked) for each in digits[picked:]]
    after = (*(Digit(axis, 1, indices[axis]) for axis in range(inner)), *moved)
    if not same_memory(result.placing, after):
        return False
    source = out.take(node.inputs[0], held, extents_of(digits))
    named = out.take_usual(node.inputs[1], out.written(node.inputs[1]))
    name = out.leave(node.outputs[0], result, extents_of(after))
    out.work.append(Step("GatherND", (source, named), (name,), node.attributes))
    return True


def gather_each(out: Emitting, bound: Bound, variant: Variant) -> bool:
    """Add a GatherElements along the dimension that is all of an axis; indices lie as the rest."""
    node, (held, named), result = bound.node, variant.takes, variant.makes[0]
    if held is None or result is None:
        return False
    shape, digits = held.placing.shape, out.form(held).digits
    axis = axis_of(node, 0, len(shape))
    place = whole(digits, axis, shape[axis])
    if place is None:
        return False
    picked = replace(digits[place], extent=result.placing.shape[axis])
    after = (*digits[:place], picked, *digits[place + 1 :])
    indices = named or out.written(node.inputs[1])
    if not all(same_memory(each.placing, after) for each in (result, indices)):
        return False
    source = out.take(node.inputs[0], held, extents_of(digits))
    numbers = out.take(node.inputs[1], indices, extents_of(after))
    name = out.leave(node.outputs[0], result, extents_of(after))
    out.work.append(Step("GatherElements", (source, numbers), (name,), {"axis": place}))
    return True
