"""Work shared among processes: in order, and nothing that dies takes more than its own piece."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from cli_shell import Shell, shell
from processes import gone, running

from layoutdsl import Checked, Claim, commands
from layoutdsl.proof import proving
from layoutdsl.proof.prover import jobs

__all__ = ["shell"]


def slow_first(number: int) -> str:
    time.sleep(0.2 if number == 0 else 0)
    return f"{number} done"


def lost(number: int, ending: str) -> str:
    return f"{number} lost: {ending}"


@pytest.mark.sampled(3, slow=2)
@pytest.mark.parametrize("count", [1, 2, 3, 20])
def test_results_are_in_order(count: int) -> None:
    found = jobs.shared(slow_first, range(8), count, lost)
    assert list(found) == [f"{number} done" for number in range(8)]


def test_there_may_be_nothing_to_do() -> None:
    assert list(jobs.shared(slow_first, [], 2, lost)) == []


def fatal(number: int) -> str:
    if number % 3 == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    if number % 3 == 2:
        os._exit(7)
    return f"{number} done"


def test_a_process_that_dies_loses_one_piece() -> None:
    assert list(jobs.shared(fatal, range(6), 2, lost)) == [
        "0 done",
        "1 lost: it was ended by SIGKILL",
        "2 lost: it ended with code 7",
        "3 done",
        "4 lost: it was ended by SIGKILL",
        "5 lost: it ended with code 7",
    ]


def wrong(number: int) -> str:
    raise LookupError(f"no {number}")


def test_a_bug_is_told_as_one() -> None:
    with pytest.raises(RuntimeError, match=r"^LookupError: no 0$"):
        list(jobs.shared(wrong, range(3), 1, lost))


def sleeping(number: int) -> int:
    time.sleep(60 if number else 0)
    return number


def test_whoever_stops_early_leaves_nobody_behind() -> None:
    started = time.monotonic()
    found = jobs.shared(sleeping, range(3), 2, lambda number, _: number)
    assert next(found) == 0
    found.close()
    assert time.monotonic() - started < 20


@pytest.mark.parametrize(("pieces", "most"), [(0, 1), (1, 1), (15, 1), (31, 1), (10_000, 10_000)])
def test_few_pieces_are_done_here(pieces: int, most: int) -> None:
    assert 1 <= proving.usual_jobs(pieces) <= min(most, os.cpu_count() or 1)


SPEC = "\n".join(f"layout L{number}(c) = [c/{number}, c%{number}]" for number in range(2, 8))


@pytest.mark.slow
def test_the_same_is_found_by_one_and_by_many() -> None:
    claims = commands.claims_of(commands.parse(f"{SPEC}\nrefute L2 == [c/3, c%3]\nprove L3 == [c]"))
    one, many = ([each for each, _ in commands.timed_checks(claims, jobs=n)] for n in (1, 3))
    assert one == many
    assert [each.passed for each in many] == [True] * 6 + [True, False]


@pytest.mark.slow
def test_the_same_is_printed(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("six.layout").write_text(SPEC)
    monkeypatch.setattr("layoutdsl.proof.prover.verdict.milliseconds", lambda _: "0 ms")
    one, many = (shell("prove", "six.layout", "--jobs", number) for number in ("1", "3"))
    assert (one.code, one.out, one.err) == (many.code, many.out, many.err)
    assert many.out.count("proved ") == 7


def test_a_process_that_dies_leaves_a_claim_undecided(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("six.layout").write_text(SPEC)
    real = proving._timed

    def deadly(claim: Claim) -> tuple[Checked, float]:
        if claim.layout.name == "L4":
            os.kill(os.getpid(), signal.SIGKILL)
        return real(claim, None)

    monkeypatch.setattr(proving, "_timed", deadly)
    ended = shell("prove", "six.layout", "--jobs", "2")
    assert ended.code == 3
    assert ended.err == ""
    assert "the process that was proving it died: it was ended by SIGKILL" in ended.out
    assert ended.out.count("proved  ") == 5


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
