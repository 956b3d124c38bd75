"""Rules with one fault each: a node refuses it, or what comes of it is run: right, or found wrong.

No rule that a user can write makes the pass fail, or a wrong model go through.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import get_args

import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

import numpy as np
import onnx
from propagate_fuzz import random_model
from test_propagate_any_plan import ENGINES

from layoutdsl import Engine
from layoutdsl.graphs.checking.remaking import emission_of
from layoutdsl.graphs.models.onnx_read import Model, read_model
from layoutdsl.graphs.models.onnx_write import model_of
from layoutdsl.graphs.plan import Plan
from layoutdsl.graphs.planning.costs import costed
from layoutdsl.graphs.proving.theorems import proved_rules
from layoutdsl.graphs.roles.anchors import layouts_of
from layoutdsl.graphs.running.verify import verified
from layoutdsl.graphs.ways.ways import Wishes, ways
from layoutdsl.language.meaning.operator import OperandPattern, OperatorRule, Role

ROLES: tuple[Role, ...] = tuple(each for each in get_args(Role) if each != "keep")
STEPS = {"QuantizeLinear", "Sign", "Ceil", "Greater", "Less", "Not"}
"""Operators that make something else of two numbers that are next to each other."""
FEW, MANY = 3, 1000


def mutated(draw: Random, rule: OperatorRule) -> OperatorRule:
    """A rule with other roles or axes, or an attribute that says something else or nothing."""
    names = sorted(rule.attributes)
    match draw.randrange(4):
        case 0 if names:
            changed = {**rule.attributes, draw.choice(names): draw.choice(ROLES)}
            return replace(rule, attributes=changed)
        case 1 if names:
            lost = draw.choice(names)
            left = {name: role for name, role in rule.attributes.items() if name != lost}
            return replace(rule, attributes=left)
        case 2:
            return replace(rule, results=_one_changed(draw, rule.results))
        case _:
            return replace(rule, operands=_one_changed(draw, rule.operands))


def _one_changed(draw: Random, patterns: tuple[OperandPattern, ...]) -> tuple[OperandPattern, ...]:
    number = draw.randrange(len(patterns))
    axes = patterns[number].axes
    if axes is None:
        return patterns
    other = [
        replace(axis, role=draw.choice(ROLES)) if draw.random() < 0.5 else axis for axis in axes
    ]
    if draw.random() < 0.3 and other:
        other.pop(draw.randrange(len(other)))
    if draw.random() < 0.3:
        draw.shuffle(other)
    changed = replace(patterns[number], axes=tuple(other))
    return (*patterns[:number], changed, *patterns[number + 1 :])


def tried(seed: int, place: Path) -> str:
    """What comes of a random graph by rules half of which are mutated: `right` or `refuted`."""
    draw = Random(seed)
    original = random_model(seed)
    onnx.save(original, place)
    model = read_model(place, {})
    engine = ENGINES[draw.choice(sorted(ENGINES))]
    used = {node.operator for node in model.graph.nodes}
    own = [rule for rule in engine.rules if used & set(rule.operators) and draw.random() < 0.5]
    rules = (*(mutated(draw, rule) for rule in own), *engine.rules)
    return _outcome(model, original, replace(engine, rules=rules), draw)


def _outcome(model: Model, original: object, engine: Engine, draw: Random) -> str:
    graph = model.graph
    used = {node.operator for node in graph.nodes}
    found = ways(graph, engine, Wishes())
    chosen = [draw.randrange(len(own)) for own in found.variants]
    taken, cost, moves = costed(graph, found.variants, found.given, found.wanted, chosen)
    plan = Plan(taken, moves, cost, 0, ())
    theorems = proved_rules(graph, found, plan)
    emission = emission_of(model, found, plan, layouts_of(engine), "functions")
    made = model_of(model, emission, {})
    seen = verified(model, emission, made)
    if seen.faults or theorems.refuted:
        return "refuted"
    assert used & STEPS or _outputs_agree(model, original, made)
    return "right"


def _outputs_agree(model: Model, original: object, made: object) -> bool:
    """Whether onnxruntime makes the same of both, on other numbers than those of `verified`."""
    import onnxruntime

    drawn = np.random.default_rng(11)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    feeds = {
        name: drawn.standard_normal(model.graph.values[name].shape).astype("f4")
        for name in model.graph.inputs
    }
    both = []
    for proto in (original, made):
        data = proto.SerializeToString()  # type: ignore[attr-defined]
        session = onnxruntime.InferenceSession(data, options, ["CPUExecutionProvider"])
        both.append(session.run(None, feeds))
    return all(
        np.allclose(one, other, 1e-3, 1e-3, equal_nan=True)
        for one, other in zip(*both, strict=True)
    )


@pytest.mark.slow
def test_a_rule_with_a_fault_ends_in_a_verdict(tmp_path: Path) -> None:
    for seed in range(FEW):
        assert tried(seed, tmp_path / "model.onnx") in ("right", "refuted")


@pytest.mark.campaign
def test_many_rules_of_propagate_with_faults_end_in_verdicts(tmp_path: Path) -> None:
    found = Counter(tried(seed, tmp_path / "model.onnx") for seed in range(MANY))
    print(f"{MANY} graphs by mutated rules: {dict(found)}")
    assert found["refuted"] > 0
