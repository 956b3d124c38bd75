"""Random graphs, planned, emitted and run: each part alone with poisoned padding, and the whole.

`pytest -m campaign -k propagate -s` says how many, and how they were run.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
pytest.importorskip("scipy")

import onnx
from propagate_fuzz import random_model

from layoutdsl import Engine, Layout, load_engine
from layoutdsl.graphs.checking.remaking import Emit, emission_of, wishes_of
from layoutdsl.graphs.engine_text import engine_called
from layoutdsl.graphs.graph import Graph
from layoutdsl.graphs.models.onnx_read import read_model
from layoutdsl.graphs.models.onnx_write import model_of
from layoutdsl.graphs.planning.program import plan_of
from layoutdsl.graphs.roles.anchors import layouts_of
from layoutdsl.graphs.running.verify import verified
from layoutdsl.graphs.ways.ways import ways

EIGHT = """layout NCHW8c(n, c, h, w) = [n, c/8, h, w, c%8]
prefer Conv = NCHW8c, NHWC
prefer MaxPool = NHWC
"""
TARGETS: dict[str, tuple[str, Emit]] = {
    "NHWC": ("nhwc", "functions"),
    "NCHW16c": ("blocked16", "functions"),
    "NCHW8c beside NHWC": (EIGHT, "functions"),
    "plain": ("prefer Conv = NCHW", "plain"),
    "onnxruntime": ("onnxruntime", "onnxruntime"),
}
FEW, MANY = 5, 2000


@cache
def engine_of(target: str) -> Engine:
    text, _ = TARGETS[target]
    return engine_called(text) if text.isalnum() else load_engine(text, target)


def laid(names: tuple[str, ...], graph: Graph, layouts: tuple[Layout, ...]) -> dict[str, Layout]:
    """The first layout of rank 4 for all values that have it."""
    first = [each for each in layouts if len(each.axes) == 4][:1]
    own = (name for name in names if len(graph.values[name].shape) == 4)
    return {name: each for name in own if name not in graph.constants for each in first}


def tried(seed: int, target: str, place: Path) -> Counter[str]:
    """How nodes were run; fails where anything is wrong."""
    onnx.save(random_model(seed), place)
    model = read_model(place, {})
    engine, (_, kind) = engine_of(target), TARGETS[target]
    choice = "any" if target == "NCHW8c beside NHWC" else "first"
    ends = (model.graph.inputs, model.graph.outputs) if seed % 3 == 0 else ((), ())
    given, wanted = (laid(each, model.graph, layouts_of(engine)) for each in ends)
    found = ways(model.graph, engine, wishes_of(given, wanted, choice, kind))
    plan = plan_of(model.graph, found.variants, found.given, found.wanted)
    emission = emission_of(model, found, plan, layouts_of(engine), kind)
    proto = model_of(model, emission, {})
    onnx.checker.check_model(proto, full_check=True)
    seen = verified(model, emission, proto)
    assert seen.faults == (), f"seed {seed}, {target}"
    assert seen.nodes == len(model.graph.nodes)
    minimal = Counter({"minimal": 1} if plan.cost == plan.bound else {"not proved minimal": 1})
    return Counter(variant.how for variant in plan.variants) + minimal


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
