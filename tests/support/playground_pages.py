"""What tests of the playground's page have in common: texts, and what somebody does on the page."""

from __future__ import annotations

import os
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

WAIT = 120_000
"""Milliseconds that a browser on a busy machine is given to load Python."""

WRONG = """layout NCHW16(n, c, h, w) = [n, c/16, h, w, c%16]
prove NCHW16 == ((n*(C/16) + c/16)*H*W + h*W + w)*16 + c%16
"""
GAP = "layout Demo(n, c, h, w) = [n, c/16, h, w, c%8]\n"
LONG = "layout Weights(k, n) = [k/16, n/64, n%64/8, k%2, k%16/2, n%8]\n" + "".join(
    f"prove Weights fits int32 where K <= {k}, N <= {k}\n" for k in range(16, 616, 4)
)
"""Takes long enough to be stopped."""


class Quiet(SimpleHTTPRequestHandler):
    """Serves files by their types, and writes no log."""

    extensions_map = {  # noqa: RUF012  of the class above
        **SimpleHTTPRequestHandler.extensions_map,
        ".mjs": "text/javascript",
    }

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def listen(page: Any, said: list[str], address: str) -> None:
    """Keep what a page says on the console, what it asks of others, and dialogues."""
    page.on("console", lambda each: said.append(each.text))
    page.on("pageerror", lambda each: said.append(str(each)))
    page.on("dialog", lambda each: (said.append(f"dialogue: {each.message}"), each.dismiss()))
    ours = (address, "data:", "about:", "blob:")
    page.on("request", lambda each: None if each.url.startswith(ours) else said.append(each.url))


def write(page: Any, text: str) -> None:
    page.fill("#source", text)


def heading(page: Any, words: str) -> None:
    page.locator("#faults-title", has_text=words).wait_for(timeout=WAIT)


def prove(page: Any, text: str) -> None:
    write(page, text)
    page.wait_for_selector("#prove:enabled", timeout=WAIT)
    page.click("#prove")
    page.wait_for_selector("#prove:enabled", timeout=WAIT)


def nothing_runs(page: Any, text: str) -> None:
    write(page, text)
    page.wait_for_timeout(350)  # the pause after a key
    heading(page, "")
    assert page.evaluate("() => document.querySelectorAll('script, img, svg, iframe').length") == 2
    assert page.evaluate("() => window.ran") is None


def processor_seconds() -> float:
    """Return what the programs that this process started have worked so far; 0 without /proc."""
    parents, worked = {}, {}
    for each in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = each.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        number = int(each.parent.name)
        parents[number], worked[number] = int(fields[1]), int(fields[11]) + int(fields[12])
    ours = {os.getpid()}
    while found := {n for n, parent in parents.items() if parent in ours} - ours:
        ours |= found
    return sum(worked[n] for n in ours - {os.getpid()}) / os.sysconf("SC_CLK_TCK") if worked else 0
