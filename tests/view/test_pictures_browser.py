"""Pictures in a browser: each side points at the other, under the mouse and with keys.

They need `playwright` and a Chromium of the system, and are skipped where there is none.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsers import browser
from cli_shell import Shell, shell
from picture_pages import fits_and_is_legible

import layoutdsl
from layoutdsl import library, library_record, parse

__all__ = ["browser", "shell"]

playwright = pytest.importorskip("playwright.sync_api")


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """Open the text of a page; that it says nothing on the console is looked at afterwards."""
    said: list[str] = []
    context = browser.new_context()

    def visit(text: str) -> Any:
        place = tmp_path / "page.html"
        place.write_text(text, encoding="utf-8")
        page = context.new_page()
        page.on("console", lambda each: said.append(each.text))
        page.on("pageerror", lambda each: said.append(str(each)))
        page.on(
            "request", lambda each: said.append(each.url) if each.url != place.as_uri() else None
        )
        page.goto(place.as_uri())
        return page

    yield visit
    context.close()
    assert said == []


def slot(number: int) -> str:
    return f".buffer td[data-n='{number}']"


def element(key: int) -> str:
    return f".tensor td[data-k='{key}']"


@pytest.mark.slow
def test_either_side_points_at_the_other(opened: Any) -> None:
    page = opened(layoutdsl.show(library("NCHW16c"), (1, 20, 2, 3)).html())
    key = (17 * 2 + 1) * 3 + 2
    page.hover(element(key))
    assert page.inner_text(".say") == "(n=0, c=17, h=1, w=2) lies at offset 177"
    assert page.locator(".buffer td.there").get_attribute("data-n") == "177"
    page.hover(slot(150))
    assert (
        page.inner_text(".say")
        == "offset 150 is padding, filled with 0: c = 22 is not below C = 20"
    )
    assert page.locator(".there").count() == 0
    page.hover(slot(177))
    assert page.inner_text(".say") == "offset 177 holds (n=0, c=17, h=1, w=2)"
    assert page.locator(".tensor td.there").get_attribute("data-k") == str(key)


@pytest.mark.slow
def test_keys_walk_on_both_sides(opened: Any) -> None:
    page = opened(layoutdsl.show(library("NCHW16c"), (1, 20, 2, 3)).html())
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.dataset.n") == "0"
    for key, told in (
        ("ArrowRight", "offset 1 holds (n=0, c=1, h=0, w=0)"),
        ("ArrowDown", "offset 17 holds (n=0, c=1, h=0, w=1)"),
        ("ArrowLeft", "offset 16 holds (n=0, c=0, h=0, w=1)"),
        ("ArrowUp", "offset 0 holds (n=0, c=0, h=0, w=0)"),
        ("Enter", "(n=0, c=0, h=0, w=0) lies at offset 0"),
        ("ArrowRight", "(n=0, c=0, h=0, w=1) lies at offset 16"),
        ("ArrowDown", "(n=0, c=0, h=1, w=1) lies at offset 64"),
        ("End", "(n=0, c=19, h=1, w=2) lies at offset 179"),
        ("Enter", "offset 179 holds (n=0, c=19, h=1, w=2)"),
        ("Home", "offset 0 holds (n=0, c=0, h=0, w=0)"),
    ):
        page.keyboard.press(key)
        assert page.inner_text(".say") == told
    assert page.locator("td[tabindex='0']").count() == 2


@pytest.mark.slow
def test_the_order_is_played(opened: Any) -> None:
    page = opened(layoutdsl.show(library("NCHW4c"), (1, 2, 1, 2)).html())
    page.click("text=in order of the tensor")
    page.locator("button[aria-pressed=true]").wait_for()
    page.locator(".say", has_text="c=1, h=0, w=1").wait_for()
    page.locator("button[aria-pressed=true]").wait_for(state="detached")


@pytest.mark.slow
def test_who_wants_no_motion_gets_none(browser: Any, tmp_path: Path) -> None:
    place = tmp_path / "page.html"
    place.write_text(layoutdsl.show(library("NCHW4c"), (1, 2, 1, 2)).html(), encoding="utf-8")
    page = browser.new_page(reduced_motion="reduce")
    page.goto(place.as_uri())
    assert not page.is_visible("button")
    page.close()


@pytest.mark.slow
def test_bits_of_a_byte(opened: Any) -> None:
    page = opened(layoutdsl.show(library_record("Q4_0"), (1, 64)).html())
    page.hover(slot(8))
    assert page.inner_text(".say") == "byte 8 holds q[0, 6] and q[0, 22]"
    assert page.locator(".bits span").all_inner_texts() == [
        "bits 0..3: bits 0..3 of q[0, 6]",
        "bits 4..7: bits 0..3 of q[0, 22]",
    ]
    assert page.locator(".tensor td.there").count() == 2


@pytest.mark.slow
def test_threads_at_their_banks(opened: Any) -> None:
    rows = parse("layout Rows(m: 8, k: 64) = [m, k] of f16")["Rows"]
    page = opened(layoutdsl.banks(rows, thread="m = t%8, k = t/8*8", bytes=16).html())
    page.hover(slot(33))
    assert page.inner_text(".say") == "cycle 1, bank 1: bytes 132..135 for thread 1"
    page.hover(slot(40))
    assert page.inner_text(".say") == "bank 8 is idle in cycle 1"
    page.hover(element(9))
    assert page.inner_text(".say") == "(thread=9) reads from byte 144"
    assert page.locator(".buffer td.there").count() == 4


@pytest.mark.slow
def test_counterexamples_and_differences(opened: Any, shell: Shell) -> None:
    shell("diff", "HtpNCHW", "R4NCHWMemoryLayout", "--as", "html", "-o", "both.html")
    page = opened(Path("both.html").read_text(encoding="utf-8"))
    assert page.locator(".buffer td.k").count() == 4
    page.locator(".ldp").nth(1).locator(".buffer td.k").nth(0).hover()
    assert page.locator(".say").nth(1).inner_text() == "offset 1 holds (b=0, h=1, w=0, d=0)"
    Path("one.layout").write_text("layout A(n, c) = [n, c%4]")
    shell("prove", "one.layout", "--as", "html", "-o", "one.html")
    page = opened(Path("one.html").read_text(encoding="utf-8"))
    page.hover(".buffer td.k")
    assert page.inner_text(".say") == "offset 0 holds (n=0, c=0) and (n=0, c=4)"


@pytest.mark.slow
def test_a_slot_that_several_want_names_them(opened: Any) -> None:
    layout = parse("layout A(n, c) = [n, c%4]  refute A")["A"]
    page = opened(layoutdsl.show(layout, (2, 6)).html())
    page.hover(slot(0))
    assert page.inner_text(".say") == "offset 0 holds (n=0, c=0) and (n=0, c=4)"


FAR = """layout Far(n, c, h) = [n, c/8, h, c%8 : 512]
prove Far == n*(c/8) + h*512 + c%8 where C > 8, H >= 1
"""


@pytest.mark.slow
def test_a_page_opens_at_the_counterexample(opened: Any, shell: Shell) -> None:
    """The slot of the layout and that of the formula are both in view, though slots lie between."""
    Path("far.layout").write_text(FAR)
    shell("prove", "far.layout", "--as", "html", "-o", "far.html")
    page = opened(Path("far.html").read_text(encoding="utf-8"))
    page.wait_for_timeout(100)
    right, wrong = page.locator(".buffer td.k"), page.locator(".buffer td.w")
    assert (right.count(), wrong.count()) == (1, 1)
    assert right.get_attribute("data-n") != wrong.get_attribute("data-n")
    frame = page.locator(".buffer").bounding_box()
    for each in (right, wrong):
        place = each.bounding_box()
        assert frame["y"] <= place["y"] <= frame["y"] + frame["height"]
        assert frame["x"] <= place["x"] <= frame["x"] + frame["width"]


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_fits_its_window_and_is_legible(
    browser: Any, tmp_path: Path, width: int, scheme: str, shell: Shell
) -> None:
    place = tmp_path / "page.html"
    Path("far.layout").write_text(FAR, encoding="utf-8")
    pages = [
        layoutdsl.show(library("NCHW16c"), (1, 20, 2, 3), colour="w").html(),
        layoutdsl.banks(library("GmmaKSw128"), thread="m = t, k = 0", threads=8, bytes=16).html(),
        layoutdsl.show(library_record("Q4_0"), (1, 64)).html(),
        shell("prove", "far.layout", "--as", "html").out,
        shell("diff", "NCHW16c", "onednn:aBcd16b", "--as", "html").out,
        shell("diff", "HtpNCHW", "R4NCHWMemoryLayout", "--as", "html").out,
    ]
    for text in pages:
        place.write_text(text, encoding="utf-8")
        page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
        page.goto(place.as_uri())
        fits_and_is_legible(page, width)
        page.close()


@pytest.mark.slow
def test_the_other_side_scrolls_to_the_same_element(opened: Any) -> None:
    page = opened(layoutdsl.show(library("NCHW4c"), (1, 16, 16, 32)).html())
    for cell, other in ((slot(8191), ".tensor"), (element(0), ".buffer")):
        page.locator(cell).scroll_into_view_if_needed()
        page.hover(cell)
        frame, place = (page.locator(each).bounding_box() for each in (other, f"{other} .there"))
        assert frame["y"] <= place["y"] <= frame["y"] + frame["height"] - place["height"]
        assert frame["x"] <= place["x"] <= frame["x"] + frame["width"] - place["width"]


@pytest.mark.slow
def test_many_cells_are_soon_there(opened: Any) -> None:
    page = opened(layoutdsl.show(library("NCHW16c"), (1, 64, 16, 16)).html())
    page.hover(slot(20))
    assert page.inner_text(".say").startswith("offset 20 holds")
    assert page.evaluate("performance.now()") < 20_000


@pytest.mark.slow
def test_two_pictures_in_one_page_do_not_meet(opened: Any) -> None:
    one = layoutdsl.show(library("NCHW4c"), (1, 2, 1, 2))._repr_html_()
    other = layoutdsl.show(library("NCHW4c"), (1, 3, 1, 2))._repr_html_()
    page = opened(f"<!doctype html><title>both</title>{one}{other}")
    page.locator(".ldp").nth(1).locator(slot(2)).hover()
    assert page.locator(".say").nth(1).inner_text() == "offset 2 holds (n=0, c=2, h=0, w=0)"
    assert page.locator(".ldp").nth(0).locator(".here").count() == 0
