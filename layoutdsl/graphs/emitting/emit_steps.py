"""A node as it was: its operands laid as written before it, its results as planned after it."""

from __future__ import annotations

from layoutdsl.graphs.emitting.emitting import Emitting
from layoutdsl.graphs.emitting.moves import Moving, pack, unpack
from layoutdsl.graphs.emitting.physical import Operand, Step
from layoutdsl.graphs.graph import Node
from layoutdsl.graphs.placings.placing import as_written
from layoutdsl.graphs.variants import Held, Variant


def emit_steps(out: Emitting, node: Node, variant: Variant) -> None:
    """Add a node and the steps around it; constants are taken as they were written."""
    operands = [
        _operand(out, name, held) for name, held in zip(node.inputs, variant.takes, strict=True)
    ]
    results, packing = list[str](), list[Step]()
    for name, held in zip(node.outputs, variant.makes, strict=True):
        if not name:
            results.append("")
            continue
        result, steps = _result(out, name, held or out.written(name))
        results.append(result)
        packing += steps
    step = Step(node.operator, tuple(operands), tuple(results), node.attributes, node.source)
    out.work += [step, *packing]


def _operand(out: Emitting, name: str, held: Held | None) -> Operand:
    if not name:
        return ""
    if held is None or name in out.graph.constants:
        return out.take_usual(name, out.written(name))
    base = out.base(name, held)
    moving = Moving(base.name, base.extents, out.new_name(f"{name}@move"))
    unpack(moving, held.placing)
    moving.reshape(held.placing.shape)
    out.work += moving.steps
    return moving.name


def _result(out: Emitting, value: str, held: Held) -> tuple[str, list[Step]]:
    """What the node's own result is called, and the steps from there to the one that is planned."""
    placing, extents = held.placing, out.form(held).extents
    name = out.leave(value, held, extents)
    if placing == as_written(placing.shape):
        return name, []
    fill = 0 if held.lane is None or held.lane.number is None else held.lane.number
    first = out.new_name(f"{value}@plain")
    moving = Moving(first, placing.shape, out.new_name(f"{value}@move"))
    pack(moving, placing, fill, extents, out.dtype(value))
    if not moving.steps:
        return name, []
    last = moving.steps[-1]
    moving.steps[-1] = Step(last.operator, last.inputs, (name,), last.attributes)
    return first, moving.steps
