"""The language server, by an editor over pipes; it needs `.[lsp]`."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from math import inf
from pathlib import Path
from statistics import quantiles
from time import perf_counter, sleep
from typing import Any
from urllib.parse import unquote, urlparse

import pytest
from editor import URI, Editor, children, editing
from processes import gone

pytest.importorskip("pygls.lsp.server")

DEMO = """\
# NCHWc \N{GRINNING FACE}
layout A(n, c, h, w) = [n, c/16, h, w, c%16]
layout B = A of u8

prove B == ((n*Cb + c/16)*H + h)*W*16 + w*16 + c%16 with Cb = ceil(C/16)
refute A keeps h contiguous
"""
P95 = 0.05
"""Seconds: the design's figure for a machine that does nothing else."""


@pytest.fixture(scope="module")
def editor() -> Iterator[Editor]:
    with editing() as found:
        found.begin()
        found.open("")
        yield found
        assert found.end() == 0


def applied(text: str, edits: list[dict[str, Any]]) -> str:
    """A text with edits made, places counted as UTF-16."""
    lines = text.split("\n")

    def offset(place: dict[str, int]) -> int:
        line = lines[place["line"]].encode("utf-16-le")[: 2 * place["character"]]
        before = sum(len(each) + 1 for each in lines[: place["line"]])
        return before + len(line.decode("utf-16-le"))

    spans = [(offset(e["range"]["start"]), offset(e["range"]["end"]), e["newText"]) for e in edits]
    for start, end, new in sorted(spans, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def settled(editor: Editor, text: str) -> list[dict[str, Any]]:
    """What is said of a text once it is proved."""
    version = editor.write(text)
    editor.faults(version)
    return editor.faults(version)


@pytest.mark.slow
def test_what_is_wrong_is_told_with_its_place(editor: Editor) -> None:
    text = "# \N{GRINNING FACE}\nlayout D(n, c) = [n, c/16, c%8]  # \N{GRINNING FACE}\n"
    (fault,) = editor.faults(editor.write(text))
    assert (fault["code"], fault["severity"], fault["source"]) == ("L202", 1, "layoutdsl")
    page, _, section = fault["codeDescription"]["href"].partition("#")
    assert "## L202:" in Path(unquote(urlparse(page).path)).read_text(encoding="utf-8")
    assert section == "l202"
    assert fault["range"] == {
        "start": {"line": 1, "character": 21},
        "end": {"line": 1, "character": 25},
    }
    assert "help: write `c%16`" in fault["message"]
    assert [each["message"] for each in fault["relatedInformation"]] == ["covers 8"]


def test_units_are_those_of_utf_16(editor: Editor) -> None:
    text = 'tensor "\N{GRINNING FACE}" = keep prove Nothing'
    (fault,) = editor.faults(editor.write(text))
    assert fault["range"]["start"] == {"line": 0, "character": 25}


@pytest.mark.slow
def test_verdicts_are_diagnostics_and_lenses(editor: Editor) -> None:
    wrong = DEMO.replace("ceil(C/16)", "C/16")
    faults = settled(editor, wrong)
    assert [(each["code"], each["range"]["start"]["line"]) for each in faults] == [("refuted", 4)]
    assert "at shape N=2 C=1 H=1 W=1" in faults[0]["message"]
    lenses = editor.ask("textDocument/codeLens", {"textDocument": {"uri": URI}})
    said = [(each["range"]["start"]["line"], each["command"]["title"]) for each in lenses]
    assert said[:2] == [(1, "proved for all shapes"), (2, "proved for all shapes")]
    assert said[2] == (4, "not so: refuted at N=2 C=1 H=1 W=1")
    assert said[3][1].startswith("refuted at ")
    assert settled(editor, DEMO) == []
    hovered = editor.at("textDocument/hover", 4, 1)
    assert hovered["contents"]["value"].startswith("proved for all shapes")


def test_hover_tells_what_the_last_right_text_said(editor: Editor) -> None:
    editor.faults(editor.write(DEMO))
    words = editor.at("textDocument/hover", 1, 7)["contents"]["value"]
    assert "offset: `(((n*ceil(C/16) + c/16)*H + h)*W + w)*16 + c%16`" in words
    assert "size: `16*N*ceil(C/16)*H*W`" in words
    assert "at most: `16 (proved)`" in words
    coordinate = editor.at("textDocument/hover", 1, 28)["contents"]["value"]
    assert coordinate == "coordinate `c/16`: extent `ceil(C/16)`, stride `16*H*W`"
    (fault,) = editor.faults(editor.write(DEMO.replace("c%16]", "c%16")))
    assert fault["code"] == "L101"
    assert editor.at("textDocument/hover", 1, 28)["contents"]["value"] == coordinate
    assert "Cb = ceil(C/16)" in editor.at("textDocument/hover", 4, 15)["contents"]["value"]


def test_names_are_found_and_renamed(editor: Editor) -> None:
    editor.faults(editor.write(DEMO))
    (place,) = editor.at("textDocument/definition", 2, 11)
    assert place["range"]["start"] == {"line": 1, "character": 7}
    (axis,) = editor.at("textDocument/definition", 4, 20)
    assert axis["range"]["start"] == {"line": 1, "character": 12}
    asked = {"context": {"includeDeclaration": True}}
    found = editor.at("textDocument/references", 1, 7, **asked)
    assert [each["range"]["start"]["line"] for each in found] == [1, 2, 5]


OF_H = [(", h,", ", y,"), ("*H + h)", "*Y + y)"), ("keeps h", "keeps y")]
OF_A = [("A(", "Blocked("), ("= A ", "= Blocked "), ("refute A", "refute Blocked")]


@pytest.mark.parametrize(
    ("line", "at", "new", "changes"),
    [
        (1, "A(", "Blocked", OF_A),
        (4, "Cb =", "Blocks", [("Cb", "Blocks")]),
        (1, "h, w)", "y", OF_H),
        (4, "H + h", "Y", OF_H),
    ],
)
def test_names_are_renamed(
    editor: Editor, line: int, at: str, new: str, changes: list[tuple[str, str]]
) -> None:
    editor.faults(editor.write(DEMO))
    expected = DEMO
    for old, instead in changes:
        expected = expected.replace(old, instead)
    unit = DEMO.split("\n")[line].index(at)
    found = editor.at("textDocument/rename", line, unit, newName=new)
    assert applied(DEMO, found["changes"][URI]) == expected


@pytest.mark.parametrize(
    ("line", "at", "new", "message"),
    [
        (1, "A(", "B", "declared twice"),
        (1, "h, w)", "w", "declared twice"),
        (4, "Cb =", "c", "is taken"),
        (1, "A(", "no name", "expected"),
    ],
)
def test_what_would_mean_something_else_is_not_renamed(
    editor: Editor, line: int, at: str, new: str, message: str
) -> None:
    editor.faults(editor.write(DEMO))
    unit = DEMO.split("\n")[line].index(at)
    assert editor.at("textDocument/rename", line, unit, newName=new) is None
    assert message in editor.heard("window/showMessage")["message"]


def test_the_library_is_found(editor: Editor) -> None:
    editor.faults(editor.write("prove NCHW16c == NCHWc<16>\n"))
    (place,) = editor.at("textDocument/definition", 0, 10)
    assert place["uri"].endswith("/library/blocked.layout")
    name = place["range"]["start"]
    line = Path(place["uri"].removeprefix("file://")).read_text().split("\n")[name["line"]]
    assert line[name["character"] :].startswith("NCHW16c")
    assert editor.at("textDocument/rename", 0, 10, newName="X") is None
    editor.heard("window/showMessage")


@pytest.mark.parametrize(
    ("written", "some"),
    [
        ("layout D(n, ch, w: K) = [n, ", {"n", "N", "ch", "CH", "w", "K", "ceil"}),
        ("layout D(n) = [n] ", {"fill", "of", "offset", "where"}),
        ("layout D(n) = [n] of ", {"u4", "f8e4m3", "bf16"}),
        ("layout D(n) = ", {"A", "NCHW16c", "onednn"}),
        ("prove ", {"A", "B", "NCHW16c", "Q4_0"}),
        ("prove B keeps ", {"c", "C", "w"}),
        ("prove B fits ", {"int32", "uint64"}),
        ("prove B == x with x = 1, y = ", {"x", "y", "c"}),
        ("layout D(n) = [n] fill ", {"any", "zero_point"}),
        ("# layout ", set()),
    ],
)
def test_completion(editor: Editor, written: str, some: set[str]) -> None:
    editor.faults(editor.write(DEMO + written))
    found = editor.at("textDocument/completion", 6, len(written))
    words = {each["label"] for each in found}
    assert some <= words
    assert bool(some) == bool(words)


def test_help_is_an_action(editor: Editor) -> None:
    text = "layout D(n, c) = [n, c/16, c%16\n"
    (fault,) = editor.faults(editor.write(text))
    asked = {
        "textDocument": {"uri": URI},
        "range": fault["range"],
        "context": {"diagnostics": [fault]},
    }
    (action,) = editor.ask("textDocument/codeAction", asked)
    assert action["kind"] == "quickfix"
    assert editor.faults(editor.write(applied(text, action["edit"]["changes"][URI]))) == []


def test_formatting_is_that_of_the_shell(editor: Editor) -> None:
    text = "# \N{GRINNING FACE}\nlayout  D(n,c)=[n,c/16,c%16]# x"
    editor.faults(editor.write(text))
    options = {"tabSize": 4, "insertSpaces": True}
    asked = {"textDocument": {"uri": URI}, "options": options}
    edits = editor.ask("textDocument/formatting", asked)
    new = applied(text, edits)
    assert new == "# \N{GRINNING FACE}\nlayout D(n, c) = [n, c/16, c%16]  # x\n"
    editor.faults(editor.write(new))
    assert not editor.ask("textDocument/formatting", asked)


def edits() -> Iterator[str]:
    """Thirty texts on the way from one that is right to another, as they come from keys."""
    line = "layout New(n, c) = [n, c/8, c%8]\n"
    for number in range(1, len(line) + 1, 2):
        yield DEMO + line[:number]
    for number in range(13):
        yield DEMO.replace("16", str(16 + number))


@pytest.mark.slow
def test_faults_come_while_one_types(editor: Editor) -> None:
    """Of each edit the best of six goes: other people's programs are at work besides."""
    texts = list(edits())
    assert len(texts) == 30
    settled(editor, DEMO)
    best = [inf] * len(texts)
    for _ in range(6):
        for number, text in enumerate(texts):
            started = perf_counter()
            editor.faults(editor.write(text))
            best[number] = min(best[number], perf_counter() - started)
    figure = quantiles(best, n=20)[-1]
    print(f"p95 of diagnostics: {1000 * figure:.1f} ms")
    assert figure < P95


def slow() -> str:
    """Many claims: a proof that takes seconds."""
    return "".join(f"layout L{n}(a, b, c) = [a, b/{n}, c, b%{n}]\n" for n in range(2, 60))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="processes are counted in /proc")
