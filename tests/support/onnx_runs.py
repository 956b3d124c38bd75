"""Runs models of ONNX by onnxruntime, as they are, to hold them against each other."""

from __future__ import annotations

from functools import cache
from itertools import count
from typing import Any

import numpy as np


def run(model: Any, feeds: dict[str, Any]) -> list[Any]:
    """Return the outputs that onnxruntime makes of `model`, without optimising it."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    return list(session.run(None, feeds))


def name_pieces(model: Any) -> Any:
    """Return a copy of `model` in which every result of a `Split` has a name.

    onnxruntime 1.32 dies of a result without a name, and takes the process with it.
    """
    found, number = type(model)(), count()
    found.CopyFrom(model)
    for body in (found.graph, *found.functions):
        for node in body.node:
            if node.op_type == "Split":
                node.output[:] = [each or f"piece {next(number)}" for each in node.output]
    return found


@cache
def channels_in_a_block() -> int | None:
    """Return how many channels onnxruntime's blocks hold on this machine; `None` without blocks."""
    from onnx import TensorProto, helper

    domain = "com.microsoft.nchwc"
    node = helper.make_node("ReorderInput", ["x"], ["y"], domain=domain)
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, 1, 1])
    made = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([node], "block", [given], [made])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(domain, 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    try:
        (found,) = run(model, {"x": np.zeros((1, 4, 1, 1), np.float32)})
    except Exception:  # whatever C++ throws where there is no kernel
        return None
    return int(found.shape[1])
