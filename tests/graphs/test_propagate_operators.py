"""Every operator that has a rule of ours, run by itself in other layouts, against the original."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from layoutdsl import load_engine, propagate

onnx = pytest.importorskip("onnx", exc_type=ImportError)
pytest.importorskip("scipy", exc_type=ImportError)
pytest.importorskip("onnxruntime", exc_type=ImportError)

SHAPE = (2, 20, 5, 6)
"""Of what the operators are given: 20 channels, which leave 12 of 32 in blocks of 16."""

DRAWN = np.random.default_rng(14)
OPSET = 21


def floats(*shape: int) -> Any:
    return DRAWN.uniform(0.5, 1.5, shape).astype(np.float32)


def numbers(*values: int) -> Any:
    return np.array(values, np.int64)


@dataclass(frozen=True)
class Case:
    """An operator with what it takes: texts are values of the graph, arrays are constants."""

    operator: str
    operands: Sequence[Any] = ("a",)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    results: int = 1


MICROSOFT = "com.microsoft"
UNARY = (
    *("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Celu", "Cos", "Cosh"),
    *("Elu", "Erf", "Exp", "Floor", "Gelu", "HardSigmoid", "HardSwish", "Identity", "LeakyRelu"),
    *("Log", "Mish", "Neg", "Reciprocal", "Relu", "Round", "Selu", "Shrink", "Sigmoid", "Sign"),
    *("Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Tan", "Tanh", "ThresholdedRelu"),
    *("IsInf", "IsNaN", "Dropout"),
    *(f"{MICROSOFT}::{each}" for each in ("Gelu", "FastGelu", "QuickGelu")),
)
BINARY = (
    *("Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Sum", "Mean", "PRelu"),
    *("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"),
)
REDUCED = (
    *("ReduceSum", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceMean", "ReduceLogSum"),
    *("ReduceLogSumExp", "ReduceMax", "ReduceMin", "ReduceProd"),
)
TO = onnx.TensorProto
SCALE, ZERO = np.float32(0.05), np.uint8(120)
CHANNELS, PICTURE = SHAPE[1], SHAPE[2:]
PLACES = np.arange(2 * 20 * 4 * 6).reshape(2, 20, 4, 6)[:, :, ::2, ::2]
"""Of the first of every four numbers of a value, for MaxUnpool."""
RECURRENT = {"hidden_size": 3, "direction": "bidirectional"}

CASES = (
    *(Case(each, ("large",) if each == "Acosh" else ("a",)) for each in UNARY),
    *(Case(each, ("a", floats(*shape))) for each in BINARY for shape in ((CHANNELS, 1, 1), (6,))),
    *(Case(each, ("a", "b")) for each in BINARY),
    *(Case(each, ("p", "q")) for each in ("And", "Or", "Xor")),
    *(Case(each, ("i", "j")) for each in ("BitwiseAnd", "BitwiseOr", "BitwiseXor", "Mod")),
    *(Case(each, ("i",)) for each in ("BitwiseNot",)),
    Case("BitShift", ("u", "u"), {"direction": "RIGHT"}),
    Case("Not", ("p",)),
    Case("Cast", attributes={"to": TO.INT32}),
    Case("CastLike", ("a", np.int32(0))),
    Case("Clip", ("a", np.float32(0.1), np.float32(0.7))),
    Case("Where", ("p", "a", "b")),
    Case("Where", ("p", "a", np.float32(2))),
    Case("BatchNormalization", ("a", *(floats(CHANNELS) for _ in range(4)))),
    Case("DynamicQuantizeLinear", results=3),
    Case("QuantizeLinear", ("a", SCALE, ZERO)),
    Case("QuantizeLinear", ("a", floats(CHANNELS), np.zeros(CHANNELS, np.uint8)), {"axis": 1}),
    Case("DequantizeLinear", ("v", SCALE, ZERO)),
    Case("DequantizeLinear", ("v", floats(CHANNELS), np.zeros(CHANNELS, np.uint8)), {"axis": 1}),
    Case("DequantizeLinear", ("v", floats(2), np.zeros(2, np.uint8)), {"axis": 0}),
    Case("Conv", ("a", floats(8, CHANNELS, 3, 3), floats(8)), {"pads": [1, 1, 1, 1]}),
    Case("Conv", ("a", floats(40, CHANNELS // 4, 1, 3)), {"group": 4, "strides": [2, 1]}),
    Case("ConvTranspose", ("a", floats(CHANNELS, 8, 3, 2)), {"strides": [2, 1]}),
    Case("ConvInteger", ("v", np.ones((8, CHANNELS, 3, 3), np.uint8), np.uint8(120))),
    Case(
        "QLinearConv",
        ("v", SCALE, ZERO, np.ones((8, CHANNELS, 1, 1), np.int8), SCALE, np.int8(0), SCALE, ZERO),
    ),
    *(
        Case(f"{MICROSOFT}::QLinear{each}", ("v", SCALE, ZERO, "v", SCALE, ZERO, SCALE, ZERO))
        for each in ("Add", "Mul")
    ),
    *(
        Case(f"{MICROSOFT}::QLinear{each}", ("v", SCALE, ZERO, SCALE, ZERO))
        for each in ("LeakyRelu", "Sigmoid")
    ),
    Case("MaxPool", attributes={"kernel_shape": [2, 3], "pads": [1, 0, 0, 1]}),
    Case("AveragePool", attributes={"kernel_shape": [2, 3], "pads": [1, 0, 0, 1]}),
    Case("LpPool", attributes={"kernel_shape": [2, 3]}),
    Case("MaxPool", attributes={"kernel_shape": [2, 2], "strides": [2, 2]}, results=2),
    Case("MaxUnpool", ("half", PLACES), {"kernel_shape": [2, 2], "strides": [2, 2]}),
    Case("GlobalLpPool"),
    Case(
        "DeformConv",
        ("a", floats(8, CHANNELS, 3, 3), "offsets", floats(8), "mask"),
        {"pads": [1, 1, 1, 1]},
    ),
    Case("DeformConv", ("a", floats(8, CHANNELS, 3, 3), "offsets"), {"pads": [1, 1, 1, 1]}),
    Case("MaxRoiPool", ("a", np.array([[1, 0, 0, 3, 4]], np.float32)), {"pooled_shape": [2, 2]}),
    Case("ReverseSequence", ("a", numbers(1, 2, 2, 1, *([2] * 16))), {"time_axis": 0}),
    Case("DepthToSpace", attributes={"blocksize": 2}),
    Case("DepthToSpace", attributes={"blocksize": 2, "mode": "CRD"}),
    Case("SpaceToDepth", ("even",), {"blocksize": 2}),
    Case("GridSample", ("a", floats(2, 3, 4, 2))),
    Case("RoiAlign", ("a", floats(3, 4), numbers(0, 1, 1)), {"output_height": 2}),
    Case("InstanceNormalization", ("a", floats(CHANNELS), floats(CHANNELS))),
    Case("GroupNormalization", ("a", floats(CHANNELS), floats(CHANNELS)), {"num_groups": 4}),
    Case("LRN", attributes={"size": 3}),
    Case("GlobalAveragePool"),
    Case("GlobalMaxPool"),
    *(Case(each, ("a", numbers(2, 3))) for each in REDUCED),
    *(Case(each, ("a", numbers(1)), {"keepdims": 0}) for each in REDUCED),
    *(Case(each, ("a", numbers(-1, 0))) for each in REDUCED),
    Case("MatMul", ("a", floats(6, 7))),
    Case("MatMul", ("a", floats(6))),
    Case("MatMul", ("a", "turned")),
    Case("MatMulInteger", ("v", np.ones((6, 7), np.uint8), np.uint8(120))),
    Case(
        "QLinearMatMul",
        ("v", SCALE, ZERO, np.ones((6, 7), np.uint8), SCALE, ZERO, SCALE, ZERO),
    ),
    Case("Gemm", ("flat", floats(600, 7), floats(7))),
    Case("Gemm", ("flat", floats(7, 600), floats(2, 7)), {"transB": 1}),
    Case("Gemm", ("flat", floats(2, 7)), {"transA": 1}),
    *(Case(each) for each in ("Softmax", "LogSoftmax", "Hardmax", "LpNormalization")),
    *(Case(each, attributes={"axis": 1}) for each in ("Softmax", "LogSoftmax", "Hardmax")),
    Case("CumSum", ("a", np.int64(2))),
    *(
        Case(each, attributes=said)
        for each in ("ArgMax", "ArgMin")
        for said in ({}, {"axis": 1}, {"axis": -1, "keepdims": 0}, {"axis": 1, "keepdims": 0})
    ),
    Case("ArgMax", ("i",), {"axis": 1, "select_last_index": 1}),
    Case("ArgMin", ("i",), {"axis": -2, "select_last_index": 1, "keepdims": 0}),
    Case("TopK", ("a", numbers(3)), results=2),
    Case("TopK", ("a", numbers(3)), {"axis": 1}, results=2),
    Case("LayerNormalization", ("a", floats(6), floats(6))),
    Case("LayerNormalization", ("a", floats(CHANNELS, 5, 6)), {"axis": 1}),
    Case("Concat", ("a", "b"), {"axis": 1}),
    Case("Concat", ("a", "b"), {"axis": 3}),
    Case("Split", ("a", numbers(16, 4)), {"axis": 1}, results=2),
    Case("Split", ("a", numbers(7, 13)), {"axis": 1}, results=2),
    Case("Split", ("a", numbers(2, 3)), {"axis": 2}, results=2),
    Case("Slice", ("a", numbers(16), numbers(20), numbers(1))),
    Case("Slice", ("a", numbers(4, 5), numbers(19, 0), numbers(1, 3), numbers(1, -2))),
    Case("Gather", ("a", numbers(3, 1)), {"axis": 2}),
    Case("Gather", ("a", np.int64(3)), {"axis": 1}),
    Case("Gather", ("a", numbers(*range(19, -1, -1))), {"axis": 1}),
    Case("GatherND", ("a", np.array([[0, 3], [1, 19]]))),
    Case("GatherND", ("a", np.array([[1], [0], [-1]]))),
    Case("GatherND", ("a", np.array([[[3]], [[-1]]])), {"batch_dims": 1}),
    Case("GatherElements", ("a", DRAWN.integers(-5, 5, (2, 20, 3, 6))), {"axis": 2}),
    Case("GatherElements", ("a", DRAWN.integers(0, 20, (2, 40, 5, 6))), {"axis": 1}),
    Case("GatherElements", ("a", "chosen"), {"axis": -1}),
    Case("GatherElements", ("a", "chosen"), {"axis": 1}),
    Case("Pad", ("a", numbers(0, 0, 1, 2, 0, 0, 3, 0))),
    Case("Pad", ("a", numbers(0, 1, 0, 0, 0, 2, 0, 0), np.float32(4))),
    Case("Pad", ("a", numbers(1, 2, 0, 3), "", numbers(2, 3)), {"mode": "reflect"}),
    Case("Resize", ("a", "", np.array([1, 1, 2, 3], np.float32))),
    Case("Resize", ("a", "", "", numbers(2, CHANNELS, 7, 4)), {"mode": "linear"}),
    Case("Resize", ("a", floats(0), np.array([1, 1, 2, 3], np.float32))),
    Case("Resize", ("a", floats(0), floats(0), numbers(2, CHANNELS, 7, 4))),
    Case("Tile", ("a", numbers(1, 1, 2, 3))),
    Case("Tile", ("a", numbers(1, 2, 1, 1))),
    Case("Expand", ("mean", numbers(2, CHANNELS, 5, 6))),
    Case("Transpose", attributes={"perm": [2, 0, 3, 1]}),
    Case("Reshape", ("a", numbers(2, 4, 5, 30))),
    Case("Flatten"),
    Case("Squeeze", ("mean", numbers(2, 3))),
    Case("Unsqueeze", ("a", numbers(1, 3))),
    Case("ScatterND", ("a", np.array([[0, 3], [1, 19]]), floats(2, 5, 6))),
    Case("ScatterElements", ("a", np.full((2, 20, 1, 6), 4), floats(2, 20, 1, 6)), {"axis": 2}),
    *(
        Case(each, ("steps", floats(2, n * 3, 120), floats(2, n * 3, 3)), RECURRENT, results)
        for each, n, results in (("LSTM", 4, 3), ("GRU", 3, 2), ("RNN", 1, 2))
    ),
)
NEW = {"Swish", "RMSNormalization", "SimplifiedLayerNormalization"}
"""Operators of later opsets, and of exporters of onnxruntime."""

PREPARED = (
    ("a", "Sigmoid", ("c",), {}),
    ("b", "Tanh", ("c",), {}),
    ("p", "Greater", ("c", np.float32(0)), {}),
    ("q", "Less", ("c", np.float32(1)), {}),
    ("i", "Cast", ("c",), {"to": TO.INT32}),
    ("large", "Add", ("a", np.float32(2)), {}),
    ("j", "Cast", ("large",), {"to": TO.INT32}),
    ("u", "Cast", ("large",), {"to": TO.UINT32}),
    ("v", "QuantizeLinear", ("c", SCALE, ZERO), {}),
    ("chosen", "Cast", ("p",), {"to": TO.INT64}),
    ("even", "Pad", ("a", numbers(0, 0, 0, 0, 0, 0, 1, 0)), {}),
    ("turned", "Transpose", ("b",), {"perm": [0, 1, 3, 2]}),
    ("flat", "Flatten", ("a",), {}),
    ("half", "MaxPool", ("a",), {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ("offsets", "Conv", ("a", floats(18, CHANNELS, 1, 1)), {}),
    ("mask", "Conv", ("a", floats(9, CHANNELS, 1, 1)), {}),
    ("steps", "Reshape", ("a", numbers(5, 2, 120)), {}),
    ("mean", "GlobalAveragePool", ("a",), {}),
)
"""Values that the operators are given, behind a convolution; each only where it is asked for."""


def model(cases: Sequence[Case]) -> Any:
    """All cases beside one another."""
    helper = onnx.helper
    nodes: list[Any] = []
    weights: list[Any] = []

    def constant(array: Any) -> str:
        name = f"k{len(weights)}"
        weights.append(onnx.numpy_helper.from_array(np.asarray(array), name))
        return name

    def add(kind: str, operands: Sequence[Any], made: list[str], said: Mapping[str, Any]) -> None:
        taken = [each if isinstance(each, str) else constant(each) for each in operands]
        domain, _, name = kind.rpartition("::")
        nodes.append(helper.make_node(name, taken, made, domain=domain, **said))

    outputs: list[str] = []
    for number, case in enumerate(cases):
        made = [f"y{number}_{each}" for each in range(case.results)]
        outputs += made
        add(case.operator, case.operands, made, case.attributes)
    wanted = {name for case in cases for name in case.operands if isinstance(name, str)}
    for name, kind, operands, said in reversed(PREPARED):
        if name in wanted:
            wanted |= {each for each in operands if isinstance(each, str)}
            add(kind, operands, [name], said)
            nodes.insert(0, nodes.pop())
    add("Conv", ("x", floats(CHANNELS, 3, 3, 3) - 1), ["c"], {"pads": [1, 1, 1, 1]})
    nodes.insert(0, nodes.pop())
    given = helper.make_tensor_value_info("x", TO.FLOAT, [SHAPE[0], 3, *SHAPE[2:]])
    graph = helper.make_graph(nodes, "operators", [given], [], weights)
    graph.output.extend(helper.make_empty_tensor_value_info(each) for each in outputs)
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(MICROSOFT, 1)]
    made_of = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    found = onnx.shape_inference.infer_shapes(made_of, strict_mode=True)
    operators = {each.output[0]: each.op_type for each in nodes}
    for each in found.graph.output:
        if not each.type.HasField("tensor_type"):  # what onnx infers nothing of
            kind = TO.UINT8 if "QLinear" in operators[each.name] else TO.FLOAT
            each.CopyFrom(helper.make_tensor_value_info(each.name, kind, SHAPE))
    return found


def outputs_in(made: Any, layout: str) -> dict[str, str]:
    """The layout of every output that has four axes."""
    ranks = {each.name: len(each.type.tensor_type.shape.dim) for each in made.graph.output}
    return {name: layout for name, rank in ranks.items() if rank == 4}


CHUNK = 12
CHUNKS = [CASES[start : start + CHUNK] for start in range(0, len(CASES), CHUNK)]
LAYOUTS = ("NHWC", "NCHW16c")


@pytest.mark.sampled(33)
@pytest.mark.parametrize("cases", CHUNKS, ids=lambda cases: cases[0].operator)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("emit", ["functions", "plain"])
def test_operators_alone(
    tmp_path: Path, cases: Sequence[Case], layout: str, emit: Literal["functions", "plain"]
) -> None:
    place, made = tmp_path / "operators.onnx", model(cases)
    onnx.save(made, place)
    wanted = outputs_in(made, layout)
    found = propagate(place, prefer={"Conv": layout}, outputs=wanted, emit=emit)
    assert found.verified is not None
    assert found.verified.faults == ()
    assert found.theorems.refuted == ()
    assert found.status == "done"
    assert [each.operator for each in found.figures.gaps] == []


def test_every_operator_with_a_rule_is_tried() -> None:
    ruled = {name for rule in load_engine("").rules for name in rule.operators}
    assert ruled - NEW == {case.operator for case in CASES}
