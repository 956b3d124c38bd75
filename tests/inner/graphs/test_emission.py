"""What is emitted is run: moves against numpy, and emissions that are wrong on purpose refused.

Faults are planted between what is emitted and what is run, where no user gets to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
pytest.importorskip("scipy")

import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.inliner import inline_local_functions
from onnx.reference import ReferenceEvaluator

from layoutdsl.graphs.checking.remaking import Emit, emission_of, wishes_of
from layoutdsl.graphs.emitting.laying import Constants
from layoutdsl.graphs.emitting.moves import Moving, convert, padding_mask
from layoutdsl.graphs.emitting.physical import Call, Emission, Emitted, Numbers, Step
from layoutdsl.graphs.engine_text import engine_called
from layoutdsl.graphs.graph import Graph
from layoutdsl.graphs.models.onnx_read import Model, read_model
from layoutdsl.graphs.models.onnx_write import Writing, initialisers, model_of
from layoutdsl.graphs.placings.packing import packed, padding_of
from layoutdsl.graphs.placings.placing import Digit, Placing, as_written, canonical
from layoutdsl.graphs.planning.program import plan_of
from layoutdsl.graphs.roles.anchors import layouts_of
from layoutdsl.graphs.running.verify import verified
from layoutdsl.graphs.variants import Held, Lane
from layoutdsl.graphs.ways.ways import ways

FLOAT = TensorProto.FLOAT


def drawn_placing(random: Random, shape: tuple[int, ...]) -> Placing:
    """Axes in any order, some of them in blocks that they do not fill."""
    digits = list[Digit]()
    for axis, extent in enumerate(shape):
        block = random.choice((1, 1, 2, 3, 4))
        digits.append(Digit(axis, block, -(-extent // block)))
        digits.append(Digit(axis, 1, block))
    random.shuffle(digits)
    return Placing(shape, canonical(digits))


def moved(source: Held, target: Held, buffer: Any, extents: tuple[int, ...]) -> Any:
    """What the steps of a conversion make of a buffer, by onnx's own reference."""
    moving = Moving("x", buffer.shape, "t")
    convert(moving, source, target, extents, np.dtype(np.float32))
    steps = moving.steps or [Step("Identity", ("x",), ("t_0",))]
    writing = Writing(Graph("empty", 17, (), {}, {}, (), ()))
    nodes = [writing.node_of(step) for step in steps]
    last = steps[-1].outputs[0]
    ends = [helper.make_tensor_value_info(name, FLOAT, None) for name in ("x", last)]
    weights = list(initialisers(writing.constants))
    whole = helper.make_graph(nodes, "moves", ends[:1], ends[1:], weights)
    model = helper.make_model(whole, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return ReferenceEvaluator(model).run(None, {"x": buffer})[0]


@pytest.mark.parametrize("seed", range(60))
def test_moves_are_what_numpy_packs(seed: int) -> None:
    random = Random(seed)
    shape = tuple(random.randint(1, 7) for _ in range(random.randint(1, 4)))
    array = np.arange(1, np.prod(shape) + 1, dtype=np.float32).reshape(shape)
    one, other = drawn_placing(random, shape), drawn_placing(random, shape)
    lane = random.choice((0, 5))
    source, target = Held(one, Lane(-3)), Held(other, Lane(lane))
    found = moved(source, target, packed(array, one, -3), other.physical_shape)
    assert np.array_equal(found, packed(array, other, lane))


@pytest.mark.parametrize("seed", range(20))
def test_masks_of_padding_are_what_numpy_says(seed: int) -> None:
    random = Random(seed)
    shape = tuple(random.randint(1, 7) for _ in range(random.randint(1, 4)))
    placing = drawn_placing(random, shape)
    mask = padding_mask(placing, placing.digits)
    assert np.array_equal(np.broadcast_to(mask, placing.physical_shape), padding_of(placing))


def test_a_transpose_alone_is_what_moves_an_image() -> None:
    shape = (1, 3, 5, 4)
    nhwc = Placing(shape, canonical(Digit(axis, 1, shape[axis]) for axis in (0, 2, 3, 1)))
    moving = Moving("x", shape, "t")
    one, other = Held(as_written(shape), None), Held(nhwc, None)
    convert(moving, one, other, (1, 5, 4, 3), np.dtype(np.float32))
    assert [(step.operator, step.attributes) for step in moving.steps] == [
        ("Transpose", {"perm": (0, 2, 3, 1)})
    ]


def node(operator: str, inputs: str, outputs: str, **said: Any) -> Any:
    return helper.make_node(operator, inputs.split(), outputs.split(), **said)


def weight(name: str, *shape: int) -> Any:
    drawn = np.random.default_rng(sum(map(ord, name)))
    return numpy_helper.from_array(drawn.standard_normal(shape).astype(np.float32), name)


def ints(name: str, *numbers: int) -> Any:
    return numpy_helper.from_array(np.array(numbers, np.int64), name)


def several() -> Any:
    """Operators of every kind between two convolutions, with channels that fill no block."""
    nodes = [
        node("Conv", "x w", "a", strides=[2, 1], pads=[1, 0, 0, 1]),
        node("Sigmoid", "a", "b"),
        node("Mul", "b scale", "s"),
        node("Concat", "b s", "c", axis=1),
        node("Slice", "c from to two", "d"),
        node("Pad", "d pads", "p"),
        node("MaxPool", "p", "e", kernel_shape=[2, 1]),
        node("Softmax", "e", "f", axis=3),
        node("Conv", "f v", "g"),
        node("ReduceMean", "g", "h", axes=[2, 3], keepdims=1),
        node("Add", "g h", "y"),
    ]
    weights = [weight("w", 20, 3, 3, 2), weight("v", 20, 40, 1, 1), weight("scale", 1, 20, 1, 1)]
    weights += [ints("from", 1), ints("to", 4), ints("two", 2)]
    weights += [ints("pads", 0, 0, 1, 0, 0, 0, 0, 2)]
    ends = [helper.make_tensor_value_info("x", FLOAT, [1, 3, 9, 8])]
    results = [helper.make_tensor_value_info("y", FLOAT, None)]
    graph = helper.make_graph(nodes, "several", ends, results, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@cache
def emitted(engine: str, kind: Emit) -> tuple[Model, Emission]:
    with TemporaryDirectory() as folder:
        place = Path(folder) / "model.onnx"
        onnx.save(several(), place)
        model = read_model(place, {})
    found = engine_called(engine)
    offered = ways(model.graph, found, wishes_of({}, {}, "first", kind))
    plan = plan_of(model.graph, offered.variants, offered.given, offered.wanted)
    return model, emission_of(model, offered, plan, layouts_of(found), kind)


def mended(emission: Emission, change: Callable[[Step | Call], Step | Call | None]) -> Emission:
    """The emission with the first step changed that there is a change for."""
    parts, done = list[Emitted](), False
    for part in emission.parts:
        work = list(part.work)
        for number, step in enumerate(work):
            now = None if done else change(step)
            if now is not None:
                work[number], done = now, True
        parts.append(replace(part, work=tuple(work)))
    assert done, "nothing was changed"
    return replace(emission, parts=tuple(parts))


def renumbered(operator: str, number: int, numbers: tuple[int, ...]) -> Callable[[Any], Any]:
    """Another list of numbers for an operand of an operator."""

    def change(step: Step | Call) -> Step | None:
        if not isinstance(step, Step) or step.operator != operator:
            return None
        inputs = list(step.inputs)
        old = inputs[number]
        assert isinstance(old, Numbers)
        assert old.numbers != numbers
        inputs[number] = Numbers(old.name, numbers)
        return replace(step, inputs=tuple(inputs))

    return change


def respelled(operator: str, **said: Any) -> Callable[[Any], Any]:
    """Another attribute of an operator, be it in a function."""

    def change(step: Step | Call) -> Step | Call | None:
        if isinstance(step, Call):
            inner = [change(each) for each in step.body]
            body = tuple(new or old for new, old in zip(inner, step.body, strict=True))
            return replace(step, body=body) if any(inner) else None  # type: ignore[arg-type]
        if step.operator != operator:
            return None
        assert {**step.attributes, **said} != step.attributes
        return replace(step, attributes={**step.attributes, **said})

    return change


def swapped(operator: str) -> Callable[[Any], Any]:
    """Operands the other way round."""

    def change(step: Step | Call) -> Step | None:
        if not isinstance(step, Step) or step.operator != operator:
            return None
        return replace(step, inputs=step.inputs[::-1])

    return change


WRONG: dict[str, tuple[str, Emit, Callable[[Any], Any], str]] = {
    "strides the other way": ("nhwc", "functions", respelled("Conv", strides=(1, 2)), "Conv"),
    "pads the other way": ("blocked16", "functions", respelled("Conv", pads=(0, 1, 1, 0)), "Conv"),
    "kernel of another axis": (
        "nhwc",
        "functions",
        respelled("MaxPool", kernel_shape=(1, 2)),
        "MaxPool",
    ),
    "pieces the other way": ("nhwc", "functions", swapped("Concat"), "Concat"),
    "another start": ("nhwc", "functions", renumbered("Slice", 1, (0,)), "Slice"),
    "top and bottom": (
        "nhwc",
        "functions",
        renumbered("Pad", 1, (0, 0, 0, 0, 0, 1, 2, 0)),
        "Pad",
    ),
    "another axis": ("nhwc", "functions", respelled("Softmax", axis=1), "Softmax"),
    "another order": ("nhwc", "functions", respelled("Transpose", perm=(0, 3, 2, 1)), "`x`"),
    "an activation": (
        "onnxruntime",
        "onnxruntime",
        respelled("com.microsoft.nchwc::Conv", activation="Relu"),
        "Sigmoid",
    ),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_on_purpose_is_refused(case: str) -> None:
    engine, kind, change, words = WRONG[case]
    model, emission = emitted(engine, kind)
    wrong = mended(emission, change)
    seen = verified(model, wrong, model_of(model, wrong, {}))
    assert seen.faults, case
    assert any(words in fault or "cannot be run" in fault for fault in seen.faults), seen.faults


@pytest.mark.parametrize(
    ("engine", "kind"),
    [
        ("nhwc", "functions"),
        ("nhwc", "plain"),
        ("blocked16", "functions"),
        ("blocked16", "plain"),
        ("onnxruntime", "onnxruntime"),
    ],
)
def test_what_is_right_is_not(engine: str, kind: Emit) -> None:
    model, emission = emitted(engine, kind)
    seen = verified(model, emission, model_of(model, emission, {}))
    assert seen.faults == ()
    assert seen.nodes == len(model.graph.nodes)
    assert seen.worst < 1e-6


@pytest.mark.parametrize("engine", ["nhwc", "blocked16"])
def test_weights_that_changed_are_found(engine: str) -> None:
    model, emission = emitted(engine, "functions")
    names = [name for name, each in emission.tensors.items() if each.value in ("w", "v")]
    assert {emission.tensors[name].value for name in names} == {"w", "v"}
    for name in names:
        array = emission.constants[name].copy()
        array.reshape(-1)[0] += 1
        wrong = replace(emission, constants=Constants({**emission.constants, name: array}))
        assert verified(model, wrong, model_of(model, wrong, {})).faults


def test_padding_that_holds_something_else_is_found() -> None:
    model, emission = emitted("blocked16", "functions")
    found = 0
    for name, tensor in emission.tensors.items():
        if tensor.value == "a" and tensor.held.lane is not None:
            lies = replace(tensor, held=Held(tensor.held.placing, Lane(7)))
            wrong = replace(emission, tensors={**emission.tensors, name: lies})
            faults = verified(model, wrong, model_of(model, emission, {})).faults
            found += any("does not hold 7" in fault for fault in faults)
    assert found == 1


@pytest.mark.parametrize("engine", ["nhwc", "blocked16"])
def test_functions_are_run_by_whoever_knows_onnx(engine: str) -> None:
    model, emission = emitted(engine, "functions")
    proto = model_of(model, emission, {})
    inputs = {"x": np.random.default_rng(1).standard_normal((1, 3, 9, 8)).astype(np.float32)}
    expected = ReferenceEvaluator(several()).run(None, inputs)[0]
    inlined = inline_local_functions(proto)
    assert not inlined.functions
    for each in (proto, inlined):
        assert np.allclose(ReferenceEvaluator(each).run(None, inputs)[0], expected, atol=1e-5)


def test_everything_says_how_it_lies() -> None:
    model, emission = emitted("blocked16", "functions")
    proto = model_of(model, emission, {"layoutdsl.certificate": "{}"})
    assert [(each.key, each.value) for each in proto.metadata_props] == [
        ("layoutdsl.certificate", "{}")
    ]
    said = {each.key: each.value for info in proto.graph.value_info for each in info.metadata_props}
    assert "layoutdsl.layout" in said
    for each in proto.graph.node:
        assert each.metadata_props[0].key == "layoutdsl.layout"
    assert {each.domain for each in proto.functions} == {"layoutdsl"}
    assert {each.name for each in proto.functions} >= {"Conv_NCHW16c", "MaxPool_NCHW16c"}
