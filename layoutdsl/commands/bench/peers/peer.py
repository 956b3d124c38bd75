"""What a candidate is to the benchmark."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from time import perf_counter
from typing import Protocol

from layoutdsl.commands.bench.meaning import Array
from layoutdsl.commands.bench.moves import Move
from layoutdsl.language.texts.resources import install_command

Run = Callable[[], object]
"""Moves once. Returns the result, or ``None`` where it wrote into `Move.write`."""


class CannotError(Exception):
    """A candidate finds only while it prepares that it cannot; says why."""


class Peer(Protocol):
    """A candidate: one way to move."""

    @property
    def name(self) -> str:
        """It, in a word."""

    @property
    def says(self) -> str:
        """How it moves, in a few words."""

    @property
    def package(self) -> str | None:
        """What pip installs; ``None`` for our own."""

    def missing(self) -> str | None:
        """Return why the package cannot be asked, and how to mend it; ``None`` where it can."""

    def cannot(self, move: Move) -> str | None:
        """Return why it cannot move so; ``None`` where it can."""

    def prepare(self, move: Move, threads: int) -> Run:
        """Return what moves, compiled and run once.

        Raises:
            CannotError: it cannot after all.
        """


def not_installed(module: str, package: str) -> str | None:
    """Return that a module is not there and how to install it; ``None`` where it is."""
    if find_spec(module) is not None:
        return None
    return how_to_install(package)


def how_to_install(package: str) -> str:
    """Return that a package is not there, and how to mend it."""
    all_peers = install_command("bench")
    return f"it is not installed: `pip install {package}`, or `{all_peers}` for all peers"


def version_of(package: str | None) -> str | None:
    """Return the version of an installed package, without importing it."""
    if package is None:
        return None
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def bits(array: Array) -> Array:
    """Return an array as unsigned integers of the same width: a view."""
    return array.view(f"u{array.dtype.itemsize}")


def fastest(ways: list[Run]) -> Run:
    """Return the way that took least in five turns."""
    best = [float("inf")] * len(ways)
    for _ in range(5):
        for number, way in enumerate(ways):
            start = perf_counter()
            way()
            best[number] = min(best[number], perf_counter() - start)
    return ways[best.index(min(best))]
