"""Rules with one fault each: a node refuses it, or what comes of it is run: right, or found wrong.

No rule that a user can write makes the pass fail, or a wrong model go through.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
pytest.importorskip("scipy")

import numpy as np
import onnx
from onnx_runs import run
from propagate_fuzz import random_model
from test_propagate_any_plan import engine_text, readable

from layoutdsl import LayoutError, load_engine, propagate

ROLES = (
    *("through", "sum", "max", "min", "product", "mean", "window", "joined", "cut", "gathered"),
    *("grown", "scaled", "whole", "tail", "renamed"),
)
STEPS = {"QuantizeLinear", "Sign", "Ceil", "Greater", "Less", "Not"}
"""Operators that make something else of two numbers that are next to each other."""
RULES = load_engine("").rules
ROLE = re.compile(r": *[a-z]+")
AXES = re.compile(r"\[([^\[\]]+)\]")
FEW, MANY = 6, 1000


def mutated(draw: Random, rule: str) -> str:
    """The text of a rule with other roles or axes, or an attribute that says nothing."""
    head, given, said = rule.partition(" with ")
    if given and draw.random() < 0.5:
        attributes = said.split(", ")
        number = draw.randrange(len(attributes))
        if draw.random() < 0.5:
            del attributes[number]
        else:
            attributes[number] = ROLE.sub(f": {draw.choice(ROLES)}", attributes[number])
        return f"{head} with {', '.join(attributes)}" if attributes else head
    operands = list(AXES.finditer(head))
    if not operands:
        return rule
    found = draw.choice(operands)
    axes = [each.strip() for each in found[1].split(",")]
    number = draw.randrange(len(axes))
    match draw.randrange(3):
        case 0:
            role = draw.choice(ROLES)
            bare = ROLE.sub("", axes[number])
            axes[number] = bare if role == "through" else f"{bare}: {role}"
        case 1:
            del axes[number]
        case _:
            draw.shuffle(axes)
    return f"{head[: found.start(1)]}{', '.join(axes)}{head[found.end(1) :]}{given}{said}"


def tried(seed: int, place: Path) -> str:
    """What comes of a random graph by rules half of which are mutated: `right` or `refuted`."""
    draw, original = Random(seed), random_model(seed)
    onnx.save(original, place)
    used = {node.op_type for node in original.graph.node}
    own = [rule.text for rule in RULES if used & set(rule.operators) and draw.random() < 0.5]
    changed = [each for each in (mutated(draw, rule) for rule in own) if readable(each)]
    text = "\n".join([engine_text(draw, original), *changed])
    try:
        engine = load_engine(text)
    except LayoutError:  # a preference does not fit the mutated rule
        return "unreadable"
    found = propagate(place, engine)
    if found.status == "refuted":
        with pytest.raises(ValueError, match="wrong"):
            found.write(place.with_name("out.onnx"))
        return "refuted"
    assert used & STEPS or _outputs_agree(original, found.model), seed
    return "right"


def _outputs_agree(original: Any, made: Any) -> bool:
    """Whether onnxruntime makes the same of both, on other numbers than `propagate` drew."""
    drawn = np.random.default_rng(11)
    shapes = {
        each.name: [extent.dim_value for extent in each.type.tensor_type.shape.dim]
        for each in original.graph.input
    }
    feeds = {name: drawn.standard_normal(shape).astype("f4") for name, shape in shapes.items()}
    both = zip(run(original, feeds), run(made, feeds), strict=True)
    return all(np.allclose(one, other, 1e-3, 1e-3, equal_nan=True) for one, other in both)


@pytest.mark.slow
def test_a_rule_with_a_fault_ends_in_a_verdict(tmp_path: Path) -> None:
    found = Counter(tried(seed, tmp_path / "model.onnx") for seed in range(FEW))
    assert found["right"] + found["refuted"] > FEW // 2


@pytest.mark.campaign
def test_many_rules_of_propagate_with_faults_end_in_verdicts(tmp_path: Path) -> None:
    found = Counter(tried(seed, tmp_path / "model.onnx") for seed in range(MANY))
    print(f"{MANY} graphs by mutated rules: {dict(found)}")
    assert found["refuted"] > 0
