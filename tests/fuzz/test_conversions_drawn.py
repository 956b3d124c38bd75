"""Pairs of layouts that nobody chose, converted by modules of views: right at drawn shapes."""

from __future__ import annotations

from random import Random

import pytest
from conversion_modules import check, drawn_pair, pair_shapes

from layoutdsl.code.arrays import generate_conversion
from layoutdsl.code.moves import Fallback
from layoutdsl.code.validate.arrays import validate_conversion
from layoutdsl.code.validate.outcome import Validated


def run(seed: int, count: int) -> dict[str, int]:
    """How many pairs have modules that are proved; each module is run, proved or not."""
    random, found = Random(seed), {"proved": 0, "not proved": 0, "no common digits": 0}
    for _ in range(count):
        pair = drawn_pair(random)
        made = generate_conversion(*pair, texts=("", ""))
        if isinstance(made, Fallback):
            found["no common digits"] += 1
            continue
        check(made.text, pair, list(pair_shapes(pair, random, 3)))
        outcome = validate_conversion(made.text, *pair, texts=("", ""))
        found["proved" if isinstance(outcome, Validated) else "not proved"] += 1
    return found


@pytest.mark.slow
def test_drawn_pairs() -> None:
    found = run(1, 60)
    assert found["not proved"] <= 5
    assert found["proved"] >= 40


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(20))
def test_many_drawn_pairs(seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    found = run(1000 + seed, 500)
    with capsys.disabled():
        print(found)
    assert found["not proved"] <= 50
