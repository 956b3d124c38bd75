"""Counterexamples and differences as pictures: what they speak of is pointed out, and only that."""

from __future__ import annotations

import re
from itertools import pairwise
from math import prod
from pathlib import Path
from random import Random

import pytest
from cli_shell import Shell, shell
from picture_pages import Page, index_of, read
from random_layouts import drawn

import layoutdsl
from layoutdsl import Checked, library, library_record, parse

__all__ = ["shell"]

WRONG = """\
layout Lost(n, c) = [n, c%4]
refute Lost
layout Manual(n, c, h, w) = [n, c/16, h, w, c%16]
prove Manual == ((n*(C/16) + c/16)*H*W + h*W + w)*16 + c%16
prove Manual == [n, h, c/16, w, c%16]
prove Manual keeps h contiguous
prove Manual fits int8
prove Manual aligns c%16 to 128 bytes of f32
layout Rows(m: 8, k: 64) = [m, k] of f16
prove Rows reads 16 bytes by t: 32 at (m = t%8, k = t/8*8) without conflicts
table Away(n, c)[i: N, j: roundup(C, 4)] = (n = i, c = j + 1)
layout Near(n, c) = [n, c : roundup(C, 4)]
prove Away inverts Near
record Twice(k) = { a(k) = [k] of u8  b(k) = [k] of u8 }
refute Twice
"""


def marks(page: Page) -> set[tuple[int, ...]]:
    """The elements that are pointed out in the tensor."""
    (_, axes, _) = page.data["fields"][0]
    return {index_of(cell.keys[0], axes) for cell in page.tensor if "k" in cell.kinds}


def pictures(html: str) -> list[Page]:
    """The pictures of a page, each by itself."""
    _, *parts = re.split(r'(?=<div class="ldp" data-all=)', html)
    ends = [part.rindex("</div>") + len("</div>") for part in parts]
    return [read(part[:end]) for part, end in zip(parts, ends, strict=True)]


def proved(claim: layoutdsl.Claim | str) -> Checked:
    """What is found of a claim; of a text, of its first one."""
    claims = parse(claim).claims[:1] if isinstance(claim, str) else (claim,)
    (found,) = layoutdsl.prove(claims).checked
    return found


@pytest.mark.slow
def test_each_kind_of_counterexample_is_drawn() -> None:
    found = [each for each in layoutdsl.prove(parse(WRONG)).checked if each.status == "refuted"]
    assert len(found) == 10
    for checked in found:
        text = checked.claim.text
        shown = pictures(checked._repr_html_() or "")
        count = 2 if " == [" in text or "reads" in text else 1
        if text == "prove Away":  # a table by itself has no buffer to be drawn
            assert shown == []
            continue
        assert len(shown) == count, text
        if text.startswith("refute Twice"):
            assert [cell.kinds for cell in shown[0].buffer] == [{"s"}]
        elif "inverts" in text:
            assert [cell for cell in shown[0].buffer if "k" in cell.kinds]
        else:
            (finding, *_) = [each for each in checked.findings if hasattr(each, "example")]
            told = {tuple(at for _, at in point.index) for point in finding.example.points}
            assert marks(shown[0]) == told, text


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("part", range(12))
def test_differences_are_pointed_out(shell: Shell, part: int) -> None:
    """All elements that lie elsewhere, and no others, of pairs of layouts that are drawn."""
    told = 0
    for seed in range(10 * part, 10 * part + 10):
        one, other = (drawn(Random(3 * seed + k)) for k in (0, 1))
        if one.rank != other.rank or [a.extent for a in one.axes] != [a.extent for a in other.axes]:
            axes = re.fullmatch(r"layout \w+(?:<.*?>)?(\(.*?\)) = .*", str(one).splitlines()[0])
            assert axes is not None, str(one)
            other = parse(f"layout Other{axes[1]} = [{_reversed(one)}]")["Other"]
        found = layoutdsl.diff(one, other)
        mismatch = getattr(found, "mismatch", None)
        if mismatch is None:
            continue
        Path("one.layout").write_text(f"{one}\n")
        Path("other.layout").write_text(f"{other}\n")
        names = (f"one.layout:{one.name}", f"other.layout:{other.name}")
        ended = shell("diff", *names, "--as", "html")
        assert ended.code == (0 if found.same else 1), (ended.err, str(one), str(other))
        shown = pictures(ended.out)
        values = dict(mismatch.shape)
        if not shown or len(shown[0].tensor) != prod(one.shape_of(values)):
            continue  # the picture is folded
        page = shown[0]
        axes_names = [axis.name for axis in one.axes]
        elsewhere = set()
        for cell in page.tensor:
            (_, extents, _) = page.data["fields"][0]
            index = index_of(cell.keys[0], extents) if cell.keys else None
            if index is not None and one.rank == other.rank:
                mine = one.offset_at({**values, **dict(zip(axes_names, index, strict=True))})
                theirs = other.offset(index, other.bind({k: values[k] for k in other.symbols}))
                if mine != theirs:
                    elsewhere.add(index)
        assert marks(page) == elsewhere
        told += 1
    assert told >= 1


