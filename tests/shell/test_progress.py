"""How far something has come, as a terminal, a log and a program are told: exact lines.

The terminal is a real one, of a width of its own; the clock is not.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from cli_shell import Shell, shell
from processes import ended, running

from layoutdsl import Amount, pack_file, parse
from layoutdsl.files.pieces.amount import counted
from layoutdsl.shell.amounts import Pace, fitted, time_text
from layoutdsl.shell.progress import ERASE, Progress, Told, Way, shows_task_bar

__all__ = ["shell"]

GB = 10**9
NAME = "blk.17.attn_q.weight"
TERMINALS = ("WT_SESSION", "ConEmuANSI", "TERM_PROGRAM", "TERM_FEATURES", "TERM")


END = b"\0end\0"


class Screen:
    """A terminal: what is written to it, and how wide it is."""

    def __init__(self, columns: int = 100) -> None:
        self.ours, self.theirs = pty.openpty()
        tty.setraw(self.theirs)  # else it puts \r before each \n
        self.resize(columns)

    def resize(self, columns: int) -> None:
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def written(self) -> str:
        """What was written since it was last asked; it comes after a while."""
        os.write(self.theirs, END)
        found = b""
        while not found.endswith(END):
            assert select.select([self.ours], [], [], 30)[0]
            found += os.read(self.ours, 1 << 16)
        return found.removesuffix(END).decode()

    def so_far(self) -> str:
        """What of it has come."""
        ready = select.select([self.ours], [], [], 0)[0]
        return os.read(self.ours, 1 << 16).decode(errors="replace") if ready else ""

    @contextmanager
    def on(self) -> Iterator[None]:
        """The standard error goes there; a fixture cannot see to it, as pytest takes it back."""
        before = sys.stderr
        with open(os.dup(self.theirs), "w", encoding="utf-8") as sys.stderr:  # noqa: PTH123
            yield
        sys.stderr = before


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[Screen]:
    for each in TERMINALS:
        monkeypatch.delenv(each, raising=False)
    made = Screen()
    yield made
    os.close(made.theirs)
    os.close(made.ours)


class Clock:
    """It shows what it is set to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def told(way: Way, given: list[tuple[float, Told]], *, clear: bool = True) -> None:
    """Tell all of it, each so many seconds after the start."""
    clock = Clock()
    progress = Progress("pack", way, clock)
    for after, each in given:
        clock.now = 1000.0 + after
        progress(each)
    if clear:
        progress.clear()


