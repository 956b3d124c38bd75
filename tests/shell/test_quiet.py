"""`--quiet` prints no progress, no summary, and nothing about what passed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cli_shell import Shell, shell

__all__ = ["shell"]

GOOD = "layout A(n, c) = [n, c/16, c%16]\n"
BAD = "layout Lost(n, c) = [n, c%4]\n"


@pytest.fixture
def files(shell: Shell) -> Shell:
    Path("good.layout").write_text(GOOD)
    Path("bad.layout").write_text(GOOD + BAD)
    Path("wrong.layout").write_text("layout A(n, c) = [n, c/16]\n")
    np.save("in.npy", np.zeros((2, 20), "f4"))
    np.savez("w.npz", w=np.zeros((2, 20), "f4"))
    Path("rules.layout").write_text('tensor "w"(n, c) = [n, c/16, c%16]\n')
    assert shell("pack", "w.npz", "--rules", "rules.layout", "-o", "packed.npz").code == 0
    assert shell("pack", "good.layout", "in.npy", "packed.npy").code == 0
    assert shell("generate", "good.layout", "-o", "same.py").code == 0
    return shell


SILENT = [
    "check good.layout",
    "check good.layout bad.layout",
    "prove good.layout",
    "prove good.layout NCHW16c",
    "prove good.layout --write --into proofs",
    "generate good.layout -o made.py",
    "generate good.layout -o same.py --check",
    "generate Q4_0 -o made",
    "generate good.layout --target c -o made.c",
    "pack good.layout in.npy out.npy",
    "pack good.layout in.npy out.npy --mem 8M",
    "unpack good.layout packed.npy out.npy --shape 2,20",
    "pack w.npz --rules rules.layout -o out.npz",
    "verify packed.npz",
    "verify packed.npz --against w.npz",
]


@pytest.mark.sampled(20)
@pytest.mark.parametrize("words", SILENT)
def test_success_is_silent(words: str, files: Shell) -> None:
    ended = files(*words.split(), "--quiet")
    assert (ended.code, ended.out, ended.err) == (0, "", "")


def test_only_what_failed_is_printed(files: Shell) -> None:
    loud, ended = files("prove", "bad.layout"), files("prove", "bad.layout", "-q")
    assert (loud.code, ended.code) == (1, 1)
    assert "Lost" in ended.out
    assert "`A`" not in ended.out
    assert "proved" not in ended.out
    assert "proved" in loud.out


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("check wrong.layout", 2),
        ("prove wrong.layout", 2),
        ("pack bad.layout:Lost in.npy out.npy", 1),
        ("verify in.npy", 4),
    ],
)
def test_errors_are_printed(words: str, code: int, files: Shell) -> None:
    loud, quiet = files(*words.split()), files(*words.split(), "--quiet")
    assert (quiet.code, quiet.err) == (loud.code, loud.err)
    assert quiet.code == code
    assert quiet.err


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        "diff NCHW16c onednn:aBcd16b",
        "identify NCHW16c",
        "translate NCHW16c --to onednn",
        "prove good.layout --json",
        "check good.layout --json",
    ],
)
def test_results_are_printed(words: str, files: Shell) -> None:
    ended = files(*words.split(), "-q")
    assert ended.code == 0
    assert ended.out
