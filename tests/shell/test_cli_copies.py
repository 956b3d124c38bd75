"""Copies of elements in the shell: what is printed whole, `unpack --check`, and exit codes."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from cli_shell import Shell, shell, timeless

__all__ = ["shell"]

TEXT = (Path(__file__).parents[1] / "golden" / "copies" / "copies.layout").read_text(
    encoding="utf-8"
)
LINES = (
    "prove copies.layout",
    "prove copies.layout:Lanes -v",
    "check copies.layout",
    "print copies.layout",
    "where copies.layout:Lanes --shape 2,10 --index 1,9",
    "where copies.layout:Lanes --shape 2,10,4 --index r=1,g=9,copy=2",
    "where copies.layout:Lanes --shape 2,10 --index 1,9 --json",
    "where copies.layout:Many --shape 2,40 --index 1",
    "where copies.layout:Lanes --shape 2,10 --index 1",
    "where copies.layout:Lanes --shape 2,10,5 --index 1,9",
    "at copies.layout:Lanes --shape 2,10 113",
    "at copies.layout:Lanes --shape 2,10 127",
    "show copies.layout:Lanes --shape 1,10",
    "cost copies.layout:Lanes --shape 2,10",
    "cost copies.layout:Lanes",
    "translate copies.layout:Quads --to einops",
    "translate MmaRow --to triton",
    "translate MmaRow --to cute_tv",
    "translate MmaRow --to tvm",
    "translate cute_tv:'((4,8),(2,2)):((32,1),(16,8)) -> (16,8)' --to triton",
    "identify triton:'#ttg.linear<{register = [[8]], lane = [[0], [0], [1], [2], [4]]}>'",
    "diff copies.layout:Quads einops:'r -> r k, k=4'",
    "diff copies.layout:Quads einops:'r k -> r k, k=4'",
    "bench copies.layout:Lanes --shape 2,10",
)


@pytest.mark.slow
def test_what_is_printed(shell: Shell, golden: Callable[[str, str], None]) -> None:
    Path("copies.layout").write_text(TEXT, encoding="utf-8")
    found = []
    for line in LINES:
        ended = shell(*shlex.split(line))
        said = timeless(ended.out + ended.err)
        found.append(f"$ layoutdsl {line}\n{said}exit code {ended.code}\n")
    golden("copies/copies.txt", "\n".join(found))


@pytest.mark.slow
def test_a_tensor_goes_in_and_its_copies_are_compared(shell: Shell) -> None:
    Path("copies.layout").write_text(TEXT, encoding="utf-8")
    tensor = np.arange(20, dtype="f4").reshape(2, 10)
    np.save("in.npy", tensor)
    assert shell("pack", "copies.layout:Lanes", "in.npy", "out.npy").code == 0
    unpack = ("unpack", "copies.layout:Lanes", "out.npy", "back.npy", "--shape", "2,10")
    assert shell(*unpack, "--check").code == 0
    assert (np.load("back.npy") == tensor).all()
    packed = np.load("out.npy")
    packed[1, 1, 2, 1] = 99
    np.save("out.npy", packed)
    Path("back.npy").unlink()
    ended = shell(*unpack, "--check")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == (
        "error: `out.npy`: copies of (r=1, g=9) differ: slot 97 holds 19.0, slot 113 holds 99.0\n"
        "  = help: nothing is written\n"
    )
    assert not Path("back.npy").exists()
    assert shell(*unpack).code == 0
    assert (np.load("back.npy") == tensor).all()


@pytest.mark.slow
def test_words_hold_copies(shell: Shell) -> None:
    Path("copies.layout").write_text(TEXT, encoding="utf-8")
    tensor = (np.arange(32, dtype="u1") % 16).reshape(2, 16)
    np.save("in.npy", tensor)
    assert shell("pack", "copies.layout:Bits", "in.npy", "out.npy", "--word", "u16").code == 0
    assert np.load("out.npy").shape == (2, 2, 4, 1)
    line = (
        "unpack",
        "copies.layout:Bits",
        "out.npy",
        "back.npy",
        "--word",
        "u16",
        "--shape",
        "2,16",
    )
    assert shell(*line, "--check").code == 0
    assert (np.load("back.npy") == tensor).all()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "unpack copies.layout:Lanes in.npy o.npy --shape 2,8 --check --mem 1M",
            "of a whole buffer",
        ),
        ("unpack Q4_0 in.npy o.npz --shape 1,32 --check", "--check is for layouts"),
        ("pack copies.layout:Lanes cube.npy o.npy", "takes one of rank 2: r, g"),
        (
            "probe mine.py:pack --against copies.layout:Lanes --shape 2,8",
            "a probe does not tell apart",
        ),
        (
            "convert copies.layout:Lanes copies.layout:Quads in.npy o.npy --shape 2,8",
            "2 and 1 axes",
        ),
    ],
)
def test_what_is_refused(shell: Shell, line: str, words: str) -> None:
    Path("copies.layout").write_text(TEXT, encoding="utf-8")
    Path("mine.py").write_text("def pack(x):\n    return x\n", encoding="utf-8")
    np.save("in.npy", np.zeros((2, 8), "f4"))
    np.save("cube.npy", np.zeros((2, 8, 4), "f4"))
    ended = shell(*line.split())
    assert ended.code in (2, 4)
    assert words in ended.err, ended.err
    assert not Path("o.npy").exists()


def test_copies_are_counted_in_json(shell: Shell) -> None:
    """As the text says it: for each axis of copies, where the layout is proved."""
    for text, copies in (
        ("layout A(r, g, copy: 4 broadcast) = [r, g/8, copy, g%8]", {"copy": 4}),
        ("layout A(r, a: 3 broadcast, b: 2 broadcast) = [a, r, b]", {"a": 3, "b": 2}),
        ("layout A(r, g) = [r, g]", None),
        ("layout A(r, copy: 4 broadcast) = [r, copy%2]", None),
    ):
        Path("a.layout").write_text(text, encoding="utf-8")
        (claim,) = json.loads(shell("prove", "a.layout", "--json").out)["claims"]
        assert claim.get("copies") == copies
