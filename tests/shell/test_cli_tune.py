"""``tune``: what it prints, what it refuses, and how it ends; nothing here is about times."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from signal import SIGINT
from subprocess import PIPE
from time import monotonic, sleep

import pytest
from cli_shell import Shell, shell
from native_cases import needs_compiler
from processes import running

__all__ = ["shell"]

SHAPE = "--shape", "2,20,3,4"


@pytest.mark.slow
@needs_compiler
@pytest.mark.usefixtures("place")
def test_a_row_for_each_verb_and_the_mean_last(shell: Shell) -> None:
    """Which tree is the fastest is another each time: the mean and the count are of the rows."""
    ended = shell("tune", "demo.layout:NCHW16c", *SHAPE)
    assert (ended.code, ended.err) == (0, "")
    head, *rows, empty, last = ended.out.splitlines()
    assert head.split() == ["verb", "type", "shape", "us", "times", "tree"]
    assert [line.split()[:4] for line in rows] == [
        ["NCHW16c", verb, "float32", "2x20x3x4"] for verb in ("pack", "unpack")
    ]
    times = [float(line.split()[5]) for line in rows]
    others = sum(line.split()[6] != "1" for line in rows)
    assert min(times) >= 1
    assert empty == ""
    said = re.fullmatch(r"(.*) times as fast in the mean; another way serves in (.) of 2", last)
    assert said is not None
    assert float(said[1]) == pytest.approx((times[0] * times[1]) ** 0.5, abs=0.02)
    assert int(said[2]) == others


@pytest.mark.slow
@needs_compiler
@pytest.mark.usefixtures("place")
def test_conversions_types_and_json(shell: Shell) -> None:
    ended = shell("tune", "NCHW16c", *SHAPE, "--to", "NHWC", "--of", "u8", "--json")
    assert (ended.code, ended.err) == (0, "")
    found = json.loads(ended.out)
    assert found["status"] == "ok"
    (move,) = found["moves"]
    assert (move["verb"], move["type"]) == ("convert", "uint8")
    assert 0 <= move["rank"] < move["tried"]
    assert move["after"] <= move["before"]
    assert (move["after"] == move["before"]) == (move["rank"] == 0)


@pytest.mark.slow
@needs_compiler
@pytest.mark.usefixtures("shell")
def test_what_was_found_is_kept_when_interrupted(place: Path) -> None:
    line = [sys.executable, "-m", "layoutdsl", "tune", "NCHW16c", "--shape", "8,64,56,56"]
    with running(line, stderr=PIPE, stdout=PIPE, text=True) as process:
        until = monotonic() + 100
        while monotonic() < until and not any(place.rglob("*.so")):
            sleep(0.02)
        process.send_signal(SIGINT)
        _, said = process.communicate(timeout=100)
    assert process.returncode == 130
    assert said.endswith("interrupted; what was found so far is kept\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("tune", "--seed", "3"), "--seed is of drawn cases, and --random is not given"),
        (("tune", "--random", "2", "NCHW16c"), "--random draws layouts, and one is named"),
        (("tune", "--shape", "2,3"), "--shape is about a layout, and none is named"),
        (("tune", "NCHW16c", "--shape", "2,3"), "has extents (N, C, H, W); 2 were given"),
        (("tune", "NCHW16c", *SHAPE, "--of", "u99"), "there is no element type `u99`"),
    ],
)
@needs_compiler
def test_what_is_refused(words: tuple[str, ...], said: str, shell: Shell) -> None:
    ended = shell(*words)
    assert ended.code == 2
    assert said in ended.err


def test_without_a_compiler(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    ended = shell("tune", "NCHW16c", *SHAPE)
    assert (ended.code, ended.out.count("\n")) == (2, 1)
    said = "error: $CC is `no-such-compiler`, and there is no program `no-such-compiler`\n"
    assert ended.err.startswith(f"{said}  = help: set $CC to a C compiler")


@pytest.mark.slow
@needs_compiler
@pytest.mark.usefixtures("place")
def test_what_numpy_moves_is_left_out(shell: Shell) -> None:
    ended = shell("tune", "demo.layout:Crouton", "--shape", "2,3,4,5")
    assert ended.code == 0
    assert "Crouton" in ended.out + ended.err
