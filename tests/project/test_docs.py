"""The site: pages that are written are up to date, each is in the contents, links have an end.

`test_examples.py` runs the blocks of its pages, `test_docs_browser.py` opens them.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

import layoutdsl

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))

import write_cli
import write_pictures

DOCS = Path(__file__).parents[2] / "docs"
PACKAGE = DOCS.parent / "layoutdsl"


def test_the_page_of_the_verbs_is_what_they_say() -> None:
    """`python docs/write_cli.py` writes it anew."""
    assert write_cli.PAGE.read_text(encoding="utf-8") == write_cli.page()


def test_the_page_of_the_verbs_has_each_with_its_options() -> None:
    page = write_cli.page()
    for name, verb in write_cli.layoutdsl.commands.items():
        section = page.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        assert f"layoutdsl {name} " in section
        for each in verb.params:
            if each.param_type_name == "option" and not getattr(each, "hidden", False):
                assert each.opts[0] in section, f"{name}: {each.opts[0]}"


def test_the_page_of_the_api_has_every_name() -> None:
    page = (DOCS / "reference/api.md").read_text(encoding="utf-8")
    names = set(re.findall(r"auto(?:function|class):: layoutdsl\.(\w+)$", page, re.MULTILINE))
    assert names == set(layoutdsl.__all__) - {"__version__", "Difference"}
    assert "`Difference`" in page


def test_pictures_of_the_readme_are_what_their_script_writes() -> None:
    """`python docs/write_pictures.py` writes them anew."""
    for name, picture in write_pictures.pictures().items():
        assert (DOCS / "_static" / name).read_text(encoding="utf-8") == picture


def test_the_page_of_json_keys_has_every_command() -> None:
    page = (DOCS / "reference/json.md").read_text(encoding="utf-8")
    for name, verb in write_cli.layoutdsl.commands.items():
        if any("--json" in each.opts for each in verb.params):
            assert f"| `{name}` |" in page, name


def test_every_page_is_in_the_contents() -> None:
    """A page that no other names is not found by a reader."""
    pages = {each.relative_to(DOCS).with_suffix("").as_posix() for each in DOCS.rglob("*.md")}
    named = set()
    for page in DOCS.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        for entries in re.findall(r"^```\{toctree\}\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            lines = [line.strip() for line in entries.splitlines()]
            at = page.parent.relative_to(DOCS)
            named |= {(at / line).as_posix() for line in lines if line and line[0] != ":"}
    assert pages - named == {"index"}
    assert named <= pages


@pytest.fixture
def site_parts() -> Any:
    return pytest.importorskip("site_parts", reason="the site needs the extra `docs`")


@pytest.mark.parametrize(
    ("text", "lies", "page", "shown"),
    [
        (
            "[a](layout.lark)",
            "grammar/README.md",
            "reference/language.md",
            "a (`grammar/layout.lark`)",
        ),
        ("[errors.md](errors.md)", "grammar/README.md", "reference/language.md", "[](errors.md)"),
        ("[L409](errors.md)", "grammar/README.md", "x.md", "[L409](reference/errors.md#l409)"),
        ("[a](../README.md)", "docs/ci.md", "ci.md", "[a](index.md)"),
        ("[a](#claims)", "docs/ci.md", "ci.md", "[a](#claims)"),
        ("[a](https://b.md)", "docs/ci.md", "ci.md", "[a](https://b.md)"),
        ("`[16b](unset)`", "docs/ci.md", "ci.md", "`[16b](unset)`"),
        ("```text\n[a](b)\n```", "docs/ci.md", "ci.md", "```text\n[a](b)\n```"),
        ("[a](ci.md#b)", "docs/design/code.md", "design/code.md", "[a](ci.md#b)"),
        ("[a](../ci.md#b)", "docs/design/code.md", "design/code.md", "[a](../ci.md#b)"),
        (
            "[`proof/`](proof/README.md)",
            "layoutdsl/README.md",
            "a.md",
            "`proof/` (`layoutdsl/proof/README.md`)",
        ),
    ],
)
def test_links(site_parts: Any, text: str, lies: str, page: str, shown: str) -> None:
    assert site_parts.linked(text, Path(lies), Path(page)) == shown


def test_headings(site_parts: Any) -> None:
    assert site_parts.slug("L202: the digits leave a gap") == "l202"
    assert site_parts.slug("The `xla` notation") == "the-xla-notation"


FOLDERS = ("grammar", "layoutdsl", "proofs", "tests")


def test_files_that_are_named_to_contributors_are_there() -> None:
    """``NAME`` and ``FAMILY`` stand for what is added."""
    page = (DOCS.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = {each for each in re.findall(r"`([\w./]+)`", page) if each.split("/")[0] in FOLDERS}
    there = {each for each in named if "NAME" not in each and "FAMILY" not in each}
    there -= {"tests/shell/test_cli_VERB.py"}
    assert len(there) > 20
    assert [each for each in sorted(there) if not (DOCS.parent / each).exists()] == []


NAMED = re.compile(r"`([\w/]*\w+\.(?:py|c|css|layout))`")


@pytest.mark.parametrize("page", sorted(PACKAGE.rglob("README.md")), ids=lambda p: p.parent.name)
def test_files_that_a_package_page_names_are_there(page: Path) -> None:
    """A path is relative to the folder of the page, to the package, or to the repository."""
    folders = (page.parent, PACKAGE, PACKAGE.parent)
    for name in NAMED.findall(page.read_text(encoding="utf-8")):
        assert any((folder / name).is_file() for folder in folders), name
