"""Blocks of a page are run, in their order and in one folder: what is shown has to be so.

``layout`` is parsed and proved, and ``layout FILE`` written to that file as well. A first line
``# refuted: NAME, NAME`` says that claims of these layouts fail, and all others hold; ``# refuted``
that at least one does; ``# undecided`` the same of what is neither proved nor refuted. ``# wrong:
L202`` in one line says which faults the text has, all of them.

``console`` is a session of a shell: a line behind ``$ `` is run, and what it prints is compared.
``...`` on a line of its own stands for any lines, or none; durations are not compared; each line of
a replay is run too. ``python`` is run in one namespace for the page, prints nothing and warns of
nothing, unless it is written as a session, with ``>>> ``; ``python FILE.py`` and ``c FILE.c`` are
written to that file, and nothing else. Behind ``console`` and ``python`` may stand packages and
programs that have to be installed for the block. ``text`` is what nobody can run.
"""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from cli_shell import Ended, timeless
from markdown_it import MarkdownIt
from processes import running
from replaying import replayed

import layoutdsl
from layoutdsl.shell.shell import run as run_verb

RUN = ("layout", "python", "console")
PYTHON = (Path(__file__).with_name("page_python.py")).read_text(encoding="utf-8")

Run = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, the words behind it, its text, and the line of the fence."""

    kind: str
    words: tuple[str, ...]
    text: str
    line: int


def blocks(page: str) -> list[Block]:
    """Return every fenced block of a page, as the site reads it: in lists and quotes as well."""
    found = []
    for token in MarkdownIt("commonmark").parse(page):
        if token.type == "fence":
            kind, *words = token.info.split() or [""]
            found.append(Block(kind, tuple(words), token.content, (token.map or [0])[0] + 1))
    return found


def prove(block: Block) -> None:
    """Hold a ``layout`` block against what its first line says; write it where it has a name."""
    for name in block.words:
        Path(name).write_text(block.text, encoding="utf-8")
    said, _, names = block.text.partition("\n")[0].partition(":")
    wanted = {name.strip() for name in names.split(",")} - {""}
    if said == "# wrong":
        assert codes(block.text) == wanted
        return
    found = layoutdsl.prove(layoutdsl.parse(block.text, "page.layout"))
    failed = {each.claim.subject.name for each in found.checked if not each.passed}
    if said in ("# refuted", "# undecided"):
        kinds = {each.status for each in found.checked if not each.passed}
        assert failed == (wanted or failed), found
        assert kinds == {said.removeprefix("# ")}, found
    else:
        assert found.passed, [each for each in found.checked if not each.passed]


def codes(text: str) -> set[str]:
    """Return the codes of all faults of a text."""
    try:
        layoutdsl.parse(text, "page.layout")
    except layoutdsl.LayoutError as error:
        return {each.code for each in error.diagnostics}
    return set()


# Shells.


def in_a_shell(folder: Path) -> Run:
    """Return what runs a line in a shell that finds `layoutdsl`, and gives all that is printed.

    A line that is nothing but a verb with its words is run in this process, which is sooner done.
    """
    program = folder / ".bin" / "layoutdsl"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m layoutdsl "$@"\n')
    program.chmod(0o755)
    beside = Path(sys.executable).parent  # programs that packages brought, such as z3
    path = os.pathsep.join([str(program.parent), str(beside), os.environ["PATH"]])

    def run(line: str) -> str:
        verb = plain(line)
        if verb is not None:
            return here(verb)
        surroundings = {**os.environ, "PATH": path}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        with running(["sh", "-c", line], **pipes, env=surroundings) as process:
            return str(process.communicate(timeout=300)[0].decode())

    return run


def plain(line: str) -> list[str] | None:
    """Return the words behind ``layoutdsl``, or None where a line needs a shell."""
    if not line.startswith("layoutdsl ") or re.search(r"[$`*?~]", line):
        return None
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.commenters = ""
    words = list(lexer)
    return None if any(set(word) <= set("();<>|&") for word in words) else shlex.split(line)[1:]


def here(words: list[str]) -> str:
    """Run a verb in this process, and return all that it prints."""
    printed = io.TextIOWrapper(io.BytesIO(), "utf-8", newline="", write_through=True)
    with redirect_stdout(printed), redirect_stderr(printed):
        run_verb(words)
    printed.flush()
    return bytes(printed.buffer.getbuffer()).decode()


def commands(session: str) -> Iterator[tuple[str, str]]:
    """The lines of a session that are typed, each with what is printed below it."""
    first, *typed = re.split(r"^\$ ", session, flags=re.MULTILINE)
    assert not first
    for each in typed:
        line, _, printed = each.partition("\n")
        yield line, printed


def matches(expected: str, found: str) -> bool:
    """Whether a text is as expected, where a line of ``...`` stands for any lines, or none."""
    parts = [re.escape(f"{line}\n") for line in timeless(expected).splitlines()]
    pattern = "".join(r"(?:.*\n)*" if part == re.escape("...\n") else part for part in parts)
    return re.fullmatch(pattern, timeless(found)) is not None


def type_out(block: Block, run: Run) -> None:
    """Type each line of a ``console`` block, and compare what is printed."""
    for line, printed in commands(block.text):
        found = run(line)
        assert matches(printed, found), f"$ {line}\n{found}"
        replayed(
            lambda *words: _ended(run(shlex.join(["layoutdsl", *words]))), found, all_of_it=False
        )


def _ended(out: str) -> Ended:
    """What goes wrong is seen by what is printed."""
    return Ended(0, out, "", out.encode())


# Pages.


@contextmanager
def python(page: str) -> Iterator[Callable[[Block], str]]:
    """Start a Python for the blocks of a page; it runs each, and gives all that is printed."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with running([sys.executable, "-W", "error", "-c", PYTHON], **pipes) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def run(block: Block) -> str:
            process.stdin.write(f"{json.dumps([page, block.text, block.line])}\n")
            process.stdin.flush()
            return str(json.loads(process.stdout.readline()))

        yield run


def run_page(name: str, text: str, folder: Path) -> None:
    """Run all blocks of a page; the working directory has to be ``folder``, which is empty."""
    run, session = in_a_shell(folder), None
    with ExitStack() as stack:
        for block in blocks(text):
            with placed(f"{name}:{block.line}"):
                if block.kind == "layout":
                    prove(block)
                elif is_file(block):
                    Path(block.words[0]).write_text(block.text, encoding="utf-8")
                elif block.kind in RUN and not all(map(installed, block.words)):
                    continue
                elif block.kind == "console":
                    type_out(block, run)
                elif block.kind == "python":
                    session = session or stack.enter_context(python(name))
                    printed = session(block)
                    assert printed == "", printed


def is_file(block: Block) -> bool:
    """Whether a block is the text of a file that those below it use."""
    return block.kind in ("python", "c") and block.words[:1] != () and "." in block.words[0]


def installed(name: str) -> bool:
    """Whether there is a package or a program of that name."""
    return find_spec(name) is not None or shutil.which(name) is not None


@contextmanager
def placed(place: str) -> Iterator[None]:
    """Say of whatever goes wrong where its block stands."""
    try:
        yield
    except Exception as error:
        error.add_note(f"in the block at {place}")
        raise
