"""Drawn cases: right layouts of every family, the same from the same seed, and their report."""

from __future__ import annotations

from collections import Counter
from math import prod

import numpy as np
import pytest
from cli_shell import Shell, shell

from layoutdsl import Layout
from layoutdsl.commands.bench.drawn import FAMILIES, LEAST, MOST, drawn_tasks
from layoutdsl.commands.bench.moves import Task
from layoutdsl.language.integers.expr import Constant

__all__ = ["shell"]

TASKS = tuple(drawn_tasks(300, 0))


def layouts(task: Task) -> list[Layout]:
    return [each for each in (task.source, task.target) if each is not None]


def test_every_family_is_drawn_about_as_often_as_any_other() -> None:
    seeds = {each.seed: each.title for each in TASKS}
    assert len(seeds) == 300
    counted = Counter(seeds.values())
    assert counted.keys() == FAMILIES.keys()
    assert min(counted.values()) > 300 / len(FAMILIES) / 2


def test_a_case_depends_on_its_seed_alone() -> None:
    assert tuple(drawn_tasks(1, 31)) == tuple(each for each in TASKS if each.seed == 31)


def test_sizes_are_those_of_programs() -> None:
    """Whole blocks make a tensor larger or smaller than what was drawn, by some blocks."""
    sizes = [each.bytes for each in TASKS]
    within = [2**LEAST <= size <= 2**MOST for size in sizes]
    assert sum(within) > 0.9 * len(within)
    assert min(sizes) < 2**14
    assert max(sizes) > 2**24
    assert max(each.memory for each in TASKS) < 4 * 2**30


@pytest.mark.sampled(8, slow=3)
@pytest.mark.parametrize("task", TASKS[::5], ids=str)
def test_every_element_has_a_slot_of_its_own(task: Task) -> None:
    """At a shape of the same kind that is small: extents are cut down, but ragged as before."""
    shape = tuple(min(extent, 70 + extent % 7) for extent in task.shape)
    shape = shape if prod(shape) < 1_000_000 else tuple(min(each, 13) for each in shape)
    for layout in layouts(task):
        values = layout.bind(_fitting(layout, shape))
        index = np.indices(layout.shape_of(values))
        names = [axis.name for axis in layout.axes]
        offsets = layout.offset_at({**values, **dict(zip(names, index, strict=True))})
        found = np.unique(np.broadcast_to(offsets, index.shape[1:]))
        assert found.size == prod(layout.shape_of(values))
        assert found[0] >= 0
        assert found[-1] < layout.size(values)


def _fitting(layout: Layout, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape, where the layout does not fix extents."""
    return tuple(
        axis.extent.value if isinstance(axis.extent, Constant) else given
        for axis, given in zip(layout.axes, shape, strict=True)
    )


@pytest.mark.slow
def test_the_shell_draws_and_tells_the_worst(shell: Shell) -> None:
    run = ["bench", "--random", "2", "--seed", "4", "--rounds", "1", "--peers", "none"]
    done = shell(*run, "--target", "numpy")
    assert done.code == 0, done.err
    assert "conversion #4" in done.out
    *_, worst = done.out.partition("where numpy does worst:")
    assert worst.count("#4") + worst.count("#5") == len(tuple(drawn_tasks(2, 4)))
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
