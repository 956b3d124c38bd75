"""Modules of layouts whose axes are shorter than what cuts them: names that are numbers."""

from __future__ import annotations

from random import Random

import pytest

import layoutdsl


def written(random: Random) -> str:
    """A layout with an axis of fixed extent, cut by a number that may be larger."""
    extent, block = random.randint(1, 5), random.randint(2, 7)
    axes = ["c", f"p: {extent}", "s"]
    high, low = f"p/{block}", f"p%{block}"
    joined = random.choice((f"({high}, c)", f"(c, {high})", high))
    places = [low, joined, "s"] + (["c"] if joined == high else [])
    if random.random() < 0.4:
        places[places.index("s")] = "s/4"
        places.append("s%4")
    random.shuffle(axes)
    random.shuffle(places)
    fill = random.choice(("", " fill any", " fill 3"))
    return f"layout Drawn({', '.join(axes)}) = [{', '.join(places)}]{fill}"


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "text",
    [
        "layout Drawn(c, pattern: 1, is) = [pattern%3, (pattern/3, c); is] fill any",
        "layout Drawn(c, p: 2, s) = [p%3, (p/3, c), s]",
        "layout Drawn(s, p: 4, c) = [(c, p/3), s/4, p%3, s%4]",
    ],
)
def test_an_axis_shorter_than_its_block(text: str) -> None:
    made = layoutdsl.generate(layoutdsl.parse(text)["Drawn"])
    assert made.checked.status == "proved"
    assert "VALIDATED = False" not in made.text


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 3, 4))])
def test_drawn(seed: int) -> None:
    random = Random(seed)
    for _ in range(6 if seed == 1 else 40):
        text = written(random)
        try:
            layoutdsl.generate(layoutdsl.parse(text)["Drawn"])
        except layoutdsl.UnvalidatedError as missing:
            pytest.fail(f"{text}: {missing}")
