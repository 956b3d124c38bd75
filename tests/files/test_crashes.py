"""Runs that are killed at any moment, and go on with files that others have touched: some of them.

More: `python -m tests.support.crashes --count 10000`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

if not hasattr(os, "fork"):
    pytest.skip("processes cannot be split here", allow_module_level=True)


def campaign(*given: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own: it has one thread, and splits."""
    line = [sys.executable, "-m", "tests.support.crashes", *given]
    root = Path(__file__).parents[2]
    return subprocess.run(line, cwd=root, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_what_a_killed_run_leaves_is_gone_on_with_or_refused() -> None:
    ended = campaign("--count", "60")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    for outcome in ("done", "resumed", "killed", "occupied"):
        assert f" {outcome}" in ended.stdout


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["believing", "blind"])
def test_faults_that_were_there_are_noticed(fault: str) -> None:
    ended = campaign("--count", "100", "--planted", fault)
    assert (ended.returncode, ended.stderr) == (1, "")
    assert (
        "the output is not that of the input" in ended.stdout or "nothing was said" in ended.stdout
    )


@pytest.mark.campaign
@pytest.mark.parametrize("fault", ["reading only", "greedy", "hasty", "forgetful"])
def test_more_faults_are_noticed(fault: str) -> None:
    ended = campaign("--count", "1000", "--planted", fault)
    assert (ended.returncode, ended.stderr) == (1, "")


@pytest.mark.campaign
def test_more_crashes() -> None:
    ended = campaign("--count", "5000", "--seed", "1000")
    print(ended.stdout)
    assert ended.returncode == 0, ended.stdout + ended.stderr
