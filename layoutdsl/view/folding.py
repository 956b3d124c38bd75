"""What is drawn of what is too large: the first positions along each coordinate, and the last."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod


def kept(extents: Sequence[int], most: int) -> tuple[tuple[int, ...], ...]:
    """Return the positions along each coordinate that are drawn: as many at the start as fit.

    Where not all fit, that is the first few and the last one; two at least of each that has two.

    >>> kept((2, 100), 8)
    ((0, 1), (0, 1, 2, 99))
    >>> kept((2, 3), 8)
    ((0, 1), (0, 1, 2))
    """
    if prod(extents) <= most:
        return tuple(tuple(range(extent)) for extent in extents)
    limit = 1
    while limit < max(extents) and prod(min(extent, limit + 1) for extent in extents) <= most:
        limit += 1
    return tuple(_ends(extent, limit) for extent in extents)


def _ends(extent: int, most: int) -> tuple[int, ...]:
    if extent <= most:
        return tuple(range(extent))
    return (*range(max(1, most - 1)), extent - 1)


def numbers(positions: Sequence[Sequence[int]], extents: Sequence[int]) -> list[int]:
    """Return the mixed-radix value of each combination of positions, in order."""
    strides = [prod(extents[k + 1 :]) for k in range(len(extents))]
    return [
        sum(at * stride for at, stride in zip(place, strides, strict=True))
        for place in product(*positions)
    ]
