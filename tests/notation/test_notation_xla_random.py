"""Random shapes of XLA: read, held against plain integers, printed and read again."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod
from random import Random

import pytest
from xla_shapes import Drawn, draw, shape_of

import layoutdsl
from layoutdsl import Layout

SEEDS = range(250)
MOST_INDICES = 60


def read(text: str) -> Layout:
    return layoutdsl.from_notation("xla", text)


def indices(shape: list[int], random: Random) -> list[list[int]]:
    if prod(shape) <= MOST_INDICES:
        return [list(each) for each in product(*map(range, shape))]
    return [[random.randrange(extent) for extent in shape] for _ in range(MOST_INDICES)]


def assert_means(layout: Layout, drawn: Drawn, random: Random) -> None:
    shape = shape_of(drawn, random)
    assert layout.size(shape) == drawn.size(shape)
    for index in indices(shape, random):
        assert layout.offset(index, shape) == drawn.offset(index, shape), (index, shape)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_shape_means_what_it_says_and_prints_back(seed: int) -> None:
    random = Random(seed)
    drawn = draw(random)
    layout = read(drawn.text)
    assert_means(layout, drawn, random)
    assert layoutdsl.to_notation(layout, "xla") == drawn.text
    assert read(layoutdsl.to_notation(layout, "xla")) == layout


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", SEEDS)
def test_other_spellings_print_as_xla_prints_them(seed: int) -> None:
    random = Random(seed)
    drawn = draw(random)
    assert layoutdsl.to_notation(read(_loose(drawn.text, random)), "xla") == drawn.text


def _loose(text: str, random: Random) -> str:
    """Blanks, comments, dense dimensions, and numbers that say nothing."""
    head, brace, attributes = text.partition("{")
    order, colon, attributes = attributes.removesuffix("}").partition(":")
    if brace and not any(each in attributes for each in "L"):
        attributes += random.choice(["", "L(1)"])
    if brace and "E" not in attributes:
        attributes += random.choice(["", "E(0)"])
    if brace and order:
        levels = ",".join("D" for _ in order.split(","))
        attributes = random.choice(["", f"D({levels})"]) + attributes
    colon = colon or (":" if attributes else "")
    found = f"{head}{brace}{order}{colon}{attributes}{'}' if brace else ''}"
    for sign in ",)]{:":
        found = found.replace(sign, f"{random.choice(['', ' ', '/*index=5*/'])}{sign}")
    return found


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", SEEDS)
def test_what_was_declared_prints_back(seed: int) -> None:
    """The axes may be named by a declaration, and the layout by another."""
    drawn = draw(Random(seed))
    axes = ", ".join(f"a{number}" for number in range(len(drawn.rooms)))
    text = f'layout One({axes}) = xla "{drawn.text}"\nlayout Two = One'
    for layout in layoutdsl.parse(text).layouts.values():
        assert layoutdsl.to_notation(layout, "xla") == drawn.text


def test_layouts_from_elsewhere_print_with_the_same_meaning() -> None:
    """Without the text that was read, order and tiles are found again from the digits."""
    written = 0
    for seed in SEEDS:
        random = Random(seed)
        drawn = draw(random)
        if drawn.split or drawn.prefix or "?" in drawn.rooms:
            continue
        layout = replace(read(drawn.text), origin=None)
        try:
            text = layoutdsl.to_notation(layout, "xla")
        except ValueError:
            continue
        again = read(text)
        shape = shape_of(drawn, random)
        for index in indices(shape, random):
            assert again.offset(index, shape) == drawn.offset(index, shape), (text, index)
        assert again.size(shape) == drawn.size(shape)
        written += 1
    assert written > 30


def test_extents_at_most_their_tile_are_written() -> None:
    for text in (
        "f32[2,100]{1,0:T(8,128)}",
        "f32[3,200]{1,0:T(4,128)}",
        "f32[300,7]{1,0:T(8,128)}",
        "f32[300,7]{0,1:T(8,128)}",
        "f32[2,9,100]{2,0,1:T(2,128)}",
        "bf16[5,6]{1,0:T(8,128)(2,1)}",
        "s8[130]{0:T(1024)}",
        "f32[<=3,200]{1,0:T(4,128)}",
    ):
        layout = replace(read(text), origin=None)
        assert layoutdsl.to_notation(layout, "xla") == text
