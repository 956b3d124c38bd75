"""Standard streams that are closed or full: the right exit code, and never a traceback."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

OURS = "layout A(c) = [c/4, c%4]\n"
CLOSED = "error: the standard output cannot be written: it is closed\n"


PYTHON = shlex.quote(sys.executable)


def ended(line: str, within: Path) -> tuple[int, str]:
    """How a line of the shell ends, and what it says on the standard error.

    What counts branches would write a file of its own as it ends, with streams and limits as here.
    """
    unmeasured = {key: value for key, value in os.environ.items() if "COVERAGE" not in key}
    done = subprocess.run(
        ["/bin/sh", "-c", line],
        cwd=within,
        env=unmeasured,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.mark.slow
@pytest.mark.sampled(9)
@pytest.mark.parametrize(
    ("line", "code", "err"),
    [
        ("prove good.layout 2>&-", 0, ""),
        ("prove bad.layout 2>&-", 1, ""),
        ("prove good.layout >&-", 4, CLOSED),
        ("prove good.layout --json >&-", 4, CLOSED),
        ("prove good.layout >&- 2>&-", 4, ""),
        ("show good.layout --shape 9 >&-", 4, CLOSED),
        ("generate good.layout >&-", 4, CLOSED),
        ("generate good.layout -o made.py >&-", 4, CLOSED),
        ("pack good.layout in.npy - >&-", 4, CLOSED),
        ("pack good.layout in.npy out.npy >&- 2>&- <&-", 0, ""),
        ("check - <&-", 4, "error: the standard input cannot be read: it is closed\n"),
        (
            "pack good.layout - out.npy <&-",
            4,
            "error: the standard input cannot be read: it is closed\n",
        ),
        ("check none.layout <&- >&- 2>&-", 4, ""),
        ("prove none.layout 2>/dev/full", 4, ""),
        ("prove bad.layout 2>/dev/full", 1, ""),
        ("no-such-verb 2>/dev/full", 2, ""),
        ("list >/dev/full 2>/dev/full", 4, ""),
        ("where good.layout --shape x --index 0 --json >/dev/full 2>/dev/full", 4, ""),
    ],
)
def test_a_stream_that_is_closed_or_full(tmp_path: Path, line: str, code: int, err: str) -> None:
    if "/dev/full" in line and not Path("/dev/full").exists():
        pytest.skip("no /dev/full on this system")
    (tmp_path / "good.layout").write_text(OURS)
    (tmp_path / "bad.layout").write_text("layout Bad(c) = [c%4] where C < 9")
    np.save(tmp_path / "in.npy", np.zeros(9))
    assert ended(f"exec {PYTHON} -m layoutdsl {line}", tmp_path) == (code, err)


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("buffer", ["PYTHONUNBUFFERED=1", "PYTHONUNBUFFERED="])
@pytest.mark.parametrize(
    "line",
    [
        "pack good.layout in.npy -",
        "pack Q8_0 fields.npz -",
        "generate good.layout --target c -o -",
    ],
)
def test_an_output_for_which_there_is_no_room_is_no_success(
    tmp_path: Path, line: str, buffer: str
) -> None:
    (tmp_path / "good.layout").write_text(OURS)
    np.save(tmp_path / "in.npy", np.zeros(9000))
    np.savez(tmp_path / "fields.npz", d=np.ones((64, 8), "f2"), q=np.ones((64, 256), "i1"))
    run = f"ulimit -f 4; {buffer} exec {PYTHON} -B -m layoutdsl {line} >full"
    failed = "error: the standard output cannot be written: file too large\n"
    assert ended(run, tmp_path) == (4, failed)
