"""The site in a browser: pages open without a word on the console, the search finds, links resolve.

It is built without a warning first. It needs the extra `docs`, `playwright` and a Chromium of the
system, and is skipped where there is none.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from processes import ended

pytestmark = pytest.mark.slow

playwright = pytest.importorskip("playwright.sync_api")
for needed in ("sphinx", "myst_parser", "furo", "sphinx_copybutton"):
    pytest.importorskip(needed, reason="the site needs the extra `docs`")

DOCS = Path(__file__).parents[2] / "docs"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
OPTIONS = (
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--no-first-run"),
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built without a warning: no link is without an end, no block without a lexer."""
    site = tmp_path_factory.mktemp("site")
    assert build(DOCS, site, tmp_path_factory.mktemp("read")) == (0, "")
    return site


def build(pages: Path, site: Path, read: Path) -> tuple[int, str]:
    """Build a site; return the exit code, and what was told."""
    options = ["-q", "-W", "--keep-going", "-n", "-d", str(read)]
    done = ended([sys.executable, "-m", "sphinx", *options, str(pages), str(site)])
    return done.returncode, done.stderr.decode()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Words.", ""),
        ("```{picture} NCHW16c --shape 1,5,1,2\n```", ""),
        ("```{picture} NCHW16 --shape 1,5,1,2\n```", "no layout `NCHW16`"),
        ("```{picture} NCHW16c --shape 1,5\n```", "index.md:3: ERROR"),
        ("[a link](#nowhere)", "nowhere"),
        ("[a page](reference/nothing.md)", "nothing.md"),
        ("```{include} nothing.md\n```", "nothing.md"),
        ("```layuot\n```", "layuot"),
        ("[a file](../lost.py)", "lost.py"),
    ],
)
def test_what_is_wrong_stops_the_build(text: str, told: str, tmp_path: Path) -> None:
    pages = tmp_path / "docs"
    (pages / "_static").mkdir(parents=True)
    for name in ("conf.py", "site_parts.py", "_static/site.css", "_static/mark.svg"):
        (pages / name).write_bytes((DOCS / name).read_bytes())
    (pages / "index.md").write_text(f"# A page\n\n{text}\n", encoding="utf-8")
    code, found = build(pages, tmp_path / "site", tmp_path / "read")
    assert (code != 0) is bool(told)
    assert told in found


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def address(built: Path) -> Iterator[str]:
    """Where a server of this machine has the site, as a search asks for further files."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=built)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    found = next((each for each in map(shutil.which, BROWSERS) if each), None)
    if found is None:
        pytest.skip("no chromium is installed")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=found, args=list(OPTIONS))
        yield started
        started.close()


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    """A page; what it says on the console, and loads from elsewhere, is looked at afterwards."""
    said: list[str] = []
    context = browser.new_context()
    page = context.new_page()
    page.on("console", lambda each: said.append(each.text))
    page.on("pageerror", lambda each: said.append(str(each)))
    page.on("request", lambda each: None if _is_local(each.url, address) else said.append(each.url))
    page.on("response", lambda each: said.append(each.url) if each.status >= 400 else None)
    yield page
    context.close()
    assert said == []


def _is_local(url: str, address: str) -> bool:
    return url.startswith((f"{address}/", "data:"))


def pages(site: Path) -> list[str]:
    return sorted(each.relative_to(site).as_posix() for each in site.rglob("*.html"))


def test_each_page_opens(page: Any, built: Path, address: str) -> None:
    """Without a word, with a heading, and with each picture drawn."""
    names = pages(built)
    assert {"index.html", "tutorial/6-kernels.html", "reference/errors.html"} <= set(names)
    for name in names:
        page.goto(f"{address}/{name}")
        assert page.locator("h1").count() >= 1 or name == "search.html", name
        for number in range(page.locator(".picture svg").count()):
            box = page.locator(".picture svg").nth(number).bounding_box()
            assert box is not None, name
            assert box["width"] > 100, name


def test_links_have_an_end(page: Any, built: Path, address: str) -> None:
    """Every link of every page leads to a file of the site, and to a place that it has."""
    places: dict[str, set[str]] = {}
    links: list[tuple[str, str]] = []
    for name in pages(built):
        page.goto(f"{address}/{name}")
        places[name] = set(page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)"))
        found = page.evaluate("[...document.querySelectorAll('a[href]')].map(e => e.href)")
        links += [(name, each) for each in found if each.startswith(address)]
    assert len(links) > 1000
    for name, link in links:
        path, _, place = link.removeprefix(f"{address}/").partition("#")
        assert (built / path).is_file(), f"{name}: {link}"
        assert not place or path not in places or place in places[path], f"{name}: {link}"


@pytest.mark.parametrize(
    ("word", "wanted"),
    [
        ("L202", "reference/errors.html"),
        ("Marlin", "weights.html"),
        ("swizzle", "tutorial/6-kernels.html"),
        ("library_record", "reference/api.html"),
    ],
)
def test_the_search_finds(page: Any, address: str, word: str, wanted: str) -> None:
    page.goto(f"{address}/search.html?q={word}")
    page.wait_for_selector("#search-results li a", timeout=20_000)
    page.wait_for_function("!document.querySelector('#search-progress')?.innerText.endsWith('...')")
    found = page.evaluate("[...document.querySelectorAll('#search-results a')].map(e => e.href)")
    assert any(each.partition("?")[0].partition("#")[0].endswith(wanted) for each in found), found


def test_a_fault_has_a_place_of_its_own(page: Any, address: str) -> None:
    """What SARIF and editors link to."""
    page.goto(f"{address}/reference/errors.html#l202")
    assert page.evaluate("document.getElementById('l202') !== null")
    page.wait_for_function("scrollY > 1000", timeout=20_000)


def test_pictures_follow_the_dark_page(page: Any, address: str) -> None:
    page.goto(f"{address}/tutorial/2-padding.html")
    colour = "getComputedStyle(document.querySelector('.picture svg .w')).fill"
    page.evaluate("document.body.dataset.theme = 'light'")
    light = page.evaluate(colour)
    page.evaluate("document.body.dataset.theme = 'dark'")
    assert light != page.evaluate(colour)


def test_a_narrow_page_is_not_wider_than_its_window(page: Any, built: Path, address: str) -> None:
    """What is wide is moved sideways within it."""
    page.set_viewport_size({"width": 400, "height": 800})
    for name in pages(built):
        page.goto(f"{address}/{name}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 400, name
