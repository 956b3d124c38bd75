"""`pack` and `unpack` with `--mem`, `--jobs` and `--raw`: what is said, and how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from cli_shell import Ended, Shell, shell
from processes import running
from small_files import compiles, left_behind, random_tensor

__all__ = ["shell"]

SHAPE = (2, 20, 3, 4)


@pytest.fixture
def tensor(shell: Shell) -> np.ndarray:  # noqa: ARG001  it changes the directory
    made = random_tensor(SHAPE, "f4")
    np.save("in.npy", made)
    made.tofile("in.bin")
    return made


@pytest.mark.usefixtures("tensor")
@pytest.mark.parametrize("options", ["--mem 1K", "--mem 4k --jobs 2", "--jobs 2 --target numpy"])
def test_the_same_file_as_without(shell: Shell, options: str) -> None:
    assert shell("pack", "NCHW16c", "in.npy", "out.npy").code == 0
    want = Path("out.npy").read_bytes()
    assert shell("pack", "NCHW16c", "in.npy", "out.npy", *options.split()) == Ended(0, "", "", b"")
    assert Path("out.npy").read_bytes() == want
    back = shell(
        "unpack", "NCHW16c", "out.npy", "back.npy", "--shape", "2,20,3,4", *options.split()
    )
    assert back == Ended(0, "", "", b"")
    assert Path("back.npy").read_bytes() == Path("in.npy").read_bytes()
    assert left_behind() == {"demo.layout"}


def test_without_a_header(shell: Shell, tensor: np.ndarray) -> None:
    raw = ("--raw", "f32", "--shape", "N=2,C=20,H=3,W=4")
    done = shell("pack", "NCHW16c", "in.bin", "out.bin", *raw, "-v")
    words = "packed (2, 20, 3, 4) float32 -> (2, 2, 3, 4, 16) in 1 piece\n"
    assert (done.code, done.err) == (0, words)
    done = shell("unpack", "NCHW16c", "out.bin", "back.bin", *raw, "--mem", "1K", "-v")
    words = "unpacked (2, 2, 3, 4, 16) float32 -> (2, 20, 3, 4) in 12 pieces\n"
    assert (done.code, done.err) == (0, words)
    assert Path("back.bin").read_bytes() == tensor.tobytes()


# A command line, how it ends, and the whole of what is said.
SAID = [
    (
        "pack NCHW16c in.npy out.npy --mem 12x",
        2,
        "error: `12x` in --mem is no amount of memory\n"
        "  = help: write a number of bytes: 65536, 64K, 256M or 1.5G\n",
    ),
    ("pack NCHW16c in.npy out.npy --mem 0", 2, None),
    ("pack NCHW16c in.npy out.npy --jobs 0", 2, None),
    (
        "pack R4CroutonLayout in.npy out.npy --mem 10K --jobs 2",
        2,
        "error: 10.0 KiB of memory are too little for 2 jobs: the smallest piece of "
        "`R4CroutonLayout` takes {piece}, as `h%8` has the same extent whatever `H` is\n"
        "  = help: write --mem {both}\n",
    ),
    (
        "pack NCHW16c in.npy out.npy --mem 100",
        2,
        "error: 100 bytes of memory are too little: the smallest piece of `NCHW16c` takes {least} "
        "bytes, as `c%16` has the same extent whatever `C` is\n"
        "  = help: write --mem {least}\n",
    ),
    (
        "pack NCHW16c - out.npy --mem 1K",
        2,
        "error: the standard input cannot be processed in pieces\n"
        "  = help: name a file, or leave out --mem, --jobs and --raw\n",
    ),
    (
        "unpack NCHW16c in.npy - --mem 1K --shape 2,20,3,4",
        2,
        "error: the standard output cannot be processed in pieces\n"
        "  = help: name a file, or leave out --mem, --jobs and --raw\n",
    ),
    (
        "pack NCHW16c in.npy . --mem 1K",
        4,
        "error: `.` cannot be written: is a directory\n",
    ),
    (
        "pack NCHW16c none.npy out.npy --mem 1K",
        4,
        "error: `none.npy` cannot be read: no such file or directory\n",
    ),
    (
        "pack NCHW16c in.npy none/out.npy --mem 1K",
        4,
        "error: `none/out.npy` cannot be written: no such file or directory\n",
    ),
    (
        "pack NCHW16c objects.npy out.npy --mem 1K",
        4,
        "error: `objects.npy` holds Python objects, which are no plain bytes\n",
    ),
    (
        "pack NCHW16c short.npy out.npy --mem 1K",
        4,
        "error: `short.npy` is cut short: 1000 bytes of 2048\n",
    ),
    (
        "pack XlaRowMajor in.npy out.npy --mem 1K",
        4,
        "error: `in.npy` is of rank 4, and `XlaRowMajor` takes one of rank 2: y, x\n",
    ),
    (
        "pack CudnnVectC32 in.npy out.npy --mem 1M",
        4,
        "error: `in.npy` does not fit: layout `CudnnVectC32` is defined where C%32 == 0, not at "
        "N=2 C=20 H=3 W=4\n",
    ),
    (
        "pack CudnnVectC4 in.npy out.npy --mem 1M",
        4,
        "error: `in.npy` holds float32, and `CudnnVectC4` is of i8: convert it to int8\n",
    ),
    (
        "pack demo.layout:Crouton wide.npy out.npy --mem 1M",
        4,
        "error: `wide.npy` holds 16, and u4 is 0..15\n",
    ),
    (
        "pack NCHW16c in.npy out.npy --mem 1M --fill 1e300",
        2,
        "error: --fill is 1e+300, which float32 cannot hold\n",
    ),
    (
        "unpack NCHW16c in.npy out.npy --mem 1K --shape 2,20,3,4",
        4,
        "error: `in.npy` has the shape (2, 20, 3, 4), not (2, 2, 3, 4, 16)\n",
    ),
    (
        "pack NCHW16c in.bin out.bin --raw f32",
        2,
        "error: --raw is given without --shape\n"
        "  = help: a .npy file says both itself; one without a header needs both\n",
    ),
    (
        "pack NCHW16c in.npy out.npy --shape 2,20,3,4",
        2,
        "error: --shape is given without --raw\n"
        "  = help: a .npy file says both itself; one without a header needs both\n",
    ),
    (
        "pack NCHW16c in.bin out.bin --raw f32 --shape 2,20,3,5",
        4,
        "error: `in.bin` has 1920 bytes, and 2 x 20 x 3 x 5 of float32 are 2400\n",
    ),
    ("pack NCHW16c in.bin out.bin --raw f32 --shape 2,20,3", 2, None),
    ("pack NCHW16c in.bin out.bin --raw g32 --shape 2,20,3,4", 2, None),
    (
        "pack NCHW16c in.npy taken.npy --mem 1K",
        4,
        "error: `{here}/taken.npy.part` is there, and no run of layoutdsl has left it\n"
        "  = help: remove it, or write to another file\n",
    ),
]


@pytest.mark.usefixtures("tensor")
@pytest.mark.sampled(2)
@pytest.mark.parametrize(("line", "code", "said"), SAID)
def test_what_is_said(shell: Shell, line: str, code: int, said: str | None) -> None:
    np.save("objects.npy", np.array([[1, "a"]], dtype=object), allow_pickle=True)
    Path("short.npy").write_bytes(Path("in.npy").read_bytes()[:1000])
    np.save("wide.npy", np.full((1, 8, 8, 32), 16, "u1"))
    Path("taken.npy.part").write_text("mine")
    before = {each.name for each in Path().iterdir()}
    ended = shell(*line.split())
    assert ended.code == code
    assert ended.out == ""
    assert ended.err.startswith("error: ")
    if said is not None:
        # numpy copies a piece on the way
        least, piece, both = (384, "8.6 KiB", 17664) if compiles() else (448, "9.0 KiB", 18432)
        expected = said.format(here=Path.cwd(), least=least, piece=piece, both=both)
        assert ended.err == expected
    assert {each.name for each in Path().iterdir()} == before


SIZES = [("1", "1 bytes"), ("1023", "1023 bytes"), ("1536", "1.5 KiB"), ("512G", "512.0 GiB")]


@pytest.mark.parametrize(("size", "words"), SIZES)
def test_sizes_in_words(shell: Shell, size: str, words: str) -> None:
    Path("huge.layout").write_text(f"layout Huge(c) = [c/{1 << 40}, c%{1 << 40}]\n")
    np.save("in.npy", np.zeros(8, "u1"))
    ended = shell("pack", "huge.layout", "in.npy", "out.npy", "--mem", size)
    assert ended.code == 2
    assert ended.err.startswith(f"error: {words} of memory are too little: the smallest piece of ")
    assert " takes 1.0 TiB, " in ended.err


@pytest.mark.slow
def test_an_interrupted_run_says_that_it_can_go_on(shell: Shell) -> None:
    """The very process that a shell starts, ended by the signal that a key sends."""
    size = 400 << 20
    with Path("in.bin").open("wb") as file:
        file.truncate(size)
    line = [sys.executable, "-m", "layoutdsl", "pack", "HWIO", "in.bin", "out.bin"]
    line += ["--raw", "u8", "--shape", f"{size >> 18},512,8,64", "--mem", "1M", "--target", "numpy"]
    with running(line, stderr=subprocess.PIPE, text=True) as process:
        until = time.monotonic() + 100
        while time.monotonic() < until and process.poll() is None:
            place = Path("out.bin.part.json")
            if place.exists() and '"pieces":[' in place.read_text():
                break
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=100)
        assert process.returncode == 130, said
    assert said.endswith(
        "note: `out.bin.part` is kept; the same command goes on with it\n\ninterrupted\n"
    )
    assert not Path("out.bin").exists()
    os.truncate("in.bin", 100)
    ended = shell(*line[3:])
    assert ended.code == 4
    assert ended.err.startswith("error: `in.bin` has 100 bytes")
