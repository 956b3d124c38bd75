"""A small network of ONNX, ragged in every block, for tests of whole runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np


def network(between: str = "Sigmoid", batch: int | str = 2) -> Any:
    """Two convolutions of 20 channels, something between them, a residue, a pool and a matrix."""
    from onnx import TensorProto, checker, helper, numpy_helper

    drawn = np.random.default_rng(7)

    def weight(name: str, *shape: int) -> Any:
        return numpy_helper.from_array(drawn.standard_normal(shape).astype("f4") / 4, name)

    nodes = [
        helper.make_node("Conv", ["x", "w1", "b1"], ["a"], name="first", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["r"], name="relu"),
        helper.make_node(between, ["r"], ["s"], name="between"),
        helper.make_node("Conv", ["s", "w2"], ["c"], name="second", pads=[1, 1, 1, 1]),
        helper.make_node("Add", ["c", "r"], ["d"], name="residue"),
        helper.make_node("MaxPool", ["d"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("GlobalAveragePool", ["p"], ["g"], name="mean"),
        helper.make_node("Flatten", ["g"], ["f"], name="flat"),
        helper.make_node("Gemm", ["f", "w3", "b3"], ["y"], name="matrix", transB=1),
    ]
    weights = [weight("w1", 20, 3, 3, 3), weight("b1", 20), weight("w2", 20, 20, 3, 3)]
    weights += [weight("w3", 7, 20), weight("b3", 7)]
    ends = (("x", [batch, 3, 8, 8]), ("y", [batch, 7]))
    given, taken = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in ends
    )
    graph = helper.make_graph(nodes, "small", [given], [taken], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    checker.check_model(model)
    return model


def written(folder: Path, name: str = "model.onnx", **how: Any) -> Path:
    """The network in a file."""
    place = folder / name
    place.write_bytes(network(**how).SerializeToString())
    return place
