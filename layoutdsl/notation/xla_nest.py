"""Digits -> the dimensions and tiles of XLA that cut them.

The digits of a tiled layout come in rows: first the most major digit of every dimension, then those
of the blocks, each row the quotients by the tile that follows.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from layoutdsl.language.integers.digit import Digit, same
from layoutdsl.language.integers.expr import Constant, Expr, Index, MixedRadix, text
from layoutdsl.notation.notation import Unwritable
from layoutdsl.notation.xla_tiles import Tile

MOST_TILES = 16


@dataclass(frozen=True, slots=True)
class Dimension:
    """One dimension, or several joined by ``*``; ``block`` elements of it are cut further."""

    axes: tuple[str, ...]
    whole: Expr
    block: int


def dimensions_of(
    digits: list[Digit], room: Mapping[str, int | None]
) -> tuple[list[Dimension], list[Digit]]:
    """Return the dimensions from the most major, and the digits of their blocks.

    Args:
        digits: of the layout, most major first.
        room: how many elements each axis has at most, where that is known.

    Raises:
        Unwritable: the digits are not those of blocks of numbers.
    """
    outer = [each for each in digits if each.radix is None]
    if any(each.radix is not None for each in digits[: len(outer)]):
        raise Unwritable("a block stands before the most major digit of a dimension")
    found = []
    for each in outer:
        if not isinstance(each.divisor, Constant):
            raise Unwritable(f"the block `{text(each.divisor)}` is not a number")
        found.append(Dimension(_axes_of(each.whole, room), each.whole, each.divisor.value))
    rows = digits[len(outer) :]
    return _with_small(found, rows, room), rows


def _with_small(
    dimensions: list[Dimension], rows: list[Digit], room: Mapping[str, int | None]
) -> list[Dimension]:
    """Return the dimensions with those no larger than their block, which have no quotient.

    The remainders of a tile come in the order of its dimensions; each small one is put before that
    whose remainder comes next, and else behind all, where tiles cut.
    """
    found = list(dimensions)
    firsts = [
        each for n, each in enumerate(rows) if not any(same(each.whole, r.whole) for r in rows[:n])
    ]
    place = len(found)
    for each in reversed(firsts):
        at = next((n for n, other in enumerate(found) if same(other.whole, each.whole)), None)
        block = _block_of_all(each, room) if at is None else None
        if block is not None:
            found.insert(place, Dimension(_axes_of(each.whole, room), each.whole, block))
        place = place if at is None else at
    return found


def _block_of_all(each: Digit, room: Mapping[str, int | None]) -> int | None:
    """Return the elements that a digit and those below it tell apart, if there are no more."""
    elements = [room[name] for name in _axes_of(each.whole, room)]
    match each.divisor, each.radix:
        case Constant(divisor), Constant(radix) if None not in elements:
            few = prod(count or 0 for count in elements) <= divisor * radix
            return divisor * radix if few else None
    return None


def _axes_of(whole: Expr, known: Container[str]) -> tuple[str, ...]:
    match whole:
        case Index(name) if name in known:
            return (name,)
        case MixedRadix(parts):
            return tuple(name for part in parts for name in _axes_of(part.value, known))
    raise Unwritable(f"`{text(whole)}` is joined of more than dimensions")


def tiles_of(dimensions: Sequence[Dimension], rows: list[Digit]) -> tuple[Tile, ...]:
    """Return the tiles, those that are cut first in front.

    Raises:
        Unwritable: the digits do not come in rows.
    """
    found: list[Tile] = []
    left = list(rows)
    current = list(dimensions)
    while any(each.block > 1 for each in current):
        first = next(n for n, each in enumerate(current) if each.block > 1)
        current = current[first:]
        if len(found) > MOST_TILES:
            raise Unwritable("its blocks do not nest as tiles do")
        joined = [0 if found else len(each.axes) - 1 for each in current]
        sizes = [(*[None] * n, each.block) for n, each in zip(joined, current, strict=True)]
        found.append(tuple(size for each in sizes for size in each))
        before = len(left)
        current = [_cut(each, left) for each in current]
        if len(left) == before:
            raise Unwritable("its blocks do not nest as tiles do")
    if left:
        raise Unwritable("its blocks do not nest as tiles do")
    return tuple(found)


def _cut(dimension: Dimension, left: list[Digit]) -> Dimension:
    """Take the digit that stands next, where it is the most major one of the block."""
    found = left[0] if left else None
    if dimension.block == 1 or found is None or not same(found.whole, dimension.whole):
        return dimension
    match found.divisor, found.radix:
        case Constant(divisor), Constant(radix) if divisor * radix == dimension.block:
            left.pop(0)
            return Dimension(dimension.axes, dimension.whole, divisor)
    raise Unwritable("its blocks do not nest as tiles do")
