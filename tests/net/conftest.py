"""Fixtures of the safety net."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from .running import Version


@pytest.fixture(scope="session")
def working() -> Iterator[Version]:
    """Return the version that is being worked on, ready to run command lines."""
    with closing(Version()) as version:
        yield version
