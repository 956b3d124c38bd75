"""Layouts as tests of pytest: every layout and every claim of a `.layout` file is one.

    pytest --layouts

pytest loads this file in every run where layoutdsl is installed, so it imports nothing but pytest
before there is a `.layout` file to look at. What was proved once is kept in the cache of pytest, by
what was claimed and by what proved it; whatever else was found is looked for again in every run.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from layoutdsl.language.meaning.claims import AnyClaim
    from layoutdsl.language.meaning.module import Module

SUFFIX = ".layout"
UNDECIDED = ("fail", "xfail", "skip")
KEPT = "layoutdsl/proved"
MOST_KEPT = 10_000
"""Claims that the cache of pytest remembers; those that were met longest ago are forgotten."""

_ASKED = pytest.StashKey[frozenset[str]]()
_KNOWN = pytest.StashKey[dict[str, None]]()


class LayoutWarning(pytest.PytestWarning):
    """What is legal in a text and hardly meant."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--layouts`, and what an ini file says of them."""
    words = "Collect *.layout files: every layout and every claim in them is a test."
    parser.getgroup("layoutdsl").addoption("--layouts", action="store_true", help=words)
    words = "Patterns of .layout files, from the root of the tests, that are collected without it."
    parser.addini("layouts", type="linelist", default=[], help=words)
    words = f"What a claim is that is neither proved nor refuted: {', '.join(UNDECIDED)}."
    parser.addini("layouts_undecided", default=UNDECIDED[0], help=words)


def pytest_configure(config: pytest.Config) -> None:
    """Find the files that an ini file names; where nothing is named, they are collected besides.

    Raises:
        UsageError: there is no such file, or no such way to take what is undecided.
    """
    if config.getini("layouts_undecided") not in UNDECIDED:
        said = config.getini("layouts_undecided")
        raise pytest.UsageError(f"layouts_undecided is `{said}`; write one of {UNDECIDED}")
    found: list[Path] = []
    for pattern in config.getini("layouts"):
        files = _called(pattern, config.rootpath)
        if not files:
            message = f"layouts: no file in {config.rootpath} is called `{pattern}`"
            raise pytest.UsageError(f"{message}; what is not there would pass")
        found += files
    config.stash[_ASKED] = frozenset(map(str, found))
    config.pluginmanager.register(_Keeper(config), "layoutdsl-keeper")
    if config.args_source is not config.ArgsSource.ARGS:
        given = [Path(config.invocation_params.dir, each) for each in config.args]
        apart = (each for each in found if not any(map(each.is_relative_to, given)))
        config.args += map(str, apart)


def _called(pattern: str, root: Path) -> list[Path]:
    if not pattern.strip() or Path(pattern).is_absolute():
        raise pytest.UsageError(f"layouts: `{pattern}` is not a pattern from {root}")
    return sorted(each for each in root.glob(pattern) if each.is_file())


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> LayoutFile | None:
    """Take a `.layout` file where it is named, by an ini file or by hand, or all are asked for."""
    wanted = parent.config.getoption("--layouts") or parent.session.isinitpath(file_path)
    named = str(file_path) in parent.config.stash[_ASKED]
    if not named and not (wanted and file_path.suffix == SUFFIX):
        return None
    found: LayoutFile = LayoutFile.from_parent(parent, path=file_path)
    return found


class LayoutFile(pytest.File):
    """A file of layouts; one that is not well formed is one test, which fails."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield a test for each layout, and for each claim."""
        from layoutdsl.commands import claims_of, load
        from layoutdsl.language.texts.source import LayoutError

        try:
            module = load(self.called)
        except (LayoutError, OSError, UnicodeDecodeError) as wrong:
            yield TextItem.from_parent(self, name="is well formed", fault=_reason(wrong))
            return
        claims = dict.fromkeys(claims_of(module))
        if not claims:
            said = module.rules or module.operators
            fault = None if said else "it has no layout and no claim, so there is nothing to prove"
            yield TextItem.from_parent(self, name="is well formed", fault=fault)
        named: dict[str, int] = {}
        for claim in claims:
            count = named[claim.text] = named.get(claim.text, 0) + 1
            name = claim.text if count == 1 else f"{claim.text} #{count}"
            yield ClaimItem.from_parent(self, name=name, module=module, claim=claim)

    @property
    def called(self) -> str:
        """The file, as a command line names it from where we are."""
        here = Path.cwd()
        return str(self.path.relative_to(here) if self.path.is_relative_to(here) else self.path)


def _reason(wrong: Exception) -> str:
    return f"it is not UTF-8: {wrong}" if isinstance(wrong, UnicodeDecodeError) else str(wrong)


