"""The cookbook: every page has all its parts, fresh, and what goes wrong on it is refuted.

Its blocks are run as those of all pages are, by `test_examples.py`.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest
from page_blocks import blocks

import layoutdsl

COOKBOOK = Path(__file__).parents[2] / "docs" / "cookbook"


def loaded(name: str) -> ModuleType:
    """A module of the folder, which is no package."""
    sys.path.insert(0, str(COOKBOOK))
    try:
        return import_module(name)
    finally:
        sys.path.remove(str(COOKBOOK))


write, names = loaded("write"), loaded("names")
PAGES = {page.name: page for page in write.pages()}
TEXTS = {name: (COOKBOOK / f"{name}.md").read_text(encoding="utf-8") for name in PAGES}


def test_every_file_is_of_a_page() -> None:
    assert len(PAGES) >= 30
    assert {path.stem for path in COOKBOOK.glob("*.md")} == {*PAGES, "index"}
    assert {path.stem for path in (COOKBOOK / "thumbnails").iterdir()} == {*PAGES}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_all_its_sections(name: str) -> None:
    text, page = TEXTS[name], PAGES[name]
    title, *sections = re.findall(
        r"^#{1,2} (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M
    )
    assert title == page.title
    assert tuple(sections) == write.SECTIONS
    assert re.findall(r"^<!-- written: (\w+) -->$", text, re.M) == [
        *("source", "text", "formula", "picture", "padding", "wrong", "cost", "elsewhere")
    ]
    intro = text.split("\n## ")[0].split("\n\n", 1)[1]
    assert len(intro.split()) >= 80, "what it is, and what each digit is for"
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        bare = re.sub(
            r"^## .*\n|<!-- written: \w+ -->|<!-- end -->", "", section.partition("\n")[2]
        )
        assert bare.strip(), f"nothing under {section.partition(chr(10))[0]}"


def test_paragraphs_are_of_their_own_page() -> None:
    intros = [text.split("\n## ")[0].split("\n\n", 1)[1] for text in TEXTS.values()]
    found = [each for intro in intros for each in re.split(r"(?<=\.)\s+", intro) if len(each) > 40]
    assert len(found) == len(set(found))


@pytest.mark.parametrize("name", PAGES)
def test_a_mistake_is_claimed_and_not_refuted_by_the_text(name: str) -> None:
    """Then it has to be refuted by `prove`, or `write.py` refuses the page; see below."""
    block = write.mistaken(TEXTS[name])
    assert block.startswith("# refuted\n")
    module = layoutdsl.parse(block, "wrong.layout")
    claims = (*module.claims, *module.table_claims, *module.record_claims)
    assert claims or module.tables
    assert {each.polarity for each in claims} <= {"prove"}


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", PAGES)
def test_code_packs_as_the_layout_says(name: str) -> None:
    """It is run here at once; `test_documents` runs each page in a process of its own."""
    (code,) = [each.text for each in blocks(TEXTS[name]) if each.kind == "python"]
    assert "layout.offset(" in code or "record.bit_address(" in code
    assert "assert " in code
    exec(compile(code, name, "exec"), {"__name__": name})


@pytest.mark.slow
def test_what_is_written_is_fresh_and_mistakes_are_refuted() -> None:
    """`python docs/cookbook/write.py` changes nothing."""
    for path, text in write.files():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: write it anew"


def test_thumbnails_are_small_and_have_a_cell_for_each_slot() -> None:
    for name in PAGES:
        path = COOKBOOK / "thumbnails" / f"{name}.svg"
        assert path.stat().st_size < 40_000
        rects = list(ElementTree.parse(path).getroot())
        assert 4 <= len(rects) <= 240


@pytest.mark.slow
def test_a_stale_part_is_noticed() -> None:
    page = PAGES["nchw16c"]
    stale = TEXTS["nchw16c"].replace("ceil(C/16)*H*W slots", "ceil(C/8)*H*W slots")
    assert stale != TEXTS["nchw16c"]
    assert write.filled(page, stale) == TEXTS["nchw16c"]


def test_a_block_that_is_right_is_no_mistake() -> None:
    page = PAGES["nchw"]
    text = TEXTS["nchw"].replace(
        "prove NCHW == ((n*C + c)*H + h)*H + w", "prove NCHW == [n, c, h, w]"
    )
    assert text != TEXTS["nchw"]
    with pytest.raises(ValueError, match="is not refuted"):
        write.filled(page, text)


def test_a_name_that_is_the_same_has_to_be() -> None:
    with pytest.raises(ValueError, match="NCHW and NHWC"):
        names._agreement(layoutdsl.library("NCHW"), "NHWC")
    with pytest.raises(ValueError, match="can be said in onednn"):
        names._reason(layoutdsl.library("NCHW"), "onednn")
