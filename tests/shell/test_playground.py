"""The playground in a browser: verdicts, diagnostics, pictures, links, what is hostile.

Those of the built page need LAYOUTDSL_PLAYGROUND, a folder that `docs/playground/build.py` wrote;
those of `layoutdsl view` need no such folder. All need `playwright` and a Chromium of the system.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from browsers import browser
from cli_shell import Shell, shell
from hostile_texts import HOSTILE
from playground_pages import (
    GAP,
    LONG,
    WAIT,
    WRONG,
    Quiet,
    heading,
    listen,
    nothing_runs,
    processor_seconds,
    prove,
    write,
)

playwright = pytest.importorskip("playwright.sync_api")

__all__ = ["browser", "shell"]

pytestmark = pytest.mark.slow

SITE = os.environ.get("LAYOUTDSL_PLAYGROUND")


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    if SITE is None:
        pytest.skip("LAYOUTDSL_PLAYGROUND names no folder that docs/playground/build.py wrote")
    assert (Path(SITE) / "contents.json").is_file(), f"`{SITE}` is no playground"
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=SITE))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def opened(browser: Any, site: str) -> Iterator[Any]:
    """One page for all tests, as its start is what takes long; what it says is kept."""
    context = browser.new_context(viewport={"width": 1280, "height": 1000})
    page = context.new_page()
    said: list[str] = []
    listen(page, said, site)
    page.wait_for_timeout(500)  # the browser's own start
    begun, worked = monotonic(), processor_seconds()
    page.goto(site)
    for state in ("[data-ready]", "[data-ready=proving]"):
        page.wait_for_selector(f"html{state}", timeout=WAIT)
        passed = f"{monotonic() - begun:.1f} s, {processor_seconds() - worked:.1f} s of processor"
        print(f"{page.get_attribute('html', 'data-ready')}: {passed}")
    page.wait_for_selector(".claim", timeout=WAIT)
    yield page, said
    context.close()


@pytest.fixture
def page(opened: Any) -> Iterator[Any]:
    """The page; nothing may have been said on its console at the end."""
    shown, said = opened
    yield shown
    assert said == []


def test_the_first_verdicts_come_by_themselves(page: Any) -> None:
    assert page.inner_text("#summary").startswith("3 proved, 1 refuted")
    assert page.locator(".claim.passed").count() == 3
    page.locator(".claim summary").first.click()
    assert "injective" in page.locator(".claim .findings").first.inner_text()


def test_what_is_refuted_is_told_as_the_shell_tells_it(page: Any, shell: Shell) -> None:
    Path("page.layout").write_text(WRONG, encoding="utf-8")
    ended = shell("prove", "page.layout")
    told = ended.out[ended.out.index("refuted: ") :].rsplit("\n", 2)[0]
    prove(page, WRONG)
    assert page.locator(".claim.refuted .words").inner_text() == told


def test_what_is_refuted_as_claimed_opens_to_its_counterexample(page: Any, shell: Shell) -> None:
    text = "layout A(n, c) = [n, c%16]\nrefute A\n"
    Path("page.layout").write_text(text, encoding="utf-8")
    told = shell("prove", "page.layout", "-v").out
    prove(page, text)
    page.click(".claim summary")
    shown = page.inner_text(".claim .words").splitlines()
    assert len(shown) == 4
    assert "".join(f"  {line}\n" for line in shown) in told


def test_a_usual_layout_is_proved_soon(page: Any) -> None:
    prove(page, "layout NCHW16c(n, c, h, w) = [n, c/16, h, w, c%16]\n")
    prove(page, "layout NCHW16c(n, c, h, w) = [n, c/16, h, w, c%16] fill 0\n")
    words = page.inner_text(".claim summary")
    found = re.search(r"26 questions, (\d+) ms", words)
    assert found, words
    print(f"NCHW16c: {found[1]} ms")
    assert int(found[1]) < 5000  # 500 on a machine that does nothing else


def test_faults_are_underlined_as_somebody_types(page: Any) -> None:
    write(page, "")
    page.type("#source", GAP)
    heading(page, "1 fault")
    assert page.locator("#colours .fault").all_inner_texts() == ["c", "/", "16"]
    assert page.locator("#colours .beside").all_inner_texts() == ["c", "%", "8"]
    assert page.locator("#numbers .bad").all_inner_texts() == ["1"]
    assert "leave a gap between 8 and 16" in page.inner_text("#faults")
    page.click("#faults button")
    assert page.evaluate("() => getSelection().toString()") == "c/16"
    page.type("#source", "c/8")
    heading(page, "well formed")
    assert page.locator("#colours .fault").count() == 0


def test_the_last_good_picture_stays_and_is_grey(page: Any) -> None:
    write(page, "layout A(n, c) = [n, c/4, c%4]\n")
    frame = page.frame_locator("#picture")
    frame.locator(".head", has_text="A at shape N=2 C=5").wait_for(timeout=WAIT)
    assert page.locator("#panel.old").count() == 0
    write(page, "layout A(n, c) = [n, c/4, c%2]\n")
    page.wait_for_selector("#panel.old", timeout=WAIT)
    assert frame.locator(".head").inner_text().startswith("A at shape N=2 C=5")
    write(page, "layout A(n, c) = [n, c/4, c%4]\n")
    page.wait_for_selector("#panel:not(.old)", timeout=WAIT)
    page.fill("#shape", "1,9")
    frame.locator(".head", has_text="A at shape N=1 C=9").wait_for(timeout=WAIT)
    page.fill("#shape", "1,2,3")
    page.locator("#said.wrong").wait_for(timeout=WAIT)
    page.fill("#shape", "")


def test_both_sides_of_a_picture_are_seen(page: Any) -> None:
    write(page, "layout NCHW4(n, c, h, w) = [n, c/4, h, w, c%4]\n")
    frame = page.frame_locator("#picture")
    frame.locator(".head", has_text="NCHW4 at").wait_for(timeout=WAIT)
    cell = frame.locator(".buffer td").first
    cell.hover()
    assert cell.bounding_box()["width"] > 5
    frame.locator(".say", has_text="offset 0 holds").wait_for()


@pytest.mark.parametrize(
    ("tab", "words"),
    [
        ("formula", "offset = "),
        ("cuda", "NCHW4_offset("),
        ("triton", "import triton"),
        ("numpy", "def pack("),
        ("c", "NCHW4_pack"),
        ("notations", "onednn    "),
    ],
)
def test_code_and_other_notations(page: Any, tab: str, words: str) -> None:
    write(page, "layout NCHW4(n, c, h, w) = [n, c/4, h, w, c%4]\n")
    heading(page, "well formed")
    page.click(f"#tab-{tab}")
    page.locator("#code pre", has_text=words).wait_for(timeout=WAIT)
    page.click("#tab-picture")


def test_tabs_are_walked_by_keys(page: Any) -> None:
    page.focus("#tab-picture")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("() => document.activeElement.id") == "tab-formula"
    assert page.get_attribute("#tab-formula", "aria-selected") == "true"
    page.keyboard.press("Home")
    assert page.evaluate("() => document.activeElement.id") == "tab-picture"


def test_an_example_of_the_library_is_taken(page: Any) -> None:
    page.select_option("#examples", "NCHW4c")
    assert "layout NCHW4c" in page.input_value("#source")
    page.locator(".claim code", has_text="NCHW4c keeps c%4 contiguous").wait_for(timeout=WAIT)
    assert page.locator(".claim:not(.passed)").count() == 0


def test_a_link_brings_the_text_back(page: Any, browser: Any, site: str) -> None:
    text = "# \u00e9\u2713\U0001f600\n" + GAP
    write(page, text)
    page.click("#share")
    page.locator("#status", has_text="address").wait_for()
    address = page.evaluate("() => location.href")
    assert "#text=" in address
    context = browser.new_context()
    other = context.new_page()
    other.goto(address)
    other.locator("#colours", has_text="Demo").wait_for()
    assert other.input_value("#source") == text
    other.goto(site + "#text=AAAA_no")
    other.locator("#notice", has_text="damaged").wait_for()
    context.close()


def test_a_text_that_is_too_long_is_not_put_into_a_link(page: Any) -> None:
    before = page.evaluate("() => location.href")
    write(page, "".join(f"# {os.urandom(24).hex()}\n" for _ in range(500)))
    page.click("#share")
    page.locator("#notice", has_text="too long to be shared").wait_for()
    assert page.evaluate("() => location.href") == before
    page.evaluate("() => history.replaceState(null, '', location.pathname)")


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_of_a_hostile_text_runs(page: Any, text: str) -> None:
    nothing_runs(page, text)


def test_hostile_texts_are_proved_and_drawn_as_texts(page: Any) -> None:
    for text in HOSTILE[::10]:
        prove(page, text)
        assert page.evaluate("() => window.ran") is None


def test_what_runs_is_stopped_and_the_page_goes_on(page: Any) -> None:
    """The last of this page: it loads Python again."""
    write(page, LONG)
    heading(page, "well formed")
    page.click("#prove")
    page.wait_for_selector("#stop:enabled")
    page.click("#stop")
    page.locator("#verdicts", has_text="stopped").wait_for(timeout=WAIT)
    page.locator("#status", has_text="ready").wait_for(timeout=WAIT)
    prove(page, WRONG)
    assert page.locator(".claim.refuted").count() == 1
