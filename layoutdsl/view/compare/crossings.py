"""Swizzles that were seen: bits of one axis, exclusive-ored with bits of others.

Where all extents are powers of two, such offsets are exclusive ors of one number for each bit of an
index. A bit that leads to two bits of the offset moves a digit that another bit counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from layoutdsl.view.compare.calling import Places
from layoutdsl.view.compare.digits_seen import DigitSeen
from layoutdsl.view.compare.taken import Taken
from layoutdsl.view.compare.watching import Watch, Watched

MOST_BITS = 16
"""Of the number of elements of a shape at which swizzles are looked for."""

Bit: TypeAlias = "tuple[int, int]"
"""An axis, and a bit of its index."""

Crossings: TypeAlias = "Mapping[Bit, tuple[Bit, ...]]"
"""For each bit that is moved the bits that it is exclusive-ored with."""


def crossings(watch: Watch, taken: Sequence[Taken]) -> Crossings | None:
    """Return the swizzles of a function, ``None`` where its offsets are none of bits."""
    for bits in range(min(9, MOST_BITS // len(taken)), 1, -1):
        extents = tuple(each.near(1 << bits) for each in taken)
        if all(each & (each - 1) == 0 for each in extents):
            watched = watch.at(extents)
            if isinstance(watched, Watched):
                return _read(watched)
    return None


def _read(watched: Watched) -> Crossings | None:
    columns = {
        (axis, bit): int(watched.along(axis)[1 << bit])
        for axis, extent in enumerate(watched.extents)
        for bit in range(extent.bit_length() - 1)
    }
    if not _adds_up(watched, columns):
        return None
    owners: dict[int, Bit] = {}
    left = dict(columns)
    while left:
        rest = {bit: _without(columns[bit], owners) for bit in left}
        single = {bit: each for bit, each in rest.items() if each and each & (each - 1) == 0}
        if not single:
            return None
        for bit, found in single.items():
            if found in owners:
                return None
            owners[found] = bit
            del left[bit]
    moved: dict[Bit, list[Bit]] = {}
    for bit, column in columns.items():
        for place, owner in owners.items():
            if column & place and owner != bit:
                moved.setdefault(owner, []).append(bit)
    return {bit: tuple(others) for bit, others in sorted(moved.items())}


def _adds_up(watched: Watched, columns: Mapping[Bit, int]) -> bool:
    """Whether every offset is the exclusive or of the numbers of the bits of its index."""
    total: Places = np.zeros((), dtype=np.int64)
    grids = np.indices(watched.extents, dtype=np.int64, sparse=True)
    for (axis, bit), column in columns.items():
        total = total ^ np.where(grids[axis] >> bit & 1, column, 0)
    return bool((total == watched.places - watched.first).all())


def _without(column: int, owners: Mapping[int, Bit]) -> int:
    for place in owners:
        column &= ~place
    return column


def straightened(watched: Watched, found: Crossings) -> Watched | None:
    """Return the shape with its swizzles undone, ``None`` where they do not show at it."""
    grids = np.indices(watched.extents, dtype=np.int64, sparse=True)
    places: Places = watched.places
    for (axis, bit), others in found.items():
        crossing: Places = np.zeros((), dtype=np.int64)
        for other, at in others:
            crossing = crossing ^ (grids[other] >> at & 1)
        if not crossing.any():
            continue
        if watched.extents[axis] <= 1 << bit:
            return None
        own = grids[axis] >> bit & 1
        places = places - ((own ^ crossing) - own) * int(watched.along(axis)[1 << bit])
    return replace(watched, places=np.broadcast_to(places, watched.extents))


@dataclass(frozen=True, slots=True)
class Run:
    """Bits side by side that are moved alike: a digit, and the digits that move it."""

    moved: DigitSeen
    by: tuple[DigitSeen, ...]


def runs(found: Crossings) -> tuple[Run, ...]:
    """Return swizzles as digits."""
    groups: list[tuple[Bit, int, tuple[Bit, ...]]] = []
    for (axis, bit), others in found.items():
        if groups:
            (own, low), count, begun = groups[-1]
            shifted = tuple((other, at + count) for other, at in begun)
            if (own, low + count) == (axis, bit) and shifted == others:
                groups[-1] = (own, low), count + 1, begun
                continue
        groups.append(((axis, bit), 1, others))
    return tuple(
        Run(_digit(bit, count), tuple(_digit(other, count) for other in others))
        for bit, count, others in groups
    )


def _digit(bit: Bit, count: int) -> DigitSeen:
    return DigitSeen(bit[0], 1 << bit[1], 1 << count)