def _reversed(layout: layoutdsl.Layout) -> str:
    return ", ".join(axis.name for axis in reversed(layout.axes)) or "0"


def test_words_of_a_page_are_text(shell: Shell) -> None:
    """A name of a folder, a remark or a text in another notation is no markup."""
    word = "<img src=x onerror=y><b>`"
    Path(word).mkdir()
    Path(word, "x.layout").write_text("layout A(n, c) = [n, c%4]\n")
    for words in (
        ("prove", f"{word}/x.layout"),
        ("diff", f"{word}/x.layout:A", "NCHW4c"),
        ("diff", f"{word}/x.layout:A", f"{word}/x.layout:A"),
    ):
        out = shell(*words, "--as", "html").out
        assert out.startswith("<!doctype html>"), words
        found = read(out)
        assert found.tags.count("script") == 1
        assert not {"b", "img"} & set(found.tags)
        assert word.rstrip("`") in found.text, words
        assert not found.handlers
        assert not found.loads


def test_the_slot_that_a_formula_gives_is_marked() -> None:
    """It is not the slot of the layout, and is told where the buffer has no such slot."""
    (page,) = pictures(proved(parse(WRONG).claims[1])._repr_html_() or "")
    assert [cell.numbers for cell in page.buffer if "w" in cell.kinds] == [[0]]
    assert [cell.numbers for cell in page.buffer if "k" in cell.kinds] == [[16]]
    beyond = proved("layout A(n) = [n]  prove A == n + 100 where N == 1")
    (page,) = pictures(beyond._repr_html_() or "")
    assert "The formula gives 100, outside the buffer of slots 0..0." in page.text


