"""XLA's tiles: dimensions cut into quotients and remainders, one tile after the other.

Source: OpenXLA, "Tiled layout"; `LayoutUtil::LinearIndex` and `ShapeUtil::ArraySize` for a tile of
more sizes than there are dimensions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from layoutdsl.language.integers.bounds import ONE, ZERO, product, simplify
from layoutdsl.language.integers.expr import (
    CeilDiv,
    Constant,
    Coordinate,
    FloorDiv,
    MixedRadix,
    Mod,
    Mul,
)

Tile = tuple[int | None, ...]
"""Sizes, most major first; ``None`` joins a dimension to the next more minor one."""


def tiled(dimensions: Sequence[Coordinate], tiles: Iterable[Tile]) -> tuple[Coordinate, ...]:
    """Return the dimensions, most major first, as tiles cut them; those of one slot are left out.

    A tile cuts as many of the most minor dimensions as it has sizes. Where it has more of them,
    dimensions of one element stand before the first.
    """
    found = list(dimensions)
    for tile in tiles:
        missing = max(len(tile) - len(found), 0)
        found = _cut([Coordinate(ZERO, ONE)] * missing + found, tile)
    return tuple(each for each in found if each.extent != ONE)


def _cut(dimensions: Sequence[Coordinate], tile: Tile) -> list[Coordinate]:
    count = len(dimensions) - len(tile)
    outer: list[Coordinate] = []
    inner: list[Coordinate] = []
    joined: list[Coordinate] = []
    for dimension, size in zip(dimensions[count:], tile, strict=True):
        joined.append(dimension)
        if size is not None:
            whole, joined = _joined(joined), []
            outer.append(_quotient(whole, size))
            inner.append(_remainder(whole, size))
    return [*dimensions[:count], *outer, *inner]


def _joined(parts: list[Coordinate]) -> Coordinate:
    """Return dimensions as one; those of one slot are left out."""
    wide = [part for part in parts if part.extent != ONE] or parts[-1:]
    if len(wide) == 1:
        return wide[0]
    return Coordinate(MixedRadix(tuple(wide)), product(tuple(part.extent for part in wide)))


def _quotient(whole: Coordinate, size: int) -> Coordinate:
    if size == 1:
        return whole
    extent = simplify(CeilDiv(whole.extent, Constant(size)))
    if whole.value == ZERO:
        return Coordinate(ZERO, extent, declared=True)
    return Coordinate(FloorDiv(whole.value, Constant(size)), extent, whole.declared)


def _remainder(whole: Coordinate, size: int) -> Coordinate:
    if size == 1:
        return Coordinate(ZERO, ONE)
    if whole.value == ZERO:
        return Coordinate(ZERO, Constant(size), declared=True)
    match whole.value:
        case Mod(value, Constant(block)) if block % size == 0:
            return Coordinate(Mod(value, Constant(size)), Constant(size))
    return Coordinate(Mod(whole.value, Constant(size)), Constant(size))


def with_tail(coordinates: tuple[Coordinate, ...], tail: int) -> tuple[Coordinate, ...]:
    """Return the coordinates, of at least one slot, their size rounded up to a multiple."""
    found = coordinates or (Coordinate(ZERO, ONE),)
    if tail == 1:
        return found
    extent = product(tuple(each.extent for each in found))
    rounded = simplify(Mul(CeilDiv(extent, Constant(tail)), Constant(tail)))
    if rounded == simplify(extent):
        return found
    value = found[0].value if len(found) == 1 else MixedRadix(found)
    return (Coordinate(value, rounded, declared=True),)
