"""Interleaved rounds in one process on the same buffers, and the floor that is in each of them.

The floor is what memory allows: a copy of as many bytes as the tensor has out of the source into
the target, a fill of the rest of the target, and a read of the other lines of the source that hold
elements. It runs on the very buffers of the candidates: with a target of its own it is slower or
faster than theirs by more than half.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterator

    from layoutdsl.commands.bench.moves import Move

Call = Callable[[], object]

ROUND_SECONDS = 0.003
"""A call that is shorter is repeated for so long in every round."""

NOISY = 0.15
"""A spread that is wider than this part of its median is noise."""

FLOOR = "floor"
FEWEST_ROUNDS = 5
THREADED_BYTES = 1 << 20
"""Below it a second thread costs a copy more than it brings."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The quartiles of some samples."""

    low: float
    median: float
    high: float

    @property
    def noisy(self) -> bool:
        """Whether the middle half is wide beside the median."""
        return self.high - self.low > NOISY * self.median


def spread(samples: list[float]) -> Spread:
    """Return the quartiles, the ends of the samples included.

    >>> spread([1.0, 2.0, 3.0, 4.0, 5.0])
    Spread(low=2.0, median=3.0, high=4.0)
    """
    if len(samples) == 1:
        return Spread(samples[0], samples[0], samples[0])
    low, _, high = quantiles(samples, n=4, method="inclusive")
    return Spread(low, median(samples), high)


@dataclass(frozen=True, slots=True)
class Rounds:
    """How long to go on.

    Attributes:
        most: rounds.
        seconds: after so long no round is started, once there are some.
        fewest: rounds that there are in any case.
    """

    most: int = 15
    seconds: float = 2.0
    fewest: int = FEWEST_ROUNDS


def floor_of(move: Move, threads: int = 1) -> Call:
    """Return the floor of a move."""
    source, target = _raw(move.read.array), _raw(move.write.array)
    moved = min(move.task.bytes, source.size, target.size)
    copied, filled = target[:moved], target[moved:]
    others = source[moved : max(moved, min(move.touched, source.size))]
    words = others[: others.size // 8 * 8].view(np.uint64)
    parts = threads if moved >= THREADED_BYTES else 1
    copies = [_copying(copied[part], source[:moved][part]) for part in _parts(moved, parts)]
    steps: list[Call] = [copies[0]] if parts == 1 else [_together(copies)]
    if filled.size:
        steps.append(lambda: filled.fill(0))
    if words.size:
        steps.append(words.max)
    return steps[0] if len(steps) == 1 else _in_turn(steps)


def _raw(array: NDArray[Any]) -> NDArray[np.uint8]:
    return array.reshape(-1).view(np.uint8)


def _parts(count: int, parts: int) -> list[slice]:
    ends = [count * part // parts for part in range(parts + 1)]
    return [slice(low, high) for low, high in pairwise(ends)]


def _copying(target: NDArray[np.uint8], source: NDArray[np.uint8]) -> Call:
    return lambda: np.copyto(target, source)


def _in_turn(steps: list[Call]) -> Call:
    def all_of_them() -> None:
        for step in steps:
            step()

    return all_of_them


def _together(steps: list[Call]) -> Call:
    pool = ThreadPoolExecutor(len(steps))
    return lambda: list(pool.map(lambda step: step(), steps))


@dataclass(slots=True)
class Samples:
    """Seconds of a call of each candidate, one number a round; the floor is one of them.

    ``failed`` are those that raised something, and what.
    """

    seconds: dict[str, list[float]]
    failed: dict[str, Exception] = field(default_factory=dict)


def sample(calls: Mapping[str, Call], rounds: Rounds) -> Samples:
    """Return how long each call takes, in rounds; the order turns round from one to the next."""
    found = Samples({name: [] for name in calls})
    started = time.perf_counter()
    with _undisturbed():
        repeats = _repeats(calls, found)
        for number in range(rounds.most):
            late = time.perf_counter() - started > rounds.seconds
            if late and number >= rounds.fewest:
                break
            for name in list(repeats)[:: 1 if number % 2 else -1]:
                seconds = _timed(calls[name], repeats[name])
                found.seconds[name].append(seconds)
    return found


def _repeats(calls: Mapping[str, Call], found: Samples) -> dict[str, int]:
    """How often each is called in a round; one that raises is left out from here on."""
    repeats = {}
    for name, call in calls.items():
        try:
            call()
            once = _timed(call, 1)
        except Exception as error:
            found.failed[name] = error
            del found.seconds[name]
            continue
        repeats[name] = max(1, min(5000, int(ROUND_SECONDS / max(once, 1e-7))))
    return repeats


def _timed(call: Call, times: int) -> float:
    turns = range(times)
    start = time.perf_counter()
    for _ in turns:
        call()
    return (time.perf_counter() - start) / times


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Nothing is collected while the clock runs."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def over(one: list[float], other: list[float]) -> Spread:
    """Return how many times longer the first took, round by round."""
    return spread([a / b for a, b in zip(one, other, strict=True)])
