"""Any plan that ways allow is right, and not only the cheapest: drawn, proved, emitted and run."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

import onnx
from propagate_fuzz import random_model

from layoutdsl import load_engine
from layoutdsl.graphs.checking.remaking import emission_of
from layoutdsl.graphs.engine_text import engine_called
from layoutdsl.graphs.models.onnx_read import read_model
from layoutdsl.graphs.models.onnx_write import model_of
from layoutdsl.graphs.plan import Plan
from layoutdsl.graphs.planning.costs import costed
from layoutdsl.graphs.proving.theorems import proved_rules, template_of
from layoutdsl.graphs.roles.anchors import layouts_of
from layoutdsl.graphs.roles.rejoined import follows
from layoutdsl.graphs.running.verify import verified
from layoutdsl.graphs.ways.ways import Wishes, ways

ENGINES = {
    "nhwc": engine_called("nhwc"),
    "blocked16": engine_called("blocked16"),
    "fours": load_engine(
        "layout NCHW4c(n, c, h, w) = [n, c/4, h, w, c%4]\nprefer Conv = NCHW4c, NHWC", "fours"
    ),
    "eights": load_engine(
        "layout NCHW8c(n, c, h, w) = [n, c/8, h, w, c%8]\nprefer Conv = NCHW8c", "eights"
    ),
    # batches and rows are padded too
    "odd": load_engine(
        "layout Odd(n, c, h, w) = [c/3, h/2, n/2, w, h%2, n%2, c%3]\nprefer Conv = Odd", "odd"
    ),
}
FEW, MANY = 6, 1500


def tried(seed: int, place: Path) -> Counter[str]:
    """A random variant of each node; fails where a claim, a number or a lane is wrong."""
    draw = Random(seed)
    onnx.save(random_model(seed), place)
    model = read_model(place, {})
    engine = ENGINES[draw.choice(sorted(ENGINES))]
    found = ways(model.graph, engine, Wishes(choice=draw.choice(("first", "any"))))
    for bound, own in zip(found.bound, found.variants, strict=True):
        for each in own:
            named = isinstance(bound, str) or each.how in ("anchor", "written")
            assert named or follows(bound, template_of(each)), f"seed {seed}: {each}"
    chosen = [draw.randrange(len(own)) for own in found.variants]
    taken, cost, moves = costed(model.graph, found.variants, found.given, found.wanted, chosen)
    plan = Plan(taken, moves, cost, 0, ())
    theorems = proved_rules(model.graph, found, plan)
    assert not theorems.refuted, f"seed {seed}"
    assert not theorems.undecided, f"seed {seed}"
    emission = emission_of(model, found, plan, layouts_of(engine), "functions")
    seen = verified(model, emission, model_of(model, emission, {}))
    assert seen.faults == (), f"seed {seed}"
    return Counter({"everywhere": theorems.everywhere, "here": theorems.here, "moves": len(moves)})


@pytest.mark.slow
def test_any_plan_is_right(tmp_path: Path) -> None:
    found = Counter[str]()
    for seed in range(FEW):
        found += tried(seed, tmp_path / "model.onnx")
    assert found["everywhere"] > 10


@pytest.mark.campaign
@pytest.mark.parametrize("block", range(4))
def test_many_plans_of_propagate_are_right(block: int, tmp_path: Path) -> None:
    found = Counter[str]()
    for seed in range(block * MANY, (block + 1) * MANY):
        found += tried(seed, tmp_path / "model.onnx")
    print(f"{MANY} random plans: {dict(found)}")
