"""What stands in a page of pictures, read as a browser reads it and by none of our code."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

VOID = ("meta", "col", "br", "td", "th", "tr")
"""Tags that need no end; those of tables end where the next begins."""


FAINT = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const paint = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => [r, g, b].map((each) => each / 255)
    .map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4))
    .reduce((sum, each, k) => sum + each * [0.2126, 0.7152, 0.0722][k], 0);
  const ground = (node) => {
    for (let each = node; each; each = each.parentElement) {
      const found = paint(getComputedStyle(each).backgroundColor);
      if (found[3] === 255) return found;
    }
    return [255, 255, 255];
  };
  const WORDS = "h1, h2, h3, p, li, th, td, pre, code, button, span";
  const faint = [];
  for (const node of document.body.querySelectorAll(WORDS)) {
    if (!node.textContent.trim() || node.getAttribute("aria-hidden")) continue;
    const pair = [light(paint(getComputedStyle(node).color)), light(ground(node))];
    pair.sort((a, b) => b - a);
    if ((pair[0] + 0.05) / (pair[1] + 0.05) < 4.5) faint.push(node.outerHTML.slice(0, 80));
  }
  return faint;
}"""
"""A script: the elements whose words stand out by less than 4.5:1 from their ground."""


def fits_and_is_legible(page: Any, width: int) -> None:
    """Nothing is wider than the window, and all words are legible."""
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(FAINT) == []


@dataclass
class Read:
    """A cell: its attributes, and what is written in it."""

    attributes: dict[str, str | None]
    label: str = ""

    @property
    def numbers(self) -> list[int]:
        """The slots or bytes."""
        return list(map(int, (self.attributes.get("data-n") or "").split()))

    @property
    def keys(self) -> list[int]:
        """The numbers of its elements."""
        return list(map(int, (self.attributes.get("data-k") or "").split()))

    @property
    def kinds(self) -> set[str]:
        """The classes: ``p`` is padding."""
        return set((self.attributes.get("class") or "").split())


@dataclass
class Page(HTMLParser):
    """Cells of the buffer and of the tensor, and whatever else could do harm."""

    buffer: list[Read] = field(default_factory=list)
    tensor: list[Read] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    handlers: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    text: str = ""
    title: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    side: list[Read] | None = None
    open: list[str] = field(default_factory=list)
    inside: str = ""

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append(tag)
        self.handlers += [name for name in given if name.startswith("on")]
        self.loads += [name for name in given if name in ("src", "href", "srcset", "action")]
        if "data-all" in given:
            self.data = json.loads(given["data-all"] or "")
        if given.get("class") in ("buffer", "tensor"):
            self.side = self.buffer if given["class"] == "buffer" else self.tensor
        if tag == "td" and self.side is not None:
            self.side.append(Read(given))
        if tag not in VOID:
            self.open.append(tag)
        self.inside = tag

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.open[-1:] not in (["script"], ["style"]):
            self.text += data
        if self.inside == "title":
            self.title += data
        if self.inside == "td" and self.side:
            self.side[-1].label += data.strip()


def read(text: str) -> Page:
    """Return what stands in a page."""
    page = Page()
    page.feed(text)
    page.close()
    assert page.open == []
    return page


def index_of(key: int, axes: list[tuple[str, int]], base: int = 0) -> tuple[int, ...]:
    """The index of an element, from its number row by row."""
    found, rest = list[int](), key - base
    for _, extent in reversed(axes):
        rest, place = divmod(rest, extent)
        found.insert(0, place)
    return tuple(found)
