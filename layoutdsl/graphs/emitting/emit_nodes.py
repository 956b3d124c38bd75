"""A node as operators on buffers.

What only renames is nothing. What goes element by element, or names axes that are digits, is the
operator of ONNX itself on other dimensions. All else is a function: operands unpacked, the node as
it was, results packed. That way is always right, and an engine has kernels in its place.
"""

from __future__ import annotations

from math import prod

from layoutdsl.graphs.emitting.emit_axes import emit_by_axes
from layoutdsl.graphs.emitting.emit_calls import emit_call, ports_of
from layoutdsl.graphs.emitting.emit_ort import emit_kernel
from layoutdsl.graphs.emitting.emit_standard import emit_standard
from layoutdsl.graphs.emitting.emit_steps import emit_steps
from layoutdsl.graphs.emitting.emitting import Emitting
from layoutdsl.graphs.emitting.naming import Named
from layoutdsl.graphs.emitting.physical import Numbers, Operand, Step, View
from layoutdsl.graphs.graph import Node
from layoutdsl.graphs.placings.forms import cut_as
from layoutdsl.graphs.placings.placing import Placing, as_written
from layoutdsl.graphs.roles.bound import Bound
from layoutdsl.graphs.variants import Held, Variant


def emit_node(
    out: Emitting, node: Node, variant: Variant, bound: Bound | str, named: Named | None
) -> None:
    """Add what a node is on buffers; its operands lie as the variant takes them."""
    if named is not None and out.style == "functions":
        ports = ports_of(out, node, variant, named)
        if not ports.are_written:
            emit_call(out, node, bound, ports)
            return
    if out.style == "onnxruntime" and isinstance(bound, Bound) and emit_kernel(out, node, variant):
        return
    if variant.how == "view" and _is_renamed(out, node, variant):
        return
    plain = variant.how == "elementwise" and isinstance(bound, Bound) and _is_plain(bound)
    if plain and _emit_elementwise(out, node, variant):
        return
    if _is_as_written(out, node, variant):
        _emit_as_written(out, node, variant)
        return
    if isinstance(bound, Bound) and variant.how != "anchor" and emit_by_axes(out, bound, variant):
        return
    if out.style == "functions":
        emit_call(out, node, bound, ports_of(out, node, variant, None))
    elif not emit_standard(out, node, variant):
        emit_steps(out, node, variant)


def _is_renamed(out: Emitting, node: Node, variant: Variant) -> bool:
    """Let the result be the operand's memory under other names; false where there is none."""
    takes, makes = variant.takes[0], variant.makes[0]
    if takes is None or makes is None:
        return False
    if node.inputs[0] in out.graph.constants:
        out.take_usual(node.inputs[0], takes)
    out.alias(node.outputs[0], makes, out.base(node.inputs[0], takes))
    out.views.append(View(node.number, node.inputs[0], takes, node.outputs[0], makes))
    return True


def _is_as_written(out: Emitting, node: Node, variant: Variant) -> bool:
    taken = zip(node.inputs, variant.takes, strict=True)
    made = zip(node.outputs, variant.makes, strict=True)
    return all(
        held is None or held.placing == as_written(out.graph.values[name].shape)
        for name, held in (*taken, *made)
        if name
    )


def _emit_as_written(out: Emitting, node: Node, variant: Variant) -> None:
    inputs = [_take_written(out, name) for name in node.inputs]
    for value in node.outer:  # inner graphs use them by their names
        out.called_so(value, out.written(value), inputs[node.inputs.index(value)])
    outputs = tuple(
        out.leave(name, held or out.written(name), out.graph.values[name].shape) if name else ""
        for name, held in zip(node.outputs, variant.makes, strict=True)
    )
    step = Step(node.operator, tuple(inputs), outputs, node.attributes, node.source)
    out.work.append(step)


def _take_written(out: Emitting, value: str) -> str:
    return out.take(value, out.written(value), out.graph.values[value].shape) if value else ""


