"""Compiled C of layouts drawn at random, byte by byte against the meaning; and what was found."""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import replace
from itertools import product
from random import Random

import pytest
from native_cases import needs_compiler
from native_fuzz import MACHINE, WAYS, Case, Way, campaign, cases, faults, simplest
from native_fuzz_modules import checked
from random_digits import Digit, Drawn, Place, Shape, Written, drawn, shapes, simpler

pytestmark = needs_compiler

WIDTHS = (1, 2, 4, 8)
"""Bytes of an item that compiled C moves."""

# What was wrong once, in its smallest form or as it was reported: extents to be tried of each axis.
FOUND: dict[str, tuple[tuple[int, ...], ...]] = {
    # A last block ends elsewhere than at the upper end of a vector.
    "layout Lost(n, h: 3) = [n%4, h/2, h%2, n//16, n%16/4]": ((1, 15, 16, 17, 33), (3,)),
    "layout P4(n, h) = [n%4, h, n//16, n%16/4]": ((2, 3, 5, 16, 31, 33), (1, 2)),
    "layout P2(n, h) = [n%2, h, n//4, n%4/2]": ((1, 2, 3, 4, 9, 70), (1, 2)),
    "layout P(w) = [w%2, w/2/4, w/2%4]": ((1, 3, 7, 9, 40),),
    # A vector of an axis of fixed extent goes past its end in the tensor.
    "layout Nine(c, h: 9) = [h/8, c, h%8]": ((1, 2, 17), (9,)),
    "layout Five(c, h: 5) = [h/8, c, h%8]": ((1, 2, 17), (5,)),
    # A box that goes through a block of its own, where an axis around it has ended.
    "layout K(w, m, k) = [m/8, k%24/3, w%5, k/24, k%3, w/5, m%8]": ((1, 5, 8), (7, 8, 9), (1, 25)),
    "layout K2(w, m, k) = [k%56/7, m%16, k/56, w//8, k%7, m//16, w%8]": (
        (1, 8, 9),
        (8, 17),
        (1, 57),
    ),
    # Rows side by side, where an axis around them has ended.
    "layout Comb(h, k, n: 3) = [n, h/2, h%2, k]": ((1, 2, 5), (1, 7, 70), (3,)),
    "layout Triples(k, h, n: 3) = [h/4, h%4, k, n]": ((1, 7, 70), (1, 4, 5), (3,)),
    "layout Planes(c, k: 9, n: 3, h) = [c, n, h/2/4, h/2%4, h%2, k] fill any": (
        (2,),
        (9,),
        (3,),
        (1, 7, 9),
    ),
    # Blocks that are never full have less room than steps.
    "layout Room(h) = [h/64, h%64 : H + 2]": ((1, 3, 61, 63, 65),),
}
PAIRS: dict[tuple[str, str], tuple[tuple[int, ...], ...]] = {
    ("layout A(n, c) = [n/16, c, n%16]", "layout B(n, c) = [c/16, n%2, c%16, n/2]"): (
        (1, 9, 31, 65),
        (1, 17),
    ),
    # Stretches of a box that are not as far apart as the first two.
    (
        "layout A(c: 4, h) = [c%2, c/2, h]",
        "layout B(c: 4, h) = [h/28, h%28%7, h%28/7, c]",
    ): ((4,), (1, 7, 28, 57)),
    (
        "layout B(c: 4, h) = [h/28, h%28%7, h%28/7, c]",
        "layout A(c: 4, h) = [c%2, c/2, h]",
    ): ((4,), (1, 7, 28, 57)),
    (
        "layout A(c: 16, h) = [c%4, c/4, h]",
        "layout B(c: 16, h) = [h/28, h%28%7, h%28/7, c]",
    ): ((16,), (1, 29)),
    (
        "layout A(c: 16, h) = [c/2%4, c%2, c/8, h]",
        "layout B(c: 16, h) = [h/28, h%28%7, h%28/7, c]",
    ): ((16,), (1, 29)),
}


def found_cases() -> list[Case]:
    return [
        *(
            Case((Written(text),), verb, width, tuple(product(*ends)))
            for text, ends in FOUND.items()
            for verb in ("pack", "unpack")
            for width in WIDTHS
        ),
        *(
            Case(tuple(map(Written, texts)), "convert", width, tuple(product(*ends)))
            for texts, ends in PAIRS.items()
            for width in WIDTHS
        ),
    ]


def assert_none(some: list[Case], way: Way) -> None:
    found = [f"{kind}: {case}" for case, kind in faults(some, way)]
    assert not found, "\n".join(found[:20])


@pytest.mark.slow
def test_what_was_found_at_every_width() -> None:
    assert_none(found_cases(), MACHINE)


@pytest.mark.campaign
@pytest.mark.parametrize("name", WAYS)
def test_what_was_found_in_every_way_sanitized(name: str) -> None:
    assert_none(found_cases(), WAYS[name].sanitized)


