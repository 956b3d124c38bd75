"""Files of weights in the shell: what is said, whole, and with which exit code."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from shlex import split

import numpy as np
import pytest
from cli_shell import Shell, shell

__all__ = ["shell"]

RULES = """\
layout Tiles(n, k) = [n/16, k/32, n%16, k%32]
tensor "m.*.q.weight" = Tiles
tensor "**.up.weight"(n, k) = [k/64, n, k%64] fill 7
tensor "m.qweight" = MarlinWeights from words u32 of GptqWeights
tensor "**.norm" = keep
"""
TEXTS = {
    "rules.layout": RULES,
    "none.layout": "layout A(n) = [n]\n",
    "refuted.layout": 'tensor "m.0.q.weight"(n, k) = [n, k%4]\n',
    "lost.layout": 'tensor "m.0.q.weight"(n, k) = [n : N, min(k, 3) : K]\n',
    "many.layout": 'tensor "m.*.weight" = NCHW16c\ntensor "**" = NHWC\ntensor "x" = keep\n',
    "groups.layout": 'group "g.{i}" = Q4_0(d = "{}.d", q = "{}.q") as "blk.{i}"\n',
    "lacks.layout": 'group "{p}.{i}" = Q8_0(d = "{}.d", q = "{}.q") as "blk.{p}.{i}"\n',
    "wide.layout": 'tensor "**.up.weight"(n, k) = [(n, k)%3, (n, k)/3]\n',
}
LINES = (
    "pack in.npz --rules rules.layout -o out.npz -v",
    "verify out.npz --against in.npz",
    "verify out.npz",
    "verify out.npz --json",
    "inspect in.npz",
    "inspect out.npz",
    "unpack out.npz -o again.npz -v --jobs 2",
    "verify flipped.npz --against in.npz",
    "verify flipped.npz --against in.npz --json",
    "verify padding.npz --against in.npz",
    "verify padding.npz",
    "verify out.npz --against other.npz",
    "verify in.npz",
    "verify out.npz --against nothing.npz",
    "inspect rules.layout --format npz",
    "inspect rules.layout",
    "inspect rules.layout --format zip",
    "inspect gone.npz --json",
    "pack in.npz --rules rules.layout -o more.npz --strict",
    "pack in.npz --rules many.layout -o more.npz",
    "pack in.npz --rules none.layout -o more.npz",
    "pack in.npz --rules refuted.layout -o more.npz",
    "pack in.npz --rules lost.layout -o more.npz",
    "pack in.npz --rules gone.layout -o more.npz",
    "pack in.npz --rules wide.layout -o more.npz --mem 1K",
    "pack out.npz --rules rules.layout -o more.npz",
    "pack in.npz --rules rules.layout",
    "pack in.npz more.npz --rules rules.layout",
    "pack in.npz --rules rules.layout -o more.npz --fill 3",
    "pack in.npz --rules rules.layout -o in.npz",
    "pack in.npz --rules rules.layout -o rules.layout --format npz",
    "pack in.npz --rules rules.layout -o -",
    "pack in.npz -o more.npz",
    "pack in.npz --rules groups.layout -o groups.gguf -v",
    "inspect groups.gguf",
    "verify groups.gguf --against in.npz",
    "unpack groups.gguf -o groups.npz -v",
    "pack in.npz --rules lacks.layout -o more.npz",
    "check groups.layout",
    "print groups.layout",
    "pack NCHW16c in.npy out.npy --strict",
    "pack NCHW16c",
    "unpack in.npz -o more.npz",
    "unpack out.npz more.npz -o more.npz",
    "unpack NCHW16c in.npy",
    "unpack NCHW16c in.npy out.npy --format npz",
)


def tensors() -> dict[str, np.ndarray]:
    draw = np.random.default_rng(0)
    found = {f"m.{n}.q.weight": draw.integers(0, 9, (40, 50)).astype("u2") for n in range(2)}
    found["m.up.weight"] = draw.integers(0, 9, (8, 70)).astype("i4")
    found["m.qweight"] = draw.integers(0, 2**31, (16, 64)).astype("i4")
    found |= {
        "g.0.d": np.ones((3, 2), "f2"),
        "g.0.q": np.arange(192).reshape(3, 64).astype("u1") % 16,
    }
    return found | {"m.norm": np.ones(5, "f4"), "bias": np.zeros((), "f8")}


@pytest.fixture
def weights(shell: Shell) -> Shell:
    for name, text in TEXTS.items():
        Path(name).write_text(text)
    np.savez("in.npz", **tensors())
    other = tensors()
    other["m.norm"] = np.ones(6, "f4")
    np.savez("other.npz", **other)
    return shell


def flip(place: str, name: str, slot: int) -> None:
    """Change a bit of an item in an archive, and leave all else as it was."""
    array = np.load(place)[name]
    data = bytearray(Path("out.npz").read_bytes())
    at = data.index(array.tobytes()) + slot * array.itemsize
    data[at] ^= 4
    Path("flipped.npz" if slot < 100 else "padding.npz").write_bytes(data)


@pytest.mark.slow
def test_whole_texts(weights: Shell, golden: Callable[[str, str], None]) -> None:
    blocks = []
    for line in LINES:
        ended = weights(*split(line), *(["--target", "numpy"] if "pack" in line[:6] else []))
        told = (ended.out + ended.err).replace(str(Path.cwd()), "FOLDER")
        blocks.append(f"$ layoutdsl {line}\n{told}exit code {ended.code}\n")
        if line == LINES[0]:
            flip("out.npz", "m.1.q.weight", 65)
            flip("out.npz", "m.up.weight", 2 * 8 * 64 - 1)
    golden("cli_weights.txt", "\n".join(blocks))
    assert not Path("more.npz").exists()
    with np.load("in.npz") as one, np.load("again.npz") as other:
        assert set(one.files) == set(other.files)
        assert all((one[each] == other[each]).all() for each in one.files)


@pytest.mark.slow
def test_progress_names_tensors(weights: Shell) -> None:
    line = "pack in.npz --rules rules.layout -o out.npz --progress json --target numpy"
    ended = weights(*line.split())
    told = [json.loads(each) for each in ended.err.splitlines() if each.startswith("{")]
    assert (told[-1]["name"], told[-1]["number"], told[-1]["count"]) == ("bias", 8, 8)
    assert told[-1]["done_bytes"] == told[-1]["total_bytes"]


@pytest.mark.parametrize(
    "line",
    [
        "pack in.npz --rules rules.layout -o none/out.npz",
        "unpack out.npz -o none/out.npz",
        "plan in.npz --rules rules.layout -o plan.json --out none/out.npz",
    ],
)
def test_a_folder_that_is_missing(weights: Shell, line: str) -> None:
    weights(*split(LINES[0]))
    ended = weights(*split(line))
    failed = "error: `none/out.npz` cannot be written: no such file or directory\n"
    assert (ended.code, ended.err) == (4, failed)


def test_a_full_disk(weights: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "posix_fallocate", full)
    line = "pack in.npz --rules rules.layout -o out.npz --target numpy"
    ended = weights(*line.split())
    assert (ended.code, ended.out) == (4, "")
    assert ended.err == "error: `out.npz` cannot be written: no space left on device\n"
    assert not Path("out.npz").exists()
