"""Tasks of Ray over pieces, and over shares of a plan, while workers are killed.

Workers do not know this file: what they run stands within the tests.
"""

from __future__ import annotations

import os
import runpy
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import layoutdsl

ray = pytest.importorskip("ray")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

LAYOUT = layoutdsl.library("NCHW16c")
SHAPE = (20, 70, 9, 8)


@pytest.fixture(scope="module", autouse=True)
def _cluster() -> Iterator[None]:
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()


@pytest.fixture
def tensor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    monkeypatch.chdir(tmp_path)
    return np.arange(np.prod(SHAPE), dtype="f4").reshape(SHAPE)


def kill_somebody(folder: Path) -> None:
    """Kill the process that has left a note that it is at work."""
    until = time.monotonic() + 60
    while not (notes := [each for each in folder.iterdir() if each.name.startswith("at-work-")]):
        assert time.monotonic() < until
        time.sleep(0.02)
    os.kill(int(notes[0].name.rpartition("-")[2]), signal.SIGKILL)


def test_pieces_as_tasks(tensor: np.ndarray, tmp_path: Path) -> None:
    pieces = layoutdsl.pieces_of(LAYOUT, SHAPE, 64 << 10, itemsize=4)
    layout, folder = LAYOUT, str(tmp_path)

    def pack(tensor: np.ndarray, piece: Any) -> Any:
        Path(folder, f"at-work-{os.getpid()}").touch()
        time.sleep(0.1)
        packed = layoutdsl.compile(layout).pack(tensor[piece.box])
        return packed.reshape(-1)[-piece.slots :]

    task, held = ray.remote(max_retries=5)(pack), ray.put(tensor)
    tasks = [task.remote(held, piece) for piece in pieces]
    kill_somebody(tmp_path)
    want = layoutdsl.compile(LAYOUT).pack(tensor)
    buffer = np.empty_like(want).reshape(-1)
    for each, piece in zip(tasks, pieces, strict=True):
        buffer[piece.stretch] = ray.get(each)
    assert len(pieces) > 10
    assert np.array_equal(buffer, want.reshape(-1))
    assert len(list(tmp_path.iterdir())) >= 2, "another worker has gone on"


def test_shares_as_tasks(tensor: np.ndarray, tmp_path: Path) -> None:
    """A share whose worker was killed is gone on with by the next one."""
    np.save("in.npy", tensor)
    line = [sys.executable, "-m", "layoutdsl", "plan", "NCHW16c", "in.npy", "-o", "plan.json"]
    subprocess.run([*line, "--out", "out.npy", "--mem", "20K"], check=True)
    folder = str(tmp_path)

    def share(number: int) -> bool:
        """Run `layoutdsl run` inside the worker, so that a signal ends both."""
        Path(folder, f"at-work-{os.getpid()}").touch()
        time.sleep(0.1)
        os.chdir(folder)
        sys.argv = ["layoutdsl", "run", "plan.json", "--shard", f"{number}/4"]
        with suppress(SystemExit):
            runpy.run_module("layoutdsl", run_name="__main__", alter_sys=True)
        return Path("out.npy").exists()

    task = ray.remote(max_retries=5)(share)
    tasks = [task.remote(number) for number in range(4)]
    kill_somebody(tmp_path)
    assert any(ray.get(tasks))
    assert np.array_equal(np.load("out.npy"), layoutdsl.compile(LAYOUT).pack(tensor))
    assert not Path("out.npy.part").exists()
