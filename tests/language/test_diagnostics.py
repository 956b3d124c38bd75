"""Messages, whole: each `.layout` under golden/diagnostics is wrong, the `.txt` says how."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from texts import HERE, LIBRARY, LIBRARY_MODULES, layout, module, said

import layoutdsl
from layoutdsl import Layout, LayoutError

FAULTY = sorted((HERE / "golden/diagnostics").glob("*.layout"))


SEVERAL = {
    *("L104-aliases", "L201-case", "L208-rules", "L216-rules", "L216-groups"),
    *("L201-operators", "L203-operators", "L204-operators", "L217-rules", "L218-engine"),
}
"""Files with more than one fault."""


@pytest.mark.parametrize("path", FAULTY, ids=lambda path: path.stem)
def test_message(path: Path, golden: Callable[[str, str], None]) -> None:
    found = "\n\n".join(map(str, said(path.read_bytes().decode(), LIBRARY)))
    golden(f"diagnostics/{path.stem}.txt", f"{found}\n")


@pytest.mark.parametrize("path", FAULTY, ids=lambda path: path.stem)
def test_file_is_named_after_its_code(path: Path) -> None:
    found = said(path.read_bytes().decode(), LIBRARY)
    if path.stem.startswith("L"):
        assert found[0].code == path.stem[:4]
        assert len(found) == 1 or path.stem in SEVERAL


# The page of codes.

PAGE = (HERE.parent / "grammar" / "errors.md").read_text(encoding="utf-8")
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
    assert {title[:4]} == {each.code for each in said(wrong)}
    assert not said(mended)
    assert len(module(mended)) >= 1


# Warnings: what is legal and hardly meant.

MEANT = [
    "layout Demo(n, c) = [n, c/8, c%16 : 16]",
    "layout Demo(n, c) = [n, c/8 : ceil(C/8), c%16]",
    "layout Demo(n, c) = [n, c, c%16]",
    "layout Demo<k>(n, c) = [n, c/k, c%(2*k), c%k]",
    "layout Demo(n, c) = [n, c/8, (c%16 + n)%16]",
    "layout Demo(n, c) = [n, c/8, c%16]\nrefute Demo",
    "layout Demo(n, c) = [n, C/16 : C, c]",
    "layout Demo(n, c) = [n, C - 1 - c]",
    "layout Demo(n, c) = [n, 0, c/4, c%4]",
    "layout Demo<p>(h, w) = [p : 4, h, w]",
    "layout Demo(n, c) = [N, n, C/16, c%16]\nrefute Demo",
    "layout Demo<k>(n, c) = [n, c] where C % k == 0",
    "layout Demo<k>(n, c) = [n, c] offset k",
    "layout Demo<k>(n, c) = [n, c : k*ceil(C/k)]",
    "layout Cut<k>(c) = [c/k, c%k]\nlayout Demo<m> = Cut<m>",
    "table Demo<k>(c)[i: ceil(C/k), l: k] = (c = i*k + l)",
    "table Demo<k>(c)[i: C] = (c = i) where C % k == 0",
    'layout Demo<s0>(m, n) = mlir "affine_map<(d0, d1)[s0] -> (d0 floordiv s0, d1, d0 mod s0)>"',
]


@pytest.mark.parametrize("text", MEANT)
def test_what_is_meant_is_not_warned_of(text: str) -> None:
    assert not said(text)


def test_the_library_is_meant() -> None:
    assert not any(each.warnings for each in LIBRARY_MODULES)


def test_warnings_go_by_the_layout_they_are_about() -> None:
    found = module("layout A<k>(n) = [n]\nlayout B(n) = [n]\nlayout C<l>(n) = [n]").warnings
    assert {name: [each.code for each in about] for name, about in found.items()} == {
        "A": ["L213"],
        "C": ["L213"],
    }


DIGITS = st.sampled_from([(d, r) for d in (1, 2, 4, 8, 12) for r in (2, 3, 4, 8, 16, None)])


@pytest.mark.slow
@given(st.lists(DIGITS, min_size=2, max_size=4))
@example([(8, None), (1, 16)])  # whatever is drawn, one has a help
def test_help_for_digits_that_overlap_mends_them(digits: list[tuple[int, int | None]]) -> None:
    written = [f"c/{d}%{r}" if r else f"c/{d}" for d, r in digits]
    text = f"layout Demo(n, c) = [n, {', '.join(written)}]"
    for each in said(text):
        if each.code != "L212":
            continue
        for mend in re.findall("`(.*?)`", each.help or ""):
            mended = [
                text[: label.span.start] + mend + text[label.span.end :]
                for label in (each.primary, *each.others)
            ]
            assert any(not said(one) and is_bijective(layout(one)) for one in mended)


def is_bijective(found: Layout) -> bool:
    offsets = {found.offset((0, c), (1, 384)) for c in range(384)}
    return offsets == set(range(384)) and found.size((1, 384)) == 384


# Rendering.


RENDERED = {
    "tabs are shown as blanks": (
        "layout A(n, c) =\t[n,\tc/8, c%16]",
        """\
