"""What `propagate` says of outputs: how far they may be, on which inputs, and when that is open."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_shell import Shell, shell

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
pytest.importorskip("scipy")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from small_models import network, written  # noqa: E402

from layoutdsl import propagate  # noqa: E402

__all__ = ["shell"]


def model(
    nodes: list[Any], weights: dict[str, Any], inputs: dict[str, Any], outputs: dict[str, Any]
) -> Any:
    """A model of opset 17; inputs and outputs are float, or have their type first."""

    def info(name: str, shape: Any) -> Any:
        kind, extents = shape if isinstance(shape, tuple) else (TensorProto.FLOAT, shape)
        return helper.make_tensor_value_info(name, kind, extents)

    graph = helper.make_graph(
        nodes,
        "test",
        [info(*each) for each in inputs.items()],
        [info(*each) for each in outputs.items()],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def cancelling(place: Path) -> None:
    """Two convolutions, each normalised, whose difference is a thousandth part rounding.

    onnxruntime takes the normalisations into the convolutions, and ours are a product and a sum.
    """
    drawn = np.random.default_rng(0)
    weight = drawn.standard_normal((16, 256, 3, 3)).astype("f4")
    other = (weight + drawn.standard_normal(weight.shape) * 1e-5).astype("f4")
    node, numbers = helper.make_node, ["scale", "bias", "mean", "variance"]
    weights = {name: drawn.uniform(0.5, 1.5, 16).astype("f4") for name in numbers}
    nodes = [
        node("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1]),
        node("Conv", ["x", "v"], ["b"], pads=[1, 1, 1, 1]),
        node("BatchNormalization", ["a", *numbers], ["c"]),
        node("BatchNormalization", ["b", *numbers], ["d"]),
        node("Sub", ["c", "d"], ["y"]),
    ]
    ends = {"x": [1, 256, 12, 12]}, {"y": [1, 16, 12, 12]}
    onnx.save(model(nodes, {"w": weight, "v": other, **weights}, *ends), place)


def test_rounding_of_the_original_is_no_fault(tmp_path: Path) -> None:
    """PP-OCRv4's detector differed from itself by more than 1e-3, and was refuted."""
    cancelling(tmp_path / "model.onnx")
    how: dict[str, Any] = {"engine": "nhwc", "emit": "plain", "verify": "outputs"}
    found = propagate(tmp_path / "model.onnx", **how)
    assert found.verified is not None
    assert found.verified.faults == ()
    assert 1e-3 < found.verified.outputs <= found.verified.allowed
    assert found.verified.allowed < found.verified.sensitivity / 2
    assert propagate(tmp_path / "model.onnx", **how, rtol=1e-3).status == "refuted"
    assert propagate(tmp_path / "model.onnx", **how, rtol=0.5).status == "done"


def test_the_command_takes_a_tolerance_and_names_it(shell: Shell) -> None:
    cancelling(Path("model.onnx"))
    words = ("propagate", "model.onnx", "--engine", "nhwc", "--emit", "plain")
    more = ("--verify", "outputs", "-o", "out.onnx")
    ended = shell(*words, *more, "--rtol", "0")
    assert (ended.code, Path("out.onnx").exists()) == (1, False)
    assert "outputs of the whole differ by" in ended.out
    assert "0 is allowed, or --rtol" in ended.out
    ended = shell(*words, *more, "--rtol", "0.5")
    assert (ended.code, "(allowed: 0.5" in ended.out) == (0, True)
    for wrong in ("-1", "much"):
        assert shell(*words, "--rtol", wrong).code == 2
    with pytest.raises((TypeError, ValueError), match="rtol"):
        propagate("model.onnx", "nhwc", rtol=float("nan"))


NANS: dict[str, Callable[[], Any]] = {
    "NaN": lambda: helper.make_node("Sqrt", ["n"], ["y"]),
    "Inf": lambda: helper.make_node("Exp", ["p"], ["y"]),
}


@pytest.mark.parametrize("kind", NANS)
@pytest.mark.parametrize("how", [("nhwc", "functions"), ("onnxruntime", "onnxruntime")])
def test_outputs_without_a_finite_number_show_nothing(
    shell: Shell, kind: str, how: tuple[str, str]
) -> None:
    node = helper.make_node
    scale, zeros = np.ones(16, "f4"), np.zeros(16, "f4")
    weights = {"w": np.ones((16, 3, 1, 1), "f4"), "scale": scale, "zeros": zeros}
    weights |= {"below": -scale, "far": np.float32(1e30)}
    nodes = [
        node("Conv", ["x", "w"], ["c"]),
        node("Abs", ["c"], ["a"]),
        node("Add", ["a", "far"], ["p"]),
        node("Neg", ["p"], ["n"]),
        NANS[kind](),
        node("BatchNormalization", ["c", "scale", "zeros", "zeros", "below"], ["z"]),
    ]
    ends = {"x": [1, 3, 4, 4]}, {"y": [1, 16, 4, 4], "z": [1, 16, 4, 4]}
    onnx.save(model(nodes, weights, *ends), "model.onnx")
    engine, emit = how
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ended = shell("propagate", "model.onnx", "--engine", engine, "--emit", emit, "-o", "o.onnx")
    assert (ended.code, ended.err) == (3, "")
    assert "not verified" in ended.out
    for name in "yz":
        assert f"output `{name}` of the original has no finite number" in ended.out
    assert "--feed inputs.npz" in ended.out
    told = shell("propagate", "model.onnx", "--engine", engine, "--emit", emit, "--json")
    found = json.loads(told.out)
    assert (found["status"], found["verified"]["outputs"]) == ("undecided", None)


