"""Graphs that nobody would choose: carried through, checked, and run beside the original."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
pytest.importorskip("scipy")

from onnx_runs import name_pieces, run  # noqa: E402
from propagate_odd import odd_model  # noqa: E402
from small_graphs import proto  # noqa: E402

from layoutdsl import UnfitModelError, check_model, propagate  # noqa: E402

TARGETS: dict[str, dict[str, Any]] = {
    "NHWC": {"engine": "nhwc"},
    "NCHW16c": {"engine": "blocked16"},
    "plain": {"prefer": {"Conv": "NCHW"}, "emit": "plain"},
    "NHWC, plain": {"prefer": {"Conv": "NHWC"}, "emit": "plain"},
    "onnxruntime": {"engine": "onnxruntime", "emit": "onnxruntime"},
    "plan": {"engine": "nhwc", "emit": "plan"},
}
FEW, MANY = 4, 300


def drawn(model: Any, seed: int) -> dict[str, Any]:
    random, known = np.random.default_rng(seed), {each.name for each in model.graph.initializer}
    shapes = {
        each.name: [extent.dim_value for extent in each.type.tensor_type.shape.dim]
        for each in model.graph.input
        if each.name not in known
    }
    return {name: random.standard_normal(shape).astype("f4") for name, shape in shapes.items()}


def tried(seed: int, target: str, folder: Path) -> str:
    """What becomes of a model: `done`, or why it is not planned; fails where that is wrong."""
    model, place = odd_model(seed), folder / "model.onnx"
    onnx.checker.check_model(model, full_check=True)
    feeds = drawn(model, seed)
    try:
        expected = run(name_pieces(model), feeds)
    except Exception as error:  # whatever C++ threw: nobody can run the model
        return f"onnxruntime: {str(error)[:60]}"
    onnx.save(model, place)
    found = propagate(place, **TARGETS[target])
    assert found.status == "done", (seed, target, found.verified, found.theorems.refuted)
    out = folder / ("out.json" if target == "plan" else "out.onnx")
    found.write(out)
    assert check_model(out, place).faults == (), (seed, target)
    if target == "plan":
        return "done"
    result = onnx.load(out)
    onnx.checker.check_model(result, full_check=True)
    for one, other in zip(expected, run(name_pieces(result), feeds), strict=True):
        most = np.max(np.abs(one[np.isfinite(one)]), initial=0.0)
        assert one.shape == other.shape, (seed, target)
        near = np.allclose(one, other, 1e-3, 1e-3 * max(1.0, most), equal_nan=True)
        assert near, (seed, target)
    return "done"


@pytest.mark.sampled(6)
@pytest.mark.parametrize("target", TARGETS)
def test_odd_graphs_mean_the_same(target: str, tmp_path: Path) -> None:
    first = 10 * list(TARGETS).index(target)
    assert [tried(seed, target, tmp_path) for seed in range(first, first + FEW)].count("done") > 1


@pytest.mark.campaign
@pytest.mark.parametrize("target", TARGETS)
def test_many_odd_graphs_of_propagate_mean_the_same(target: str, tmp_path: Path) -> None:
    found = [tried(seed, target, tmp_path) for seed in range(MANY)]
    print(f"{found.count('done')} of {MANY} odd graphs, {target}")
    assert found.count("done") > 0.8 * MANY


@pytest.mark.slow
def test_pieces_without_names_are_run(tmp_path: Path) -> None:
    """onnxruntime dies of them, and takes the process with it."""
    model = proto("c = Conv(x, w)\na, b = Split<axis=1>(c, s)\nd, e = Split<axis=1>(b, t)\n"
                  "y = Relu(e)", x=[1, 4, 6, 5], w=(20, 4, 1, 1), s=np.array([16, 4]),
                  t=np.array([1, 3]))  # fmt: skip
    for node in model.graph.node[1:3]:
        node.output[0] = ""
    del model.graph.value_info[:]
    onnx.save(model, tmp_path / "model.onnx")
    for how in TARGETS.values():
        assert propagate(tmp_path / "model.onnx", **how).status == "done"


@pytest.mark.parametrize("shape", [[0, 4, 6, 5], [1, 4, 0, 5]])
def test_an_input_without_elements_is_said_to_be_one(shape: list[int], tmp_path: Path) -> None:
    onnx.save(proto("y = Relu(x)", x=shape), tmp_path / "model.onnx")
    with pytest.raises(UnfitModelError, match=f"input `x` has no elements: {shape[0]},4"):
        propagate(tmp_path / "model.onnx", "nhwc")
