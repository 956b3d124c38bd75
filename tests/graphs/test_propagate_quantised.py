"""Quantised graphs: padding holds zero points, weights in codes are packed beforehand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from layoutdsl import Propagation, propagate

onnx = pytest.importorskip("onnx", exc_type=ImportError)
pytest.importorskip("scipy", exc_type=ImportError)
pytest.importorskip("onnxruntime", exc_type=ImportError)

SCALES = {"xs": np.float32(0.05), "ys": np.float32(0.1)}
ZEROS = {"xz": np.uint8(128), "yz": np.uint8(120)}


def weights(drawn: np.random.Generator) -> dict[str, Any]:
    """Of two convolutions, 3 to 20 to 24 channels, a scale for each channel."""
    return {
        **SCALES,
        **ZEROS,
        "w": drawn.integers(-100, 100, (20, 3, 3, 3)).astype(np.int8),
        "ws": drawn.uniform(0.01, 0.02, 20).astype(np.float32),
        "wz": np.zeros(20, np.int8),
        "v": drawn.integers(-100, 100, (24, 20, 3, 3)).astype(np.int8),
        "vs": drawn.uniform(0.001, 0.002, 24).astype(np.float32),
        "vz": np.zeros(24, np.int8),
    }


def qlinear() -> list[Any]:
    """Operators on codes."""
    node, around = onnx.helper.make_node, {"pads": [1, 1, 1, 1]}
    first = ["q", "xs", "xz", "w", "ws", "wz", "ys", "yz"]
    second = ["m", "ys", "yz", "v", "vs", "vz", "ys", "yz"]
    return [
        node("QuantizeLinear", ["x", "xs", "xz"], ["q"]),
        node("QLinearConv", first, ["a"], **around),
        node("MaxPool", ["a"], ["m"], kernel_shape=[3, 3], **around),
        node("QLinearConv", second, ["c"], **around),
        node("DequantizeLinear", ["c", "ys", "yz"], ["y"]),
    ]


def qdq() -> list[Any]:
    """Operators on numbers, each between codes."""
    node, around = onnx.helper.make_node, {"pads": [1, 1, 1, 1]}
    return [
        node("QuantizeLinear", ["x", "xs", "xz"], ["q"]),
        node("DequantizeLinear", ["q", "xs", "xz"], ["d"]),
        node("DequantizeLinear", ["w", "ws", "wz"], ["e"], axis=0),
        node("Conv", ["d", "e"], ["a"], **around),
        node("Relu", ["a"], ["r"]),
        node("QuantizeLinear", ["r", "ys", "yz"], ["s"]),
        node("DequantizeLinear", ["s", "ys", "yz"], ["t"]),
        node("DequantizeLinear", ["v", "vs", "vz"], ["f"], axis=0),
        node("Conv", ["t", "f"], ["c"], **around),
        node("QuantizeLinear", ["c", "ys", "yz"], ["u"]),
        node("DequantizeLinear", ["u", "ys", "yz"], ["y"]),
    ]


def planned(place: Path, nodes: list[Any], engine: str) -> Propagation:
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    known = weights(np.random.default_rng(3))
    ends = [
        helper.make_tensor_value_info(name, kind, [1, channels, 5, 6])
        for name, channels in (("x", 3), ("y", 24))
    ]
    constants = [onnx.numpy_helper.from_array(np.asarray(a), name) for name, a in known.items()]
    graph = helper.make_graph(nodes, "codes", ends[:1], ends[1:], constants)
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), place)
    prefer = dict.fromkeys(("Conv", "QLinearConv"), engine)
    return propagate(place, engine) if engine == "blocked16" else propagate(place, prefer=prefer)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("nodes", "engine", "left"),
    [
        (qlinear, "NHWC", 2),
        (qlinear, "NCHW16c", 2),
        (qdq, "NHWC", 2),
        (qdq, "NCHW16c", 2),
        (qdq, "blocked16", 1),
    ],
)
def test_codes_are_carried_through(
    tmp_path: Path, nodes: Callable[[], list[Any]], engine: str, left: int
) -> None:
    found = planned(tmp_path / "codes.onnx", nodes(), engine)
    assert found.status == "done"
    assert found.verified is not None
    assert found.verified.faults == ()
    assert found.figures.planned.count == left
    assert not found.figures.gaps
    assert {move.value for move in found.transforms} <= {"q", "c", "u"}  # codes, and no numbers


def test_padding_holds_zero_points(tmp_path: Path) -> None:
    found = planned(tmp_path / "codes.onnx", qlinear(), "NCHW16c")
    assert set(found.figures.padding.lanes) == {"120", "128"}


def test_weights_in_codes_are_packed_beforehand(tmp_path: Path) -> None:
    found = planned(tmp_path / "codes.onnx", qdq(), "blocked16")
    made = Counter(node.op_type for node in found.model.graph.node)
    assert made["DequantizeLinear_OIhw16i16o"] == made["DequantizeLinear_Oihw16o"] == 1
    assert not [name for name in made if name.startswith("Pack")]
