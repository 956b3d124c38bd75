"""Whatever layouts operators are asked to be in, the plan is right: drawn, proved, run and checked.

Drawn preferences are seldom the cheapest, so plans have moves in all places.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
pytest.importorskip("scipy")

import onnx
from propagate_fuzz import random_model

from layoutdsl import LayoutError, check_model, load_engine, propagate

LAYOUTS = """
    layout Nhwc(n, c, h, w) = [n, h, w, c]
    layout Fours(n, c, h, w) = [n, c/4, h, w, c%4]
    layout Eights(n, c, h, w) = [n, c/8, h, w, c%8]
    layout Sixteens(n, c, h, w) = [n, c/16, h, w, c%16]
    layout Turned(n, c, h, w) = [w, c, n, h]
    layout Odd(n, c, h, w) = [c/3, h/2, n/2, w, h%2, n%2, c%3]
    layout Rows(a, b) = [b, a]
    layout Threes(a, b) = [b/3, a, b%3]
"""
"""Of `Odd`, batches and rows are padded, too."""
NAMES = ("Nhwc", "Fours", "Eights", "Sixteens", "Turned", "Odd")
RULED = {name for rule in load_engine("").rules for name in rule.operators}
FEW, MANY = 6, 1500


def readable(text: str) -> bool:
    """Whether the language takes a text."""
    try:
        load_engine(text)
    except LayoutError:
        return False
    return True


def engine_text(draw: Random, model: Any) -> str:
    """A text that asks some operators of a model to be in one or two layouts, others in any."""
    lines = list[str]()
    for operator in sorted({node.op_type for node in model.graph.node} & RULED):
        if draw.random() < (0.9 if operator == "Conv" else 0.5):
            lines.append(f"prefer {operator} = {', '.join(draw.sample(NAMES, draw.randint(1, 2)))}")
        elif draw.random() < 0.1:
            lines.append(f"prefer {operator} = {draw.choice(('Rows', 'Threes'))}")
    return "\n".join([LAYOUTS, *(line for line in lines if readable(f"{LAYOUTS}\n{line}"))])


def tried(seed: int, place: Path) -> Counter[str]:
    """Count the parts of one drawn plan; fail on a wrong claim, a wrong number or wrong padding."""
    draw, model = Random(seed), random_model(seed)
    onnx.save(model, place)
    how: dict[str, Any] = {"choice": draw.choice(("first", "any"))}
    found = propagate(place, load_engine(engine_text(draw, model)), **how)
    theorems = found.theorems
    assert theorems.refuted == (), f"seed {seed}"
    assert theorems.undecided == (), f"seed {seed}"
    assert found.verified is not None
    assert found.verified.faults == (), f"seed {seed}"
    out = place.with_name("out.onnx")
    found.write(out, force=True)
    assert check_model(out, place).faults == (), f"seed {seed}"
    found_here = Counter({"everywhere": theorems.everywhere, "here": theorems.here})
    found_here["moves"] = len(found.transforms)
    return found_here


@pytest.mark.slow
def test_any_plan_is_right(tmp_path: Path) -> None:
    found = Counter[str]()
    for seed in range(FEW):
        found += tried(seed, tmp_path / "model.onnx")
    assert found["everywhere"] > 10
    assert found["moves"] > 4 * FEW


@pytest.mark.campaign
@pytest.mark.parametrize("block", range(4))
def test_many_plans_of_propagate_are_right(block: int, tmp_path: Path) -> None:
    found = Counter[str]()
    for seed in range(block * MANY, (block + 1) * MANY):
        found += tried(seed, tmp_path / "model.onnx")
    print(f"{MANY} random plans: {dict(found)}")
