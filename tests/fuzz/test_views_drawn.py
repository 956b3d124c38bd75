"""Layouts that nobody chose, as modules of views: validated, and right at drawn shapes."""

from __future__ import annotations

from random import Random

import pytest
from random_digits import with_copies
from random_layouts import drawn
from views_modules import check, shapes_of

from layoutdsl import UnvalidatedError, generate, prove


def run(seed: int, count: int) -> dict[str, int]:
    """How many proved layouts got which modules; each module is run."""
    random, found = Random(seed), {"views": 0, "element by element": 0, "none": 0}
    while sum(found.values()) < count:
        layout = with_copies(random).layout if random.random() < 0.2 else drawn(random)
        if prove(layout).checked[0].status != "proved":
            continue
        try:
            made = generate(layout)
        except UnvalidatedError:
            found["none"] += 1
            continue
        found["views" if made.fallback is None else "element by element"] += 1
        check(layout, made.text, list(shapes_of(layout, random, 3)))
    return found


@pytest.mark.slow
def test_drawn_layouts() -> None:
    found = run(11, 60)
    assert found["none"] <= 1
    assert found["views"] >= 50


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(20))
def test_many_drawn_views(seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    found = run(1000 + seed, 1000)
    with capsys.disabled():
        print(found)
    assert found["none"] <= 10
