"""An open batch: random graphs run at batches that nobody planned, and what keeps it a number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
pytest.importorskip("scipy")

from onnx_runs import run  # noqa: E402
from propagate_fuzz import random_model  # noqa: E402
from small_graphs import proto  # noqa: E402
from small_models import written  # noqa: E402

from layoutdsl import UnfitModelError, check_model, propagate  # noqa: E402

TARGETS: dict[str, dict[str, Any]] = {
    "NHWC": {"engine": "nhwc"},
    "NCHW16c": {"engine": "blocked16"},
    "plain": {"prefer": {"Conv": "NCHW"}, "emit": "plain"},
    "NHWC, plain": {"prefer": {"Conv": "NHWC"}, "emit": "plain"},
    "onnxruntime": {"engine": "onnxruntime", "emit": "onnxruntime"},
}
FEW, MANY = 5, 400
UNPLANNED = (1, 3, 4)


def opened(model: Any) -> Any:
    """The same with the first axis of all inputs open."""
    for each in model.graph.input:
        extent = each.type.tensor_type.shape.dim[0]
        extent.Clear()
        extent.dim_param = "n"
    for each in model.graph.output:
        each.type.tensor_type.ClearField("shape")
    return model


def drawn(model: Any, batch: int) -> dict[str, Any]:
    random = np.random.default_rng(batch)
    shapes = {
        each.name: [extent.dim_value for extent in each.type.tensor_type.shape.dim[1:]]
        for each in model.graph.input
    }
    return {k: random.standard_normal((batch, *rest)).astype("f4") for k, rest in shapes.items()}


def stays_open(found: Any) -> bool:
    """Whether the model that is written leaves the batch open, as a name and not a number."""
    given = found.model.graph.input[0].type.tensor_type.shape.dim[0]
    is_open = not given.HasField("dim_value")
    assert is_open is not hasattr(found.batch, "reason")
    return is_open


def tried(seed: int, target: str, folder: Path) -> bool:
    """Whether a random graph stays open; fails where that is wrong at a batch nobody planned."""
    model, place = opened(random_model(seed)), folder / "model.onnx"
    onnx.save(model, place)
    try:
        found = propagate(place, **TARGETS[target])
    except UnfitModelError as unfit:
        if "is open, and 1 does not fit" not in unfit.message:  # it was drawn for a batch of 2
            raise
        return False
    if not stays_open(found):
        assert found.batch.planned == 1
        assert found.batch.reason
        return False
    assert found.status != "refuted", (seed, found.verified)
    found.write(folder / "out.onnx")
    assert check_model(folder / "out.onnx", place).faults == (), seed
    result = onnx.load(folder / "out.onnx")
    for batch in UNPLANNED:
        feeds = drawn(model, batch)
        for one, other in zip(run(model, feeds), run(result, feeds), strict=True):
            most = np.max(np.abs(one[np.isfinite(one)]), initial=0.0)
            near = np.allclose(one, other, 1e-3, 1e-3 * max(1.0, most), equal_nan=True)
            assert one.shape == other.shape, (seed, batch)
            assert near, (seed, batch)
    return True


@pytest.mark.ci(1)
@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("target", TARGETS)
def test_random_graphs_are_right_at_every_batch(target: str, tmp_path: Path) -> None:
    first = 10 * list(TARGETS).index(target)
    assert sum(tried(seed, target, tmp_path) for seed in range(first, first + FEW))


@pytest.mark.campaign
@pytest.mark.parametrize("target", TARGETS)
def test_many_random_graphs_are_right_at_every_batch(target: str, tmp_path: Path) -> None:
    kept = sum(tried(seed, target, tmp_path) for seed in range(MANY))
    print(f"{kept} of {MANY} random graphs stay open, {target}")
    assert kept > MANY // 3


CONV = "c = Conv <pads = [1, 1, 1, 1]> (x, w)\n"
WEIGHT = {"w": (20, 3, 3, 3)}
BAKED: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("y = Reshape(c, s)", {"s": np.array([1, 20, 64])}, "it cannot be read at batch|another batch"),
    ("y = Add(c, z)", {"z": np.zeros((2, 20, 8, 8), "f4")}, "it cannot be read at batch|follow"),
    ("k = Shape(x)\nh = Slice(k, o, l)\nm = Cast <to = 1> (h)\ny = Mul(c, m)",
     {"o": np.array([0]), "l": np.array([1])}, "the constant `m` does not follow the batch"),
    ("v = Squeeze(c)\ny = Relu(v)", {}, "does not follow the batch"),
)  # fmt: skip


@pytest.mark.parametrize(("text", "tensors", "reason"), BAKED)
def test_a_batch_that_is_written_in_stays_at_one(
    text: str, tensors: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    model = opened(proto(CONV + text, x=[1, 3, 8, 8], **WEIGHT, **tensors))
    del model.graph.value_info[:]
    place = tmp_path / "model.onnx"
    onnx.save(model, place)
    found = propagate(place, prefer={"Conv": "NHWC"})
    assert not stays_open(found)
    assert found.batch.planned == 1
    assert any(each in found.batch.reason for each in reason.split("|")), found.batch.reason
    assert found.status == "done"
    found.write(tmp_path / "out.onnx")
    assert check_model(tmp_path / "out.onnx", place).holds


def test_a_batch_of_two_that_is_written_in_has_to_be_given(tmp_path: Path) -> None:
    model = opened(
        proto(CONV + "y = Reshape(c, s)", x=[2, 3, 8, 8], s=np.array([2, 1280]), **WEIGHT)
    )
    del model.graph.value_info[:]
    place = tmp_path / "model.onnx"
    onnx.save(model, place)
    with pytest.raises(UnfitModelError, match="1 does not fit: Reshape of `c` was written for"):
        propagate(place, "nhwc")
    found = propagate(place, "nhwc", shapes={"x": (2, 3, 8, 8)})
    assert (found.status, found.batch) == ("done", None)


@pytest.mark.slow
def test_shapes_that_are_worked_out_from_the_batch_stay_open(tmp_path: Path) -> None:
    text = CONV + "k = Shape <end = 1> (x)\ns = Concat <axis = 0> (k, r)\ny = Reshape(c, s)"
    model = opened(proto(text, x=[2, 3, 8, 8], r=np.array([1280]), **WEIGHT))
    del model.graph.value_info[:]
    place = tmp_path / "model.onnx"
    onnx.save(model, place)
    for how in TARGETS.values():
        found = propagate(place, **how)
        assert stays_open(found), found.batch
        assert found.verified is not None
        assert {*found.verified.batches, found.batch.planned} == {1, 2, 5}
        names = [each.dim_param for each in found.model.graph.output[0].type.tensor_type.shape.dim]
        assert names == ["n", ""]


def test_two_batches_that_may_differ_are_asked_for(tmp_path: Path) -> None:
    model = opened(proto("y = MatMul(x, z)", x=[2, 3], z=[3, 4]))
    model.graph.input[1].type.tensor_type.shape.dim[0].dim_param = "m"
    onnx.save(model, tmp_path / "model.onnx")
    with pytest.raises(UnfitModelError, match="the shape of input `x` is open"):
        propagate(tmp_path / "model.onnx", "nhwc")


def named(model: Any, *names: str) -> Any:
    for each, name in zip(opened(model).graph.input, names, strict=True):
        each.type.tensor_type.shape.dim[0].dim_param = name
    return model


TWO = {"x": [2, 3, 8, 8], "z": [2, 20, 1, 1], **WEIGHT}
JOINED = {
    "added": CONV + "y = Mul(c, z)",
    "put side by side": CONV + "g = GlobalAveragePool(c)\ny = Concat<axis=1>(g, z)",
    "worked out": CONV + "k = Shape<end=1>(x)\ns = Concat<axis=0>(k, r)\nf = Reshape(c, s)\n"
    "u = Reshape(z, v)\ny = Concat<axis=1>(f, u)",
}


@pytest.mark.slow
@pytest.mark.sampled(9)
@pytest.mark.parametrize("text", JOINED)
@pytest.mark.parametrize("names", [("N", "batch"), ("", ""), ("", "batch")])
def test_two_names_of_one_batch_stay_open(
    text: str, names: tuple[str, str], tmp_path: Path
) -> None:
    said = {"r": np.array([1280]), "v": np.array([0, 20])} if text == "worked out" else {}
    model, place = named(proto(JOINED[text], **TWO, **said), *names), tmp_path / "model.onnx"
    del model.graph.value_info[:]
    onnx.save(model, place)
    for how in TARGETS.values():
        found = propagate(place, **how)
        assert stays_open(found), found.batch
        assert (found.status, found.batch.name) == ("done", names[0] or names[1])
        found.write(tmp_path / "out.onnx")
        assert check_model(tmp_path / "out.onnx", place).faults == ()
        for batch in UNPLANNED:
            feeds = drawn(model, batch)
            for one, other in zip(run(model, feeds), run(found.model, feeds), strict=True):
                assert np.allclose(one, other, 1e-4, 1e-4)


@pytest.mark.parametrize(
    "text",
    [
        CONV + "g = GlobalAveragePool(c)\na = Flatten(g)\nb = Flatten(z)\ny = Gemm<transB=1>(a, b)",
        CONV + "y = Relu(c)\nw2 = Relu(z)",
    ],
)
def test_two_batches_that_the_model_keeps_apart_are_asked_for(text: str, tmp_path: Path) -> None:
    model = named(proto(text, **TWO), "pictures", "words")
    if "w2" in text:
        model.graph.output.append(onnx.helper.make_empty_tensor_value_info("w2"))
    del model.graph.value_info[:]
    onnx.save(model, tmp_path / "model.onnx")
    with pytest.raises(UnfitModelError, match="the shape of input `x` is open"):
        propagate(tmp_path / "model.onnx", "nhwc")


def test_each_of_three_names_has_to_belong_to_the_others(tmp_path: Path) -> None:
    text = CONV + "y = Mul(c, z)\nd = Relu(q)"
    model = named(proto(text, **TWO, q=[2, 4]), "a", "b", "c")
    model.graph.output.append(onnx.helper.make_empty_tensor_value_info("d"))
    del model.graph.value_info[:]
    onnx.save(model, tmp_path / "model.onnx")
    with pytest.raises(UnfitModelError, match="the shape of input `x` is open"):
        propagate(tmp_path / "model.onnx", "nhwc")


@pytest.mark.parametrize("batches", ["[2, 7]", "[3, 5]", "[2]", "[1, 2]", "[]", "[2, 2]"])
def test_other_batches_than_tell_extents_apart_are_refused(batches: str, tmp_path: Path) -> None:
    place = written(tmp_path, batch="n")
    found = propagate(place, "nhwc", verify="off").model
    said = next(each for each in found.metadata_props if each.key == "layoutdsl.certificate")
    assert '"batches": [2, 5]' in said.value
    said.value = said.value.replace('"batches": [2, 5]', f'"batches": {batches}')
    onnx.save(found, tmp_path / "out.onnx")
    if batches == "[]":
        with pytest.raises(UnfitModelError, match="is open"):
            check_model(tmp_path / "out.onnx", place)
        return
    assert not check_model(tmp_path / "out.onnx", place).holds


def test_a_number_in_place_of_the_batch_is_noticed(tmp_path: Path) -> None:
    place = written(tmp_path, batch="n")
    found = propagate(place, "nhwc", verify="off").model
    found.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 2
    onnx.save(found, tmp_path / "out.onnx")
    assert not check_model(tmp_path / "out.onnx", place).holds
