"""A Chromium for tests of pages; such tests are skipped where none is installed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

playwright = pytest.importorskip("playwright.sync_api")

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


OPTIONS = (
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--no-first-run"),
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    found = next((each for each in map(shutil.which, BROWSERS) if each), None)
    if found is None:
        pytest.skip("no chromium is installed")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=found, args=list(OPTIONS))
        yield started
        started.close()
