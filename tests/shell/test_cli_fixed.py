"""Extents that a layout fixes: no verb asks for them, and none takes others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cli_shell import Shell, shell

__all__ = ["shell"]

FIXED = """\
layout Fixed(m: 4, n: 6) = [n/4, m, n%4]
layout Rows(m: 4, n: 6) = [m, n]
layout Half<k>(m, n: 6) = [n/k, m, n%k]
layout Scalar() = [0]
table Read(m: 4, n: 6)[j: 6, i: 4] = (m = i, n = j)
"""
TENSOR = np.arange(24, dtype="f4").reshape(4, 6)


@pytest.fixture
def files(shell: Shell) -> Shell:
    Path("fixed.layout").write_text(FIXED)
    Path("mine.py").write_text("def pack(tensor):\n    return tensor\n")
    np.save("in.npy", TENSOR)
    TENSOR.tofile("in.bin")
    return shell


def test_show(files: Shell) -> None:
    ended = files("show", "fixed.layout:Fixed")
    assert ended.code == 0
    assert ended.out.startswith("`Fixed`: 32 slots, 24 elements\n")
    assert files("show", "cute:(4,6):(6,1)").out.startswith("`cute_4_6_6_1`: 24 slots, ")
    assert files("show", "fixed.layout:Scalar").code == 0


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (("where", "fixed.layout:Fixed", "--index", "1,2"), "`Fixed`\n(m=1, n=2) -> offset 6\n"),
        (("at", "fixed.layout:Fixed", "3"), "`Fixed`\noffset 3 -> (m=0, n=3)\n"),
        (("at", "fixed.layout:Read", "3"), "`Read`\nslot 3, (j=0, i=3) -> (m=3, n=0)\n"),
        (
            ("probe", "mine.py:pack", "--against", "fixed.layout:Rows"),
            "same  `mine.py:pack` does what `fixed.layout:Rows` says  (",
        ),
    ],
    ids=lambda each: each[0] if isinstance(each, tuple) else "",
)
def test_one_element_one_slot(files: Shell, line: tuple[str, ...], told: str) -> None:
    ended = files(*line)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith(told)
    for given in ("4,6", "m=4,n=6", "n=6"):
        assert files(*line, "--shape", given).out.startswith(told)
    assert files(*line, "--shape", "4,7").code == 2


@pytest.mark.slow
def test_files(files: Shell) -> None:
    for line in (
        ("pack", "fixed.layout:Fixed", "in.npy", "out.npy"),
        ("unpack", "fixed.layout:Fixed", "out.npy", "back.npy"),
        ("unpack", "fixed.layout:Fixed", "out.npy", "pieces.npy", "--mem", "1M"),
        ("convert", "fixed.layout:Fixed", "fixed.layout:Rows", "out.npy", "rows.npy"),
        ("pack", "fixed.layout:Fixed", "in.bin", "out.bin", "--raw", "f32"),
        ("unpack", "fixed.layout:Fixed", "out.bin", "back.bin", "--raw", "f32"),
    ):
        ended = files(*line)
        assert (ended.code, ended.err) == (0, ""), line
    for name in ("back.npy", "rows.npy", "pieces.npy"):
        assert np.array_equal(np.load(name), TENSOR)
    assert Path("back.bin").read_bytes() == Path("in.bin").read_bytes()
    assert np.array_equal(np.fromfile("out.bin", "f4"), np.load("out.npy").reshape(-1))


@pytest.mark.slow
def test_cost_and_bench(files: Shell) -> None:
    ended = files("cost", "fixed.layout:Fixed", "--shape", "")
    assert "\nat its only shape\n  elements  24\n" in ended.out
    ended = files("bench", "fixed.layout:Rows", "--peers", "none", "--rounds", "1", "--json")
    assert ended.code == 0
    assert '"shape": [\n        4,\n        6\n      ]' in ended.out


@pytest.mark.parametrize("given", ["3,2", "3,6,2", "M=3,k=2", "m=3,n=6,k=2"])
def test_those_that_are_open_are_given(files: Shell, given: str) -> None:
    ended = files("where", "fixed.layout:Half", "--shape", given, "--index", "1,2")
    assert ended.out.startswith("`Half` at shape M=3 k=2\n(m=1, n=2) -> offset 8\n")


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((), "--shape is missing\n  = help: give it one number for each of M, k"),
        (("--shape", "3,5,2"), "axis `n` of layout `Half` has 6 elements"),
        (
            ("--shape", "3"),
            "layout `Half` has extents (M, 6) and parameters (k); 1 were given",
        ),
        (
            ("--shape", "3,x"),
            "`x` in --shape is not an integer\n  = help: write one number for each of M, k",
        ),
    ],
)
def test_what_does_not_fit(files: Shell, shape: tuple[str, ...], message: str) -> None:
    ended = files("where", "fixed.layout:Half", *shape, "--index", "1,2")
    assert (ended.code, ended.err) == (2, f"error: {message}\n")


@pytest.mark.parametrize(
    "line",
    [
        ("show", "NCHW"),
        ("at", "NCHW", "0"),
        ("unpack", "NCHW", "in.npy", "out.npy"),
        ("convert", "NCHW", "NHWC", "in.npy", "out.npy"),
        ("probe", "mine.py:pack", "--against", "NCHW"),
        ("bench", "NCHW"),
    ],
    ids=lambda line: line[0],
)
def test_an_open_extent_is_asked_for(files: Shell, line: tuple[str, ...]) -> None:
    ended = files(*line)
    wanted = "--shape is missing\n  = help: give it one number for each of N, C, H, W"
    assert (ended.code, ended.err) == (2, f"error: {wanted}\n")
