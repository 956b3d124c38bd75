"""The page that `layoutdsl view` serves, in a browser: the playground's, with a file behind it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsers import browser
from cli_shell import Shell, shell
from hostile_texts import HOSTILE
from picture_pages import fits_and_is_legible
from playground_pages import GAP, LONG, WAIT, WRONG, heading, listen, nothing_runs, prove, write
from processes import running

__all__ = ["browser", "shell"]

pytestmark = pytest.mark.slow

FINE = "layout NCHW4(n, c, h, w) = [n, c/4, h, w, c%4]\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    place = tmp_path / "mine.layout"
    place.write_text(WRONG, encoding="utf-8")
    return place


@pytest.fixture
def page(browser: Any, file: Path) -> Iterator[Any]:
    """The page of the file; nothing may have been said on its console at the end."""
    command = [sys.executable, "-m", "layoutdsl", "view", "--no-browser", file.name]
    with running(command, cwd=file.parent, stdout=subprocess.PIPE, text=True) as process:
        words = process.stdout.readline() if process.stdout else ""
        address = next(each for each in words.split() if each.startswith("http://"))
        context = browser.new_context()
        said: list[str] = []
        shown = context.new_page()
        listen(shown, said, address.partition("?")[0])
        shown.goto(address)
        shown.wait_for_selector(".claim", timeout=WAIT)
        yield shown
        context.close()
    assert said == []


def test_the_file_is_shown_with_the_words_of_the_shell(page: Any, file: Path, shell: Shell) -> None:
    assert page.input_value("#source") == WRONG
    assert page.inner_text("#file") == "mine.layout"
    ended = shell("prove", file.name)
    told = ended.out[ended.out.index("refuted: ") :].rsplit("\n", 2)[0]
    assert page.locator(".claim.refuted .words").inner_text() == told
    write(page, GAP)
    heading(page, "1 fault")
    assert page.locator("#colours .fault").all_inner_texts() == ["c", "/", "16"]
    write(page, FINE)
    frame = page.frame_locator("#picture")
    frame.locator(".head", has_text="NCHW4 at").wait_for(timeout=WAIT)
    frame.locator(".buffer td").first.hover()
    frame.locator(".say", has_text="offset 0 holds").wait_for()
    page.click("#tab-cuda")
    page.locator("#code pre", has_text="NCHW4_offset(").wait_for(timeout=WAIT)


def test_a_file_that_changes_is_taken_and_what_was_typed_is_kept(page: Any, file: Path) -> None:
    file.write_text(FINE, encoding="utf-8")
    page.locator("#colours", has_text="NCHW4").wait_for(timeout=WAIT)
    page.locator(".claim.passed", has_text="NCHW4 for all shapes").wait_for(timeout=WAIT)
    write(page, GAP)
    file.write_text(WRONG, encoding="utf-8")
    page.locator("#notice", has_text="mine.layout has changed").wait_for(timeout=WAIT)
    assert page.input_value("#source") == GAP
    page.click("#notice button")
    page.locator("#colours", has_text="NCHW16").wait_for(timeout=WAIT)
    assert page.input_value("#source") == WRONG
    assert file.read_text("utf-8") == WRONG


def test_an_empty_text_offers_examples_and_shows_nothing_old(page: Any) -> None:
    write(page, "")
    heading(page, "The text is empty.")
    assert page.locator(".claim").count() == 0
    assert page.inner_text("#summary") == ""
    assert not page.is_visible("#picture")
    assert page.locator("#layout option").count() == 0
    page.click("#start button:has-text('NCHW16c')")
    page.locator(".claim.passed", has_text="NCHW16c for all shapes").wait_for(timeout=WAIT)
    assert "layout NCHW16c" in page.input_value("#source")
    assert not page.is_visible("#start")
    page.frame_locator("#picture").locator(".head", has_text="NCHW16c at").wait_for(timeout=WAIT)


def test_a_code_opens_its_explanation(page: Any, shell: Shell) -> None:
    write(page, GAP)
    heading(page, "1 fault")
    page.click("#faults button:has-text('L202')")
    page.locator("#faults .explained", has_text="L202").wait_for(timeout=WAIT)
    told = " ".join(shell("explain", "L202").out.split())
    assert " ".join(page.inner_text("#faults .explained").split()) == told
    page.click("#faults button:has-text('L202')")
    assert not page.is_visible("#faults .explained")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_a_telephone_and_is_legible(page: Any, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 390, "height": 800})
    for text, words in ((WRONG, "well formed"), (GAP, "1 fault"), ("", "The text is empty.")):
        write(page, text)
        heading(page, words)
        fits_and_is_legible(page, 390)


def test_what_runs_is_stopped_and_the_page_goes_on(page: Any) -> None:
    write(page, LONG)
    heading(page, "well formed")
    page.click("#prove")
    page.wait_for_selector("#stop:enabled")
    page.click("#stop")
    page.locator("#verdicts", has_text="stopped").wait_for(timeout=WAIT)
    prove(page, FINE)
    assert page.locator(".claim.passed").count() == 1


def test_nothing_of_a_hostile_text_runs(page: Any) -> None:
    for text in HOSTILE[::7]:
        nothing_runs(page, text)
    prove(page, HOSTILE[0])
    assert page.evaluate("() => window.ran") is None