def test_rows_of_padding_between_marks_are_left_out() -> None:
    text = "layout A(n, c) = [n, c : 4096]  prove A == n*64 + c where N == 2, C == 1"
    (page,) = pictures(proved(text)._repr_html_() or "")
    assert len(page.buffer) < 200
    marked = [cell.numbers for cell in page.buffer if cell.kinds & {"k", "w"}]
    assert marked == [[64], [4096]]
    assert "Rows that hold only padding are left out." in page.text
    rows = sorted({cell.numbers[0] // 16 for cell in page.buffer if cell.numbers})
    gaps = [after - before - 1 for before, after in pairwise(rows) if after - before > 1]
    told = [int(each) for each in re.findall(r"(\d+) rows left out", page.text)]
    assert gaps
    assert told == gaps, page.text


# In a notebook.


def test_a_notebook_displays_layouts_and_records() -> None:
    page = read(library("NCHW4c")._repr_html_() or "")
    assert "layout NCHW4c(n, c, h, w) = [n, c/4, h, w, c%4]" in page.text
    assert "offset = " in page.text
    assert "c%4" in page.text
    assert "script" not in page.tags
    page = read(library_record("Q4_0")._repr_html_() or "")
    assert "record Q4_0(r, k)" in page.text


@pytest.mark.slow
def test_and_verdicts() -> None:
    module = parse(WRONG)
    found = layoutdsl.prove(module["Manual"])
    page = read(found._repr_html_() or "")
    assert page.text.startswith("proved: prove Manual")
    assert len(repr(found)) <= 200
    wrong = layoutdsl.prove(module.claims[1:3])
    page = read(wrong._repr_html_() or "")
    assert "refuted, and claimed otherwise: prove Manual == " in page.text
    assert len([cell for cell in page.buffer if "k" in cell.kinds]) >= 2
    page = read(wrong.checked[0]._repr_html_() or "")
    assert page.buffer
    found_ = layoutdsl.diff(library("NCHW"), library("NHWC"))
    assert "Different" in (found_._repr_html_() or "") or "EqualWhere" in (
        found_._repr_html_() or ""
    )


# In the shell.


@pytest.mark.slow
def test_prove_writes_a_page(shell: Shell) -> None:
    Path("wrong.layout").write_text(WRONG)
    ended = shell("prove", "wrong.layout", "--as", "html", "-o", "page.html")
    assert ended.code == 1
    assert ended.out.endswith("wrote page.html\n")
    assert "refuted: the formula is not the offset of `Manual`" in ended.out
    page = read(Path("page.html").read_text("utf-8"))
    assert page.tags.count("script") == 1
    assert page.text.index("the formula is not the offset of Manual") < page.text.index(
        "proved prove Manual"
    )
    assert len([cell for cell in page.buffer if "k" in cell.kinds]) > 4
    assert "`" not in page.title
    for claim in parse(WRONG).claims:
        assert claim.text in page.text
    alone = shell("prove", "NCHW4c", "--as", "html")
    assert alone.code == 0
    assert alone.out.startswith("<!doctype html>")
    page = read(alone.out)
    assert "layout NCHW4c(n, c, h, w) = [n, c/4, h, w, c%4]" in page.text
    assert "every offset is in bounds" in page.text
    assert "NCHW4c at shape N=1 C=5 H=2 W=3" in page.text
    assert len(page.buffer) == 48
    assert not [cell for cell in page.buffer if cell.kinds & {"k", "w", "s"}]


def test_failures_come_first_then_what_is_undecided(shell: Shell) -> None:
    Path("odd.layout").write_text(
        "layout A(n) = [n]\nlayout Odd(n, c) = [n*n, c]\nprove Odd fits int8\n"
    )
    page = read(shell("prove", "odd.layout", "--as", "html").out)
    titles = ("refuted prove Odd fits int8", "undecided prove Odd", "proved prove A")
    assert sorted(map(page.text.index, titles)) == [page.text.index(each) for each in titles]


def test_diff_writes_a_page(shell: Shell) -> None:
    ended = shell("diff", "HtpNCHW", "R4NCHWMemoryLayout", "--as", "html", "-o", "page.html")
    assert ended.code == 1
    assert ended.out.startswith("different")
    page = read(Path("page.html").read_text("utf-8"))
    assert len([cell for cell in page.buffer if "k" in cell.kinds]) == 4
    for words in (
        "different: HtpNCHW and R4NCHWMemoryLayout",
        "axes are exchanged",
        "[b, d, w, h]",
    ):
        assert words in page.text
    same = shell("diff", "NCHW16c", "onednn:aBcd16b", "--as", "html")
    assert same.code == 0
    page = read(same.out)
    assert "equal: NCHW16c and onednn:aBcd16b, for all shapes" in page.text
    assert page.buffer


@pytest.mark.parametrize(
    ("arguments", "words", "code"),
    [
        ("prove NCHW4c -o page.html", "-o is for pictures", 2),
        ("prove NCHW4c --as html --json", "--json and --as html are two things", 2),
        ("diff NCHW NHWC --as html --json", "--json and --as html are two things", 2),
        ("diff NCHW NHWC -o page.html", "-o is for pictures", 2),
        ("diff NCHW NHWC --as html -o mine.txt", "exists and was not written by layoutdsl", 4),
        ("prove demo.layout --as html -o demo.layout", "is the spec itself", 4),
    ],
)
def test_what_the_shell_refuses(shell: Shell, arguments: str, words: str, code: int) -> None:
    Path("mine.txt").write_text("mine")
    ended = shell(*arguments.split())
    assert ended.code == code
    assert words in ended.err + ended.out
    assert Path("mine.txt").read_text() == "mine"
