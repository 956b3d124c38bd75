"""Fixtures of all tests; plain helpers are in `texts`."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from layoutdsl.code import modules
from layoutdsl.code.native import background, libraries, record_library
from layoutdsl.language.syntax import parser
from layoutdsl.proof.kernel import solver

# Most tests speak of the same texts, and a tree is a value: each is built once.
parser.parse = lru_cache(maxsize=1024)(parser.parse)

GOLDEN = Path(__file__).parent / "golden"

SURROUNDINGS = (
    "COLUMNS",
    "FORCE_COLOR",
    "LAYOUTDSL_DEBUG",
    "LAYOUTDSL_DOCS",
    "LINES",
    "NO_COLOR",
    "PYTHONDONTWRITEBYTECODE",
)
"""What a user may have set, and what would change what is printed, or how long it takes.

Without bytecode each of the many shells that tests start would compile the whole package anew.
"""

# The same examples in every run, without a stop-watch; `--hypothesis-profile=campaign` draws
# new ones, and many.
settings.register_profile("layoutdsl", derandomize=True, deadline=None, database=None)
settings.register_profile("campaign", max_examples=20_000, deadline=None, database=None)
settings.load_profile("layoutdsl")

UNOPTIMISED = ("-std=c11", "-O0", "-g0")
"""How C is compiled where it is not what is tested."""

AS_USERS = (
    *("test_fuzz_native", "test_native_building", "test_native_cache", "test_native_classes"),
    *("test_native_edges", "test_native_kernels", "test_native_meaning", "test_native_overflow"),
    *("test_native_sanitized", "test_native_streamed", "test_native_threads", "test_record_native"),
)
"""Files of tests whose subject is what a compiler makes of C: vectors, boxes, libraries, caches."""

ANSWERS = "LAYOUTDSL_TEST_ANSWERS"
"""The variable that tells workers the folder of what z3 answered to any of them."""

_KEPT = pytest.StashKey[str]()
_ANSWERS = pytest.StashKey[str]()


def pytest_configure(config: pytest.Config) -> None:
    """Let no test depend on who runs it, or leave anything with them.

    What is compiled and proved is kept for the run alone, in a folder that workers inherit; or in
    `$LAYOUTDSL_TEST_CACHE`, for those who run again and again.
    """
    for name in SURROUNDINGS:
        os.environ.pop(name, None)
    sys.dont_write_bytecode = False
    if not hasattr(config, "workerinput"):
        kept = os.environ.get("LAYOUTDSL_TEST_CACHE")
        if not kept:
            kept = config.stash[_KEPT] = tempfile.mkdtemp(prefix="layoutdsl-tests-")
        os.environ["LAYOUTDSL_CACHE"] = kept
        answers = config.stash[_ANSWERS] = tempfile.mkdtemp(prefix="layoutdsl-answers-")
        os.environ[ANSWERS] = answers


def pytest_sessionfinish() -> None:
    """Keep the branches that were counted: a worker that takes long over it at its end is ended."""
    counting = sys.modules.get("coverage")
    current = None if counting is None else counting.Coverage.current()
    if current is not None:
        current.save()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Take the folders away."""
    for folder in (_KEPT, _ANSWERS):
        if folder in config.stash:
            shutil.rmtree(config.stash[folder], ignore_errors=True)


def pytest_collection_finish() -> None:
    """What was collected stays: thousands of tests are not looked through again and again."""
    gc.collect()
    gc.freeze()


def _share(path: Path, answer: str) -> None:
    """Write an answer for other workers, whole or not at all; one that cannot be is asked again."""
    part = path.with_name(f"{path.name}-{os.getpid()}-{threading.get_ident()}")
    try:
        part.write_bytes(answer.encode())
        part.replace(path)
    except OSError:  # the disk is full, or a test goes on as a user who may not write here
        with suppress(OSError):
            part.unlink(missing_ok=True)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """Let tests of a file stay with one worker, which keeps what they share, until one idles."""
    if config.getvalue("dist") != "load":
        return None
    from xdist.scheduler.worksteal import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


