"""`pytest docs` runs every block of every page of the site; a page is one test.

`tests/support/page_blocks.py` says how; the tests of the house run these pages too.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from page_blocks import RUN, blocks, run_page


class Page(pytest.File):
    """A page with blocks that can be run."""

    def collect(self) -> Iterator[pytest.Item]:
        """Give the page as one test, as its blocks go on from each other."""
        if any(block.kind in RUN for block in blocks(self.path.read_text(encoding="utf-8"))):
            yield Blocks.from_parent(self, name="blocks")


class Blocks(pytest.Item):
    """All blocks of a page."""

    def runtest(self) -> None:
        """Run them in an empty folder."""
        with TemporaryDirectory() as folder, chdir(folder):
            text = self.path.read_text(encoding="utf-8")
            run_page(self.path.name, text, Path(folder))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Take pages in."""
    return Page.from_parent(parent, path=file_path) if file_path.suffix == ".md" else None
