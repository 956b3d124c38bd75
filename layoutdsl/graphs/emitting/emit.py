"""A plan as operators on buffers: each node in the way that was chosen, conversions before it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import numpy as np

from layoutdsl.graphs.emitting.emit_nodes import emit_node
from layoutdsl.graphs.emitting.emit_ort import block_of
from layoutdsl.graphs.emitting.emit_reorder import emit_reorder
from layoutdsl.graphs.emitting.emitting import Emitting, Style
from layoutdsl.graphs.emitting.fuse_ort import fused
from layoutdsl.graphs.emitting.moves import Moving, convert, padding_mask
from layoutdsl.graphs.emitting.naming import named
from layoutdsl.graphs.emitting.physical import Call, Emission, Numbers, Operand, Scalar, Step
from layoutdsl.graphs.graph import Graph
from layoutdsl.graphs.placings.forms import cut_as
from layoutdsl.graphs.plan import Conversion, Plan
from layoutdsl.graphs.roles.anchors import layouts_of
from layoutdsl.graphs.variants import Held
from layoutdsl.graphs.ways.ways import Ways
from layoutdsl.language.meaning.model import Layout


def emit(
    graph: Graph,
    plan: Plan,
    ways: Ways,
    layouts: tuple[Layout, ...],
    style: Style = "functions",
    reserved: Collection[str] = (),
) -> Emission:
    """Return what a plan comes to.

    Args:
        graph: that was planned.
        plan: of it.
        ways: that the plan was chosen from.
        layouts: that give operators and tensors their names and dimensions, `Conv_NHWC`.
        style: `functions`, or the steps that they stand for.
        reserved: names that inner graphs use.
    """
    given, wanted = ways.given, ways.wanted
    block = block_of(layouts_of(ways.engine))
    out = Emitting(graph, layouts, style, {**given, **wanted}, block)
    out.reserve((*graph.values, *reserved))
    _refuse_renamed(out)
    held = {name: given.get(name, out.written(name)) for name in graph.inputs}
    inputs = tuple(out.leave(name, each, out.form(each).extents) for name, each in held.items())
    for name in _unmade(graph):
        out.leave(name, out.written(name), graph.values[name].shape)
    moves = {(each.value, each.target): each for each in plan.conversions}
    for node, variant, bound in zip(graph.nodes, plan.variants, ways.bound, strict=True):
        for value, wish in zip(node.inputs, variant.takes, strict=True):
            if wish is not None and not out.has(value, wish) and value not in graph.constants:
                _convert(out, moves[value, wish], moves)
        asked = ways.anchors.get(node.number, ())
        own = None if isinstance(bound, str) else named(bound, ways.engine, variant, asked)
        emit_node(out, node, variant, bound, own)
        out.close(node.number)
    outputs = tuple(
        _hand_out(out, name, wanted.get(name, out.written(name)), moves) for name in graph.outputs
    )
    found = _without_unused(out, inputs, outputs)
    return fused(found) if style == "onnxruntime" else found


def _refuse_renamed(out: Emitting) -> None:
    """Look whether graphs inside of nodes have by their names what they use.

    Raises:
        ValueError: the caller would have one in another layout.
    """
    for name in (name for node in out.graph.nodes for name in node.outer):
        if name in out.public and out.public[name] != out.written(name):
            words = f"`{name}` is used by a graph inside of a node, which has it as written"
            raise ValueError(f"{words}; the caller cannot have it in another layout")


def _unmade(graph: Graph) -> Iterator[str]:
    """Values that are there and are neither inputs, constants nor results."""
    made = {name for node in graph.nodes for name in node.outputs}
    known = made | set(graph.inputs) | set(graph.constants) | {""}
    used = [name for node in graph.nodes for name in node.inputs]
    yield from dict.fromkeys(name for name in (*used, *graph.outputs) if name not in known)


Moves = Mapping[tuple[str, Held], Conversion]


def _convert(out: Emitting, move: Conversion, moves: Moves) -> None:
    """Emit a conversion, after those that it starts from."""
    value, source, target = move.value, move.source, move.target
    if not out.has(value, source):
        _convert(out, moves[value, source], moves)
    base = out.base(value, source)
    if source.placing == target.placing:
        _refill(out, move)
    elif out.style != "onnxruntime" or not emit_reorder(out, move):
        extents = out.form(target).extents
        moving = Moving(base.name, base.extents, out.new_name(f"{value}@move"))
        convert(moving, source, target, extents, out.dtype(value))
        result = out.leave(value, target, extents)
        _add_move(out, moving, base.name, result, _word(out, move))
    out.close(value)


def _word(out: Emitting, move: Conversion) -> str:
    source, target = out.form(move.source).name, out.form(move.target).name
    match source, target:
        case "", _:
            return f"Pack_{target}"
        case _, "":
            return f"Unpack_{source}"
        case _:
            return f"Repack_{source}_to_{target}"


def _add_move(out: Emitting, moving: Moving, source: str, result: str, name: str) -> None:
    """Add the steps of a conversion, as a function or as they are."""
    steps = list(moving.steps) or [Step("Identity", (source,), (moving.name,))]
    last = steps[-1]
    steps[-1] = Step(last.operator, last.inputs, (result,), last.attributes)
    if out.style != "functions" or len(steps) == 1:
        out.work += steps
        return
    inner = {source: "x", result: "y"} | {
        step.outputs[0]: f"t{k}" for k, step in enumerate(steps[:-1])
    }
    body = tuple(_renamed(step, inner, moving.prefix) for step in steps)
    out.work.append(Call(name, (source,), (result,), ("x",), ("y",), body))


def _renamed(step: Step, names: Mapping[str, str], prefix: str) -> Step:
    def one(each: Operand) -> Operand:
        match each:
            case Numbers(name, numbers):
                return Numbers(name.removeprefix(f"{prefix}_"), numbers)
            case Scalar():
                return each
            case _:
                return names.get(each, each)

    inputs = tuple(map(one, step.inputs))
    outputs = tuple(names.get(each, each) for each in step.outputs)
    return Step(step.operator, inputs, outputs, step.attributes, step.source)


def _refill(out: Emitting, move: Conversion) -> None:
    """Put another number into the padding of a buffer."""
    lane = move.target.lane
    assert lane is not None
    placing, value = move.target.placing, move.value
    base = out.base(value, move.source)
    digits = cut_as(placing, base.extents)
    extents = base.extents if digits else placing.physical_shape
    name = out.take(value, move.source, extents)
    mask = out.new_name(f"{value}@padding")
    out.constants[mask] = padding_mask(placing, digits or placing.digits)
    number = 0 if lane.number is None else lane.number
    result = out.leave(value, move.target, extents)
    if out.dtype(value) == np.bool_:  # which onnxruntime cannot choose of
        operator = "Or" if number else "And"
        out.constants[mask] = out.constants[mask] == bool(number)
        out.work.append(Step(operator, (mask, name), (result,)))
        return
    out.work.append(Step("Where", (mask, Scalar(number, out.dtype(value)), name), (result,)))


def _hand_out(out: Emitting, value: str, held: Held, moves: Moves) -> str:
    """Leave an output under its own name."""
    if not out.has(value, held) and value not in out.graph.constants:
        _convert(out, moves[value, held], moves)
    name = out.take_usual(value, held)
    out.called_so(value, held, name)
    out.close(value)
    return value


def _without_unused(out: Emitting, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> Emission:
    """Leave out constants that were noted and then not needed."""
    steps = [step for part in out.parts for step in part.work]
    used = {each for step in steps for each in step.inputs if isinstance(each, str)}
    used.update(outputs)
    constants = out.constants.only(used)
    made = {name for step in steps for name in step.outputs} | set(inputs) | set(constants)
    tensors = {name: each for name, each in out.tensors.items() if name in made}
    parts = tuple(part for part in out.parts if part.work)
    views = tuple(out.views)
    return Emission(parts, tensors, constants, inputs, outputs, views, out.block)
