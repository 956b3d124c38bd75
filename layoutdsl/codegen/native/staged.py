"""A box that goes through a block of its own, where the digits of one side are no bits.

On that side, such as that of nine bytes for each of sixteen channels, elements lie in stretches
that are not cut into vectors of the other side. A tile turns several stretches round, so that those
of one place in all stretches lie together; from there another tile spreads them. Back the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from layoutdsl.codegen.native.chains import ChainAxis, Chains, Digit
from layoutdsl.codegen.native.lanes import (
    LINE_BYTES,
    SIDES,
    SideName,
    digit_at,
    holds,
    low_bits,
    radix_of,
)
from layoutdsl.codegen.native.sides import Side
from layoutdsl.codegen.native.tiles import Tile, best_tile
from layoutdsl.integers.bounds import ONE, ZERO, simplify
from layoutdsl.integers.digit import same
from layoutdsl.integers.expr import Constant, Expr, Extent, Mul

MOST_BYTES = 8192
"""Bytes of a block, so that two of them stay in the nearest cache."""

APART = "apart"
"""The extent that stands for how far stretches are apart."""


@dataclass(frozen=True, slots=True)
class Staged:
    """A box and the two ways that it takes.

    Attributes:
        extents: for each axis.
        side: where the elements lie in stretches.
        row: the axis that numbers the stretches.
        top: the axis along which a stretch may be shorter.
        step: elements of a stretch for each index of that axis.
        stretch: elements of a whole one.
        turn: between stretches and the block, in which those of one place lie together.
        turn_leaf: what is moved at once of it.
        spread: between the block and the other side.
        spread_leaf: what is moved at once of it.
    """

    extents: tuple[int, ...]
    side: SideName
    row: int
    top: int
    step: int
    stretch: int
    turn: Chains
    turn_leaf: Tile
    spread: Chains
    spread_leaf: Tile

    @property
    def rows(self) -> int:
        """How many stretches there are."""
        return self.extents[self.row]


def staged(chains: Chains, width: int, vector: int) -> Staged | None:
    """Return such a box, where there is one."""
    for side, other in (SIDES, SIDES[::-1]):
        along = _along(chains, side, width)
        if along is None:
            continue
        extents, stretch, top = along
        bits = low_bits(chains, other, (LINE_BYTES // width).bit_length() - 1)
        rows = [bit for bit in bits if extents[bit[0]] == 1]
        row = rows[0][0] if rows else 0
        count = 1 << len(rows)
        if rows != [(row, bit) for bit in range(len(rows))] or count * width < 16:
            continue
        if not _apart_alike(chains.axes[row], side, count):
            continue
        extents = tuple(count if axis == row else each for axis, each in enumerate(extents))
        if count * stretch * width > MOST_BYTES or not _suits(chains, side, extents, (row, top)):
            continue
        turn, spread = _turn(side, count, stretch), _spread(chains, side, extents, row)
        one, two = best_tile(turn, width, vector), best_tile(spread, width, vector)
        if one is None or two is None:
            continue
        base = chains.axes[top].digits[0]
        step = base.source if side == "source" else base.target
        assert isinstance(step, Constant)
        return Staged(extents, side, row, top, step.value, stretch, turn, one, spread, two)
    return None


def _apart_alike(axis: ChainAxis, side: SideName, rows: int) -> bool:
    """Whether each stretch is as far from the one before, whichever digit numbers it."""
    first = getattr(axis.digits[0], side)
    return all(
        same(getattr(digit, side), Mul(first, Constant(digit.divisor)))
        for digit in axis.digits
        if digit.divisor < rows
    )


def _along(chains: Chains, side: SideName, width: int) -> tuple[tuple[int, ...], int, int] | None:
    """The box of the digits that lie together, how many elements that are, and their top axis."""
    extents, reach, top = [1] * len(chains.axes), 1, None
    while (found := digit_at(chains, side, reach)) is not None:
        number, digit = found
        radix = radix_of(chains.axes[number], digit)
        if radix is None or digit.divisor != extents[number]:
            break
        if top not in (None, number) and extents[number] > 1:
            break
        extents[number], reach, top = digit.divisor * radix, reach * radix, number
    if top is None or (reach & -reach) * width < 16:
        return None
    return tuple(extents), reach, top


def _suits(chains: Chains, side: SideName, extents: tuple[int, ...], ends: tuple[int, int]) -> bool:
    """Whether the box ends along two axes at most, and its slots are whole on the other side."""
    other: SideName = "target" if side == "source" else "source"
    for number, (axis, extent) in enumerate(zip(chains.axes, extents, strict=True)):
        if extent == 1:
            continue
        if number in ends:
            if not same(axis.extent, getattr(axis, side)) or not holds(axis, other, extent):
                return False
        elif not all(
            same(each, Constant(extent)) for each in (axis.extent, axis.source, axis.target)
        ):
            return False
    return True


def _turn(side: SideName, rows: int, stretch: int) -> Chains:
    far = Extent(APART)
    twos = stretch & -stretch
    row = _axis(rows, (1,), side, (far, ONE), (0, 1))
    along = _axis(stretch, (1, twos), side, (ONE, Constant(rows)), (1, 0))
    return Chains((row, along), _block(rows * stretch), _block(rows * stretch))


def _axis(
    extent: int,
    divisors: tuple[int, ...],
    side: SideName,
    strides: tuple[Expr, Expr],
    places: tuple[int, int],
) -> ChainAxis:
    """An axis cut at some divisors; strides and places are those outside, and in the block."""
    (one, other), place = strides, (places[1], places[0])
    if side == "target":
        one, other, place = other, one, places
    digits = list[Digit]()
    for divisor, above in pairwise((*divisors, 0)):
        times = Constant(divisor)
        ends = [simplify(Mul(stride, times)) for stride in (one, other)]
        digits.append(Digit(divisor, above // divisor or None, ends[0], ends[1], place))
    whole = Constant(extent)
    return ChainAxis((), whole, whole, whole, tuple(digits), (1, 1))


def _block(size: int) -> Side:
    return Side((), ZERO, Constant(size), ZERO, gaps=False)


def _spread(chains: Chains, side: SideName, extents: tuple[int, ...], row: int) -> Chains:
    axes = list[ChainAxis]()
    for number, (axis, extent) in enumerate(zip(chains.axes, extents, strict=True)):
        if extent == 1:
            continue
        inside = [digit for digit in axis.digits if digit.divisor < extent]
        digits = list[Digit]()
        for position, digit in enumerate(inside):
            radix = digit.radix if position + 1 < len(inside) else None
            stride = _in_block(digit, side, number == row, extents[row])
            turned = len(axes) if number != row else len(chains.axes)
            if side == "source":
                place = (digit.place[0], turned)
                digits.append(Digit(digit.divisor, radix, stride, digit.target, place))
            else:
                place = (turned, digit.place[1])
                digits.append(Digit(digit.divisor, radix, digit.source, stride, place))
        whole = Constant(extent)
        axes.append(ChainAxis(axis.axes, whole, whole, whole, tuple(digits), (1, 1)))
    size = 1
    for each in extents:
        size *= each
    return Chains(tuple(axes), _block(size), _block(size))


def _in_block(digit: Digit, side: SideName, is_row: bool, rows: int) -> Expr:
    if is_row:
        return Constant(digit.divisor)
    return simplify(Mul(getattr(digit, side), Constant(rows)))
