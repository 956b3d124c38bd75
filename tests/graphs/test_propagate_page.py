"""The report as a page: all that is said of a plan, and nothing that a browser would run."""

from __future__ import annotations

import shutil
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from picture_pages import fits_and_is_legible
from processes import ended

onnx = pytest.importorskip("onnx")
pytest.importorskip("scipy")

from small_models import network, written  # noqa: E402

from layoutdsl import Propagation, propagate  # noqa: E402

HOSTILE = "<script>alert(1)</script>\"'&</svg>"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


def planned(folder: Path, model: Any = None, prefer: str = "NHWC") -> Propagation:
    place = written(folder)
    if model is not None:
        place.write_bytes(model.SerializeToString())
    return propagate(place, prefer={"Conv": prefer}, verify="off")


class Tags(HTMLParser):
    """The tags of a page, each closed by its own, and its text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.counts: Counter[str] = Counter()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.counts[tag] += 1
        assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attrs)
        if ("class", "moved") in attrs:
            self.counts["moved"] += 1
        if tag not in ("meta", "rect"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag != "rect":
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read(page: str) -> Tags:
    tags = Tags()
    tags.feed(page)
    tags.close()
    assert tags.open == []
    return tags


def test_it_has_all_nodes_lines_and_transforms(tmp_path: Path) -> None:
    found = planned(tmp_path)
    tags = read(found.page("model.onnx", ["the first line", "and the second"]))
    graph = found.source.graph
    assert tags.counts["rect"] == len(graph.nodes) + len(graph.inputs) + len(graph.outputs)
    assert tags.counts["moved"] == len(found.transforms) == 1
    assert "and the second" in tags.text.partition("the first line")[2]
    for words in ("NHWC", "as written", "x: as written -> NHWC, 3.1 kB", "Conv `first`"):
        assert words in tags.text
    for edge in (
        "2\u00d73\u00d78\u00d78, 3.1 kB moved",
        "2\u00d720\u00d78\u00d78, 10.2 kB",
        "2\u00d77, 56 bytes",
    ):
        assert edge in tags.text
    assert "3.1 kB moved in 1 transform, instead of 64.5 kB moved in 4 transforms" in tags.text
    assert "No plan moves less: this is proved." in tags.text


def test_lines_of_the_shell_become_terms(tmp_path: Path) -> None:
    """A word at the start of a line is a term, however long the name of the model is."""
    name = "a model with a long name.onnx"
    lines = [f"{name} 9 nodes", f"{'minimal':<18}yes", "no such word"]
    text = read(planned(tmp_path).page(name, lines)).text
    assert f"{name}9 nodes\n" not in text
    assert f"{name}9 nodesminimalyesno such word" in text


def test_names_of_a_model_are_text(tmp_path: Path) -> None:
    model = network()
    for node in model.graph.node:
        node.name = HOSTILE
        node.input[:] = [HOSTILE if each == "x" else each for each in node.input]
    model.graph.input[0].name = HOSTILE
    tags = read(planned(tmp_path, model).page(HOSTILE, [HOSTILE]))
    assert tags.counts["script"] == 0
    assert tags.counts["svg"] == 1
    assert HOSTILE in tags.text


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_its_window_and_is_legible(tmp_path: Path, width: int, scheme: str) -> None:
    playwright = pytest.importorskip("playwright.sync_api")
    found = next((each for each in map(shutil.which, BROWSERS) if each), None)
    if found is None:
        pytest.skip("no chromium is installed")
    place = tmp_path / "page.html"
    report = planned(tmp_path, prefer="NCHW16c")
    place.write_text(report.page("model.onnx", ["minimal           yes"]), encoding="utf-8")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
        page.goto(place.as_uri())
        fits_and_is_legible(page, width)
        browser.close()


@pytest.mark.slow
def test_a_browser_draws_it(tmp_path: Path) -> None:
    browser = next((each for each in map(shutil.which, BROWSERS) if each), None)
    if browser is None:
        pytest.skip("no chromium is installed")
    found = planned(tmp_path, prefer="NCHW16c")
    page = tmp_path / "page.html"
    page.write_text(found.page("model.onnx", []), encoding="utf-8")
    options = ("--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'own'}")
    done = ended([browser, *options, "--dump-dom", page.as_uri()], text=True)
    drawn = read(done.stdout)
    assert drawn.counts["rect"] == len(found.source.graph.nodes) + 2
    assert drawn.counts["moved"] == len(found.transforms)
