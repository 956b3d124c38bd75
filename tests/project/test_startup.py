"""Start-up is a feature: what a verb does not need is not imported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

HEAVY = ("lark", "numpy", "sympy", "z3")

PROBE = """
import json, sys
sys.argv = ["layoutdsl", *json.loads(sys.argv[1])]
try:
    {run}
except SystemExit:
    pass
print(json.dumps([name for name in {asked} if name in sys.modules]), file=sys.stderr)
"""
SHELL = "from layoutdsl.shell import main; main()"
WHERE = ["where", "NCHW16c", "--shape", "2,20,3,4", "--index", "1,17,2,3"]

ELSEWHERE = (
    *(
        "layoutdsl.proof.proving",
        "layoutdsl.shell.proofs",
        "layoutdsl.code.generating",
        "layoutdsl.code.plan",
        "layoutdsl.proof.kernel",
    ),
    *("layoutdsl.notation.notation", "layoutdsl.language.syntax.advice"),
    *("difflib", "importlib.metadata", "importlib.resources", "subprocess", "tomllib"),
)
"""Modules of other commands and packages, and modules of Python that load slowly."""


def imported(
    run: str, arguments: list[str], directory: Path, asked: tuple[str, ...] = HEAVY
) -> list[str]:
    """The modules that a run has loaded, of those asked for."""
    program = PROBE.format(run=run, asked=asked)
    usual = {key: value for key, value in os.environ.items() if key != "LAYOUTDSL_SOLVER"}
    unmeasured = {key: value for key, value in usual.items() if "COVERAGE" not in key}
    done = subprocess.run(
        [sys.executable, "-c", program, json.dumps(arguments)],
        cwd=directory,
        env=unmeasured,  # what counts branches loads modules of its own
        capture_output=True,
        text=True,
        check=True,
    )
    found: list[str] = json.loads(done.stderr.splitlines()[-1])
    return found


@pytest.mark.sampled(36)
@pytest.mark.parametrize(
    ("arguments", "allowed"),
    [
        (["--help"], []),
        (["--version"], []),
        (["prove", "--help"], []),
        (["diff", "--help"], []),
        (["probe", "--help"], []),
        (["no-such-verb"], []),
        (["diff", "NCHW", "no such"], ["lark"]),
        (["where", "NCHW16", "--shape", "1", "--index", "1"], []),
        (["check", "wrong.layout"], ["lark"]),
        (["prove", "wrong.layout"], ["lark"]),
        (WHERE, ["lark"]),
        (["at", "NCHW16c", "--shape", "2,20,3,4", "757"], ["lark"]),
        (["show", "NCHW4c", "--shape", "1,6,2,3"], ["lark"]),
        (["show", "NCHW4c", "--shape", "1,6,2,3", "--as", "html"], ["lark"]),
        (["banks", "GmmaKSw128", "--thread", "m = t%8, k = t/8", "--of", "f32"], ["lark"]),
        (["list"], []),
        (["formula", "NCHW16c"], ["lark"]),
        (["formula", "NCHW16c", "--as", "latex"], ["lark", "sympy"]),
        (["formula", "NCHW16c", "--as", "cuda"], ["lark"]),
    ],
    ids=lambda value: " ".join(value) or "nothing",
)
def test_a_verb_imports_only_what_it_needs(
    arguments: list[str], allowed: list[str], tmp_path: Path
) -> None:
    (tmp_path / "wrong.layout").write_text("layout A(n) = [n,, n]")
    assert imported(SHELL, arguments, tmp_path) == allowed


@pytest.mark.slow
def test_one_element_is_found_without_other_verbs_and_rooms(tmp_path: Path) -> None:
    assert imported(SHELL, WHERE, tmp_path, ELSEWHERE) == []


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("run", "allowed"),
    [
        ("import layoutdsl", []),
        ("import layoutdsl; layoutdsl.parse; layoutdsl.Layout", []),
        ("import layoutdsl; layoutdsl.library('NCHW16c')", ["lark"]),
    ],
)
def test_the_package_imports_only_what_is_used(
    run: str, allowed: list[str], tmp_path: Path
) -> None:
    assert imported(run, [], tmp_path) == allowed


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("target", ["auto", "numpy"])
def test_what_was_proved_before_is_not_proved_again(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAYOUTDSL_CACHE", str(tmp_path / "kept"))
    np.save(tmp_path / "in.npy", np.arange(60).reshape(1, 5, 3, 4))
    run = ["pack", "NCHW4c", "in.npy", "out.npy", "--target", target]
    asked = (*HEAVY, "layoutdsl.proof.tactics")
    first, again = (imported(SHELL, run, tmp_path, asked) for _ in range(2))
    assert first == ["lark", "numpy", "layoutdsl.proof.tactics"]  # z3 runs in a process of its own
    assert again == ["lark", "numpy"]
    for text in (tmp_path / "kept").glob("*.text"):
        *kept, last = text.read_bytes()
        text.write_bytes(bytes((*kept, last ^ 1)))  # whatever it is: it was a `?` once
    assert imported(SHELL, run, tmp_path, asked) == first, "damaged, so it is proved anew"