@pytest.fixture(scope="session", autouse=True)
def answers_are_kept() -> None:
    """What z3's own program once answered is not asked again: most tests speak of the same layouts.

    Workers share the answers.

    Its budget is of work, so that it answers a text alike each time. Where it was stopped, or where
    a test puts another program in its place, each question is asked.
    """
    try:
        program = solver.program()
    except solver.NoSolver:
        return
    kept: dict[str, str] = {}
    folder = Path(os.environ[ANSWERS])
    asked = solver.converse

    def converse(
        name: str, command: Sequence[str], text: str, wall: float, most: int = solver.MOST_OUTPUT
    ) -> tuple[str, str]:
        if command[0] != program:
            return asked(name, command, text, wall, most)
        key = sha256("\0".join((*command, repr((wall, most)), text)).encode()).hexdigest()
        if key not in kept:
            try:
                kept[key] = (folder / key).read_bytes().decode()
            except OSError:
                found, stopped = asked(name, command, text, wall, most)
                if stopped:
                    return found, stopped
                kept[key] = found
                _share(folder / key, found)
        return kept[key], ""

    solver.converse = converse


@pytest.fixture(scope="session", autouse=True)
def few_classes() -> None:
    """Of each function one class of shapes is compiled, and what serves all: each takes a while."""
    libraries.MOST = 1


@pytest.fixture(scope="module", autouse=True)
def soon_compiled(request: pytest.FixtureRequest) -> Iterator[None]:
    """Without vectors and unoptimised, which takes a sixth of the time, where C is not the subject.

    The files of `AS_USERS` compile as users do.
    """
    if request.path.name.startswith(AS_USERS) or "CC" in os.environ or not shutil.which("cc"):
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CC", "cc -DLAYOUT_PLAIN")
        for room in (libraries, record_library):
            patch.setattr(room, "OPTIONS", UNOPTIMISED)
            patch.setattr(room, "PLAIN_OPTIONS", UNOPTIMISED)
        yield


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of this test alone, for what is kept; nothing of others is compiled meanwhile.

    What is compiled has no vectors, for it is sooner done.
    """
    background.finish()
    monkeypatch.setenv("LAYOUTDSL_CACHE", str(tmp_path / "cache"))
    if shutil.which("cc") and "CC" not in os.environ:
        monkeypatch.setenv("CC", "cc -DLAYOUT_PLAIN")
    return tmp_path / "cache"


MOST_CASES = 4
"""Slow cases of a test that CI runs, unless the test has a mark `ci(n)`.

All 9,400 slow cases took CI near the 90 minutes at which it is killed.
"""

COMPILING = ("code", "inner/code", "fuzz")
"""Folders whose slow tests mostly compile C, seconds each: CI runs two cases of a test."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Share out cases among default runs, CI and campaigns.

    Of the cases of `sampled(n)` 1 of n runs by default, and the others are slow. CI runs at most
    `MOST_CASES` slow cases of a test, evenly spread; the others are campaigns.
    """
    met = Counter[tuple[object, str]]()
    slow: dict[tuple[object, str], list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("campaign"):
            item.add_marker(pytest.mark.timeout(0))  # it may take hours
            continue
        test = (item.parent, getattr(item, "originalname", item.name))
        sampled = item.get_closest_marker("sampled")
        if sampled is not None:
            if met[test] % sampled.args[0]:
                item.add_marker(pytest.mark.slow)
            met[test] += 1
        if item.get_closest_marker("slow"):
            slow.setdefault(test, []).append(item)
    for cases in slow.values():
        mark = cases[0].get_closest_marker("ci")
        folder = cases[0].path.parent.relative_to(Path(__file__).parent).as_posix()
        most = mark.args[0] if mark else 2 if folder in COMPILING else MOST_CASES
        kept = {number * len(cases) // most for number in range(most)}
        for place, item in enumerate(cases):
            if len(cases) > most and place not in kept:
                item.add_marker(pytest.mark.campaign)
                item.add_marker(pytest.mark.timeout(0))


def pytest_sessionstart(session: pytest.Session) -> None:
    """Say which tests run, as `-q` leaves pytest's own header out."""
    if hasattr(session.config, "workerinput"):
        return
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reporter.write_line(f"Running tests marked: {session.config.option.markexpr or 'any'}.")
        reporter.write_line("CI adds `pytest -m 'slow and not campaign'`.")
        reporter.write_line("`pytest -m campaign` runs all others, for hours.")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say why tests were skipped: each reason once, with the number of tests."""
    reasons = Counter[str]()
    for report in terminalreporter.stats.get("skipped", ()):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reasons[reason.removeprefix("Skipped: ")] += 1
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"skipped {count}: {reason}")


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


def pytest_runtest_setup() -> None:
    """What is said once per process is said once per test."""
    modules.say_once.cache_clear()
