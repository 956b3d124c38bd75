"""Messages, whole: each `.layout` under golden/diagnostics is wrong, the `.txt` says how."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from texts import HERE, LIBRARY, message, module

import layoutdsl
from layoutdsl import resources
from layoutdsl.source import Diagnostic, Label, LayoutError, Source, Span

FAULTY = sorted((HERE / "golden/diagnostics").glob("*.layout"))


@pytest.mark.parametrize("path", FAULTY, ids=lambda path: path.stem)
def test_message(path: Path, golden: Callable[[str, str], None]) -> None:
    found = message(path.read_bytes().decode(), LIBRARY)
    golden(f"diagnostics/{path.stem}.txt", f"{found}\n")


@pytest.mark.parametrize("path", FAULTY, ids=lambda path: path.stem)
def test_file_is_named_after_its_code(path: Path) -> None:
    found = message(path.read_bytes().decode(), LIBRARY)
    if path.stem.startswith("L"):
        assert found.startswith(f"error[{path.stem[:4]}]: ")
        assert found.count("error[") == 1 or path.stem in ("L104-aliases", "L201-case")


# The page of codes.

PAGE = (resources.folder("grammar") / "errors.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (L\d{3}: .+)\n((?:(?!^## ).*\n)*)", PAGE, re.MULTILINE))


def raised_codes() -> set[str]:
    rooms = Path(layoutdsl.__file__).parent.rglob("*.py")
    return {code for room in rooms for code in re.findall(r'"(L\d{3})"', room.read_text())}


def test_every_code_has_a_section_and_every_section_a_code() -> None:
    assert raised_codes() == {title[:4] for title in SECTIONS}


def test_every_code_has_a_golden_message() -> None:
    assert raised_codes() == {path.stem[:4] for path in FAULTY if path.stem.startswith("L")}


@pytest.mark.parametrize("title", SECTIONS)
def test_wrong_example_gives_the_code_and_mended_one_none(title: str) -> None:
    wrong, mended = re.findall(r"^```layout\n(.*?)^```", SECTIONS[title], re.MULTILINE | re.DOTALL)
    with pytest.raises(LayoutError) as caught:
        module(wrong)
    assert {title[:4]} == {each.code for each in caught.value.diagnostics}
    assert len(module(mended)) >= 1


REFERENCE = (resources.folder("grammar") / "README.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"^```layout\n(.*?)^```", REFERENCE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("text", SHOWN)
def test_examples_of_the_reference_are_right(text: str) -> None:
    assert message(text) == ""


# Rendering.


def label(text: str, marked: str, words: str = "") -> Label:
    source = Source("demo.layout", text)
    start = text.index(marked)
    return Label(Span(source, start, start + len(marked)), words)


RENDERED = [
    (
        Diagnostic("L999", "tabs are shown as blanks", label("\tone\ttwo", "two")),
        """\
error[L999]: tabs are shown as blanks
 --> demo.layout:1:6
  |
1 |  one two
  |      ^^^""",
    ),
    (
        Diagnostic("L999", "a place may be the end", label("one\n", "\n")),
        """\
error[L999]: a place may be the end
 --> demo.layout:1:4
  |
1 | one
  |    ^""",
    ),
    (
        Diagnostic(
            "L999",
            "lines are in order",
            label("\n" * 8 + "one\ntwo", "two", "here"),
            (label("\n" * 8 + "one\ntwo", "one", "and here"),),
            "mend it",
        ),
        """\
error[L999]: lines are in order
  --> demo.layout:10:1
   |
 9 | one
   | --- and here
10 | two
   | ^^^ here
   = help: mend it""",
    ),
    (
        Diagnostic("L999", "nothing hides", label("a\u202eb\x1b[31mc", "c"), severity="warning"),
        """\
warning[L999]: nothing hides
 --> demo.layout:1:9
  |
1 | a\ufffdb\ufffd[31mc
  |         ^""",
    ),
    (
        Diagnostic("L999", "long lines are cut", label("x" * 300 + "y" + "z" * 300, "y", "here")),
        f"""\
error[L999]: long lines are cut
 --> demo.layout:1:301
  |
1 | ...{"x" * 49}y{"z" * 50}...
  | {" " * 52}^ here""",
    ),
]


@pytest.mark.parametrize(("diagnostic", "text"), RENDERED, ids=lambda each: str(each)[:40])
def test_rendered(diagnostic: Diagnostic, text: str) -> None:
    assert text == str(diagnostic)


def test_as_json() -> None:
    diagnostic = Diagnostic("L999", "so", label("a\nb", "b", "here"), help="mend it")
    assert diagnostic.as_json() == {
        "severity": "error",
        "code": "L999",
        "message": "so",
        "places": [{"source": "demo.layout", "line": 2, "column": 1, "length": 1, "words": "here"}],
        "help": "mend it",
    }


def test_faults_are_told_in_source_order() -> None:
    with pytest.raises(LayoutError) as caught:
        module("layout A(c) = [d]\nprove B\nlayout C(c) = [e]\n")
    starts = [each.primary.span.start for each in caught.value.diagnostics]
    assert starts == sorted(starts)
    assert len(starts) == 3
