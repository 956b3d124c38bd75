"""Every example does what it says: those in docstrings, and those in the documents.

`page_blocks` says how the blocks of a document are run, and `test_page_blocks.py` that it sees what
is wrong with them. A page is one test, as its blocks go on from each other.
"""

from __future__ import annotations

import doctest
import re
import shlex
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from cli_shell import Shell, shell
from page_blocks import RUN, blocks, is_file, run_page

import layoutdsl

__all__ = ["shell"]

HOUSE = Path(layoutdsl.__file__).parent
CHECKOUT = HOUSE.parent
MODULES = sorted(
    ".".join(path.relative_to(CHECKOUT).with_suffix("").parts)
    for path in HOUSE.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8") and path.name != "__main__.py"
)


def known() -> dict[str, object]:
    """What examples may name without an import: the verbs, numpy, a layout and its text."""
    verbs = {name: getattr(layoutdsl, name) for name in layoutdsl.__all__}
    layout = layoutdsl.library("NCHW16c")
    text = layoutdsl.generate(layout).text
    return {**verbs, "np": np, "layout": layout, "text": text, "source": str(layout)}


@pytest.mark.sampled(54)
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


def documents() -> dict[str, str]:
    """The pages of the house; those of codes have a test of their own."""
    pages = [*CHECKOUT.glob("*.md"), *HOUSE.rglob("*.md"), *(CHECKOUT / "docs").rglob("*.md")]
    for folder in ("grammar", "proofs", "tests"):
        pages += (CHECKOUT / folder).glob("*.md")
    return {
        page.relative_to(CHECKOUT).as_posix(): page.read_text(encoding="utf-8")
        for page in sorted(pages)
        if page.name != "errors.md"
    }


PAGES = documents()
BLOCKS = {name: blocks(text) for name, text in PAGES.items()}


def test_every_block_says_what_it_is() -> None:
    """One that does not would not be run; ``text`` is what nobody can run.

    A directive, ``{picture}``, is for whoever builds the site.
    """
    for name, found in BLOCKS.items():
        kinds = {block.kind for block in found if not is_file(block)}
        assert {each for each in kinds if each[:1] != "{"} <= {*RUN, "text"}, name
    assert {block.kind for block in BLOCKS["README.md"]} == {*RUN}
    assert {block.kind for block in BLOCKS["grammar/README.md"]} == {"layout"}


SLOW = {
    "docs/clusters.md": pytest.mark.slow,
    "docs/tutorial/4-code.md": pytest.mark.slow,
    "docs/tutorial/5-others.md": pytest.mark.slow,
}
"""Pages whose examples start many processes, compile, or call a function many times."""

COOKBOOK = "docs/cookbook/"
RUNNABLE = [name for name, found in BLOCKS.items() if any(block.kind in RUN for block in found)]


@pytest.mark.slow
@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(name, marks=SLOW.get(name, ()))
        for name in RUNNABLE
        if not name.startswith(COOKBOOK) and name != "README.md"  # tests/shell/test_readme.py
    ],
)
def test_documents(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_page(page, PAGES[page], tmp_path)


@pytest.mark.slow
@pytest.mark.sampled(12)
@pytest.mark.parametrize("page", [name for name in RUNNABLE if name.startswith(COOKBOOK)])
def test_pages_of_the_cookbook(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are many, and all of one kind."""
    monkeypatch.chdir(tmp_path)
    run_page(page, PAGES[page], tmp_path)


FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
QUOTED = re.compile(r"`(layoutdsl [^`\n]+)`|^    (layoutdsl .*)$", re.MULTILINE)
LINES = [
    (page, re.split(r"\s{2,}", inline or block)[0])
    for page, text in PAGES.items()
    for inline, block in QUOTED.findall(FENCED.sub("", text))
]


@pytest.mark.parametrize(("page", "line"), LINES)
def test_command_lines_that_are_quoted(page: str, line: str, shell: Shell) -> None:
    """They name verbs and options that there are."""
    _, verb, *words = shlex.split(line)
    if verb in ("COMMAND", "VERB", "--help"):
        return
    help_ = shell(verb, "--help")
    assert help_.code == 0, f"{page}: {line}"
    given = {each.partition("=")[0] for each in words if each.startswith("-")}
    assert given <= set(re.findall(r"(?<![\w-])--?[\w-]+", help_.out)) | {"-"}, f"{page}: {line}"
