"""Recurrent operators and scattered elements: whole axes in any order, as functions alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_graphs import graph, proto

pytest.importorskip("onnxruntime")

import onnx

from layoutdsl import check_model, propagate

STEPS, BATCH, FEATURES, HIDDEN = 7, 2, 20, 4
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
ENDS = {"LSTM": "l, lh, lc", "GRU": "l, lh", "RNN": "l, lh"}


def weights(operator: str, directions: int) -> dict[str, Any]:
    """Weights, recurrent weights and biases."""
    rows = GATES[operator] * HIDDEN
    return {
        "w": (directions, rows, FEATURES),
        "r": (directions, rows, HIDDEN),
        "b": (directions, 2 * rows),
    }


def batches_first(operator: str, direction: str) -> Any:
    """What exporters make of a network that has its batches first."""
    said = f'hidden_size={HIDDEN}, direction="{direction}"'
    return proto(
        "t = Transpose<perm=[1,0,2]>(x)\n"
        f"{ENDS[operator]} = {operator}<{said}>(t, w, r, b)\n"
        "u = Transpose<perm=[2,0,1,3]>(l)\ny = Relu(u)",
        x=[BATCH, STEPS, FEATURES],
        **weights(operator, 2 if direction == "bidirectional" else 1),
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("operator", GATES)
def test_batches_may_come_first(operator: str, direction: str, tmp_path: Path) -> None:
    onnx.save(batches_first(operator, direction), tmp_path / "model.onnx")
    found = propagate(tmp_path / "model.onnx", prefer={"Conv": "NHWC"})
    assert (found.status, found.transforms, found.ways.gaps) == ("done", (), {})
    names = {each.op_type.split("_")[0] for each in found.model.graph.node}
    assert names - {"Reshape"} == {operator, "Relu"}
    found.write(tmp_path / "out.onnx")
    assert check_model(tmp_path / "out.onnx", tmp_path / "model.onnx").holds
    plain = propagate(tmp_path / "model.onnx", prefer={"Conv": "NHWC"}, emit="plain")
    assert (plain.status, len(plain.transforms)) == ("done", 2)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("layout", ["NHWC", "NCHW16c"])
@pytest.mark.parametrize("operator", GATES)
def test_features_come_from_a_convolution(operator: str, layout: str, tmp_path: Path) -> None:
    """As in readers of text: columns of a picture, one after the other; channels are ragged."""
    model = proto(
        "c = Conv(x, k)\ns = Squeeze(c, two)\nt = Transpose<perm=[2,0,1]>(s)\n"
        f"{ENDS[operator]} = {operator}<hidden_size={HIDDEN}>(t, w, r, b, , start)\n"
        "y = Identity(lh)\nz = Relu(l)",
        outputs="y z",
        x=[BATCH, 3, 1, STEPS],
        k=(FEATURES, 3, 1, 1),
        two=np.array([2]),
        start=(1, BATCH, HIDDEN),
        **weights(operator, 1),
    )
    onnx.save(model, tmp_path / "model.onnx")
    found = propagate(tmp_path / "model.onnx", prefer={"Conv": layout})
    assert (found.status, found.ways.gaps) == ("done", {})
    assert found.figures.minimal
    found.write(tmp_path / "out.onnx")
    assert check_model(tmp_path / "out.onnx", tmp_path / "model.onnx").holds


def test_what_has_its_own_layout_is_as_written(tmp_path: Path) -> None:
    model = proto(
        "l, lh, lc = LSTM<hidden_size=4, layout=1>(x, w, r, b)\ny = Relu(l)",
        x=[BATCH, STEPS, FEATURES],
        **weights("LSTM", 1),
    )
    onnx.save(model, tmp_path / "model.onnx")
    found = propagate(tmp_path / "model.onnx", prefer={"Conv": "NHWC"}, verify="off")
    assert list(found.ways.gaps.values()) == ["the rule is for nodes where layout == 0"]


@pytest.mark.parametrize(
    ("operator", "indices", "updates"),
    [
        ("ScatterND", np.array([[0, 3], [0, 19]]), (2, 6, 5)),
        ("ScatterElements<axis=1>", np.full((1, 2, 6, 5), 7), (1, 2, 6, 5)),
    ],
)
def test_elements_are_put_into_what_has_its_channels_last(
    operator: str, indices: Any, updates: tuple[int, ...], tmp_path: Path
) -> None:
    model = proto(
        f"c = Conv(x, w)\ns = {operator}(c, i, u)\nr = Conv(s, v)\ny = Relu(r)",
        x=[1, 4, 6, 5], w=(20, 4, 1, 1), v=(3, 20, 1, 1), i=indices, u=updates,
    )  # fmt: skip
    onnx.save(model, tmp_path / "model.onnx")
    ends = {"inputs": {"x": "NHWC"}, "outputs": {"y": "NHWC"}}
    found = propagate(tmp_path / "model.onnx", prefer={"Conv": "NHWC"}, **ends)
    assert (found.status, found.transforms, found.ways.gaps) == ("done", (), {})
    plain = propagate(tmp_path / "model.onnx", prefer={"Conv": "NHWC"}, emit="plain", **ends)
    assert (plain.status, len(plain.transforms)) == ("done", 2)


SCATTERED = (
    (np.array([[1], [-1]]), np.array([[1.0, 2, 3], [4, 5, 6]], "f4"), True),
    (np.array([[1], [1]]), np.array([[1.0, 2, 3], [4, 5, 6]], "f4"), False),  # one place twice
    (np.array([[1], [-3]]), np.array([[1.0, 2, 3], [4, 5, 6]], "f4"), False),  # the same
    (np.array([[1], [-5]]), np.array([[1.0, 2, 3], [4, 5, 6]], "f4"), False),  # outside
    (np.array([[1], [4]]), np.array([[1.0, 2, 3], [4, 5, 6]], "f4"), False),  # outside
    (np.array([[0, 1], [3, 2]]), np.array([5.0, 6], "f4"), True),
    (np.array([0, 1]), np.array(5, "f4"), True),
)


@pytest.mark.parametrize(("indices", "updates", "known"), SCATTERED)
def test_what_is_put_into_a_constant_is_known_beforehand(
    indices: Any, updates: Any, known: bool
) -> None:
    data = np.arange(12, dtype="f4").reshape(4, 3)
    text = "d = ScatterND(a, i, u)\ny = Add(x, d)"
    tensors = {"a": data, "i": indices, "u": updates}
    found = graph(text, x=[4, 3], **tensors)
    assert ("d" in found.constants) == known
    if known:
        from onnx.reference import ReferenceEvaluator

        run = ReferenceEvaluator(proto(text, x=[4, 3], **tensors))
        (expected,) = run.run(None, {"x": np.zeros((4, 3), "f4")})
        assert (found.constants["d"] == expected).all()
        assert (data == np.arange(12, dtype="f4").reshape(4, 3)).all()
