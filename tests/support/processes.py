"""Programs that tests start: none outlives its test, and a signal ends it however tests are run.

Under `nohup`, or in the background of a script, the interrupt is ignored, and whatever is started
ignores it as well. A program that is started here does not; and it leads a group of processes,
which is killed with it.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any

SECONDS = 300
"""After which a program that a test waits for is given up."""


@contextmanager
def running(command: Sequence[str | Path], **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """Start a program, and kill it and all that it started when the block is left."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:  # what a handler is set for here, a program that is started finds as it should be
        process = subprocess.Popen(command, start_new_session=True, **options)
    finally:
        signal.signal(signal.SIGINT, before)
    with process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def ended(command: Sequence[str | Path], **options: Any) -> subprocess.CompletedProcess[Any]:
    """Run a program to its end; what it prints is kept."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    with running(command, **pipes) as process:
        out, err = process.communicate(timeout=SECONDS)
        return subprocess.CompletedProcess(command, process.returncode, out, err)


def gone(number: int, seconds: float = 10) -> bool:
    """Whether a process is no more, or soon is; one that nobody has waited for is gone."""
    until = monotonic() + seconds
    while monotonic() < until:
        try:
            os.kill(number, 0)
            if Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        sleep(0.05)
    return False
