"""Every example does what it says: those in docstrings, and those in the documents.

In a document, a block marked ``layout`` is proved, and one marked ``layout FILE`` is written to
that file as well; ``python`` is run; ``console`` is run by a shell, line by line, and what it
prints is compared. Behind both may stand packages that have to be installed for it. The blocks of a
document are run in their order, in one folder. ``...`` on a line of its own stands for what is left
out; durations are not compared.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from cli_shell import Ended, timeless
from processes import ended
from replaying import replayed

import layoutdsl
from layoutdsl import api
from layoutdsl.cli import shell
from layoutdsl.showing.declaration import declaration

HOUSE = Path(layoutdsl.__file__).parent
CHECKOUT = HOUSE.parent
MODULES = sorted(
    ".".join(path.relative_to(CHECKOUT).with_suffix("").parts)
    for path in HOUSE.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8") and path.name != "__main__.py"
)


def known() -> dict[str, object]:
    """What examples may name without an import: the verbs, numpy, a layout and its text."""
    verbs = {name: getattr(api, name) for name in api.__all__}
    layout = api.library("NCHW16c")
    text = api.generate(layout).text
    return {**verbs, "np": np, "layout": layout, "text": text, "source": declaration(layout)}


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    if name == "layoutdsl.torch":
        pytest.importorskip("torch")
    if name == "layoutdsl.dask":
        pytest.importorskip("dask.array")
    module = import_module(name)
    package = {each: getattr(module, each) for each in vars(module)}
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    finder = doctest.DocTestFinder(exclude_empty=True)
    for example in finder.find(module, name, globs={**known(), **package}):
        runner.run(example)
    assert runner.tries
    assert not runner.failures


# Documents.

BLOCK = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUN = ("layout", "python", "console")


def documents() -> dict[str, str]:
    """The pages of the house; those of codes have a test of their own."""
    pages = [*CHECKOUT.glob("*.md"), *HOUSE.rglob("*.md")]
    for folder in ("docs", "docs/design", "grammar", "proofs", "tests"):
        pages += (CHECKOUT / folder).glob("*.md")
    return {
        page.relative_to(CHECKOUT).as_posix(): page.read_text(encoding="utf-8")
        for page in sorted(pages)
        if page.name != "errors.md"
    }


PAGES = documents()
EXAMPLES = {
    name: [(info.split(), body) for info, body in BLOCK.findall(text)]
    for name, text in PAGES.items()
}


def test_every_block_says_what_it_is() -> None:
    """One that does not would not be run; ``text`` is what nobody can run."""
    for name, found in EXAMPLES.items():
        kinds = {info[0] if info else "" for info, _ in found}
        assert kinds <= {*RUN, "text"}, name
    assert {info[0] for info, _ in EXAMPLES["README.md"]} == {*RUN, "text"}
    assert {info[0] for info, _ in EXAMPLES["grammar/README.md"]} == {"layout"}


SLOW = {"docs/clusters.md": pytest.mark.slow}
"""Pages whose examples start many processes."""


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(name, marks=SLOW.get(name, ()))
        for name, found in EXAMPLES.items()
        if any(info[0] in RUN for info, _ in found)
    ],
)
def test_documents(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = in_a_shell(tmp_path)
    for info, body in EXAMPLES[page]:
        match info:
            case ["layout", *names]:
                assert layoutdsl.prove(layoutdsl.parse(body, page)).passed
                for name in names:
                    Path(name).write_text(body, encoding="utf-8")
            case ["python", *packages] if all(map(find_spec, packages)):
                assert run(f"{shlex.quote(sys.executable)} -W error -c {shlex.quote(body)}") == ""
            case ["console", *packages] if all(map(find_spec, packages)):
                for line, printed in commands(body):
                    found = run(line)
                    assert matches(printed, found), f"$ {line}\n{found}"
                    replayed(lambda *words: words_in(run, *words), found, all_of_it=False)


def in_a_shell(folder: Path) -> Callable[[str], str]:
    """Return what runs a line in a shell that finds `layoutdsl`, and gives all that is printed."""
    program = folder / "bin" / "layoutdsl"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m layoutdsl "$@"\n')
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"

    def run(line: str) -> str:
        surroundings = {**os.environ, "PATH": path}
        done = ended(["sh", "-c", line], stderr=subprocess.STDOUT, env=surroundings)
        return str(done.stdout.decode())

    return run


def words_in(run: Callable[[str], str], *words: str) -> Ended:
    """Run a command line; what goes wrong is seen by what it prints."""
    out = run(shlex.join(["layoutdsl", *words]))
    return Ended(0, out, "", out.encode())


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


@pytest.mark.parametrize(
    ("expected", "found", "same"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\n", "a\nb\n", False),
        ("a\n...\n", "a\nb\nc\n", True),
        ("...\nc\n", "a\nb\nc\n", True),
        ("a\n...\nc\n", "a\nc\n", True),
        ("a\n...\nd\n", "a\nb\nc\n", False),
        ("a ...\n", "a b\n", False),
        ("1 proved  (376 ms)\n", "1 proved  (75.1 s)\n", True),
        ("1 proved  (376 ms)\n", "2 proved  (376 ms)\n", False),
        ("", "", True),
    ],
)
def test_what_is_left_out(expected: str, found: str, same: bool) -> None:
    assert matches(expected, found) is same


QUOTED = re.compile(r"`(layoutdsl [^`\n]+)`|^    (layoutdsl .*)$", re.MULTILINE)
LINES = [
    (page, re.split(r"\s{2,}", inline or block)[0])
    for page, text in PAGES.items()
    for inline, block in QUOTED.findall(BLOCK.sub("", text))
]


@pytest.mark.parametrize(("page", "line"), LINES)
def test_command_lines_that_are_quoted(page: str, line: str) -> None:
    """They name verbs and options that there are."""
    _, verb, *words = shlex.split(line)
    if verb in ("VERB", "--help"):
        return
    command = shell.layoutdsl.commands[verb]
    options = {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
    given = {each.partition("=")[0] for each in words if each.startswith("-")}
    assert given <= options, f"{page}: {line}"
