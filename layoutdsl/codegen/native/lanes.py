"""Index bits: which of them the first bytes of a side are, and which boxes are made of them."""

from __future__ import annotations

from math import prod
from typing import Literal, TypeAlias

from layoutdsl.codegen.native.chains import ChainAxis, Chains, Digit
from layoutdsl.codegen.native.network import Bit
from layoutdsl.integers.digit import same
from layoutdsl.integers.expr import Constant

LINE_BYTES = 64

BOX_BYTES = 2048
"""As much of runs is moved without a look at their edges."""

SideName: TypeAlias = Literal["source", "target"]
SIDES: tuple[SideName, SideName] = ("source", "target")


def radix_of(axis: ChainAxis, digit: Digit) -> int | None:
    """Return how many steps a digit has, where that is a number and the same on both sides."""
    if digit.radix is not None:
        return digit.radix
    whole = same(axis.extent, axis.source) and same(axis.extent, axis.target)
    if whole and isinstance(axis.extent, Constant):
        return -(-axis.extent.value // digit.divisor)
    return None


def low_bits(chains: Chains, side: SideName, most: int, least: int = 0) -> tuple[Bit, ...]:
    """Return the index bits of the first elements of a side, as far as these are bits at all.

    Args:
        chains: both sides.
        side: one of them.
        most: how many bits are wanted.
        least: so many are taken even from a digit that goes as far as its axis, which may end, if
            the bits below it are there.
    """
    bits = list[Bit]()
    reach = 1
    while len(bits) < most:
        found = digit_at(chains, side, reach)
        if found is None:
            break
        number, digit = found
        radix = radix_of(chains.axes[number], digit)
        first = digit.divisor.bit_length() - 1
        wanted = most - len(bits)
        if radix is None and first:
            wanted = min(most, least) - len(bits) if bits[-1:] == [(number, first - 1)] else 0
        if digit.divisor != 1 << first or wanted <= 0:
            break
        twos = wanted if radix is None else (radix & -radix).bit_length() - 1
        if radix is not None and chains.axes[number].slides:
            twos = max(twos, radix.bit_length() - 2)  # a last tile starts early: twice at least
        bits += [(number, first + bit) for bit in range(min(twos, wanted))]
        if radix != 1 << twos:
            break
        reach *= 1 << twos
    return tuple(bits)


def digit_at(chains: Chains, side: SideName, stride: int) -> tuple[int, Digit] | None:
    """Return the digit, of more than one step, that has a stride on a side, and its axis."""
    for number, axis in enumerate(chains.axes):
        for digit in axis.digits:
            if radix_of(axis, digit) != 1 and same(getattr(digit, side), Constant(stride)):
                return number, digit
    return None


def extents_of(chains: Chains, bits: tuple[Bit, ...]) -> tuple[int, ...]:
    """Return the extents of the smallest box that has the bits."""
    return tuple(
        1 << max((bit + 1 for axis, bit in bits if axis == number), default=0)
        for number in range(len(chains.axes))
    )


def bits_of(extents: tuple[int, ...]) -> list[Bit]:
    """Return the index bits of a box."""
    return [
        (axis, bit) for axis, each in enumerate(extents) for bit in range(each.bit_length() - 1)
    ]


def made_of_bits(axis: ChainAxis, extent: int) -> bool:
    """Return whether the low part of an axis is made of bits: no digit below is cut otherwise."""
    inner = [digit.divisor for digit in axis.digits if digit.divisor < extent]
    outer = [digit.divisor for digit in axis.digits if digit.divisor >= extent]
    return all(each & (each - 1) == 0 for each in inner) and all(d % extent == 0 for d in outer)


def whole_lines(chains: Chains, extents: tuple[int, ...], width: int) -> tuple[int, ...]:
    """Return the box of whole cache lines of both sides, where such a box is made of bits."""
    found = list(extents)
    for side in SIDES:
        wanted = (LINE_BYTES // width).bit_length() - 1
        lane = low_bits(chains, side, wanted)
        if len(lane) < wanted:
            continue
        wider = tuple(map(_within, chains.axes, extents_of(chains, lane)))
        if all(map(made_of_bits, chains.axes, map(max, found, wider))):
            found = list(map(max, found, wider))
    return tuple(found)


def _within(axis: ChainAxis, extent: int) -> int:
    """An extent that stays below the digit that goes as far as the axis, if there are others."""
    top = axis.digits[-1].divisor
    return extent if len(axis.digits) == 1 else min(extent, top)


def needed(axis: ChainAxis, extent: int, box: int) -> int:
    """Return a box no longer than an axis of a fixed extent has use for."""
    if isinstance(axis.target, Constant) and axis.target.value <= extent:
        return extent
    return box


def fits(axis: ChainAxis, extent: int) -> bool:
    """Return whether the whole of an axis, of a fixed extent, lies in a tile of such an extent.

    Its vectors are then known to be there or not when the text is made.
    """
    match axis.extent, axis.source, axis.target:
        case Constant(valid), Constant(read), Constant(written):
            return valid < extent and all(each in (valid, extent) for each in (read, written))
    return False


def holds(axis: ChainAxis, side: SideName, block: int) -> bool:
    """Return whether the slots of an axis on a side are a multiple of a block."""
    extent = getattr(axis, side)
    if isinstance(extent, Constant):
        return extent.value % block == 0
    return axis.tops[0 if side == "source" else 1] % block == 0


def ends_are_told(
    chains: Chains, extents: tuple[int, ...], stretches: tuple[tuple[Bit, ...], tuple[Bit, ...]]
) -> bool:
    """Return whether a number of first elements says which of a stretch are there, at any edge.

    So it is where the stretch holds the lowest bits of an axis, and nothing above them; not where
    it holds, for example, every fourth index of a last block that is cut off.

    Args:
        chains: both sides.
        extents: of the tile.
        stretches: for each side, the index bits that lie together, most minor first.
    """
    return all(
        _is_told(axis, (side, number), extent, stretch)
        for side, stretch in zip(SIDES, stretches, strict=True)
        for number, (axis, extent) in enumerate(zip(chains.axes, extents, strict=True))
    )


def _is_told(
    axis: ChainAxis, place: tuple[SideName, int], extent: int, stretch: tuple[Bit, ...]
) -> bool:
    side, number = place
    held = [bit for other, bit in stretch if other == number]
    if not held:
        return True
    block = 1 << (max(held) + 1)
    whole = holds(axis, side, block)
    if fits(axis, extent):  # vectors are there or not, as a whole
        padding = side == "source" and not same(axis.extent, axis.target)
        valid = isinstance(axis.extent, Constant) and axis.extent.value % block == 0
        return whole and (valid or not padding)
    return whole or stretch[-len(held) :] == tuple((number, bit) for bit in range(len(held)))


def fixed_box(chains: Chains, boxes: tuple[int, ...], width: int) -> tuple[int, ...]:
    """Return the box that is moved without a look at its edges.

    Digits with a fixed number of steps are taken in, from the most minor of either side, for as
    long as the box stays small.
    """
    if 0 in boxes:
        return boxes
    for side in SIDES:
        reach = 1
        while (found := digit_at(chains, side, reach)) is not None:
            number, digit = found
            radix = radix_of(chains.axes[number], digit)
            if radix is None:
                break
            past, now = digit.divisor * radix, boxes[number]
            if past > now:
                larger = tuple(past if k == number else each for k, each in enumerate(boxes))
                if past % now or digit.divisor > now or prod(larger) * width > BOX_BYTES:
                    break
                boxes = larger
            reach *= radix
    return boxes