def test_a_change_ends_the_proof_and_nothing_is_left_behind() -> None:
    with editing() as found:
        found.begin()
        found.faults(found.open(slow()))
        proving = waited(found.process.pid)
        found.faults(found.write(slow() + "# more\n"))
        assert all(map(gone, proving))
        again = waited(found.process.pid)
        assert again != proving
        assert found.end() == 0
        assert all(map(gone, again))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="processes are counted in /proc")
@pytest.mark.parametrize("way", ["the pipe is closed", "a signal"])
def test_nothing_is_left_behind_where_the_editor_dies(way: str) -> None:
    with editing() as found:
        found.begin()
        found.faults(found.open(slow()))
        proving = waited(found.process.pid)
        if way == "a signal":
            found.process.send_signal(signal.SIGTERM)
        assert found.process.stdin is not None
        found.process.stdin.close()
        found.process.wait(30)
        assert all(map(gone, proving))


def waited(number: int) -> set[int]:
    for _ in range(600):
        if found := children(number):
            return found
        sleep(0.05)
    raise AssertionError("no proof was started")


def test_what_is_asked_of_texts_that_are_not_open_is_answered(editor: Editor) -> None:
    place = {"textDocument": {"uri": "file:///none"}, "position": {"line": 0, "character": 0}}
    assert editor.ask("textDocument/hover", place) is None
    assert not editor.ask("textDocument/completion", place)


@pytest.mark.slow
def test_other_encodings_are_agreed() -> None:
    with editing() as found:
        capabilities = found.begin(positionEncodings=["utf-8", "utf-16"])
        assert capabilities["positionEncoding"] == "utf-8"
        (fault,) = found.faults(found.open('tensor "\N{GRINNING FACE}" = keep prove Nothing'))
        assert fault["range"]["start"]["character"] == 27
        assert found.end() == 0
