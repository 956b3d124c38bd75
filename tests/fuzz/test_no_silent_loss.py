"""Layouts drawn anew go through every door: right, or refused; and the harness sees planted faults.

The rest: `python -m tests.fuzz.no_silent_loss --count 10000 --jobs 2`, or
`pytest -m campaign -k silence`.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import no_silent_loss as fuzzing
import numpy as np
import pytest
from no_silent_loss import DOORS, Options, campaign, told

import layoutdsl

PLAIN = Options(doors=tuple(each for each in DOORS if each != "native"), native=0, shapes=2)


@pytest.mark.ci(1)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "count"),
    [(0, 30), *(pytest.param(k, 25, marks=pytest.mark.slow) for k in range(1000, 1100, 25))],
)
def test_no_door_loses_an_element_in_silence(first: int, count: int) -> None:
    found = campaign(count, "tests", PLAIN, first)
    assert not found.faults, told(found, "tests", 0)
    assert found.counts["shapes"] > count
    equal = sum(number for name, number in found.counts.items() if name.endswith(": equal"))
    assert equal > 2 * count


@pytest.mark.campaign
@pytest.mark.parametrize("block", range(20))
def test_no_door_loses_an_element_in_silence_of_many_layouts(block: int) -> None:
    found = campaign(500, "campaign", Options(), 500 * block)
    print(told(found, "campaign", 0))
    assert not found.faults, told(found, "campaign", 0)


ROWS = "layout L(i, j) = [j, i : I + 1] fill 1"
CAPACITY = "layout L(t, d) = [t/16%4096*D + d : 4096*D, t%16]"


def found_of(text: str, values: dict[str, int], door: str, tmp_path: Any) -> list[str]:
    """The kinds of faults of one layout at one shape."""
    subject, found = fuzzing.subject_of(text), fuzzing.Found()
    written = fuzzing.Drawn(text)
    runner = fuzzing.Runner(0, subject, written, fuzzing.Random(0), Options(), found, tmp_path)
    with fuzzing.quiet():
        runner.through(door, values, fuzzing.meaning(subject.reading, values))
    return [each.kind for each in found.faults]


UNDECIDED = [
    ("layout L(b, t, h, d) = [b, (t/16%4096*H + h)*D + d : 4096*H*D, t%16]", (65540, 40)),
    ("layout L(t, d: 2) = [(t*t + d)%4093, d] of u8", (3000, 5)),
    ("layout L(t, d, q: 2 broadcast) = [t*3%65537, q, d] of u16", (65600, 5)),
    ("layout L(t) = [t*3%1009, bit] of u8", (1100, 16)),
    ("layout L(t, d) = [(t*5 + d)%1009, d] of f32 offset 3", (1300, 6)),
]
"""Layouts that stay undecided, with an extent `T` at which they are wrong, and a right one."""


@pytest.mark.slow
@pytest.mark.parametrize("text", [text for text, _ in UNDECIDED])
def test_an_undecided_layout_is_refused_or_exact(text: str, tmp_path: Any) -> None:
    """By default it is refused; with the keyword it is right, or refused where it is wrong."""
    extents = dict(UNDECIDED)[text]
    with fuzzing.sooner(), fuzzing.quiet():
        subject, found = fuzzing.subject_of(text), fuzzing.Found()
        assert subject.verdict == "undecided"
        written = fuzzing.Drawn(text)
        runner = fuzzing.Runner(0, subject, written, fuzzing.Random(0), PLAIN, found, tmp_path)
        for number in extents:
            values = {name: number if name == "T" else 1 for name in subject.reading.symbols}
            meant = fuzzing.meaning(subject.reading, values)
            assert meant is not None
            assert bool(meant.fault) == (number == extents[0])
            for door in PLAIN.doors:
                runner.through(door, values, meant)
                runner.by_default(door, values, meant, fuzzing.Random(0))
    assert not found.faults, told(found, "", 0)
    assert sum(n for name, n in found.counts.items() if name.endswith(": refused by default")) >= 10
    assert sum(n for name, n in found.counts.items() if name.endswith(": equal")) >= 4


def spoiled(module: Any) -> Any:
    """A module that loses the last element of what it packs."""

    def pack(*given: Any, **named: Any) -> Any:
        packed = module.pack(*given, **named)
        packed.reshape(-1)[-2:] = 0
        return packed

    return SimpleNamespace(pack=pack, unpack=module.unpack, physical_shape=module.physical_shape)


@pytest.mark.parametrize("door", ["numpy", "pieces"])
def test_an_element_that_is_lost_is_found(
    door: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    compiled = layoutdsl.compile
    assert found_of(ROWS, {"I": 3, "J": 2}, door, tmp_path) == []
    monkeypatch.setattr(layoutdsl, "compile", lambda *a, **k: spoiled(compiled(*a, **k)))
    assert found_of(ROWS, {"I": 3, "J": 2}, door, tmp_path) == ["loss"]


def test_an_error_from_inside_is_a_crash(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        return np.zeros(3).reshape(2)

    monkeypatch.setattr(layoutdsl, "compile", broken)
    assert found_of(ROWS, {"I": 3, "J": 2}, "numpy", tmp_path) == ["crash"]


def test_a_capacity_that_is_exceeded_is_seen() -> None:
    """The meaning tells the first shape at which the layout is wrong."""
    reading = fuzzing.subject_of(CAPACITY, prove=False).reading
    right, wrong = (fuzzing.meaning(reading, {"T": t, "D": 1}) for t in (65536, 65537))
    assert right is not None
    assert wrong is not None
    assert right.fault == ""
    assert wrong.fault == "two elements share a slot"
    assert {65536, 65537} <= set(fuzzing.beyond(CAPACITY))
