"""What shells complete: real ones in a terminal, as far as they are installed."""

from __future__ import annotations

import os
import pty
import re
import select
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest
from cli_shell import Shell, shell
from processes import ended, running

__all__ = ["shell"]

SECONDS = 60
"""A shell that says nothing for so long has nothing to say."""


VARIABLE, LINE = "_LAYOUTDSL_COMPLETE", "_LAYOUTDSL_LINE"
"""What the scripts set: which shell asks, and what stands before the cursor."""


@pytest.fixture
def asked(shell: Shell, monkeypatch: pytest.MonkeyPatch):
    """What may follow a line, as a shell is told."""

    def ask(line: str, kind: str = "zsh", *given: str) -> list[str]:
        monkeypatch.setenv(VARIABLE, kind)
        monkeypatch.setenv(LINE, line)
        found = shell(*given)
        assert (found.code, found.err) == (0, "")
        return str(found.out).splitlines()

    return ask


@pytest.mark.parametrize("kind", ["bash", "zsh", "fish"])
def test_scripts_set_what_is_read(shell: Shell, kind: str) -> None:
    script = shell("completion", kind).out
    assert f"{VARIABLE}{' ' if kind == 'fish' else '='}{kind}" in script
    assert LINE in script


def test_verbs(shell: Shell, asked) -> None:
    listed = shell("--help").out.partition("Commands:")[2].partition("Exit codes:")[0]
    assert asked("layoutdsl ") == re.findall(r"^  (\w+)  ", listed, re.MULTILINE)
    assert asked("layoutdsl pro") == ["prove", "propagate", "probe"]
    assert asked("layoutdsl --h") == ["--help"]


@pytest.mark.parametrize(
    ("line", "some"),
    [
        ("layoutdsl prove NCHW16", ["NCHW16c"]),
        ("layoutdsl prove demo.layout:NC", ["demo.layout:NCHW16c"]),
        ("layoutdsl prove de", ["demo.layout"]),
        ("layoutdsl where Q6", ["Q6_K"]),
        ("layoutdsl diff NCHW16c one", ["onednn:"]),
        ("layoutdsl translate NCHW16c --to xl", ["xla"]),
        ("layoutdsl cost NCHW16c --of bf", ["bf16"]),
        ("layoutdsl formula NCHW16c --as cu", ["cuda"]),
        ("layoutdsl explain L20", ["L201", "L208"]),
        ("layoutdsl prove --format s", ["sarif"]),
        ("layoutdsl prove --form", ["--format"]),
        ("layoutdsl generate NCHW16c -o sub", ["sub dir/"]),
        ("layoutdsl pack NCHW16c in", ["in.npy"]),
        ("layoutdsl completion f", ["fish"]),
        ("layoutdsl prove 'sub dir/i", ["sub dir/inner.layout"]),
    ],
)
def test_what_follows(line: str, some: list[str], asked) -> None:
    Path("sub dir").mkdir()
    Path("sub dir/inner.layout").touch()
    Path("in.npy").touch()
    found = asked(line)
    assert set(some) <= set(found)
    assert len(found) == len(set(found))


@pytest.mark.parametrize(
    "line", ["", "layoutdsl", "layoutdsl prove nothing:", 'layoutdsl "', "x y"]
)
def test_odd_lines_are_no_fault(line: str, asked) -> None:
    asked(line)


def test_bash_has_what_stands_before_a_colon_already(asked) -> None:
    line = "layoutdsl prove demo.layout:NC"
    assert asked(line, "bash", " :=") == ["NCHW16c"]
    assert asked(line, "bash", " =") == ["demo.layout:NCHW16c"]
    Path("a $b.layout").touch()
    assert asked("layoutdsl prove a", "bash", ":") == ["a\\ \\$b.layout"]


def test_it_loads_no_parser(tmp_path: Path) -> None:
    program = (
        "import os, sys\n"
        f"os.environ[{VARIABLE!r}], os.environ[{LINE!r}] = 'zsh', 'layoutdsl prove NCHW'\n"
        "import contextlib, runpy\n"
        "sys.argv = ['layoutdsl']\n"
        "with contextlib.suppress(SystemExit):\n"
        "    runpy.run_module('layoutdsl', run_name='__main__')\n"
        "heavy = ('lark', 'numpy', 'sympy', 'z3', 'layoutdsl.language.syntax')\n"
        "print([each for each in heavy if each in sys.modules])\n"
    )
    done = ended([sys.executable, "-c", program], cwd=tmp_path)
    *names, loaded = done.stdout.decode().splitlines()
    assert "NCHW16c" in names
    assert loaded == "[]"


@pytest.fixture
def terminal(tmp_path: Path):
    """Type into a real shell that has what `layoutdsl completion` prints, and read its screen."""
    program = tmp_path / "bin" / "layoutdsl"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m layoutdsl "$@"\n')
    program.chmod(0o755)
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "demo.layout").write_text("layout Blocked(n) = [n/4, n%4]\n")

    def typed(name: str, *words: str) -> Iterator[str]:
        if shutil.which(name) is None:
            pytest.skip(f"there is no {name}")
        script = tmp_path / "completion"
        said = ended([sys.executable, "-m", "layoutdsl", "completion", name], cwd=folder)
        script.write_bytes(said.stdout)
        path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
        own = {**os.environ, "PATH": path, "TERM": "dumb", "HOME": str(tmp_path), "PS1": "$ "}
        if name == "fish":  # it asks terminals what they are; this is what its key does
            for line, expected in zip(words[::2], words[1::2], strict=True):
                asks = f"source {script}; complete -C {shlex.quote(line)}"
                done = ended(["fish", "--no-config", "-c", asks], env=own, cwd=folder)
                assert expected in done.stdout.decode(), done.stderr.decode()
                yield expected
            return
        ours, theirs = pty.openpty()
        start = {
            "bash": ["bash", "--norc", "--noprofile", "-i"],
            "zsh": ["zsh", "-f", "-i"],
        }[name]
        with running(start, stdin=theirs, stdout=theirs, stderr=theirs, env=own, cwd=folder):
            os.close(theirs)
            os.write(ours, f"source {script}\n".encode())
            os.write(ours, b"echo rea''dy\n")
            _until(ours, "ready")
            for line, expected in zip(words[::2], words[1::2], strict=True):
                os.write(ours, line.encode() + b"\t")
                yield _until(ours, expected)
                os.write(ours, b"\x15")
        os.close(ours)

    return typed


def _until(handle: int, expected: str) -> str:
    """Read a terminal until it shows a text; signs that move the cursor are left out."""
    seen, until = b"", monotonic() + SECONDS
    while monotonic() < until:
        if select.select([handle], [], [], 1)[0]:
            seen += os.read(handle, 65536)
        shown = re.sub(
            r"\x1b(\[[0-9;?]*[A-Za-z]|[()]B|[=>])|[\r\x08]", "", seen.decode("utf-8", "replace")
        )
        if expected in shown:
            return shown
    raise AssertionError(f"{expected!r} is not in {seen.decode('utf-8', 'replace')!r}")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_a_real_shell(name: str, terminal) -> None:
    lines = [
        *("layoutdsl gener", "generate"),
        *("layoutdsl prove demo.layout:B", "Blocked"),
        *("layoutdsl prove MarlinW", "MarlinWeights"),
    ]
    assert len(list(terminal(name, *lines))) == 3
