"""The shortest way from one lane order to another: interleaves of vectors, and byte shuffles.

A vector of 16 bytes has four lane bits, most minor first; the bits of a tile that are in no lane
number its vectors. To interleave two vectors that differ in one bit is to put that bit into the
lane and to take the top bit out of it; so a network is a path over lane orders, and right by
construction. This module imports nothing of ours.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import permutations
from typing import TypeAlias

Bit: TypeAlias = tuple[int, int]
"""An axis and the weight of one of its index bits; ``(-1, k)`` is byte bit ``k`` of an element."""

Lane: TypeAlias = tuple[Bit, ...]

LANE_BITS = 4
MOST_STATES = 40_000


@dataclass(frozen=True, slots=True)
class Zip:
    """Interleave parts of ``2**granule`` bytes of the vectors that differ in ``bit``."""

    granule: int
    bit: Bit
    dropped: Bit


@dataclass(frozen=True, slots=True)
class Shuffle:
    """Permute the lane bits of every vector: new bit ``k`` is old bit ``order[k]``."""

    order: tuple[int, ...]


Stage: TypeAlias = Zip | Shuffle


def network(
    start: Lane, goal: Lane, numbered: frozenset[Bit], fixed: int
) -> tuple[Stage, ...] | None:
    """Return the stages that turn one lane order into another, as few as can be.

    Args:
        start: lane bits of the vectors that are loaded, most minor first.
        goal: lane bits of the vectors that are stored.
        numbered: the bits that number the vectors at the start.
        fixed: how many lane bits belong to the bytes of one element, and stay.

    Returns:
        ``None`` where no way is found within bounds.
    """
    bits = frozenset(start) | numbered
    orders = [
        (*range(fixed), *each)
        for each in permutations(range(fixed, LANE_BITS))
        if each != tuple(range(fixed, LANE_BITS))
    ]
    before: dict[Lane, tuple[Lane, Stage] | None] = {start: None}
    pending = deque([start])
    while pending and len(before) < MOST_STATES:
        lane = pending.popleft()
        if lane == goal:
            return _path(before, lane)
        following: list[tuple[Lane, Stage]] = [
            (_zipped(lane, granule, bit), Zip(granule, bit, lane[-1]))
            for granule in range(fixed, LANE_BITS)
            for bit in sorted(bits - frozenset(lane))
        ]
        following += [(tuple(lane[k] for k in order), Shuffle(order)) for order in orders]
        for new, stage in following:
            if new not in before:
                before[new] = (lane, stage)
                pending.append(new)
    return None


def _zipped(lane: Lane, granule: int, bit: Bit) -> Lane:
    return (*lane[:granule], bit, *lane[granule : LANE_BITS - 1])


def _path(before: dict[Lane, tuple[Lane, Stage] | None], lane: Lane) -> tuple[Stage, ...]:
    stages = list[Stage]()
    step = before[lane]
    while step is not None:
        lane, stage = step
        stages.append(stage)
        step = before[lane]
    return tuple(reversed(stages))


def zip_bytes(granule: int, half: int) -> tuple[int, ...]:
    """Return which byte of two vectors, 0 to 31, each byte of a half of their interleaving is."""
    width = 1 << granule
    parts = 16 // width // 2
    first = half * parts
    return tuple(
        16 * one + (first + part) * width + byte
        for part in range(parts)
        for one in (0, 1)
        for byte in range(width)
    )


def shuffle_bytes(order: tuple[int, ...]) -> tuple[int, ...]:
    """Return which byte of a vector each byte of the permuted one is."""
    return tuple(
        sum(((byte >> new) & 1) << old for new, old in enumerate(order)) for byte in range(16)
    )