class TextItem(pytest.Item):
    """That a text is in order, and says something."""

    def __init__(self, *, fault: str | None, **known: Any) -> None:
        super().__init__(**known)
        self._fault = fault

    def runtest(self) -> None:
        """Fail with all that is wrong with the text."""
        if self._fault is not None:
            pytest.fail(self._fault, pytrace=False)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return where it stands."""
        return self.path, 0, self.name


class ClaimItem(pytest.Item):
    """A claim, of which that is to be found which it says."""

    def __init__(self, *, module: Module, claim: AnyClaim, **known: Any) -> None:
        super().__init__(**known)
        self._module, self._claim = module, claim

    def runtest(self) -> None:
        """Prove the claim, unless that was done; where it is not so, fail with what was found."""
        from layoutdsl.commands import timed_checks
        from layoutdsl.shell.targets import Target
        from layoutdsl.shell.verdicts import plain_text, verdict_of

        self._warn()
        if self.key in _known(self.config):
            return
        ((checked, seconds),) = timed_checks((self._claim,), jobs=1)
        if checked.passed:
            return
        assert isinstance(self.parent, LayoutFile)
        target = Target(self._module, self.parent.called, None)
        message = plain_text(verdict_of(target, checked, seconds))
        way = self.config.getini("layouts_undecided") if checked.status == "undecided" else "fail"
        if way == "xfail":
            pytest.xfail(message)
        if way == "skip":
            pytest.skip(message)
        pytest.fail(message, pytrace=False)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *_: Any) -> Any:
        """Return the words of a warning that is to be an error, and not how it came here."""
        value = excinfo.value
        return str(value) if isinstance(value, LayoutWarning) else super().repr_failure(excinfo)

    @property
    def key(self) -> str:
        """A hash of what is claimed, and of what proves it."""
        from hashlib import sha256

        from layoutdsl.language.texts import resources
        from layoutdsl.language.texts.values import exact

        return sha256(f"{resources.fingerprint()}\n{exact(self._claim)}".encode()).hexdigest()

    def _warn(self) -> None:
        """Say what is hardly meant, once for each layout: with the claim that it is sound."""
        from layoutdsl.language.meaning.claims import Sound

        if isinstance(self._claim.predicate, Sound) and not self._claim.where:
            for each in self._module.warnings.get(self._claim.subject.name, ()):
                self.warn(LayoutWarning(str(each)))

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return where the claim stands; a layout is claimed to be sound where it is declared."""
        span = self._module.span_of(self._claim)
        line = 1 if span is None else span.source.place(span.start)[0]
        return self.path, line - 1, self.name


# What was proved before. Workers of xdist read it and tell; who started them writes it.


def _known(config: pytest.Config) -> dict[str, None]:
    """The keys of claims that were proved, those that were met longest ago first."""
    if _KNOWN not in config.stash:
        cached = getattr(config, "cache", None)  # `-p no:cacheprovider` leaves none
        kept = [] if cached is None else cached.get(KEPT, [])
        config.stash[_KNOWN] = dict.fromkeys(map(str, kept if isinstance(kept, list) else []))
    return config.stash[_KNOWN]


class _Keeper:
    """Takes what was proved from the reports of a run, and keeps it at the end."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._met: dict[str, None] = {}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, Any, None]:
        """Let the report of a claim that is as it says carry its key."""
        outcome = yield
        report = outcome.get_result()
        if isinstance(item, ClaimItem) and report.when == "call" and report.passed:
            report.layoutdsl_proved = item.key

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the key from a report, whichever process made it."""
        key = getattr(report, "layoutdsl_proved", None)
        if isinstance(key, str):
            self._met[key] = None

    def pytest_sessionfinish(self) -> None:
        """Write what is known now; a worker leaves that to who started it."""
        cached = getattr(self._config, "cache", None)
        if not self._met or cached is None or hasattr(self._config, "workerinput"):
            return
        before = (each for each in _known(self._config) if each not in self._met)
        cached.set(KEPT, [*before, *self._met][-MOST_KEPT:])


@pytest.fixture
def layouts(request: pytest.FixtureRequest) -> Callable[[str], Module]:
    """Return what reads a `.layout` file: ``layouts("demo.layout")["NCHW16"]``.

    A path is looked for beside the test, then from the root of the tests.
    """
    from layoutdsl.commands import load
    from layoutdsl.language.texts.source import LayoutError

    def read(name: str) -> Module:
        places = [folder / name for folder in (request.path.parent, request.config.rootpath)]
        found = next((each for each in places if each.exists()), None)
        if found is None:
            pytest.fail(f"there is no file `{places[0]}`, nor `{places[1]}`", pytrace=False)
        try:
            return load(found)
        except LayoutError as wrong:
            pytest.fail(str(wrong), pytrace=False)

    return read
