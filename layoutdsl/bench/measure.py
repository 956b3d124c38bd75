"""How long a move takes beside its floor, in interleaved rounds on the same buffers.

The floor of a pack is a copy of the tensor's bytes into the buffer and a fill of what is left of
it; that of an unpack a copy of as many bytes, and a read of the other lines that hold elements. A
share is the floor over the time of a candidate.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

Call = Callable[[], object]

LINE = 64
"""Bytes of a cache line."""

ROUND_SECONDS = 0.004
"""A call that is shorter is repeated for so long in every round."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured of one candidate.

    Attributes:
        seconds: of a call, the median over the rounds.
        share: median over the rounds of the floor's time over the candidate's.
        best: the shortest time of the floor over the shortest of the candidate; what a machine
            that others use at the same time hides least.
        spread: the middle half of these shares, upper end less lower.
    """

    seconds: float
    share: float
    best: float
    spread: float


def pack_floor(tensor: NDArray[Any], buffer: NDArray[Any]) -> Call:
    """Return a copy of the tensor into the buffer, and a fill of the rest."""
    source, target = _raw(tensor), _raw(buffer)
    copied, filled = target[: source.size], target[source.size :]
    if not filled.size:
        return lambda: np.copyto(copied, source)

    def both() -> None:
        np.copyto(copied, source)
        filled.fill(0)

    return both


def unpack_floor(buffer: NDArray[Any], tensor: NDArray[Any], holds: NDArray[Any]) -> Call:
    """Return a copy of as many bytes as the tensor has, and a read of the other lines it lies in.

    Args:
        buffer: what is read.
        tensor: what is written.
        holds: as long as the buffer, not zero where it holds an element.
    """
    target, source = _raw(tensor), _raw(buffer)
    used = _raw(holds != 0).repeat(holds.itemsize)
    whole = used.size // LINE * LINE
    touched = LINE * int(used[:whole].reshape(-1, LINE).any(axis=1).sum())
    copied, rest = source[: target.size], source[target.size :][: max(0, touched - target.size)]
    words = rest[: rest.size // 8 * 8].view(np.uint64)
    if not words.size:
        return lambda: np.copyto(target, copied)

    def both() -> None:
        np.copyto(target, copied)
        words.max()

    return both


def _raw(array: NDArray[Any]) -> NDArray[np.uint8]:
    return array.reshape(-1).view(np.uint8)


def measure(floor: Call, candidates: Mapping[str, Call], rounds: int = 15) -> dict[str, Measured]:
    """Return what each candidate takes, the floor included as ``floor``.

    The order of the calls turns round from one round to the next.
    """
    calls = {"floor": floor, **candidates}
    repeats: dict[str, int] = {}
    for name, call in calls.items():
        call()
        start = time.perf_counter()
        call()
        once = time.perf_counter() - start
        repeats[name] = max(1, min(2000, int(ROUND_SECONDS / max(once, 1e-7))))
    times: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(rounds):
        for name, call in list(calls.items())[:: 1 if number % 2 else -1]:
            start = time.perf_counter()
            for _ in range(repeats[name]):
                call()
            times[name].append((time.perf_counter() - start) / repeats[name])
    return {name: _measured(times["floor"], each) for name, each in times.items()}


def _measured(floor: list[float], times: list[float]) -> Measured:
    shares = sorted(low / each for low, each in zip(floor, times, strict=True))
    quarter = len(shares) // 4
    spread = shares[-1 - quarter] - shares[quarter]
    return Measured(median(times), median(shares), min(floor) / min(times), spread)
