"""What a nest asks memory for before it reads it: lines that it does read later.

The planner places prefetches, which change no result that a user could see.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

import pytest
from c_run import Machine, Pointer, functions
from native_fuzz import cases
from random_digits import Shape

from layoutdsl import parse
from layoutdsl.code.loops.kernels import LINE
from layoutdsl.code.loops.moves import Move, NoCode
from layoutdsl.code.native import ahead
from layoutdsl.code.native.program import moved

NAME = "f"


class Reads(list[int]):
    """The bytes of a source, and the order in which they are read."""

    def __init__(self, size: int) -> None:
        super().__init__([0] * size)
        self.seen: list[int] = []

    def __getitem__(self, place: Any) -> Any:
        self.seen.append(place)
        return super().__getitem__(place)


@dataclass
class Asked(Machine):
    """Which bytes are asked for, and how many were read before."""

    asked: list[tuple[int, list[int]]] = field(default_factory=list)

    def _called(self, name: str, given: list[Any]) -> Any:
        if name != "fetched":
            return super()._called(name, given)
        _, at, table, rows, size, on = given
        found = [at.at + table.get(r) + k + on for r in range(rows) for k in range(0, size, LINE)]
        self.asked.append((len(at.block.seen), found))
        return None


def questions(move: Move, width: int, shape: Shape) -> Iterator[tuple[list[int], set[int]]]:
    """Of each question the lines within the source, and those that are read after it."""
    found = moved(NAME, move, width)
    if isinstance(found, NoCode):
        return
    known = move.source or move.target
    assert known is not None
    elements = prod(known.element_shape(known.bind(shape)))
    sizes = [
        width * (elements if each is None else each.size(shape))
        for each in (move.source, move.target)
    ]
    source = Reads(sizes[0])
    machine = Asked(functions(found.text), target=[None] * sizes[1])
    extents, fill = Pointer(list(shape)), Pointer([0] * width)
    units = machine.call(f"{NAME}_units", [extents])
    given = [Pointer(source), Pointer(machine.target), extents, fill, 0, units]
    assert machine.call(f"{NAME}_part", given) == 0
    for before, places in machine.asked:
        inside = [place // LINE for place in places if 0 <= place < sizes[0]]
        yield inside, {place // LINE for place in source.seen[before:]}


CASES = {
    "layout A(h, w) = [w, h]": (70, 150),
    "layout A(k, m) = [m/6, k, m%6]": (90, 80),
    "layout A(n, c, w) = [n, c/16, w, c%16]": (2, 48, 70),
    "layout A(k, n) = [k/32, n/16, k%32/4, n%16, k%4]": (70, 130),
    "layout A(a, b, c) = [c/16, b, a, c%16]": (20, 9, 64),
}


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that shapes may be small."""
    monkeypatch.setattr(ahead, "AHEAD", 256)


def counted(move: Move, width: int, shape: Shape) -> tuple[int, int, int]:
    """How many lines are asked for, each question's once; how many of them are read later."""
    every, lines, later_of = 0, 0, 0
    for inside, later in questions(move, width, shape):
        every += len(inside)
        lines += len(set(inside))
        later_of += len(set(inside) & later)
    return every, lines, later_of


@pytest.mark.slow
@pytest.mark.parametrize("text", CASES)
def test_what_is_asked_for_is_read_later(text: str) -> None:
    layout = parse(text)["A"]
    for width, move in product((1, 4), (Move(None, layout), Move(layout, None))):
        every, lines, later = counted(move, width, CASES[text])
        assert later >= 0.8 * lines
        assert lines >= 0.8 * every, "a question names a line once"
    assert every


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "count"), [(3, 10), pytest.param(1, 200, marks=pytest.mark.campaign)]
)
def test_of_random_layouts(seed: int, count: int) -> None:
    """Of shapes at which a layout is right; at others it may leave its buffer."""
    found = [
        counted(case.move, case.width, shape)
        for case in cases(seed, count)
        for shape in case.shapes
        if case.problem(shape) is not None
    ]
    _, lines, later = map(sum, zip(*found, strict=True))
    assert later >= 0.8 * lines > 0