def amount(done: float, number: int = 41, found: float = 0, name: str = NAME) -> Amount:
    return Amount(name, number, 226, int(done * GB), 689 * GB // 10, int(found * GB))


def test_the_line_of_the_page(screen: Screen) -> None:
    with screen.on():
        told("auto", [(each, amount(5.3 + 1.4 * each)) for each in (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)])
    head = f"{ERASE}pack  {NAME}  41 of 226"
    assert screen.written() == (
        f"{head}  5.3 of 68.9 GB"
        f"{head}  6.7 of 68.9 GB  1.4 GB/s  45 s left"
        f"{head}  8.1 of 68.9 GB  1.4 GB/s  44 s left"
        f"{head}  9.5 of 68.9 GB  1.4 GB/s  43 s left"
        f"{head}  10.9 of 68.9 GB  1.4 GB/s  42 s left"
        f"{head}  12.3 of 68.9 GB  1.4 GB/s  41 s left"
        f"{ERASE}"
    )


def test_the_rate_is_of_the_last_five_seconds(screen: Screen) -> None:
    """Ten seconds at 1 GB/s, then at 2, then nothing at all."""
    fast = [(each, amount(min(each, 10) + 2 * max(each - 10, 0))) for each in range(16)]
    with screen.on():
        told("auto", [*fast, *((float(each), amount(20)) for each in range(16, 22))], clear=False)
    rates = [each.split("  ")[4:] for each in screen.written().split(ERASE)[1:]]
    assert rates[0] == []
    assert rates[10] == ["1.0 GB/s", "59 s left"]
    assert rates[12] == ["1.4 GB/s", "40 s left"]
    assert rates[15] == ["2.0 GB/s", "25 s left"]
    assert rates[20:] == [["0 bytes/s"], ["0 bytes/s"]]


def test_what_an_earlier_run_did_is_done_and_took_no_time(screen: Screen) -> None:
    with screen.on():
        told("auto", [(0, amount(60, found=60)), (2, amount(62, found=60))], clear=False)
    assert screen.written().split(ERASE)[1:] == [
        f"pack  {NAME}  41 of 226  60.0 of 68.9 GB",
        f"pack  {NAME}  41 of 226  62.0 of 68.9 GB  1.0 GB/s  7 s left",
    ]


def test_a_line_is_drawn_ten_times_a_second_and_words_always(screen: Screen) -> None:
    with screen.on():
        told("auto", [(each / 1000, amount(each / 1000)) for each in range(2001)], clear=False)
    assert len(screen.written().split(ERASE)) - 1 in (20, 21)
    with screen.on():
        told("auto", [(0, "one"), (0.01, "two"), (0.02, "three")])
    assert screen.written() == f"{ERASE}one{ERASE}two{ERASE}three{ERASE}"


@pytest.mark.parametrize(
    ("columns", "line"),
    [
        (200, "pack  blk.17.attn_q.weight  41 of 226  1.0 of 68.9 GB"),
        (54, "pack  blk.17.attn_q.weight  41 of 226  1.0 of 68.9 GB"),
        (53, "pack  ...17.attn_q.weight  41 of 226  1.0 of 68.9 GB"),
        (38, "pack  ...t  41 of 226  1.0 of 68.9 GB"),
        (37, "pack  41 of 226  1.0 of 68.9 GB"),
        (21, "pack  41 of 226  1.0"),
        (2, "p"),
    ],
)
def test_a_line_is_no_wider_than_the_terminal(screen: Screen, columns: int, line: str) -> None:
    screen.resize(columns)
    with screen.on():
        told("auto", [(0, amount(1))], clear=False)
    found = screen.written().removeprefix(ERASE)
    assert found == line
    assert len(found) < columns


def test_names_out_of_files_move_no_cursor(screen: Screen) -> None:
    with screen.on():
        told("auto", [(0, amount(1, name="a\x1b[2J\r\n\x9b"))], clear=False)
    assert screen.written() == f"{ERASE}pack  a?[2J???  41 of 226  1.0 of 68.9 GB"
    screen.resize(39)  # signs that take two columns each
    with screen.on():
        told("auto", [(0, amount(1, name="重み" * 9))], clear=False)
    assert screen.written() == f"{ERASE}pack  ...み  41 of 226  1.0 of 68.9 GB"


def test_a_message_stays_above_the_line(screen: Screen) -> None:
    with screen.on():
        progress = Progress("pack", clock=Clock())
        progress("one")
        progress.above("note: so it is")
        progress.clear()
        progress.above("note: and so")
    assert screen.written() == f"{ERASE}one{ERASE}note: so it is\n{ERASE}one{ERASE}note: and so\n"


def test_a_task_bar(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM_PROGRAM", "ghostty")
    with screen.on():
        told("auto", [(each / 5, amount(each)) for each in (0, 1, 1.1, 60)])
    with screen.on():
        told("auto", [(0, "words")])
    bars = [each.split("\x1b\\")[0] for each in screen.written().split("\x1b]")[1:]]
    assert bars == ["9;4;1;0", "9;4;1;1", "9;4;1;87", "9;4;0;"]


@pytest.mark.parametrize(
    ("environment", "shown"),
    [
        ({}, False),
        ({"TERM_PROGRAM": "iTerm.app"}, False),  # it would print a message
        ({"TERM_PROGRAM": "iTerm.app", "TERM_FEATURES": "T3CwLrMSc7UUw9Ts3BFGsSyHNoSxFP"}, True),
        ({"TERM_PROGRAM": "WezTerm"}, True),
        ({"WT_SESSION": "1"}, True),
        ({"ConEmuANSI": "ON"}, True),
        ({"ConEmuANSI": "OFF"}, False),
    ],
)
def test_terminals_with_a_task_bar(environment: dict[str, str], shown: bool) -> None:
    assert shows_task_bar(environment) == shown


def test_a_terminal_that_takes_no_escapes(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    with screen.on():
        told("auto", [(0, amount(1)), (1, "words")])
    assert screen.written() == ""


@pytest.mark.parametrize("way", ["auto", "none"])
def test_nothing_on_a_pipe(way: Way, capsys: pytest.CaptureFixture[str]) -> None:
    told(way, [(0, amount(1)), (20, "words"), (40, amount(2))])
    assert capsys.readouterr() == ("", "")


def test_a_log(capsys: pytest.CaptureFixture[str]) -> None:
    told("plain", [(each / 2, amount(each / 2)) for each in range(50)])
    assert capsys.readouterr().err == (
        f"pack  {NAME}  41 of 226  0.0 of 68.9 GB\n"
        f"pack  {NAME}  41 of 226  10.0 of 68.9 GB  1.0 GB/s  59 s left\n"
        f"pack  {NAME}  41 of 226  20.0 of 68.9 GB  1.0 GB/s  49 s left\n"
        f"pack  {NAME}  41 of 226  24.5 of 68.9 GB  1.0 GB/s  45 s left\n"
    )


def test_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    told("json", [(0, "so"), (1, amount(1)), (1.05, amount(1.5)), (3, amount(5, found=2))])
    said = [json.loads(each) for each in capsys.readouterr().err.splitlines()]
    assert said[0] == {"verb": "pack", "words": "so"}
    assert [(each["done_bytes"], each["found_bytes"]) for each in said[1:]] == [
        (1 * GB, 0),
        (5 * GB, 2 * GB),
    ]
    assert said[-1] == {
        "verb": "pack",
        "name": NAME,
        "number": 41,
        "count": 226,
        "done_bytes": 5 * GB,
        "total_bytes": 68_900_000_000,
        "found_bytes": 2 * GB,
        "bytes_per_second": GB,
        "seconds_left": 63.9,
    }


@pytest.mark.parametrize(
    ("total", "said"),
    [
        (0, "pack  3 of 4"),
        (7, "pack  3 of 4  3 of 7 bytes"),
        (999, "pack  3 of 4  499 of 999 bytes"),
        (1000, "pack  3 of 4  0.5 of 1.0 kB"),
        (999_949, "pack  3 of 4  500.0 of 999.9 kB"),
        (999_950, "pack  3 of 4  0.5 of 1.0 MB"),
        (10**15, "pack  3 of 4  0.5 of 1.0 PB"),
        (10**19, "pack  3 of 4  5000.0 of 10000.0 PB"),
    ],
)
def test_sizes(total: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    told("plain", [(0, Amount("", 3, 4, total // 2, total))])
    assert capsys.readouterr().err == f"{said}\n"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "0 s"), (98.1, "99 s"), (99.5, "2 min"), (5940, "99 min"), (5941, "1 h 40 min")],
)
def test_times(seconds: float, said: str) -> None:
    assert time_text(seconds) == said


def test_time_that_stands_still() -> None:
    pace = Pace()
    for _ in range(3):
        pace.take(5.0, amount(1))
    assert (pace.rate, pace.left(amount(1))) == (None, None)
    assert fitted(["one"], 0) == ""


def test_pieces_as_amounts() -> None:
    """Two pieces of five were done before; the last is smaller than the others."""
    found: list[Amount] = []
    say = counted("A", 45, found.append)
    for given in ((0, 5, 0), (2, 5, 0), (2, 5, 0), (3, 5, 10), (4, 5, 20), (5, 5, 27)):
        say(*given)
    assert [(e.number, e.done_bytes, e.found_bytes) for e in found] == [
        (0, 0, 0),
        (2, 18, 18),
        (2, 18, 18),
        (3, 28, 18),
        (4, 38, 18),
        (5, 45, 18),
    ]


@pytest.mark.slow
def test_a_file_is_told_to_its_end(tmp_path: Path) -> None:
    np.save(tmp_path / "in.npy", np.zeros((30, 35), "u1"))
    found: list[Amount] = []
    layout = parse("layout A(n, c) = [n, c/16, c%16]")["A"]
    mem = 2100  # two pieces, by compiled code and by numpy
    pack_file(layout, tmp_path / "in.npy", tmp_path / "out.npy", mem=mem, progress=found.append)
    assert found[0] == Amount("A", 0, 2, 0, 30 * 48)
    assert found[-1] == Amount("A", 2, 2, 30 * 48, 30 * 48)


# The shell itself, on a terminal that is its own.

LINE = [sys.executable, "-m", "layoutdsl"]
HUGE = 40 << 20


def in_terminal(line: list[str], told: Callable[[str, int], None]) -> tuple[int, str]:
    """Run a program on a terminal; ``told`` is told what stands there, and may press keys."""
    screen = Screen(120)
    modes = termios.tcgetattr(screen.theirs)
    modes[3] |= termios.ISIG  # the key that interrupts does
    termios.tcsetattr(screen.theirs, termios.TCSANOW, modes)
    attach = lambda: fcntl.ioctl(2, termios.TIOCSCTTY, 0)  # noqa: E731
    theirs = {"stdin": screen.theirs, "stdout": screen.theirs, "stderr": screen.theirs}
    seen = ""
    with running(line, preexec_fn=attach, **theirs) as process:
        until = time.monotonic() + 100
        while process.poll() is None and time.monotonic() < until:
            seen += screen.so_far()
            told(seen, screen.ours)
            time.sleep(0.01)
        seen += screen.written()
        os.close(screen.ours)
        os.close(screen.theirs)
        return process.wait(10), seen


def nothing(_: str, __: int) -> None:
    """Press no key."""


@pytest.fixture
def huge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Pack a file of many pieces; this takes some seconds."""
    monkeypatch.chdir(tmp_path)
    for each in TERMINALS:
        monkeypatch.delenv(each, raising=False)
    with Path("in.bin").open("wb") as file:
        file.truncate(HUGE)
    line = [*LINE, "pack", "HWIO", "in.bin", "out.bin", "--raw", "u8"]
    return [*line, "--shape", f"{HUGE >> 18},512,8,64", "--mem", "1M", "--target", "numpy"]


def pressing(keys: int) -> Callable[[str, int], None]:
    """Interrupt once pieces are done, as often as this."""
    pressed = 0

    def told(seen: str, keyboard: int) -> None:
        nonlocal pressed
        started = re.search("HWIO  [1-9][0-9]* of", seen) is not None
        if (pressed == 0 and started) or (pressed == 1 < keys and "once more" in seen):
            pressed += 1
            os.write(keyboard, b"\x03")

    return told


@pytest.mark.slow
def test_interrupted_once_and_gone_on_with(huge: list[str]) -> None:
    code, seen = in_terminal(huge, pressing(1))
    assert code == 130
    assert "pack  HWIO  " in seen
    assert " of 41.9 MB" in seen
    # A line that ends stays; what is drawn of the progress between two of them is erased.
    stays = [line for part in seen.split(ERASE) for line in part.split("\n")[:-1]]
    assert stays == [
        "finishing the pieces under way; once more leaves at once",
        "note: `out.bin.part` is kept; the same command goes on with it",
        "",
        "interrupted",
    ]
    code, seen = in_terminal(huge, nothing)
    assert code == 0
    assert "note: going on: " in seen
    assert seen.split(ERASE)[-1].startswith("packed (160, 512, 8, 64) uint8")
    assert Path("out.bin").stat().st_size == HUGE


@pytest.mark.slow
def test_interrupted_twice_and_gone_on_with(huge: list[str]) -> None:
    code, _ = in_terminal(huge, pressing(2))
    assert code in (-signal.SIGINT, 130)  # the piece under way may have been done in time
    assert Path("out.bin.part").exists()
    assert ended(huge).returncode == 0
    assert Path("out.bin").stat().st_size == HUGE


PROVED = """\
layout Slow(n, c, h, w) = [n, c/16, h, w, c%16]
prove Slow == ((n*ceil(C/16) + c/16)*H*W + h*W + w)*16 + c%16
prove Slow fits int8
"""


@pytest.mark.slow
def test_what_is_refuted_is_said_at_once(tmp_path: Path) -> None:
    """Two processes; whether the third claim comes before the first is theirs to say."""
    place = tmp_path / "a.layout"
    place.write_text(PROVED)
    code, seen = in_terminal([*LINE, "prove", str(place), "-j", "2"], nothing)
    assert code == 1
    assert f"{ERASE}2 of 3, Slow, 2 jobs" in seen
    done = ended([*LINE, "prove", str(place), "-j", "2", "--progress", "json"], text=True)
    lines = [json.loads(each) for each in done.stderr.splitlines() if each.startswith("{")]
    assert lines[-1]["words"] == "2 of 3, Slow, 2 jobs"
    early = [each for each in done.stderr.splitlines() if not each.startswith("{")]
    assert early in ([], ["refuted: prove Slow fits int8; more when it is its turn"])
    assert ended([*LINE, "prove", str(place), "-j", "2"]).stderr == b""


@pytest.mark.parametrize("verb", ["pack", "unpack", "convert"])
def test_what_is_held_in_memory_is_told_too(shell: Shell, verb: str) -> None:
    """What is moved is said before, as one call cannot be asked; then what is written."""
    np.save("in.npy", np.zeros((2, 20, 3, 4), "f4"))
    np.save("packed.npy", np.zeros((2, 2, 3, 4, 16), "f4"))
    lines = {
        "pack": ["pack", "NCHW16c", "in.npy", "out.npy"],
        "unpack": ["unpack", "NCHW16c", "packed.npy", "out.npy", "--shape", "2,20,3,4"],
        "convert": ["convert", "NCHW16c", "NHWC", "packed.npy", "out.npy", "--shape", "2,20,3,4"],
    }
    read = "in.npy  2 x 20 x 3 x 4 float32, 1.9 KiB"
    if verb != "pack":
        read = "packed.npy  2 x 2 x 3 x 4 x 16 float32, 3.0 KiB"
    written = "3.1 of 3.1 kB" if verb == "pack" else "1.9 of 1.9 kB"
    said = shell(*lines[verb], "--progress", "plain")
    assert said.code == 0
    assert said.err.splitlines() == [f"{verb}  {read}", f"{verb}  out.npy  1 of 1  {written}"]
    said = shell(*lines[verb], "--progress", "json")
    first, *_, last = map(json.loads, said.err.splitlines())
    assert first == {"verb": verb, "words": f"{verb}  {read}"}
    assert (last["verb"], last["done_bytes"]) == (verb, last["total_bytes"])
    assert shell(*lines[verb]).err == "", "on a pipe nobody is told who did not ask"
