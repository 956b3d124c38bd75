"""`pack` and `unpack` of real numbers, where elements are codes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cli_shell import Ended, Shell, shell

import layoutdsl

__all__ = ["shell"]

TEXT = """\
layout Q(n, c, h) = [n, c/4, h, c%4] of u8 as scale_offset
layout PerC(n, c) = [n, c/4, c%4] of i8 as scale_offset per c
layout Plain(n, c) = [n, c/4, c%4] of u8
"""
SHAPE = (2, 6, 3)
NUMBERS = np.random.default_rng(1).normal(0, 2, SHAPE).astype("f4")
SCALED = ("--scale", "0.05", "--zero-point", "128")


@pytest.fixture
def files(shell: Shell) -> Shell:
    Path("q.layout").write_text(TEXT)
    np.save("in.npy", NUMBERS)
    return shell


def test_numbers_there_and_back(files: Shell) -> None:
    assert files("pack", "q.layout:Q", "in.npy", "out.npy", *SCALED) == Ended(0, "", "", b"")
    module = layoutdsl.compile(layoutdsl.load("q.layout")["Q"], "numpy")
    packed = np.load("out.npy")
    assert packed.dtype == np.uint8
    assert np.array_equal(packed, module.pack(NUMBERS, scale=0.05, zero_point=128))
    shape = ("--shape", "2,6,3")
    assert files("unpack", "q.layout:Q", "out.npy", "b.npy", *shape, *SCALED).code == 0
    found = np.load("b.npy")
    assert found.dtype == np.float32
    assert np.array_equal(found, module.unpack(packed, SHAPE, scale=0.05, zero_point=128))
    assert (
        files("unpack", "q.layout:Q", "out.npy", "d.npy", *shape, *SCALED, "--to", "f64").code == 0
    )
    assert np.load("d.npy").dtype == np.float64
    again = files("pack", "q.layout:Q", "in.npy", "f.npy", *SCALED, "--fill", "7")
    assert again.code == 0
    assert (np.load("f.npy") == 7).sum() >= (packed.size - NUMBERS.size)


def test_a_scale_for_each_channel(files: Shell) -> None:
    scales, zeros = np.array([0.5, 0.25, 0.1], "f4"), np.array([0, 0, 0], "i4")
    np.save("s.npy", scales)
    np.save("z.npy", zeros)
    np.save("t.npy", np.ones((2, 3)))
    given = ("--scale", "s.npy", "--zero-point", "z.npy")
    assert files("pack", "q.layout:PerC", "t.npy", "out.npy", *given).code == 0
    assert np.load("out.npy").tolist() == [[[2, 4, 10, 0]]] * 2
    assert files("unpack", "q.layout:PerC", "out.npy", "b.npy", "--shape", "2,3", *given).code == 0
    assert np.allclose(np.load("b.npy"), 1)
    np.save("z.npy", np.array([0, 1, 0], "i4"))
    ended = files("pack", "q.layout:PerC", "t.npy", "x.npy", *given)
    assert ended.code == 4
    assert "`fill` is missing: zero points differ" in ended.err


def test_codes_are_packed_without_a_scale(files: Shell) -> None:
    codes = np.arange(6, dtype="u1").reshape(1, 6, 1)
    np.save("c.npy", codes)
    assert files("pack", "q.layout:Q", "c.npy", "out.npy", "--fill", "9").code == 0
    assert np.load("out.npy").ravel().tolist() == [0, 1, 2, 3, 4, 5, 9, 9]
    assert files("unpack", "q.layout:Q", "out.npy", "b.npy", "--shape", "1,6,1").code == 0
    assert np.array_equal(np.load("b.npy"), codes)
    turned = files("convert", "q.layout:Q", "q.layout:Q", "out.npy", "b.npy", "--shape", "1,6,1")
    for ended in (
        turned,
        files("pack", "q.layout:Q", "c.npy", "b.npy"),
        files("pack", "q.layout:Q", "c.npy", "b.npy", "--mem", "64K"),
    ):
        assert ended.code == 2
        assert "help: write --fill 128, where that is the zero point" in ended.err
    large = ("--fill", "9", "--mem", "64K")
    assert files("pack", "q.layout:Q", "c.npy", "large.npy", *large).code == 0
    assert np.array_equal(np.load("large.npy"), np.load("out.npy"))


FAILS: list[tuple[tuple[str, ...], int, str]] = [
    (("q.layout:Plain", "in.npy", "o.npy", *SCALED), 2, "have no scale"),
    (("q.layout:Q", "in.npy", "o.npy", "--scale", "1"), 2, "--zero-point is missing"),
    (("q.layout:Q", "in.npy", "o.npy", "--zero-point", "1"), 2, "--scale is missing"),
    (("q.layout:Q", "in.npy", "o.npy"), 4, "say what these stand for: --scale"),
    (("q.layout:Q", "in.npy", "o.npy", *SCALED, "--mem", "8"), 2, "8 bytes of memory are too"),
    (("q.layout:Q", "nan.npy", "o.npy", *SCALED, "--mem", "1M"), 4, "holds NaN at (0, 0, 0)"),
    (("q.layout:Q", "in.npy", "o.npy", *SCALED, "--raw", "f64"), 2, "not for real numbers"),
    (("q.layout:Q", "in.npy", "o.npy", *SCALED, "--shape", "2,6,3"), 2, "without --raw"),
    (("q.layout:Q", "in.npy", "o.npy", "--scale", "0", "--zero-point", "0"), 2, "not positive"),
    (("q.layout:Q", "in.npy", "o.npy", "--scale", "nan", "--zero-point", "0"), 2, "not positive"),
    (("q.layout:Q", "in.npy", "o.npy", "--scale", "1", "--zero-point", "256"), 2, "0 to 255"),
    (("q.layout:Q", "in.npy", "o.npy", "--scale", "1", "--zero-point", "0.5"), 2, "no .npy file"),
    (("q.layout:Q", "in.npy", "o.npy", "--scale", "x", "--zero-point", "0"), 2, "not a number"),
    (
        ("q.layout:Q", "in.npy", "o.npy", "--scale", "x.npy", "--zero-point", "0"),
        4,
        "cannot be read",
    ),
    (("q.layout:Q", "in.npy", "o.npy", "--scale", "in.npy", "--zero-point", "0"), 2, "has shape"),
    (("q.layout:Q", "in.npy", "s.npy", "--scale", "s.npy", "--zero-point", "0"), 4, "not replaced"),
    (("q.layout:Q", "nan.npy", "o.npy", *SCALED), 4, "`nan.npy` does not fit: `src` holds NaN"),
    (("q.layout:Q", "flat.npy", "o.npy", *SCALED), 4, "tensors of rank 3, not 1"),
    (("Q4_0", "in.npy", "o.npy", *SCALED), 2, "--scale is for layouts"),
]


@pytest.mark.parametrize(("words", "code", "said"), FAILS)
def test_what_is_refused(files: Shell, words: tuple[str, ...], code: int, said: str) -> None:
    np.save("nan.npy", np.full(SHAPE, np.nan))
    np.save("flat.npy", np.zeros(3))
    np.save("s.npy", np.ones(()))
    ended = files("pack", *words)
    assert (ended.code, ended.out) == (code, "")
    assert said in ended.err
    assert "Traceback" not in ended.err
    assert not Path("o.npy").exists()


def test_what_is_refused_of_unpacking(files: Shell) -> None:
    np.save("p.npy", np.zeros((2, 2, 3, 4), "u1"))
    for words, code, said in (
        ((*SCALED, "--jobs", "2", "--mem", "9"), 2, "are too little for 2 jobs"),
        ((*SCALED, "--raw", "u8"), 2, "not for real numbers"),
        (("--scale", "1", "--zero-point", "-1", "--mem", "1M"), 2, "codes are 0 to 255"),
        (("--scale", "1e38", "--zero-point", "0"), 4, "float32 cannot hold"),
        (("--scale", "1", "--zero-point", "-1"), 2, "codes are 0 to 255"),
        ((*SCALED, "--to", "u8"), 2, "--to"),
    ):
        ended = files("unpack", "q.layout:Q", "p.npy", "o.npy", "--shape", "2,6,3", *words)
        assert (ended.code, Path("o.npy").exists()) == (code, False)
        assert said in ended.err