warning[L212]: the digits of axis `c` overlap between 8 and 16
 --> demo.layout:1:22
  |
1 | layout A(n, c) = [n, c/8, c%16]
  |                      ^^^ steps by 8
  |                           ---- covers 16
  = help: write `c%8` or `c/16`""",
    ),
    "a place may be the end": (
        "layout A\n",
        """\
error[L101]: expected `(`, `<` or `=`, found the end of the text
 --> demo.layout:1:9
  |
1 | layout A
  |         ^""",
    ),
    "lines are in order": (
        "\n" * 8 + "layout A(n) = [n]\nlayout A(n) = [n]",
        """\
error[L203]: the layout `A` is declared twice
  --> demo.layout:10:8
   |
 9 | layout A(n) = [n]
   |        - first here
10 | layout A(n) = [n]
   |        ^""",
    ),
    "nothing hides": (
        "layout A<k>(n) = [n] # a\u202eb\x1b[31mc",
        """\
warning[L213]: the parameter `k` is not used
 --> demo.layout:1:10
  |
1 | layout A<k>(n) = [n] # a\ufffdb\ufffd[31mc
  |          ^
  = help: remove it""",
    ),
    "long lines are cut": (
        " " * 300 + "layout A(n) = [d]" + " " * 300 + "#",
        f"""\
error[L201]: `d` is neither an axis nor an extent here
 --> demo.layout:1:316
  |
1 | ...{" " * 34}layout A(n) = [d]{" " * 49}...
  | {" " * 52}^
  = help: the names in scope are `n`, `N`""",
    ),
}


@pytest.mark.parametrize("what", RENDERED)
def test_rendered(what: str) -> None:
    text, shown = RENDERED[what]
    (found,) = layoutdsl.check(text, name="demo.layout")
    assert str(found) == shown


def test_as_json() -> None:
    text = "layout A(n, c) = [n,\nc/8, c%16]"
    (found,) = layoutdsl.check(text, name="demo.layout")
    at = {"source": "demo.layout", "line": 2}
    assert found.as_json() == {
        "severity": "warning",
        "code": "L212",
        "message": "the digits of axis `c` overlap between 8 and 16",
        "places": [
            {**at, "column": 1, "length": 3, "words": "steps by 8"},
            {**at, "column": 6, "length": 4, "words": "covers 16"},
        ],
        "help": "write `c%8` or `c/16`",
        "mend": None,
    }


def test_a_mend_is_a_place_and_what_to_write_there() -> None:
    (found,) = said("layout A(n) = [n]\nlayuot B(n) = [n]")
    assert found.mend is not None
    assert found.mend.mended == "layout A(n) = [n]\nlayout B(n) = [n]"
    assert found.as_json()["mend"] == {"line": 2, "column": 1, "length": 6, "text": "layout"}


def test_faults_are_told_in_source_order() -> None:
    with pytest.raises(LayoutError) as caught:
        module("layout A(c) = [d]\nprove B\nlayout C(c) = [e]\n")
    starts = [each.primary.span.start for each in caught.value.diagnostics]
    assert starts == sorted(starts)
    assert len(starts) == 3
