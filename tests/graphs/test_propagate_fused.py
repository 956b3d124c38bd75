"""What onnxruntime's convolutions take in: only what the plan itself made of channels."""

from __future__ import annotations

from pathlib import Path

import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
pytest.importorskip("scipy")

from small_graphs import proto  # noqa: E402

from layoutdsl import propagate  # noqa: E402


@pytest.mark.sampled(2)
@pytest.mark.parametrize("text", [
    "d = Conv<group=20, pads=[1,1,1,1]>(v, k)\ny = Relu(d)",
    "g = GlobalAveragePool(v)\nk = Sigmoid(g)\ny = Mul(v, k)",
    "y = Mul(v, k)",
])  # fmt: skip
@pytest.mark.parametrize("name", ["k@factor", "y@factor", "y@factor@w", "y@shift"])
def test_a_name_says_nothing_of_what_is_done_to_channels(
    text: str, name: str, tmp_path: Path
) -> None:
    """Only numbers of channels that are known and made here are put into the weights before."""
    shape = (20, 1, 3, 3) if "group" in text else (20, 1, 1)
    known = {} if "k =" in text else {"k": shape}
    model = proto(f"v = Conv(x, w)\n{text}", x=[1, 4, 6, 5], w=(20, 4, 1, 1), **known)
    for tensor in model.graph.initializer:
        tensor.name = name if tensor.name == "k" else tensor.name
    for node in model.graph.node:
        for names in (node.input, node.output):
            names[:] = [name if each == "k" else each for each in names]
    del model.graph.value_info[:]
    onnx.save(model, tmp_path / "model.onnx")
    found = propagate(tmp_path / "model.onnx", "onnxruntime", emit="onnxruntime")
    assert found.verified is not None
    assert (found.status, found.verified.faults) == ("done", ())