def _is_plain(bound: Bound) -> bool:
    """Whether axes play no part: each operand has all of them, none, or is one number."""
    if bound.rule.attributes or bound.roles:
        return False
    operands = [each.axes for each in bound.rule.operands if each.axes]
    return all(axis.many and not axis.name for axes in operands for axis in axes)


def _emit_elementwise(out: Emitting, node: Node, variant: Variant) -> bool:
    """Add the operator on dimensions that all operands share; false where there are none."""
    result = variant.makes[0]
    if result is None:
        return False
    ways = list[tuple[int, tuple[int, ...], list[tuple[int, ...] | None]]]()
    for extents in dict.fromkeys(_dimensions(out, node, variant, result)):
        lined = _lined_up(node, variant, result.placing, extents)
        if any(_outranks(out, *one, len(extents)) for one in _operands(node, variant)):
            continue
        if lined is not None:
            each = zip(node.inputs, variant.takes, lined, strict=True)
            ways.append((sum(_is_reshaped(out, *one) for one in each), extents, lined))
    if not ways:
        return False
    _, shared, own = min(ways, key=lambda way: way[0])
    inputs: tuple[Operand, ...] = tuple(
        _take_written(out, name)
        if held is None or extents is None
        else out.take(name, held, extents)
        for name, held, extents in zip(node.inputs, variant.takes, own, strict=True)
    )
    outputs = tuple(
        out.leave(name, held, shared if held.placing == result.placing else held.placing.shape)
        if name and held
        else ""
        for name, held in zip(node.outputs, variant.makes, strict=True)
    )
    if node.operator == "Expand":
        inputs = (inputs[0], Numbers("shape", shared))
    out.work.append(Step(node.operator, inputs, outputs, node.attributes))
    return True


def _is_reshaped(
    out: Emitting, name: str, held: Held | None, extents: tuple[int, ...] | None
) -> bool:
    """Whether a buffer has to be given another shape when the graph is run."""
    if held is None or extents is None or name in out.graph.constants:
        return False
    return out.base(name, held).extents != extents


def _dimensions(out: Emitting, node: Node, variant: Variant, result: Held) -> list[tuple[int, ...]]:
    """Shapes on which the node could be run, those that cost least first."""
    full = [
        out.base(name, held).extents
        for name, held in zip(node.inputs, variant.takes, strict=True)
        if held and out.has(name, held) and held.placing.digits == result.placing.digits
    ]
    return [*full, out.form(result).extents, result.placing.physical_shape]


def _operands(node: Node, variant: Variant) -> list[tuple[str, Held | None]]:
    return list(zip(node.inputs, variant.takes, strict=True))


def _outranks(out: Emitting, name: str, held: Held | None, rank: int) -> bool:
    """Whether an operand that is as it was written would give the result more dimensions."""
    return bool(name) and held is None and len(out.graph.values[name].shape) > rank


def _lined_up(
    node: Node, variant: Variant, result: Placing, extents: tuple[int, ...]
) -> list[tuple[int, ...] | None] | None:
    """The shape of each operand next to a result of this one; `None` for one as it was written."""
    digits, found = cut_as(result, extents), list[tuple[int, ...] | None]()
    for number, (name, held) in enumerate(_operands(node, variant)):
        if not name or held is None:
            found.append(None)
            continue
        placing = held.placing
        if not placing.digits:
            # one operand of all dimensions is enough, and a scale has to have none
            lone = number == 0 and not result.digits
            rank = len(extents) if lone else min(len(extents), len(placing.shape))
            found.append((1,) * rank)
            continue
        if placing.digits == result.digits and len(placing.shape) == len(result.shape):
            found.append(extents)
            continue
        if digits is None:
            return None
        apart = len(result.shape) - len(placing.shape)
        own = tuple(
            digit.extent if digit.axis >= apart and placing.shape[digit.axis - apart] > 1 else 1
            for digit in digits
        )
        if prod(own) != placing.slots:
            return None
        found.append(own)
    return found
