"""Wrong models are refuted by their outputs alone, where operators round, too.

A fault is planted between the model that `propagate` makes and onnxruntime, which runs another one.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
pytest.importorskip("scipy")

from onnx import numpy_helper  # noqa: E402
from propagate_fuzz import random_model  # noqa: E402
from test_written_figures import quantised  # noqa: E402

from layoutdsl import propagate  # noqa: E402

TARGETS: dict[str, dict[str, Any]] = {
    "NHWC": {"engine": "nhwc"},
    "NCHW16c": {"engine": "blocked16"},
    "NHWC, plain": {"engine": "nhwc", "emit": "plain"},
}
ROUNDING = {"QuantizeLinear", "DynamicQuantizeLinear", "Sign", "Ceil", "Greater", "Less", "Cast"}
FEW, MANY = 24, 1500
SEEDS = (31, 32, 33)


def run(model: Any, feeds: dict[str, Any]) -> list[Any]:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    data = model.SerializeToString()
    return list(ort.InferenceSession(data, options, ["CPUExecutionProvider"]).run(None, feeds))


def feeds(model: Any, seed: int) -> dict[str, Any]:
    drawn = np.random.default_rng(seed)
    return {
        each.name: drawn.standard_normal(
            [extent.dim_value for extent in each.type.tensor_type.shape.dim]
        ).astype("f4")
        for each in model.graph.input
    }


def planted(model: Any, draw: Random) -> Any:
    """A model with one fault: weights in another order, or a Transpose by another permutation."""
    wrong = type(model)()
    wrong.CopyFrom(model)
    weights = [
        each
        for each in wrong.graph.initializer
        if each.dims and max(each.dims) > 1 and each.data_type in (1, 2, 3)
    ]
    turned = [each for each in wrong.graph.node if each.op_type == "Transpose"]
    if turned and draw.random() < 0.4:
        perm = next(each for each in draw.choice(turned).attribute if each.name == "perm")
        order = list(perm.ints)
        one, other = draw.sample(range(len(order)), 2)
        order[one], order[other] = order[other], order[one]
        perm.ints[:] = order
    elif weights:
        tensor = draw.choice(weights)
        array = numpy_helper.to_array(tensor)
        axis = int(np.argmax(array.shape))
        wrongly = np.flip(array, axis) if draw.random() < 0.5 else np.roll(array, 1, axis)
        tensor.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(wrongly), tensor.name))
    return wrong


def apart(one: list[Any], other: list[Any]) -> float:
    """The mean difference of the output that differs most, relative to its mean number."""
    worst = 0.0
    for a, b in zip(one, other, strict=True):
        if a.shape != b.shape:
            return np.inf
        if not a.size or a.dtype.kind != "f" or not np.isfinite(a).all():
            continue
        size = float(np.abs(a, dtype="f8").mean())
        away = float(np.abs(a.astype("f8") - np.where(np.isfinite(b), b, 1e30)).mean())
        worst = max(worst, away / size if size else 0.0)
    return worst


def faulty(right: Any, wrong: Any) -> type:
    """A session of onnxruntime that runs the wrong model, or a part of it, for the right one."""
    session = ort.InferenceSession
    weights = {
        each.name: each
        for each, before in zip(wrong.graph.initializer, right.graph.initializer, strict=True)
        if each != before
    }
    nodes = {
        node.output[0]: node
        for node, before in zip(wrong.graph.node, right.graph.node, strict=True)
        if node != before
    }

    class Faulty:
        def __init__(self, data: bytes, *more: Any) -> None:
            model = onnx.load_from_string(data)
            self.is_ours = any(node.metadata_props for node in model.graph.node)
            if self.is_ours:
                for each in model.graph.initializer:
                    each.CopyFrom(weights.get(each.name, each))
                for each in model.graph.node:
                    each.CopyFrom(nodes.get(each.output[0], each))
            self.session = session(model.SerializeToString(), *more)

        def run(self, outputs: Any, given: dict[str, Any]) -> Any:
            changed = [name for name in given if self.is_ours and name in weights]
            now = {name: numpy_helper.to_array(weights[name]) for name in changed}
            return self.session.run(outputs, {**given, **now})

    return Faulty


def tried(model: Any, target: str, seed: int, folder: Path) -> str:
    """What is said of a fault: `refuted`, `undecided`, `not run`, or `passed` where it is small."""
    place = folder / "model.onnx"
    onnx.save(model, place)
    found = propagate(place, **TARGETS[target], verify="outputs")
    assert found.status != "refuted", (seed, found.verified)
    right = found.model
    wrong = planted(right, Random(seed))
    try:
        wrongly = [apart(run(model, f), run(wrong, f)) for f in (feeds(model, s) for s in SEEDS)]
    except Exception:  # whatever C++ throws: such a model does not even run
        return "not run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ort, "InferenceSession", faulty(right, wrong))
        seen = propagate(place, **TARGETS[target], verify="outputs").verified
    assert seen is not None
    if seen.faults:
        assert max(wrongly) > 0, seed
        return "refuted"
    if seen.undecided:
        return "undecided"
    # What is far off for every input is not let through.
    assert min(wrongly) < 0.3, (seed, target, wrongly, seen)
    return "passed" if max(wrongly) > 1e-3 else "no fault"


def rounding(seed: int) -> Any:
    """The first model from a seed on in which an operator rounds."""
    while True:
        model = random_model(seed)
        if ROUNDING & {each.op_type for each in model.graph.node}:
            return model
        seed += 100_000


@pytest.mark.ci(1)
@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_faults_beside_rounding_are_found(target: str, tmp_path: Path) -> None:
    first = 1000 * list(TARGETS).index(target)
    found = Counter(tried(rounding(k), target, k, tmp_path) for k in range(first, first + FEW // 4))
    assert found["refuted"] > found["passed"], found


@pytest.mark.ci(1)
@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_faults_of_quantised_convolutions_are_found(target: str, tmp_path: Path) -> None:
    """A tolerance of 0.5 had let all of them through."""
    quantised(tmp_path / "codes.onnx")
    model = onnx.load(tmp_path / "codes.onnx")
    found = Counter(tried(model, target, seed, tmp_path) for seed in range(FEW // 2))
    assert found["refuted"] > found["passed"], found


@pytest.mark.campaign
@pytest.mark.parametrize("target", TARGETS)
def test_many_faults_beside_rounding_are_found(target: str, tmp_path: Path) -> None:
    found = Counter(tried(rounding(seed), target, seed, tmp_path) for seed in range(MANY))
    print(f"{dict(found)} of {MANY} models with a fault, {target}")
    assert found["refuted"] > found["passed"]
