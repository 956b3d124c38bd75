"""Without a name `prove` and `recheck` take the library, but never in place of a piped text."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from processes import ended, running

LAYOUTDSL = (sys.executable, "-m", "layoutdsl")
MESSAGE = "error: no layout or file is named, and the standard input is a pipe or a file\n"
REFUTED = "layout Lost(n, c) = [n, c%4]\nprove Lost\n"
LIBRARY = ("recheck", "--dir", "nowhere")
"""A command of the library that ends at once: there are no certificates in that folder."""


def piped(text: str, *arguments: str) -> tuple[int, str, str]:
    """The exit code and what is printed, with a text on the standard input."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with running([*LAYOUTDSL, *arguments], text=True, **pipes) as process:
        out, err = process.communicate(text)
        return process.returncode, out, err


@pytest.mark.sampled(2)
@pytest.mark.parametrize("verb", ["prove", "recheck"])
@pytest.mark.parametrize("text", [REFUTED, ""], ids=["text", "empty"])
def test_a_pipe_is_not_ignored(verb: str, text: str) -> None:
    code, out, err = piped(text, verb)
    assert (code, out) == (2, "")
    assert err == (
        f"{MESSAGE}  = help: `layoutdsl {verb} -` reads it; "
        f"`layoutdsl {verb} < /dev/null` takes the library\n"
    )


def test_a_pipe_that_stays_open_is_not_waited_for() -> None:
    command = [*LAYOUTDSL, "prove"]
    options = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE, "stdout": subprocess.PIPE}
    with running(command, **options) as process:
        assert process.wait(60) == 2
        assert process.stderr is not None
        assert process.stderr.read().decode().startswith(MESSAGE)


@pytest.mark.slow
def test_a_file_is_not_ignored(tmp_path: Path) -> None:
    place = tmp_path / "bad.layout"
    place.write_text(REFUTED)
    for options in ((), ("--json",), ("--write", "--into", str(tmp_path / "proofs"))):
        with place.open() as text:
            done = ended([*LAYOUTDSL, "prove", *options], stdin=text, text=True)
        assert done.returncode == 2
        assert "no layout or file is named" in done.stderr + done.stdout
    assert not (tmp_path / "proofs").exists()


@pytest.mark.slow
def test_the_text_is_proved_where_it_is_named() -> None:
    code, out, _ = piped(REFUTED, "prove", "-")
    assert code == 1
    assert "refuted: `Lost` is not injective" in out
    code, out, _ = piped(REFUTED, "prove", "NHWC")
    assert (code, out.split()[:2]) == (0, ["proved", "NHWC"])


@pytest.mark.slow
def test_no_input_is_no_text(tmp_path: Path) -> None:
    """With `/dev/null`, or where the input is closed, the library is taken."""
    null = ended([*LAYOUTDSL, *LIBRARY], stdin=subprocess.DEVNULL, text=True, cwd=tmp_path)
    closed = ended(
        ["sh", "-c", 'exec "$@" <&-', "sh", *LAYOUTDSL, *LIBRARY], text=True, cwd=tmp_path
    )
    for done in (null, closed):
        assert "no layout or file is named" not in done.stderr
        assert done.returncode == 1
        assert "missing" in done.stdout


@pytest.mark.slow
def test_a_terminal_is_no_text(tmp_path: Path) -> None:
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    try:
        done = ended([*LAYOUTDSL, *LIBRARY], stdin=theirs, text=True, cwd=tmp_path)
    finally:
        os.close(ours)
        os.close(theirs)
    assert "no layout or file is named" not in done.stderr
    assert done.returncode == 1
