"""The shortest way from one lane order to another: vectors that are shuffled, alone or in pairs.

A vector has one lane bit for each doubling of its bytes, most minor first; the bits of a tile that
are in no lane number its vectors. A pair of vectors that differ in one bit makes another pair:
that bit comes into the lane, and another leaves it. So a network is a path over lane orders, and
right by construction. This module imports nothing of ours.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from typing import TypeAlias

Bit: TypeAlias = tuple[int, int]
"""An axis and the weight of one of its index bits; ``(-1, k)`` is byte bit ``k`` of an element."""

Lane: TypeAlias = tuple[Bit, ...]

LANE_BITS = 4
"""Of a vector of 16 bytes."""

MOST_STATES = 40_000


@dataclass(frozen=True, slots=True)
class Stage:
    """What is done to all vectors.

    Attributes:
        lane: the lane order after it.
        bit: that comes into the lane; ``None`` where every vector is shuffled alone.
        dropped: that leaves the lane.
    """

    lane: Lane
    bit: Bit | None = None
    dropped: Bit | None = None


@lru_cache(maxsize=256)
def network(
    start: Lane, goal: Lane, numbered: frozenset[Bit], fixed: int
) -> tuple[Stage, ...] | None:
    """Return the stages that turn one lane order of 16 bytes into another, as few as can be.

    Only what every machine does at once is used: halves of two vectors interleaved, and bits of one
    vector permuted.

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
        following = [
            Stage((*lane[:granule], bit, *lane[granule : LANE_BITS - 1]), bit, lane[-1])
            for granule in range(fixed, LANE_BITS)
            for bit in sorted(bits - frozenset(lane))
        ]
        following += [Stage(tuple(lane[k] for k in order)) for order in orders]
        for stage in following:
            if stage.lane not in before:
                before[stage.lane] = (lane, stage)
                pending.append(stage.lane)
    return None


def _path(before: dict[Lane, tuple[Lane, Stage] | None], lane: Lane) -> tuple[Stage, ...]:
    stages = list[Stage]()
    step = before[lane]
    while step is not None:
        lane, stage = step
        stages.append(stage)
        step = before[lane]
    return tuple(reversed(stages))


def exchanges(start: Lane, goal: Lane, fixed: int) -> tuple[Stage, ...]:
    """Return the stages where a machine picks any bytes of two vectors at once: a bit each.

    All but the last are of a kind that takes half as long, where there is one that takes a bit out
    that has to leave: an interleave of 16 bytes, or a choice of whole stretches of 16 bytes.

    Args:
        start: lane bits of the vectors that are loaded, most minor first.
        goal: lane bits of the vectors that are stored.
        fixed: how many lane bits belong to the bytes of one element.
    """
    coming = [bit for bit in goal if bit not in start]
    if not coming:
        return (Stage(goal),) if start != goal else ()
    lane, stages = start, list[Stage]()
    for bit in coming[:-1]:
        leaving = tuple(each for each in lane if each not in goal)
        stages.append(_exchange(lane, leaving, bit, fixed))
        lane = stages[-1].lane
    dropped = next(bit for bit in lane if bit not in goal)
    return (*stages, Stage(goal, coming[-1], dropped))


def _exchange(lane: Lane, leaving: Lane, bit: Bit, fixed: int) -> Stage:
    top = LANE_BITS - 1
    if lane[top] in leaving:
        granule = top - 1 if lane[top - 1] in leaving and top > fixed else top
        after = (*lane[:granule], bit, *lane[granule:top], *lane[LANE_BITS:])
        return Stage(after, bit, lane[top])
    for dropped in lane[LANE_BITS:]:
        if dropped in leaving:
            after = (*(each for each in lane if each != dropped), bit)
            return Stage(after, bit, dropped)
    after = tuple(bit if each == leaving[0] else each for each in lane)
    return Stage(after, bit, leaving[0])


def stage_bytes(before: Lane, stage: Stage, half: int) -> tuple[int, ...]:
    """Return which byte each byte of a vector is, after a stage.

    Those of a second vector, in which the coming bit is 1, are counted on.

    Args:
        before: the lane order before the stage.
        stage: what is done.
        half: the value of the bit that is dropped.
    """
    weights = {bit: 1 << position for position, bit in enumerate(before)}
    if stage.bit is not None:
        weights[stage.bit] = 1 << len(before)
    first = half * weights[stage.dropped] if stage.dropped is not None else 0
    return tuple(
        first
        + sum(weights[bit] * (byte >> position & 1) for position, bit in enumerate(stage.lane))
        for byte in range(1 << len(stage.lane))
    )
