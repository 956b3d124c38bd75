"""Random graphs, planned, emitted and run: each part alone with poisoned padding, and the whole.

`pytest -m campaign -k propagate -s` says how many, and how they were run.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
pytest.importorskip("scipy")

import onnx
from propagate_fuzz import random_model

from layoutdsl import Engine, Layout, library, load_engine, propagate

EIGHT = """layout NCHW8c(n, c, h, w) = [n, c/8, h, w, c%8]
prefer Conv = NCHW8c, NHWC
prefer MaxPool = NHWC
"""
TARGETS: dict[str, tuple[str | Engine, dict[str, Any], Layout]] = {
    "NHWC": ("nhwc", {}, library("NHWC")),
    "NCHW16c": ("blocked16", {}, library("NCHW16c")),
    "NCHW8c beside NHWC": (load_engine(EIGHT), {"choice": "any"}, library("NCHWc<8>")),
    "plain": (load_engine("prefer Conv = NCHW"), {"emit": "plain"}, library("NCHW")),
    "onnxruntime": ("onnxruntime", {"emit": "onnxruntime"}, library("NCHW16c")),
}
"""For each the engine, how it is asked, and a layout of inputs and outputs."""
FEW, MANY = 5, 2000


def of_four(infos: Any, layout: Layout) -> dict[str, Layout]:
    """The layout for all values that have four axes."""
    own = (each for each in infos if len(each.type.tensor_type.shape.dim) == 4)
    return {each.name: layout for each in own}


def tried(seed: int, target: str, place: Path) -> Counter[str]:
    """How nodes were run; fails where anything is wrong."""
    model, (engine, how, layout) = random_model(seed), TARGETS[target]
    onnx.save(model, place)
    if seed % 3 == 0:
        ends = onnx.shape_inference.infer_shapes(model).graph
        how = {**how, "inputs": of_four(ends.input, layout)}
        how["outputs"] = of_four(ends.output, layout)
    found = propagate(place, engine, **how)
    onnx.checker.check_model(found.model, full_check=True)
    assert found.verified is not None
    assert found.verified.faults == (), f"seed {seed}, {target}"
    assert found.theorems.refuted == (), f"seed {seed}, {target}"
    assert found.verified.nodes == found.figures.nodes
    minimal = Counter({"minimal": 1} if found.figures.proved else {"not proved minimal": 1})
    return Counter(variant.how for variant in found.plan.variants) + minimal


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_random_graphs_mean_the_same_in_every_layout(target: str, tmp_path: Path) -> None:
    first = 100 * list(TARGETS).index(target)
    for seed in range(first, first + FEW):
        tried(seed, target, tmp_path / "model.onnx")


@pytest.mark.campaign
@pytest.mark.parametrize("target", TARGETS)
def test_many_random_graphs_mean_the_same(target: str, tmp_path: Path) -> None:
    found = Counter[str]()
    for seed in range(MANY):
        found += tried(seed, target, tmp_path / "model.onnx")
    print(f"{MANY} random graphs, {target}: {dict(found)}")
    assert found["minimal"] > 0.99 * MANY
