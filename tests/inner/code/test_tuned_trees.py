"""Tuning: whichever tree is the fastest serves, is kept, and is right; and what goes wrong.

The planner proposes trees and a clock chooses one, so these tests tell the clock what to say.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from codegen_cases import layout_of, module_of
from native_cases import emit, needs_compiler

import layoutdsl
from layoutdsl import CompilerError, Tuned
from layoutdsl.code.emitting import validated
from layoutdsl.code.loops.moves import Move, NoCode
from layoutdsl.code.native import libraries, tuning
from layoutdsl.code.native.libraries import Emitter
from layoutdsl.code.native.loader import native_module
from layoutdsl.code.native.module import NativeModule
from layoutdsl.code.native.program import EmittedProgram
from layoutdsl.code.native.tuning import tune_module

pytestmark = [needs_compiler, pytest.mark.usefixtures("place")]

BLOCKED = "layout Blocked(n, c, w) = [n, c/4, w, c%4]"
BITS = "layout Bits(n, c) = [n, bit, c] of u4"
SHAPE = 2, 6, 100
U4 = np.dtype("u4")


def clock(monkeypatch: pytest.MonkeyPatch, fastest: int) -> list[int]:
    """Say that a tree takes half of the time of the others; returns which ones were called."""
    served = list[int]()

    def seconds(count: int, serve: Callable[[int], None], call: Callable[[], Any]) -> list[float]:
        for number in range(count):
            serve(number)
            call()
            served.append(number)
        best = min(fastest, count - 1)
        return [1.0 if number == best else 2.0 for number in range(count)]

    monkeypatch.setattr(tuning, "_seconds", seconds)
    return served


def module(emitter: Emitter = emit) -> NativeModule:
    return native_module(layout_of(BLOCKED), module_of(BLOCKED), emitter)


def right(moves: NativeModule) -> bool:
    tensor = np.arange(int(np.prod(SHAPE)), dtype=U4).reshape(SHAPE)
    want = module_of(BLOCKED).pack(tensor)
    back = moves.unpack(want, SHAPE)
    return np.array_equal(moves.pack(tensor), want) and np.array_equal(back, tensor)


def kept(place: Path) -> set[bytes]:
    return {each.read_bytes() for each in place.glob("*.so")}


@pytest.mark.slow
@pytest.mark.parametrize("fastest", range(4))
def test_the_fastest_serves_and_is_kept(
    fastest: int, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moves = module()
    assert right(moves)
    before = kept(place)
    served = clock(monkeypatch, fastest)
    found = tune_module(moves, "pack", SHAPE, U4)
    assert isinstance(found, Tuned)
    assert found.tried == len(set(served)) > 3
    assert (found.rank > 0, found.before / found.after) == (fastest > 0, 2.0 if fastest else 1.0)
    assert right(moves)
    after = kept(place)
    assert len(after) == 2
    assert len(after - before) == (1 if fastest else 0)
    monkeypatch.setattr(libraries, "build", None)  # nothing is compiled
    assert right(module())
    assert kept(place) == after


@pytest.mark.slow
def test_what_gains_nothing_does_not_serve(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is measured once more: of several that are as fast one is the fastest by chance."""
    rounds = iter([[2.0, 1.9, *[3.0] * 10], [2.0, 1.99]])
    monkeypatch.setattr(tuning, "_seconds", lambda count, *_: next(rounds)[:count])
    found = tune_module(module(), "pack", SHAPE, U4)
    assert isinstance(found, Tuned)
    assert (found.rank, found.before, found.after) == (0, 2.0, 2.0)


@pytest.mark.slow
def test_one_that_is_interrupted_changes_nothing(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moves = module()
    assert right(moves)
    before = kept(place)

    def seconds(_: int, serve: Callable[[int], None], call: Callable[[], Any]) -> list[float]:
        serve(1)
        call()
        raise KeyboardInterrupt

    monkeypatch.setattr(tuning, "_seconds", seconds)
    with pytest.raises(KeyboardInterrupt):
        tune_module(moves, "pack", SHAPE, U4)
    assert kept(place) == before
    monkeypatch.setattr(libraries, "build", None)
    assert right(moves)


@pytest.mark.slow
def test_trees_that_cannot_be_proved_or_compiled_are_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = libraries.build

    def check(program: EmittedProgram) -> EmittedProgram | NoCode:
        return NoCode("not proved") if program.text in left_out[0] else program

    def build(which: Any, sources: Any, *rest: Any) -> None:
        text = sources[0].read_text()
        if any(each in text for each in left_out[1]):
            raise CompilerError("it does not like that")
        real(which, sources, *rest)

    left_out: tuple[list[str], list[str]] = [], []
    moves = module(Emitter(emit.make, check))
    key = moves.libraries.key("pack", 4, SHAPE)
    texts = [each.text for each in map(moves.libraries.emitted, [key] * 3, range(3))
             if isinstance(each, EmittedProgram)]  # fmt: skip
    assert len(set(texts)) == 3
    monkeypatch.setattr(libraries, "build", build)
    clock(monkeypatch, 1)
    tried = []
    for which, text in ((0, ""), (0, texts[1]), (1, texts[2])):
        left_out[which].extend([text] * bool(text))
        found = tune_module(moves, "pack", SHAPE, U4)
        assert isinstance(found, Tuned)
        tried.append(found.tried)
    assert tried == [tried[0], tried[0] - 1, tried[0] - 2]


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["NCHW16c", "OIhw16i16o", "NHWC"])
def test_all_trees_are_proved(name: str) -> None:
    """What is tried is what may serve: of each of them it is shown that it does what is meant."""
    seals = set[str | None]()
    for rank in range(tuning.RANKS):
        made = emit.make(Move(None, layoutdsl.library(name)), 2, rank)
        assert not isinstance(made, NoCode)
        found = validated(made)
        assert not isinstance(found, NoCode)
        seals.add(found.seal)
    assert None not in seals
    assert len(seals) > 1


@pytest.mark.slow
def test_whatever_is_compiled_can_be_tuned(monkeypatch: pytest.MonkeyPatch) -> None:
    clock(monkeypatch, 1)
    monkeypatch.setattr(tuning, "RANKS", 2)
    library = layoutdsl.library
    blocked = library("NCHW16c")
    for target in ("native", "auto"):
        found = layoutdsl.tune(layoutdsl.compile(blocked, target), (2, 20, 3, 4))
        assert [each.verb for each in found] == ["pack", "unpack"]
    bits = layoutdsl.compile(layoutdsl.parse(BITS)["Bits"], "native")
    assert [each.verb for each in layoutdsl.tune(bits, (20, 30))] == ["pack"], "numpy unpacks"
    words = layoutdsl.parse("layout Words(n, c) = [n, c/4, c%4] of u16")["Words"]
    stored = layoutdsl.compile(words, "native", storage="bytes")
    assert len(layoutdsl.tune(stored, (20, 30))) == 2
    straight = layoutdsl.convert(blocked, library("NHWC"), compiled="native")
    found = layoutdsl.tune(straight, (2, 20, 3, 4), "u1")
    assert [each.verb for each in found] == ["convert"]
    buffer = np.arange(2 * 2 * 3 * 4 * 16, dtype="u1").reshape(2, 2, 3, 4, 16)
    want = layoutdsl.convert(blocked, library("NHWC"), compiled="numpy")(buffer, (2, 20, 3, 4))
    assert np.array_equal(straight(buffer, (2, 20, 3, 4)), want)
