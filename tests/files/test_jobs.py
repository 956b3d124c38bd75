"""Work shared among processes: in order, and nothing that dies takes more than its own piece."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from cli_shell import Shell, shell, timeless
from processes import gone, running

import layoutdsl

__all__ = ["shell"]


SPEC = "\n".join(f"layout L{number}(c) = [c/{number}, c%{number}]" for number in range(2, 8))


@pytest.fixture
def spoiled(monkeypatch: pytest.MonkeyPatch):
    """Let something happen in a process that proves, where it comes to some layout."""

    def spoil(name: str, happens: Callable[[], object]) -> None:
        plain, here = layoutdsl.Layout.symbols, os.getpid()

        def symbols(self: layoutdsl.Layout) -> tuple[str, ...]:
            if self.name == name and os.getpid() != here:
                happens()
            assert isinstance(plain, property)
            assert plain.fget is not None
            return plain.fget(self)  # type: ignore[no-any-return]

        monkeypatch.setattr(layoutdsl.Layout, "symbols", property(symbols))

    return spoil


@pytest.mark.slow
@pytest.mark.parametrize(("jobs", "started"), [(("--jobs", "3"), True), ((), False)])
def test_few_claims_are_proved_by_this_process_alone(
    shell: Shell, jobs: tuple[str, ...], started: bool, spoiled
) -> None:
    """Three processes are as many as were asked for; by itself one does few."""
    Path("six.layout").write_text(SPEC)
    seen = Path("seen")
    spoiled("L2", seen.touch)
    assert shell("prove", "six.layout", *jobs).code == 0
    assert seen.exists() is started


@pytest.mark.slow
def test_the_same_is_found_by_one_and_by_many(shell: Shell) -> None:
    Path("six.layout").write_text(f"{SPEC}\nrefute L2 == [c/3, c%3]\nprove L3 == [c]")
    one, many = (shell("prove", "six.layout", "--json", "--jobs", n).out for n in ("1", "3"))
    counted = re.compile(r'"(seconds|queries|questions)": [0-9.e-]+')  # what was asked is kept
    found, others = (
        json.loads(counted.sub(r'"\1": 0', timeless(each)))["claims"] for each in (one, many)
    )
    assert found == others
    assert [each["passed"] for each in found] == [True] * 7 + [False]


@pytest.mark.slow
def test_the_same_is_printed(shell: Shell) -> None:
    Path("six.layout").write_text(SPEC)
    one, many = (shell("prove", "six.layout", "--jobs", number) for number in ("1", "3"))
    assert (one.code, timeless(one.out), one.err) == (many.code, timeless(many.out), many.err)
    assert many.out.count("proved ") == 7


@pytest.mark.parametrize(
    ("happens", "ending"),
    [
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "it was ended by SIGKILL"),
        (lambda: os._exit(7), "it ended with code 7"),
    ],
)
def test_a_process_that_dies_leaves_a_claim_undecided(
    shell: Shell, happens: Callable[[], object], ending: str, spoiled
) -> None:
    """All others are proved, and told in the order of the text."""
    Path("six.layout").write_text(SPEC)
    spoiled("L4", happens)
    ended = shell("prove", "six.layout", "--jobs", "2")
    assert ended.code == 3
    assert ended.err == ""
    assert f"the process that was proving it died: {ending}" in ended.out
    told = re.findall(r"^(proved|undecided) +(L\d)", ended.out, re.MULTILINE)
    assert told == [("undecided" if n == 4 else "proved", f"L{n}") for n in range(2, 8)]


def no_such() -> None:
    raise LookupError("no such thing")


def test_a_bug_in_a_process_is_told_as_one(shell: Shell, spoiled) -> None:
    Path("six.layout").write_text(SPEC)
    spoiled("L4", no_such)
    ended = shell("prove", "six.layout", "--jobs", "2")
    assert ended.code == 70
    assert "LookupError: no such thing" in ended.err


def test_whoever_stops_early_leaves_nobody_behind(shell: Shell, spoiled) -> None:
    """A bug ends the run at once, and not when the others are done."""
    Path("six.layout").write_text(SPEC)
    spoiled("L3", lambda: time.sleep(60))
    spoiled("L2", no_such)
    started = time.monotonic()
    assert shell("prove", "six.layout", "--jobs", "2").code == 70
    assert time.monotonic() - started < 20


def children(number: int) -> list[int]:
    """The processes that a process has started."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if int((place / "stat").read_text().rpartition(")")[2].split()[1]) == number:
                found.append(int(place.name))
    return found


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc on this system")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_parent_that_is_killed_leaves_nobody_behind(how: int, tmp_path: Path) -> None:
    many = "\n".join(f"layout L{number}(c) = [c/{number}, c%{number}]" for number in range(2, 99))
    (tmp_path / "many.layout").write_text(many)
    command = [sys.executable, "-m", "layoutdsl", "prove", str(tmp_path / "many.layout"), "-j2"]
    with running(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        until = time.monotonic() + 60
        while len(workers := children(process.pid)) < 2 and time.monotonic() < until:
            time.sleep(0.01)
        process.send_signal(how)
        assert process.wait() == -how
        assert len(workers) == 2
        assert all(gone(each, 60) for each in workers)
        assert process.stderr is not None
        assert process.stderr.read() == b""


@pytest.mark.parametrize("number", ["0", "-1", "two", "257"])
def test_jobs_are_a_number(shell: Shell, number: str) -> None:
    ended = shell("prove", "demo.layout", "--jobs", number)
    assert ended.code == 2
    assert ended.err.startswith("error: invalid value for `-j` / `--jobs`")
