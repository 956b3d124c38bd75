"""Drawn cases: right layouts of every family, the same from the same seed, and their report."""

from __future__ import annotations

import json
import re
from collections import Counter
from math import prod
from typing import Any

import numpy as np
import pytest
from cli_shell import Shell, shell

import layoutdsl

__all__ = ["shell"]

FAMILIES = 8
"""Permutations, small axes, blocks, conversions, weights, groups, panels and pitches."""


def drawn(shell: Shell, count: int, seed: int) -> list[dict[str, Any]]:
    """The moves that `layoutdsl bench` draws, each of which it checks and measures once."""
    run = ["bench", "--random", str(count), "--seed", str(seed), "--rounds", "1"]
    done = shell(*run, "--peers", "none", "--target", "numpy", "--json")
    assert done.code == 0, done.err
    moves: list[dict[str, Any]] = json.loads(done.out)["moves"]
    assert {each["seed"] for each in moves} == set(range(seed, seed + count))
    for each in moves:
        (ours,) = each["candidates"]
        assert ours["status"] == "measured", each
    return moves


def case(move: dict[str, Any]) -> list[Any]:
    """Return the parts of a row that say which move it is; its times differ between runs."""
    return [move[key] for key in ("case", "verb", "source", "target", "type", "shape", "bytes")]


def every_element_has_a_slot(text: str, extents: list[int]) -> None:
    """At a shape of the same kind that is small: extents are cut down, but ragged as before."""
    layout = layoutdsl.parse(text)["Drawn"]
    shape = tuple(min(extent, 70 + extent % 7) for extent in extents)
    shape = shape if prod(shape) < 1_000_000 else tuple(min(each, 13) for each in shape)
    fixed = dict(re.findall(r"(\w+): (\d+)", text.partition(")")[0]))
    names = [axis.name for axis in layout.axes]
    shape = tuple(int(fixed.get(n, extent)) for n, extent in zip(names, shape, strict=True))
    index = np.indices(shape)
    values = {**layout.bind(shape), **dict(zip(names, index, strict=True))}
    found = np.unique(np.broadcast_to(layout.offset_at(values), index.shape[1:]))
    assert found.size == prod(shape), text
    assert found[0] >= 0, text
    assert found[-1] < layout.size(shape), text


def right(moves: list[dict[str, Any]]) -> None:
    for each in moves:
        for text in (each["source"], each["target"]):
            if text is not None:
                every_element_has_a_slot(text, each["shape"])
    # Whole blocks make a tensor larger or smaller than what was drawn, by some blocks.
    sizes = [each["bytes"] for each in moves]
    within = [2**12 <= size <= 2**26 for size in sizes]
    assert sum(within) > 0.9 * len(within)
    assert min(sizes) < 2**14
    assert max(sizes) > 2**24


@pytest.mark.slow
def test_cases_are_those_of_programs_and_of_their_seed_alone(shell: Shell) -> None:
    moves = drawn(shell, 16, 0)
    right(moves)
    assert len({each["case"] for each in moves}) > FAMILIES / 2
    again = drawn(shell, 1, 11)
    assert list(map(case, again)) == [case(each) for each in moves if each["seed"] == 11]


@pytest.mark.campaign
def test_every_family_is_drawn_about_as_often_as_any_other(shell: Shell) -> None:
    moves = drawn(shell, 300, 0)
    right(moves)
    counted = Counter({each["seed"]: each["case"] for each in moves}.values())
    assert len(counted) == FAMILIES
    assert min(counted.values()) > 300 / FAMILIES / 2


@pytest.mark.slow
def test_the_shell_draws_and_tells_the_worst(shell: Shell) -> None:
    run = ["bench", "--random", "2", "--seed", "4", "--rounds", "1", "--peers", "none"]
    done = shell(*run, "--target", "numpy")
    assert done.code == 0, done.err
    assert "conversion #4" in done.out
    *_, worst = done.out.partition("where numpy does worst:")
    # Seed 4 is a conversion, one move; seed 5 is packed and unpacked.
    assert worst.count("#4") + worst.count("#5") == 3
    assert "-> [" in worst


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["NCHW16c", "--random", "2"], "--random draws layouts, and one is named"),
        (["--random", "2", "--shape", "8,8"], "--shape is about a layout, and none is named"),
        (["--seed", "4"], "--seed is of drawn cases, and --random is not given"),
        (["--random", "0"], "invalid value for `--random`: 0"),
    ],
)
def test_what_does_not_go_together_is_refused(given: list[str], message: str, shell: Shell) -> None:
    done = shell("bench", *given)
    assert done.code == 2
    assert message in done.err
