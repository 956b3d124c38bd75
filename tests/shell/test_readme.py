"""The README in order, as somebody types it into one shell right behind `git clone`.

`python3 -m venv` makes a folder with stand-ins of the programs that an installation brings, and
`pip` in it does nothing: `.ci/run` runs both set-up commands for real. Nothing but that folder has
`layoutdsl` and `python`, so a block works only if the blocks before it install and activate.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from page_blocks import Block, blocks, placed, prove, type_out
from processes import running

import layoutdsl

README = (Path(layoutdsl.__file__).parents[1] / "README.md").read_text(encoding="utf-8")
END = "-- end of a command --"

PYTHON3 = """#!/bin/sh
[ "$*" = "-m venv .venv" ] || exit 1
mkdir -p .venv/bin
cp {stand_ins}/* .venv/bin
echo 'PATH=$PWD/.venv/bin:$PATH' > .venv/bin/activate
"""
STAND_INS = {
    "layoutdsl": 'exec {python} -m layoutdsl "$@"',
    "python": 'exec {python} "$@"',
    "pip": "",
    "pytest": "",
}


def test_the_readme_is_short() -> None:
    assert len(README.split()) <= 1200
    assert README.count("![") == 2


def test_set_up_commands_are_those_that_ci_runs() -> None:
    lines = [each.strip() for each in set_up_commands()]
    assert [each.split()[-1] for each in lines] == ["tour", "auto"]
    assert all("&& . .venv/bin/activate &&" in each for each in lines)


@pytest.mark.slow
def test_every_block_works_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with fresh_clone(tmp_path) as run:
        for block in steps():
            with placed(f"README.md:{block.line}"):
                follow(block, run)


def test_programs_are_missing_before_the_set_up(tmp_path: Path) -> None:
    with fresh_clone(tmp_path) as run:
        assert "not found" in run("layoutdsl tour")
        assert "not found" in run("python -c pass")


def follow(block: Block, run: Callable[[str], str]) -> None:
    """Do what a reader does with a block: save it, type it, or run it as a script."""
    if block.kind == "layout" and block.words:
        Path(block.words[0]).write_text(block.text, encoding="utf-8")
    elif block.kind == "layout":
        prove(block)
    elif block.kind == "python":
        Path("block.py").write_text(block.text, encoding="utf-8")
        assert run("python -W error block.py") == ""
    elif block.kind == "console":
        type_out(block, run)
    else:
        assert block.kind == "set-up", block
        printed = run(block.text)
        assert "not found" not in printed, printed


def steps() -> list[Block]:
    """Return the blocks of the README, the indented set-up commands among them, in order."""
    indented = [
        Block("set-up", (), token.content, (token.map or [0])[0] + 1)
        for token in MarkdownIt("commonmark").parse(README)
        if token.type == "code_block"
    ]
    return sorted([*blocks(README), *indented], key=lambda block: block.line)


def set_up_commands() -> list[str]:
    return [each.text for each in steps() if each.kind == "set-up"]


@contextmanager
def fresh_clone(folder: Path) -> Iterator[Callable[[str], str]]:
    """Start a shell in a folder; return what runs a line in it and gives all that is printed."""
    stand_ins = folder / ".stand-ins"
    stand_ins.mkdir()
    for name, line in STAND_INS.items():
        words = line.format(python=shlex.quote(sys.executable))
        program(stand_ins / name, f"#!/bin/sh\n{words}\n")
    program(folder / ".programs/python3", PYTHON3.format(stand_ins=stand_ins))
    known = {
        **os.environ,
        "PATH": os.pathsep.join([str(folder / ".programs"), "/usr/bin", "/bin"]),
        "PYTHONPATH": str(Path(layoutdsl.__file__).parents[1]),
    }
    known.pop("VIRTUAL_ENV", None)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with running(["bash", "--norc"], **pipes, env=known, cwd=folder, text=True) as shell:

        def run(line: str) -> str:
            shell.stdin.write(f"{line.strip()} </dev/null\nprintf '%s %s\\n' '{END}' $?\n")
            shell.stdin.flush()
            printed = []
            for each in shell.stdout:
                if END in each:
                    printed.append(each.partition(END)[0])
                    break
                printed.append(each)
            return "".join(printed)

        yield run


def program(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
