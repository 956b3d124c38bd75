"""Drawn applications of drawn layouts, held against a second reading of their texts.

`mutants/oracle.py` reads a text in plain integers and shares the parser alone with the product.
"""

from __future__ import annotations

from collections import Counter
from math import prod
from random import Random

import numpy as np
import pytest
import random_declarations
from mutants import oracle

import layoutdsl
from layoutdsl import Layout, LayoutError


def drawn(random: Random) -> str:
    """A layout ``L`` and one that applies it, ``R``."""
    inner = random_declarations.right(random, block=False)
    axes = [each.split(":")[0] for each in inner.partition("(")[2].partition(")")[0].split(", ")]
    heads, index, where = list[str](), list[str](), list[str]()
    for axis in axes:
        number = random.choice([2, 3, 4, 8])
        match random.randrange(8):
            case 0:
                index.append(str(random.randrange(4)))
            case 1:
                heads += [f"{axis}1", f"{axis}0: {number}"]
                index.append(f"{axis}1*{number} + {axis}0")
            case 2:
                heads += [f"{axis}1", f"{axis}0: {number}"]
                index.append(f"({axis}1, {axis}0)")
            case 3:
                heads.append(f"p{axis}")
                index.append(random.choice([f"p{axis}/{number}", f"p{axis}%{number}"]))
            case 4:
                heads.append(f"p{axis}")
                index.append(f"p{axis} + {random.randrange(3)} : {axis.upper()}L")
                where.append(f"{axis.upper()}L >= 1")
            case _:
                heads.append(axis)
                index.append(axis)
    if not heads:
        heads.append("z: 3")
    opened = [f"{axis.upper()}L" for axis in axes if any(f" : {axis.upper()}L" in i for i in index)]
    random.shuffle(heads)
    body = f"L[{', '.join(index)}]"
    spare = "" if "z: 3" not in heads else "z, "
    body = random.choice([body, f"[{spare}{body}]"]) if not spare else f"[{spare}{body}]"
    parameters = f"<{', '.join(opened)}>" if opened else ""
    clause = f" where {', '.join(where)}" if where else ""
    return f"{inner}\nlayout R{parameters}({', '.join(heads)}) = {body}{clause}"


def judged(seed: int, count: int) -> Counter[str]:
    """What came of each text; a layout or a verdict that the second reading contradicts fails."""
    random, found = Random(seed), Counter[str]()
    while sum(found.values()) < count:
        text = drawn(random)
        try:
            layout = layoutdsl.parse(text)["R"]
        except LayoutError as wrong:
            found[str(wrong)[6:10]] += 1
            continue
        (checked,) = layoutdsl.prove(layout).checked
        found[checked.status] += 1
        assert contradiction(text, layout, checked.status) == "", text
    return found


def contradiction(text: str, layout: Layout, status: str) -> str:
    """What a second reading has against a layout or its verdict."""
    reading, spilled = oracle.read(text), False
    for values in oracle.shapes((reading,), 20, 3000, 25):
        index = oracle.every_index(reading, values)
        count = prod(reading.shape(values))
        wanted = np.broadcast_to(reading.offsets(values, index), (count,))
        if not np.array_equal(np.ravel(layout.offsets(values)), wanted):
            return f"offsets differ at {values}"
        if reading.size(values) != layout.size(values):
            return f"sizes differ at {values}"
        spilled = spilled or reading.spills(values, index)
        if status == "proved" and (spilled or len(np.unique(wanted)) < count):
            return f"proved, and wrong at {values}"
    return ""


def test_applications_are_read_and_judged_alike() -> None:
    found = judged(30, 10)
    assert found["proved"] >= 4
    assert found["refuted"] >= 3


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4, 8))
def test_more_applications_are_read_and_judged_alike(seed: int) -> None:
    assert judged(seed, 60)["proved"] >= 20


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(100, 120))
def test_two_thousand_applications_drawn(seed: int) -> None:
    print(judged(seed, 100))
