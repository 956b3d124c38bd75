"""`plan` and `run`: what is said, how it ends, and processes that are killed."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from cli_shell import Ended, Shell, shell
from processes import ended, running
from small_files import random_tensor

__all__ = ["shell"]

SHAPE = (2, 20, 3, 4)
PLAN = ["plan", "NCHW16c", "in.npy", "-o", "plan.json", "--out", "out.npy", "--mem", "1K"]


@pytest.fixture(autouse=True)
def tensor(shell: Shell) -> np.ndarray:  # noqa: ARG001  it changes the directory
    made = random_tensor(SHAPE, "f4")
    np.save("in.npy", made)
    made.tofile("in.bin")
    return made


def test_a_plan_in_shares(shell: Shell) -> None:
    assert shell("pack", "NCHW16c", "in.npy", "want.npy").code == 0
    assert shell(*PLAN) == Ended(
        0, "wrote plan.json: 12 pieces\n", "", b"wrote plan.json: 12 pieces\n"
    )
    assert shell("run", "plan.json", "--shard", "2/4") == Ended(0, "", "", b"")
    said = shell("run", "plan.json", "--finish")
    assert (said.code, said.err) == (
        4,
        "error: `out.npy` is not whole; not done: 0/4 to 1/4, 3/4\n"
        "  = help: layoutdsl run plan.json --shard 0/4\n",
    )
    said = shell("run", "plan.json", "--shard", "1/4", "-v", "--jobs", "2")
    assert (said.code, said.err) == (0, "1/4 is done; not done: 0/4, 3/4\n")
    assert shell("run", "plan.json", "--shard", "3/4").code == 0
    said = shell("run", "plan.json", "--shard", "0/4", "-v")
    assert (said.code, said.err) == (0, "0/4 is done; `out.npy` is whole\n")
    assert Path("out.npy").read_bytes() == Path("want.npy").read_bytes()
    assert shell("run", "plan.json", "--finish") == Ended(0, "", "", b"")
    assert not Path("out.npy.part").exists()


@pytest.mark.parametrize("target", ["auto", "numpy"])
def test_back_without_a_header(shell: Shell, target: str) -> None:
    raw = ["--raw", "f32", "--shape", "N=2,C=20,H=3,W=4", "--target", target]
    one = ["plan", "NCHW16c", "in.bin", "-o", "one.json", "--out", "out.bin", "--shards", "5"]
    assert shell(*one, *raw, "--fill", "-3").code == 0
    assert shell("run", "one.json", "--target", target).code == 0
    back = ["plan", "NCHW16c", "out.bin", "-o", "two.json", "--out", "back.bin", "--unpack"]
    assert shell(*back, *raw).code == 0
    assert shell("run", "two.json").code == 0
    assert Path("back.bin").read_bytes() == Path("in.bin").read_bytes()


def test_progress_of_a_share(shell: Shell) -> None:
    shell(*PLAN)
    said = shell("run", "plan.json", "--shard", "1/2", "--progress", "plain")
    assert said.err.splitlines() == [
        "pack  NCHW16c 1/2  0 of 6  0.0 of 1.5 kB",
        "pack  NCHW16c 1/2  6 of 6  1.5 of 1.5 kB",
    ]


# What is done before, a command line, how it ends, and the whole of what is said.
SAID = [
    ("", "plan NCHW16c in.npy -o plan.json", 2, None),
    ("", "plan NCHW16c in.npy -o - --out out.npy", 2, "the plan and what it makes are two files"),
    ("", "plan NCHW16c in.npy -o x --out x", 2, "the plan and what it makes are two files"),
    ("", "plan NCHW16c in.npy -o in.npy --out x", 4, "`in.npy` is the input itself"),
    ("", "plan NCHW16c in.npy -o x --out in.npy", 4, "`in.npy` is the input itself"),
    (
        "",
        "plan NCHW16c in.npy -o in.bin --out x",
        4,
        "`in.bin` exists and was not written by layoutdsl",
    ),
    ("", "plan NCHW16c in.npy -o x --out y --unpack", 2, "--unpack is given without --shape"),
    ("", "plan NCHW16c in.bin -o x --out y --raw f32", 2, "--raw is given without --shape"),
    ("", "plan NCHW16c in.npy -o x --out y --shape 2,20,3,4", 2, "--shape is given without --raw"),
    ("", "plan NCHW16c none.npy -o x --out y", 4, "`none.npy` cannot be read: no such file"),
    ("", "plan NCHW16c in.npy -o x --out y --mem 9", 2, "9 bytes of memory are too little"),
    ("", "plan Q4_0 in.npy -o x --out y", 2, "`Q4_0` is a record"),
    ("", "plan NCHW16c in.npy -o none/x --out y", 4, "`none/x` cannot be written"),
    (
        "",
        "plan CudnnVectC4 in.npy -o x --out y",
        4,
        "`in.npy` holds float32, and `CudnnVectC4` is of i8",
    ),
    ("plan", "plan NCHW16c in.npy -o x --out out.npy", 4, "out.npy.part` is there already"),
    ("plan", "run plan.json --shard 4/4", 2, "`4/4` in --shard is no share"),
    ("plan", "run plan.json --shard 1", 2, "`1` in --shard is no share"),
    ("plan", "run plan.json --shard 0/4 --finish", 2, "--finish and --shard exclude each other"),
    ("plan", "run none.json", 4, "`none.json` cannot be read: no such file"),
    ("plan", "run in.npy", 4, "`in.npy` is no plan of layoutdsl"),
    ("gone", "run plan.json", 4, "`plan.json` has no unfinished output any more"),
    ("lost", "run plan.json", 4, "in.npy` cannot be read: no such file"),
    ("wide", "run plan.json", 4, "in.npy` holds 16, and u4 is 0..15"),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("before", "line", "code", "words"), SAID)
def test_what_is_said(shell: Shell, before: str, line: str, code: int, words: str | None) -> None:
    if before:
        shell(*PLAN)
    match before:
        case "gone":
            next(Path("out.npy.part").iterdir()).unlink()
            Path("out.npy.part").rmdir()
        case "lost":
            Path("in.npy").unlink()
        case "wide":
            np.save("in.npy", np.full((1, 8, 8, 32), 16, "u1"))
            assert shell("plan", "demo.layout:Crouton", "in.npy", "-o", "plan.json", "--out", "o")
    there = {each.name for each in Path().iterdir()}
    said = shell(*line.split())
    assert (said.code, said.out) == (code, "")
    assert said.err.startswith("error: ")
    assert words is None or words in said.err.splitlines()[0]
    assert {each.name for each in Path().iterdir()} == there


@pytest.mark.slow
def test_many_processes_some_of_which_are_killed(shell: Shell) -> None:
    """Four at a time, each share twice at once, until all of it is done."""
    size, of = 24 << 20, 4
    with Path("big.bin").open("wb") as file:
        file.truncate(size)
    shape = f"{size >> 18},512,8,64"
    raw = ["--raw", "u8", "--shape", shape, "--mem", "1M", "--target", "numpy"]
    assert shell("plan", "HWIO", "big.bin", "-o", "p.json", "--out", "out.bin", *raw).code == 0
    line = [sys.executable, "-m", "layoutdsl", "run", "p.json", "--target", "numpy", "--shard"]
    with running([*line, f"0/{of}"]) as one, running([*line, f"1/{of}"]) as two:
        time.sleep(0.9)
        one.send_signal(signal.SIGKILL)
        two.send_signal(signal.SIGSTOP)
        busy = ended([*line, f"1/{of}"], text=True)
        two.send_signal(signal.SIGCONT)
        assert two.wait(100) == 0
    assert busy.returncode in (0, 4)  # it may not have begun, or have been done, before it stopped
    assert busy.returncode == 0 or f"another run is doing share 1/{of}" in busy.stderr
    assert not Path("out.bin").exists()
    rest = [subprocess.Popen([*line, f"{number}/{of}"]) for number in (0, 2, 3)]
    assert [each.wait(100) for each in rest] == [0, 0, 0]
    assert Path("out.bin").stat().st_size == size
    assert not Path("out.bin.part").exists()
