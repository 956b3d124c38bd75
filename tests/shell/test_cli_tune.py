"""``tune``: what it prints, what it refuses, and how it ends; nothing here is about times."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from cli_shell import Shell, shell
from native_cases import needs_compiler

from layoutdsl import CompilerError
from layoutdsl.code import modules
from layoutdsl.code.native import loader, tuning

__all__ = ["shell"]

SHAPE = "--shape", "2,20,3,4"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second tree takes half of the time of all others."""

    def seconds(count: int, serve: Callable[[int], None], call: Callable[[], Any]) -> list[float]:
        for number in range(count):
            serve(number)
            call()
        return [1e-6 if number == 1 else 2e-6 for number in range(count)]

    monkeypatch.setattr(tuning, "_seconds", seconds)
    monkeypatch.setattr(tuning, "RANKS", 3)


@pytest.mark.slow
@needs_compiler
@pytest.mark.usefixtures("clock", "place")
def test_a_row_for_each_verb_and_the_mean_last(shell: Shell) -> None:
    ended = shell("tune", "demo.layout:NCHW16c", *SHAPE)
    assert (ended.code, ended.err) == (0, "")
    *rows, empty, last = ended.out.splitlines()
    assert [line.split() for line in rows] == [
        ["verb", "type", "shape", "us", "times", "tree"],
        *(
            ["NCHW16c", verb, "float32", "2x20x3x4", "1.0", "2.00", "2"]
            for verb in ("pack", "unpack")
        ),
    ]
    assert empty == ""
    assert last == "2.00 times as fast in the mean; another way serves in 2 of 2"


@pytest.mark.slow
@needs_compiler
@pytest.mark.usefixtures("clock", "place")
def test_conversions_types_and_json(shell: Shell) -> None:
    ended = shell("tune", "NCHW16c", *SHAPE, "--to", "NHWC", "--of", "u8", "--json")
    assert (ended.code, ended.err) == (0, "")
    found = json.loads(ended.out)
    assert found["status"] == "ok"
    assert [(each["verb"], each["type"], each["rank"]) for each in found["moves"]] == [
        ("convert", "uint8", 1)
    ]


@pytest.mark.slow
@needs_compiler
@pytest.mark.usefixtures("place")
def test_what_was_found_is_kept_when_interrupted(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def seconds(*_: object) -> list[float]:
        raise KeyboardInterrupt

    monkeypatch.setattr(tuning, "_seconds", seconds)
    ended = shell("tune", "NCHW16c", *SHAPE)
    assert (ended.code, ended.err) == (130, "interrupted; what was found so far is kept\n")


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
    def missing() -> None:
        raise CompilerError("no C compiler was found", "install gcc")

    monkeypatch.setattr(loader, "expect_compiler", missing)
    modules.compiled.cache_clear()
    modules.unchecked.cache_clear()
    ended = shell("tune", "NCHW16c", *SHAPE)
    assert (ended.code, ended.out.count("\n")) == (2, 1)
    assert ended.err == "error: no C compiler was found\n  = help: install gcc\n"


@pytest.mark.slow
@needs_compiler
@pytest.mark.usefixtures("place")
def test_what_numpy_moves_is_left_out(shell: Shell) -> None:
    ended = shell("tune", "demo.layout:Crouton", "--shape", "2,3,4,5")
    assert ended.code == 0
    assert "Crouton" in ended.out + ended.err
