"""Fixtures of all tests; plain helpers are in `texts`."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from layoutdsl.api import compiling

GOLDEN = Path(__file__).parent / "golden"

# The same examples in every run, without a stop-watch; `--hypothesis-profile=campaign` draws
# new ones, and many.
settings.register_profile("layoutdsl", derandomize=True, deadline=None, database=None)
settings.register_profile("campaign", max_examples=20_000, deadline=None, database=None)
settings.load_profile("layoutdsl")


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Compare a text with the file ``tests/golden/NAME``, or rewrite the file when told to."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if os.environ.get("LAYOUTDSL_REWRITE_GOLDEN") == "1":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.read_text(encoding="utf-8") == text

    return compare


@pytest.fixture(autouse=True)
def said_again() -> None:
    """What is said once per process is said once per test."""
    compiling._say_once.cache_clear()
