"""What other repositories run of this one: hooks of pre-commit, and the action of GitHub."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_shell import Shell, shell
from processes import ended

__all__ = ["shell"]

ROOT = Path(__file__).parents[2]
RIGHT = "layout A(n, c) = [n, c/16, c%16]\n"
WRONG = RIGHT + "prove A == n*C + c\n"


def read(name: str) -> Any:
    return pytest.importorskip("yaml").safe_load((ROOT / name).read_text(encoding="utf-8"))


def test_hooks_call_verbs_with_options_that_there_are(shell: Shell) -> None:
    for hook in read(".pre-commit-hooks.yaml"):
        program, verb, *words = shlex.split(hook["entry"])
        assert program == "layoutdsl"
        options = set(re.findall(r"(?<![\w-])--?[\w-]+", shell(verb, "--help").out))
        assert {word for word in words if word.startswith("-")} <= options
        assert re.search(hook["files"], "kernels/demo.layout")


def test_pre_commit_takes_the_hooks() -> None:
    clientlib = pytest.importorskip("pre_commit.clientlib")
    found = clientlib.load_manifest(ROOT / ".pre-commit-hooks.yaml")
    assert [each["id"] for each in found] == [
        *("layoutdsl-check", "layoutdsl-prove", "layoutdsl-generated")
    ]


@pytest.fixture
def prove(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Run the step of the action that proves, as its runner would; return code and output."""
    if shutil.which("bash") is None:
        pytest.skip("there is no bash")
    (step,) = [each for each in read("action.yml")["runs"]["steps"] if each.get("id") == "prove"]
    programs = {"layoutdsl": "-m layoutdsl", "python": ""}
    for name, module in programs.items():
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {module} "$@"\n')
        program.chmod(0o755)
    folder = tmp_path / "checkout"
    (folder / "kernels").mkdir(parents=True)
    monkeypatch.chdir(folder)

    def run(files: str, log: str = "found.sarif") -> tuple[int, str]:
        path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
        known = {**os.environ, "PATH": path, "FILES": files, "LOG": log}
        done = ended(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], env=known
        )
        return done.returncode, done.stdout.decode()

    return run


@pytest.mark.slow
def test_the_action_proves_and_leaves_a_log(prove) -> None:
    Path("kernels/a.layout").write_text(RIGHT)
    Path("kernels/b c.layout").write_text(WRONG)
    code, out = prove("kernels/*.layout")
    assert code == 1
    assert "refuted: the formula is not the offset of `A`" in out
    (run,) = json.loads(Path("found.sarif").read_text())["runs"]
    assert [each["ruleId"] for each in run["results"]] == ["refuted"]
    code, out = prove("kernels/a.layout")
    assert (code, out) == (0, "{'proved': 1}\n")


@pytest.mark.slow
def test_the_action_annotates_where_no_log_is_wanted(prove) -> None:
    Path("kernels/a.layout").write_text(WRONG)
    code, out = prove("kernels/**/*.layout", "")
    assert code == 1
    assert out.startswith("::error file=kernels/a.layout,line=2,")


def test_the_action_fails_where_there_is_no_file(prove) -> None:
    assert prove("kernels/*.layout") == (
        *(2, "::error title=layoutdsl::no file is called kernels/*.layout\n"),
    )
    assert prove("gone.layout")[0] == 4


@pytest.mark.slow
def test_generate_check_says_the_way_out(shell: Shell) -> None:
    words = ("generate", "demo.layout:NCHW16c", "-o", "made.py")
    missing = shell(*words, "--check")
    assert (missing.code, missing.out) == (1, "differs: made.py is not there\n")
    assert missing.err == "  = help: the same command without --check writes what differs\n"
    assert shell(*words).code == 0
    same = shell(*words, "--check")
    assert (same.code, same.out, same.err) == (0, "same: made.py\n", "")
    Path("made.py").write_text(Path("made.py").read_text() + "\n")
    assert shell(*words, "--check").code == 1
