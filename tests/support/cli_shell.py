"""Runs a command line in this process, as the shell would, and each replay line that it prints."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from replaying import replayed

from layoutdsl.shell.shell import run


def timeless(text: str) -> str:
    """A text that was printed, with 0 ms in place of every duration, whatever its size."""
    return re.sub(r"\b\d+(\.\d+)? m?s\b", "0 ms", text)


Shell = Callable[..., "Ended"]

DEMO = """\
layout NCHW16c(n, c, h, w) = [n, c/16, h, w, c%16]
layout Crouton(b, h, w, d) = [b, h/8, w/8, d/32; h%8, w%8, d%32] of u4 fill 3
layout Gaps(n, h, w) = [(n, h) : 70, w : 6] offset 3
layout Swizzled(h, w: 4) = [h, w ^ h%4]
layout Manual(n, c, h, w) = [n, c/8, h, w, c%8]
prove Manual == NCHW16c where C <= 8, H == 1, W == 1
"""


@dataclass(frozen=True)
class Ended:
    """The exit code, and what was printed."""

    code: int
    out: str
    err: str
    raw: bytes


@pytest.fixture
def shell(
    capsysbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Shell:
    """Run a command line in a directory of its own, with a spec `demo.layout` in it."""
    monkeypatch.chdir(tmp_path)
    for variable in ("NO_COLOR", "FORCE_COLOR", "LAYOUTDSL_DEBUG"):
        monkeypatch.delenv(variable, raising=False)
    Path("demo.layout").write_text(DEMO, encoding="utf-8")

    def started(*arguments: str, stdin: bytes = b"") -> Ended:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsysbinary.readouterr()
        code = run(arguments)
        out, err = capsysbinary.readouterr()
        ended = Ended(code, out.decode(errors="replace"), err.decode(), out)
        replayed(started, f"{ended.out}\n{ended.err}", all_of_it=False)
        return ended

    return started