def picking(place: Path, batch: int | str = 1) -> None:
    """A convolution whose channels are picked by an input: of 20, and drawn numbers are 0 and 1."""
    node = helper.make_node
    nodes = [
        node("Conv", ["x", "w"], ["c"]),
        node("Gather", ["table", "rate"], ["size"]),
        node("ReduceSum", ["size"], ["one"], keepdims=0),
        node("Mul", ["c", "one"], ["y"]),
    ]
    weights = {"w": np.ones((16, 3, 1, 1), "f4"), "table": np.ones(1, "f4")}
    inputs = {"x": [batch, 3, 4, 4], "rate": (TensorProto.INT64, [64])}
    onnx.save(model(nodes, weights, inputs, {"y": [batch, 16, 4, 4]}), place)


@pytest.mark.parametrize("batch", [1, "n"])
def test_an_original_that_cannot_be_run_is_no_fault_of_ours(shell: Shell, batch: int | str) -> None:
    """silero_vad was refuted, as its own operators fail on a sampling rate of 0 or 1."""
    picking(Path("model.onnx"), batch)
    words = ("propagate", "model.onnx", "--engine", "nhwc")
    ended = shell(*words, "-o", "out.onnx")
    assert (ended.code, ended.err, Path("out.onnx").exists()) == (3, "", True)
    assert "the model that was read cannot be run with these inputs" in ended.out
    assert "--feed inputs.npz" in ended.out
    np.savez("feed.npz", rate=np.zeros(64, np.int64))
    ended = shell(*words, "--feed", "feed.npz", "-o", "out.onnx")
    assert (ended.code, ended.err) == (0, "")
    assert "outputs differ by" in ended.out


def test_feeds_are_what_outputs_are_compared_on(tmp_path: Path) -> None:
    picking(tmp_path / "model.onnx", "n")
    feed = {"rate": np.zeros(64, np.int64), "x": np.full((3, 3, 4, 4), 7, "f4")}
    found = propagate(tmp_path / "model.onnx", "nhwc", feed=feed)
    assert found.status == "done"
    assert found.verified is not None
    assert 3 in found.verified.batches


WRONG_FEEDS: dict[str, tuple[dict[str, Any], str]] = {
    "name": ({"z": np.zeros(3)}, "the model has no input `z` to feed"),
    "type": ({"x": np.zeros((2, 3, 8, 8))}, "input `x` takes float32"),
    "shape": ({"x": np.zeros((2, 3, 8, 9), "f4")}, "input `x` has the shape (2, 3, 8, 8)"),
    "rank": ({"x": np.zeros((3, 8, 8), "f4")}, "input `x` has the shape (2, 3, 8, 8)"),
}


@pytest.mark.parametrize("case", WRONG_FEEDS)
def test_feeds_that_do_not_fit_are_refused(shell: Shell, case: str) -> None:
    written(Path())
    arrays, says = WRONG_FEEDS[case]
    np.savez("feed.npz", **arrays)
    ended = shell("propagate", "model.onnx", "--engine", "nhwc", "--feed", "feed.npz")
    assert ended.code == 2
    assert says in ended.err
    with pytest.raises(ValueError, match="input"):
        propagate("model.onnx", "nhwc", feed=arrays)


def test_feeds_are_read_without_pickle(shell: Shell) -> None:
    written(Path())
    np.savez("pickled.npz", x=np.array([{}], object))
    Path("text.npz").write_text("no archive", encoding="utf-8")
    for name in ("pickled.npz", "text.npz", "none.npz"):
        ended = shell("propagate", "model.onnx", "--engine", "nhwc", "--feed", name)
        assert (ended.code, name in ended.err) == (4, True)
    np.savez("feed.npz", x=np.zeros((2, 3, 8, 8), "f4"))
    before = Path("feed.npz").read_bytes()
    piped = shell("propagate", "model.onnx", "--engine", "nhwc", "--feed", "-", stdin=before)
    assert (piped.code, piped.err) == (0, "")
    ended = shell(
        "propagate", "model.onnx", "--engine", "nhwc", "--feed", "feed.npz", "-o", "feed.npz"
    )
    assert (ended.code, Path("feed.npz").read_bytes()) == (4, before)


def test_an_open_batch_takes_feeds_of_any(tmp_path: Path) -> None:
    place = tmp_path / "model.onnx"
    place.write_bytes(network(batch="n").SerializeToString())
    feed = {"x": np.random.default_rng(3).standard_normal((7, 3, 8, 8)).astype("f4")}
    found = propagate(place, "nhwc", feed=feed)
    assert (found.status, found.verified is not None) == ("done", True)
    assert found.verified is not None
    assert 7 in found.verified.batches
    with pytest.raises(ValueError, match="the shape"):
        propagate(place, "nhwc", feed={"x": np.zeros((0, 3, 8, 8), "f4")})
