"""Offsets that were seen, read as sums of digits of single axes: where each axis is cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from layoutdsl.view.compare.calling import Places
from layoutdsl.view.compare.watching import Watched

Cuts: TypeAlias = "Mapping[int, tuple[int, ...]]"
"""The divisors of the digits of each axis, 1 first; each divides the next."""


@dataclass(frozen=True, slots=True)
class DigitSeen:
    """``index / divisor % radix`` of an axis; without a radix all that is left."""

    axis: int
    divisor: int
    radix: int | None

    def of(self, index: Places) -> Places:
        """Return the digit of some indices."""
        whole: Places = index // self.divisor
        return whole if self.radix is None else whole % self.radix

    def count(self, extent: int) -> int:
        """Return how many values it has where an axis has ``extent`` elements."""
        return -(-extent // self.divisor) if self.radix is None else self.radix


def divisors(line: Places) -> tuple[int, ...] | None:
    """Return where an axis is cut whose elements lie at ``line``; ``None`` where by no digits.

    >>> divisors(np.array([0, 1, 2, 3, 12, 13, 14, 15, 24]))
    (1, 4)
    """
    found, divisor = [1], 1
    while len(line) > 1:
        numbers = np.arange(len(line))
        bent = np.flatnonzero(line != numbers * line[1])
        if not bent.size:
            break
        radix, step = int(bent[0]), line[1]
        outer = line[::radix]
        if (line != numbers % radix * step + outer[numbers // radix]).any():
            return None
        divisor *= radix
        found.append(divisor)
        line = outer
    return tuple(found)


def joined(one: Sequence[int], other: Sequence[int]) -> tuple[int, ...] | None:
    """Return the cuts of both, ``None`` where they do not divide one another."""
    found = sorted({*one, *other})
    fits = all(high % low == 0 for low, high in pairwise(found))
    return tuple(found) if fits else None


def digits_of(cuts: Cuts) -> tuple[DigitSeen, ...]:
    """Return the digits of all axes."""
    return tuple(
        DigitSeen(axis, low, None if high is None else high // low)
        for axis, found in cuts.items()
        for low, high in zip(found, (*found[1:], None), strict=True)
    )


def strides(watched: Watched, digits: Sequence[DigitSeen]) -> dict[DigitSeen, int]:
    """Return how far a step of each digit leads, of those that take a step at this shape."""
    return {
        each: int(watched.along(each.axis)[each.divisor])
        for each in digits
        if each.divisor < watched.extents[each.axis]
    }


def differing(watched: Watched, digits: Sequence[DigitSeen]) -> int | None:
    """Return the first element, in rows, that is not where its digits lead, if there is one."""
    total: Places = np.zeros((), dtype=np.int64) + watched.first
    grids = np.indices(watched.extents, dtype=np.int64, sparse=True)
    for each, step in strides(watched, digits).items():
        total = total + each.of(grids[each.axis]) * step
    wrong = np.flatnonzero(np.broadcast_to(total, watched.extents) != watched.places)
    return int(wrong[0]) if wrong.size else None


def apart(watched: Watched) -> int | None:
    """Return the first element whose offset is no sum of numbers of its indices, if any is."""
    total: Places = np.zeros((), dtype=np.int64) + watched.first
    for axis, extent in enumerate(watched.extents):
        shape = [1] * len(watched.extents)
        shape[axis] = extent
        total = total + watched.along(axis).reshape(shape)
    wrong = np.flatnonzero(np.broadcast_to(total, watched.extents) != watched.places)
    return int(wrong[0]) if wrong.size else None
