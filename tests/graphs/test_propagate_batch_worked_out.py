"""What models work out from an open batch: it stays open where it is known for every batch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
pytest.importorskip("scipy")

from onnx_runs import run  # noqa: E402
from small_graphs import proto  # noqa: E402
from test_propagate_batch import CONV, TARGETS, WEIGHT, drawn, opened, stays_open  # noqa: E402

from layoutdsl import check_model, propagate  # noqa: E402

ONE, TWO = np.array([1]), np.array([2])
HEAD = CONV + "k = Shape <end = 1> (x)\n"
KEPT: dict[str, tuple[str, dict[str, Any]]] = {
    "expand": (
        "s = Concat <axis = 0> (k, r)\ne = Expand(t, s)\ny = Concat <axis = 2> (c, e)",
        {"r": np.array([20, 3, 8]), "t": (1, 20, 3, 1)},
    ),
    "expand of a value": (
        "g = GlobalAveragePool(c)\ns = Concat <axis = 0> (k, r)\ny = Expand(g, s)",
        {"r": np.array([20, 4, 4])},
    ),
    "filled": (
        "s = Concat <axis = 0> (k, r)\nz = ConstantOfShape <value = float[1] {2.5}> (s)\n"
        "y = Add(c, z)",
        {"r": np.array([20, 8, 8])},
    ),
    "ends of a slice": ("y = Slice(c, o, k, o)", {"o": np.array([0])}),
    "all but one": (
        "d = Concat <axis = 0> (c, c)\nm = Add(k, i)\ny = Slice(d, i, m, o)",
        {"o": np.array([0]), "i": ONE},
    ),
    "repeated by its double": (
        "m = Mul(k, i)\ns = Concat <axis = 0> (m, r)\ne = Expand(t, s)\n"
        "d = Concat <axis = 0> (c, c)\ny = Mul(d, e)",
        {"i": TWO, "r": np.array([20, 1, 1]), "t": (1, 20, 1, 1)},
    ),
    "as torch writes it": (
        "s = Concat <axis = 0> (k, r)\nn = ConstantOfShape <value = int64[1] {1}> (l)\n"
        "q = Equal(s, v)\nf = Where(q, n, s)\ne = Expand(t, f)\ny = Sub(c, e)",
        {
            "r": np.array([20, 8, 8]),
            "l": np.array([4]),
            "v": np.array([-1, -1, -1, -1]),
            "t": (1, 1, 8, 8),
        },
    ),
    "picked from a shape": (
        "a = Shape(c)\ni = Gather <axis = 0> (a, z)\nj = Squeeze(k)\nh = Mul(i, j)\n"
        "u = Unsqueeze(h, o)\nf = Concat <axis = 0> (u, p)\ny = Reshape(c, f)",
        {"z": np.array(1), "o": np.array([0]), "p": np.array([64])},
    ),
    "two extents of a reshape": (
        "d = Transpose <perm = [1, 0, 2, 3]> (c)\na = Shape(d)\ny = Reshape(d, a)",
        {},
    ),
}


@pytest.mark.sampled(16)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", KEPT)
def test_what_is_worked_out_from_the_batch_stays_open(
    name: str, target: str, tmp_path: Path
) -> None:
    text, tensors = KEPT[name]
    model, place = opened(proto(HEAD + text, x=[2, 3, 8, 8], **WEIGHT, **tensors)), tmp_path / "m"
    del model.graph.value_info[:]
    onnx.save(model, place)
    found = propagate(place, **TARGETS[target])
    assert stays_open(found), found.batch
    assert found.status == "done", found.verified
    found.write(tmp_path / "out")
    assert check_model(tmp_path / "out", place).faults == ()
    result = onnx.load(tmp_path / "out")
    onnx.checker.check_model(result, full_check=True)
    for batch in (1, 3, 4, 11):
        feeds = drawn(model, batch)
        for one, other in zip(run(model, feeds), run(result, feeds), strict=True):
            assert one.shape == other.shape
            assert np.allclose(one, other, 1e-3, 1e-3)


STAYS = {
    "at most a hundred": ("m = Min(k, i)\ny = Slice(c, o, m, o)", {"i": np.array([100])}),
    "halved": ("m = Div(k, i)\nj = Max(m, p)\ny = Slice(c, o, j, o)", {"i": TWO, "p": ONE}),
    "squared": (
        "m = Mul(k, k)\ns = Concat <axis = 0> (m, p)\ne = Expand(q, s)\ny = Gemm(e, q)",
        {"p": ONE, "q": (1, 1)},
    ),
    "as a real number": ("m = Cast <to = 1> (k)\ny = Mul(c, m)", {}),
    "counted up": ("j = Squeeze(k)\nm = Range(z, j, l)\ny = Gather <axis = 0> (c, m)",
        {"z": np.array(0), "l": np.array(1)}),
}  # fmt: skip


@pytest.mark.parametrize("name", STAYS)
def test_what_is_not_known_for_every_batch_keeps_it_at_one(name: str, tmp_path: Path) -> None:
    """Though it may be the same at every batch that is tried."""
    text, tensors = STAYS[name]
    model = opened(proto(HEAD + text, x=[2, 3, 8, 8], o=np.array([0]), **WEIGHT, **tensors))
    del model.graph.value_info[:]
    onnx.save(model, tmp_path / "model.onnx")
    found = propagate(tmp_path / "model.onnx", "nhwc")
    assert not stays_open(found)
    assert found.status == "done"


def test_a_changed_piece_or_number_is_noticed(tmp_path: Path) -> None:
    """Of what is worked out at run time, each constant and each node is compared."""
    text, tensors = KEPT["all but one"]
    model, place = opened(proto(HEAD + text, x=[2, 3, 8, 8], **WEIGHT, **tensors)), tmp_path / "m"
    del model.graph.value_info[:]
    onnx.save(model, place)
    found = propagate(place, "nhwc", verify="off").model
    rests = next(each for each in found.graph.node if each.output[0].startswith("batch@add"))
    for each in found.graph.initializer:
        if each.name == rests.input[1]:
            each.CopyFrom(onnx.numpy_helper.from_array(np.array([2]), each.name))
    onnx.save(found, tmp_path / "out")
    assert not check_model(tmp_path / "out", place).holds
