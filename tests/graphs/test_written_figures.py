"""Figures that `propagate` prints: they are counted in the file that it writes."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_shell import Shell, shell

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
pytest.importorskip("scipy")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from propagate_fuzz import random_model  # noqa: E402
from propagate_odd import odd_model  # noqa: E402
from small_models import written  # noqa: E402

from layoutdsl import Propagation, check_model, propagate  # noqa: E402

__all__ = ["shell"]

TARGETS: dict[str, dict[str, Any]] = {
    "NHWC": {"engine": "nhwc"},
    "NCHW16c": {"engine": "blocked16"},
    "plain": {"prefer": {"Conv": "NCHW"}, "emit": "plain"},
    "NHWC, plain": {"prefer": {"Conv": "NHWC"}, "emit": "plain"},
    "NCHW16c, plain": {"engine": "blocked16", "emit": "plain"},
    "onnxruntime": {"engine": "onnxruntime16", "emit": "onnxruntime"},
}
COUNTED = ("Transpose", "Reshape", "Cast")
FEW, MANY = 5, 1000


def quantised(place: Path, channels: tuple[int, ...] = (16, 16, 32, 32, 16)) -> None:
    """Convolutions between DequantizeLinear and QuantizeLinear, as onnxruntime quantises them."""
    drawn, node = np.random.default_rng(0), helper.make_node
    weights: dict[str, Any] = {"s": np.float32(0.05), "z": np.uint8(128)}
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], ["q0"]),
        node("DequantizeLinear", ["q0", "s", "z"], ["d0"]),
    ]
    for k, (taken, made) in enumerate(itertools.pairwise(channels)):
        scale = drawn.uniform(0.002, 0.003, made).astype("f4")
        weights |= {
            f"w{k}": drawn.integers(-100, 100, (made, taken, 3, 3)).astype("i1"),
            f"ws{k}": scale,
            f"wz{k}": np.zeros(made, "i1"),
            f"b{k}": drawn.integers(-100, 100, made).astype("i4"),
            f"bs{k}": (scale * 0.05).astype("f4"),
            f"bz{k}": np.zeros(made, "i4"),
        }
        nodes += [
            node("DequantizeLinear", [f"w{k}", f"ws{k}", f"wz{k}"], [f"dw{k}"], axis=0),
            node("DequantizeLinear", [f"b{k}", f"bs{k}", f"bz{k}"], [f"db{k}"], axis=0),
            node("Conv", [f"d{k}", f"dw{k}", f"db{k}"], [f"c{k}"], pads=[1, 1, 1, 1]),
            node("Relu", [f"c{k}"], [f"r{k}"]),
            node("QuantizeLinear", [f"r{k}", "s", "z"], [f"q{k + 1}"]),
            node("DequantizeLinear", [f"q{k + 1}", "s", "z"], [f"d{k + 1}"]),
        ]
    nodes += [node("Conv", [f"d{len(channels) - 1}", "f"], ["y"])]
    weights["f"] = drawn.standard_normal((20, channels[-1], 1, 1)).astype("f4")
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, count, 12, 12])
        for name, count in (("x", channels[0]), ("y", 20))
    ]
    known = [numpy_helper.from_array(np.asarray(a), name) for name, a in weights.items()]
    graph = helper.make_graph(nodes, "quantised", ends[:1], ends[1:], known)
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), place)


def operators(place: Path | str) -> Counter[str]:
    return Counter(each.op_type for each in onnx.load(place).graph.node)


def test_quantised_nodes_are_left_as_written_for_onnxruntime(shell: Shell) -> None:
    """QLinearConv had become float Conv, and weights were transposed at every inference."""
    quantised(Path("model.onnx"))
    words = ("propagate", "model.onnx", "--engine", "onnxruntime", "--emit", "onnxruntime")
    ended = shell(*words, "-o", "out.onnx")
    assert (ended.code, ended.err) == (0, "")
    assert "transforms        0 -> 0, 0 bytes -> 0 bytes moved" in ended.out
    line = "quantised         27 quantised nodes are left as written: 13 DequantizeLinear, 5 Qu"
    assert line in ended.out
    assert operators("out.onnx") == operators("model.onnx")
    told = json.loads(shell(*words, "--json").out)
    assert told["quantised"]["Conv"] == 5
    explained = shell(*words, "--verify", "off", "--explain").out
    assert "Conv `c0` is as written: it is quantised" in explained
    assert "every node has a rule" not in explained
    assert shell("propagate", "--check", "out.onnx", "--against", "model.onnx").code == 0


def test_float_nodes_beside_quantised_ones_are_planned(tmp_path: Path) -> None:
    place = tmp_path / "model.onnx"
    quantised(place)
    made = onnx.load(place)
    drawn = np.random.default_rng(1)
    made.graph.node.append(helper.make_node("Relu", ["y"], ["r"]))
    for number, name in enumerate(("r", "c0f")):
        weight = drawn.standard_normal((32, (20, 32)[number], 1, 1)).astype("f4")
        made.graph.initializer.append(numpy_helper.from_array(weight, f"more{number}"))
        out = ("c0f", "last")[number]
        made.graph.node.append(helper.make_node("Conv", [name, f"more{number}"], [out]))
    made.graph.output[0].name = "last"
    made.graph.output[0].type.tensor_type.shape.dim[1].dim_value = 32
    onnx.save(made, place)
    found = propagate(place, "onnxruntime16", emit="onnxruntime", verify="off")
    assert found.figures.quantised["Conv"] == 5
    assert [(each.nodes, each.of) for each in found.figures.anchors] == [(2, 7)]
    assert found.figures.written.transforms.count > 0


def test_what_plain_operators_cost_is_said(shell: Shell) -> None:
    """One transform was printed, and minimal, of a file with 107."""
    written(Path())
    ended = shell(
        "propagate", "model.onnx", "--prefer", "Conv=NHWC", "--emit", "plain", "-o", "o.onnx"
    )
    count = operators("o.onnx")["Transpose"]
    assert (ended.code, count > 1) == (0, True)
    assert f"transforms        4 -> {count}, " in ended.out
    assert "minimal           not of the file: " in ended.out
    assert "and 2 transforms are the least that a plan moves" in ended.out
    assert f"Transpose 0 -> {count}" in ended.out
    explained = shell(
        "propagate", "model.onnx", "--prefer", "Conv=NHWC", "--emit", "plain", "--explain"
    ).out
    assert f"the written file has {count} transforms, " in explained
    told = shell("propagate", "model.onnx", "--prefer", "Conv=NHWC", "--emit", "plain", "--json")
    found = json.loads(told.out)
    assert (found["minimal"], found["written"]["transforms"]["count"]) == (False, count)


def test_what_functions_hold_is_said_apart(shell: Shell) -> None:
    written(Path())
    ended = shell("propagate", "model.onnx", "--prefer", "Conv=NHWC", "-o", "o.onnx")
    assert "transforms        4 -> 1, " in ended.out
    assert "bytes and 1 transform are a lower bound of bytes + transforms/2" in ended.out
    assert re.search(
        r"in functions      \d+ transforms more, .*where the runtime has no kernel", ended.out
    )


MOVING = ("Transpose", "Reshape", "Pad", "Slice", "ReorderInput", "ReorderOutput")


def moves(model: Any) -> Iterator[tuple[str, int]]:
    """The last tensor and the bytes of each transform in a file, found without layoutdsl.

    Steps of one conversion have `@move` in the names of the tensors between them.
    """
    graph = onnx.shape_inference.infer_shapes(model).graph
    known = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    shapes = {name: (array.shape, array.dtype.itemsize) for name, array in known.items()}
    for each in (*graph.input, *graph.output, *graph.value_info):
        kind = each.type.tensor_type
        if kind.HasField("shape"):
            size = np.dtype(helper.tensor_dtype_to_np_dtype(kind.elem_type)).itemsize
            shapes[each.name] = tuple(d.dim_value for d in kind.shape.dim), size
    moving = [node for node in graph.node if node.op_type in MOVING]
    chained = {name for node in moving for name in node.input[:1] if "@move" in name}
    for node in graph.node:
        if node.output[0] in chained or not _starts(node, model):
            continue
        yield node.output[0], prod(shapes[node.output[0]][0]) * shapes[node.output[0]][1]


def _starts(node: Any, model: Any) -> bool:
    """Whether a node moves elements: it, or what stands before it in the same conversion."""
    by_output = {name: each for each in model.graph.node for name in each.output}
    while True:
        if node.domain == "layoutdsl" and re.match("(Pack|Unpack|Repack)_", node.op_type):
            return True
        if node.op_type in ("Transpose", "ReorderInput", "ReorderOutput"):
            return True
        inner = [name for name in node.input if "@move" in name and name in by_output]
        ends = {name.partition("@")[0] for name in (node.input[0], node.output[0])}
        if node.op_type in ("Pad", "Slice") and (inner or len(ends) == 1):
            return True
        if node.op_type == "Where" and any("@padding" in name for name in node.input):
            return True
        if not inner or node.op_type not in ("Reshape", "Slice", "Pad", "Identity"):
            return False
        node = by_output[inner[0]]


def counted(found: Propagation, original: Any, place: Path) -> None:
    """Hold the figures against the file."""
    found.write(place)
    made, figures = onnx.load(place), found.figures
    before, after = (Counter(n.op_type for n in m.graph.node if n.domain in ("", "ai.onnx"))
                     for m in (original, made))  # fmt: skip
    bodies = {each.name: Counter(n.op_type for n in each.node) for each in made.functions}
    inside = Counter[str]()
    for node in made.graph.node:
        if node.domain == "layoutdsl":
            inside += bodies[node.op_type]
    own = {
        each.operator: (each.before, each.after, each.in_functions)
        for each in figures.written.nodes
    }
    for name in COUNTED:
        assert own.get(name, (0, 0, 0)) == (before[name], after[name], inside[name]), name
    transforms = figures.written.transforms
    assert transforms.count == len(list(moves(made)))
    if figures.minimal:
        assert (transforms.count, transforms.bytes) == (
            figures.planned.count,
            figures.planned.bytes,
        )
    assert transforms.bytes >= sum(size for _, size in moves(made))
    assert check_model(place, place.with_name("model.onnx")).faults == ()


def tried(seed: int, target: str, folder: Path, draw: Any = random_model) -> bool:
    original, place = draw(seed), folder / "model.onnx"
    onnx.save(original, place)
    found = propagate(place, **TARGETS[target], verify="off")
    counted(found, original, folder / "out.onnx")
    return found.figures.minimal


@pytest.mark.slow
@pytest.mark.sampled(12)
@pytest.mark.parametrize("draw", [random_model, odd_model])
@pytest.mark.parametrize("target", TARGETS)
def test_figures_of_drawn_graphs_are_those_of_the_file(
    target: str, draw: Any, tmp_path: Path
) -> None:
    first = 1000 * list(TARGETS).index(target)
    for seed in range(first, first + FEW):
        tried(seed, target, tmp_path, draw)


@pytest.mark.campaign
@pytest.mark.parametrize("target", TARGETS)
def test_many_figures_of_drawn_graphs_are_those_of_the_file(target: str, tmp_path: Path) -> None:
    found = Counter(tried(seed, target, tmp_path) for seed in range(MANY))
    print(f"{found[True]} of {MANY} minimal in the file, {target}")