LEAVES = {
    **{
        name: f" {name}("
        for name in ("tile", "grid", "zip", "unzip", "weave", "unweave", "gather", "shuffle", "run")
    },
    "edge": "_edge(",
    "edge of numbers": "_here(",
    "scratch": "uint8_t m[",
    "slide": "= least(t_",
}
"""What is moved at once, and what stands in the C of it alone.

The kernel `plain` is hardly ever asked for: it is what all are where there are no vectors.
"""


@pytest.mark.campaign
def test_every_kind_of_leaf_is_drawn() -> None:
    """A kind that is drawn once in thousands was wrong for as long as nobody drew it."""
    found = Counter[str]()
    for case in cases(7, 300):
        moved = case.functions("k")
        text = moved.text if moved is not None else ""
        found.update(name for name, word in LEAVES.items() if word in text)
    assert min(found[name] for name in LEAVES) >= 2, found


@pytest.mark.ci(1)
@pytest.mark.slow
@pytest.mark.sampled(24)
@pytest.mark.parametrize("name", WAYS)
def test_random_layouts(name: str) -> None:
    number = list(WAYS).index(name)
    assert_none(list(cases(1000 + number, 6)), WAYS[name])


@pytest.mark.ci(1)
@pytest.mark.sampled(4)
@pytest.mark.slow
@pytest.mark.parametrize("name", WAYS)
def test_more_in_every_way(name: str) -> None:
    """So many in each way that there are over a hundred."""
    number = list(WAYS).index(name)
    assert_none(list(cases(1100 + number, 12)), WAYS[name])


@pytest.mark.ci(1)
@pytest.mark.sampled(4)
@pytest.mark.slow
@pytest.mark.parametrize("name", WAYS)
def test_most_with_kernels_that_stay_functions(name: str) -> None:
    """As in most of a campaign: ten times as many in the time."""
    number = list(WAYS).index(name)
    assert_none(list(cases(1200 + 40 * number, 30)), WAYS[name].sanitized.apart)


@pytest.mark.ci(1)
@pytest.mark.slow
@pytest.mark.parametrize("name", ["this machine", "vectors of 16 bytes"])
def test_random_layouts_sanitized(name: str) -> None:
    assert_none(list(cases(2000 + len(name), 3)), WAYS[name].sanitized)


@pytest.mark.slow
def test_random_layouts_as_python_calls_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Strides, types, threads, buffers of others; `convert` too."""
    assert checked(3000, 6, monkeypatch) > 15


@pytest.mark.campaign
@pytest.mark.parametrize("block", range(50))
def test_more_as_python_calls_them(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert checked(100_000 + 100 * block, 20, monkeypatch) > 50


@pytest.mark.campaign
def test_more_random_layouts() -> None:
    seed, count = (int(os.environ.get(f"LAYOUTDSL_FUZZ_{w}", n)) for w, n in SEEDS.items())
    assert campaign(seed, count, os.cpu_count() or 1) == 0


SEEDS = {"SEED": "1", "COUNT": "20000"}


@pytest.mark.slow
@pytest.mark.parametrize("way", [MACHINE, MACHINE.apart, MACHINE.sanitized.apart])
def test_a_planted_fault_is_found_and_made_simple(
    way: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where edges are taken for whole."""
    ninths = (Digit(("c",), (("/", 9),)), Digit(("c",), (("%", 9),)))
    halves = [Digit(("w",), steps) for steps in ((("%", 2),), (("/", 2), ("/", 4)))]
    fourths = Digit(("w",), (("/", 2), ("%", 4)))
    places = tuple(Place((d,)) for d in (ninths[0], halves[0], ninths[1], halves[1], fourths))
    layout = Drawn((("c", None), ("w", None)), places, (" fill 7", " offset 3", ""))
    case = Case((layout,), "pack", 2, ((2, 9), (11, 19)))
    assert_none([case], way)
    functions = Case.functions

    def edges_lost(case: Case, name: str) -> object:
        made = functions(case, name)
        return made and replace(made, text=CONDITION.sub(r"\1if (1) {", made.text))

    monkeypatch.setattr(Case, "functions", edges_lost)
    found = [one for one, _ in faults([case], way)]
    assert found
    least = simplest(found[0], way)
    assert str(least).count("/") <= 3
    assert "fill" not in str(least)
    assert str(least).endswith("(1,)")


CONDITION = re.compile(r"^( +)if \(.*\) \{$", re.MULTILINE)
"""Conditions in emitted C: they choose between a whole block and the elements of a ragged one."""


def test_simpler_layouts_are_layouts_and_end() -> None:
    random, steps = Random(5), 0
    for _ in range(10):
        layouts = (drawn(random),)
        for first in shapes(random, layouts, 1):
            shape = first
            seen: set[tuple[str, Shape]] = set()
            while following := [each for each in simpler(layouts, shape) if _drawable(each[0])]:
                layouts, shape = random.choice(following)
                assert (layouts[0].text, shape) not in seen
                seen.add((layouts[0].text, shape))
                steps += 1
            assert max(shape) == 1
    assert steps > 20


def _drawable(layouts: tuple[Drawn, ...]) -> bool:
    try:
        return all(each.layout.rank for each in layouts)
    except ValueError:
        return False
