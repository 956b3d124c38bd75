"""`probe` of layouts with fixed extents: a wrong function is reported, whatever it does instead."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from cli_shell import Shell, shell
from random_layouts import drawn, shape_in

import layoutdsl
from layoutdsl import parse, probe

__all__ = ["shell"]


def permuted(x: Any, order: tuple[int, ...]) -> Any:
    return np.ascontiguousarray(x.transpose(order))


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("A(s: 4, d) = [d, s]", (4, 9)),
        ("A(s: 4, d) = [d, s]", (4, 4)),
        ("A(s: 4, t: 3) = [t, s]", (4, 3)),
        ("A(s: 4, t: S) = [t, s]", (4, 9)),
        ("A(s: 4, t: 4, u) = [u, t, s]", (4, 4, 2)),
        ("A<p>(s: 4, d) = [d, s : 4*p]", (4, 9, 1)),
    ],
)
def test_every_order_of_axes_is_told_apart(text: str, shape: tuple[int, ...]) -> None:
    layout = parse(f"layout {text}")["A"]
    axes = len(layout.axes)
    results = [
        probe(lambda x, order=order: permuted(x, order).ravel(), layout, shape)
        for order in permutations(range(axes))
    ]
    assert sum(each.same for each in results) == 1
    assert all(each.same or each.faults for each in results)


def test_exchanged_axes_of_one_length_are_named() -> None:
    layout = parse("layout A(s: 4, d) = [d, s]")["A"]
    found = probe(lambda x: permuted(x, (0, 1)), layout, (4, 4))
    assert "AxesPermuted" in {type(each).__name__ for each in found.hints}


@pytest.mark.slow
def test_random_layouts_and_functions_never_fail() -> None:
    random = Random(4)
    looked = 0
    while looked < 60:
        layout = drawn(random)
        shape = shape_in(layout, random)
        if shape is None or not layout.axes or not layoutdsl.prove(layout):
            continue
        looked += 1
        seed = random.random()

        def shuffled(x: Any, seed: float = seed) -> Any:
            order = list(range(x.ndim))
            Random(seed).shuffle(order)
            return permuted(x, tuple(order)).ravel()

        found = probe(shuffled, layout, shape)
        assert found.same or found.faults


def test_the_command_ends_with_the_verdict(shell: Shell) -> None:
    Path("p.layout").write_text("layout A(s: 4, d) = [d, s]\n")
    Path("mine.py").write_text(
        "import numpy as np\n\n\n"
        "def ident(x):\n    return np.ascontiguousarray(x).reshape(x.shape[1], x.shape[0])\n"
    )
    ended = shell("probe", "mine.py:ident", "--against", "p.layout:A", "--shape", "4,9")
    assert ended.code == 1, ended.err
    assert "KeyError" not in ended.err
    assert "element (s=0, d=1) goes to offset 1, and not to offset 4" in ended.out
