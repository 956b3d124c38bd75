"""What is moved at once: a run that both sides have in common, or a tile of vectors.

A tile holds the elements of a vector of 16 bytes on either side. Its extents are powers of two, so
moving it is a permutation of index bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from operator import le
from typing import Literal, TypeAlias

from layoutdsl.codegen.native.chains import ChainAxis, Chains, Digit
from layoutdsl.codegen.native.network import LANE_BITS, Bit, Lane, Stage, network
from layoutdsl.digits import same
from layoutdsl.expr import Constant

LINE_BYTES = 64
MOST_VECTORS = 32
WIDE_RUN = 8
"""Bytes from which a run is copied as it is."""

BOX_BYTES = 2048
"""As much of runs is moved without a look at their edges."""

SideName: TypeAlias = Literal["source", "target"]
SIDES: tuple[SideName, SideName] = ("source", "target")


@dataclass(frozen=True, slots=True)
class Run:
    """Elements that lie next to each other, in one order, on both sides.

    Attributes:
        axis: that they run along; ``None`` for a single element.
        count: elements; ``None`` where the run is the whole axis.
    """

    axis: int | None
    count: int | None


@dataclass(frozen=True, slots=True)
class Tile:
    """A box of index bits and the network that turns its vectors round.

    Attributes:
        extents: for each axis, a power of two.
        source: lane bits of the vectors that are loaded, most minor first.
        target: lane bits of the vectors that are stored.
        stages: from one to the other.
        wide: bits, of the tile and of no lane, that number the lanes of one wide vector.
        joined: the sides on which the lanes of a wide vector lie next to each other.
        lines: for each axis, the extent of the box that whole cache lines of both sides hold.
    """

    extents: tuple[int, ...]
    source: Lane
    target: Lane
    stages: tuple[Stage, ...]
    wide: tuple[Bit, ...]
    joined: tuple[SideName, ...]
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Comb:
    """A few elements that lie together on one side, and as many long rows on the other.

    Three planes that become triples, and back: the compiler's own vectors do it best.

    Attributes:
        axis: along the rows, moved whole.
        teeth: the axes, all of fixed extents, that lie together, the most minor first.
    """

    axis: int
    teeth: tuple[int, ...]


Leaf: TypeAlias = Run | Tile | Comb


def leaf(chains: Chains, width: int, vector: int) -> Leaf:
    """Return what is moved at once, for elements of ``width`` bytes: 1, 2, 4 or 8.

    Args:
        chains: the two sides.
        width: bytes of an element.
        vector: bytes of the widest vector: 16, 32 or 64.
    """
    run = common_run(chains)
    if run.count is None or run.count * width >= WIDE_RUN:
        return run
    return _tile(chains, width, vector) or _comb(chains) or run


MOST_TEETH = 16


def _comb(chains: Chains) -> Comb | None:
    for rows, other in (SIDES, SIDES[::-1]):
        found = _digit_at(chains, rows, 1)
        if found is None or not chains.axes[found[0]].slides:
            continue
        axis, digit = found
        together = getattr(digit, other)
        teeth, reach = list[int](), 1
        while not same(together, Constant(reach)):
            held = _digit_at(chains, other, reach)
            if held is None or len(chains.axes[held[0]].digits) > 1:
                break
            radix = radix_of(chains.axes[held[0]], held[1])
            if radix is None or reach * radix > MOST_TEETH:
                break
            teeth.append(held[0])
            reach *= radix
        else:
            if teeth:
                return Comb(axis, tuple(teeth))
    return None


def common_run(chains: Chains) -> Run:
    """Return the longest run along one axis that both sides share."""
    for number, axis in enumerate(chains.axes):
        count = 1
        for digit in axis.digits:
            if digit.divisor != count or not _both(digit, count):
                break
            radix = radix_of(axis, digit)
            if radix is None:
                return Run(number, None)
            count *= radix
        if count > 1:
            return Run(number, count)
    return Run(None, 1)


def _both(digit: Digit, stride: int) -> bool:
    return same(digit.source, Constant(stride)) and same(digit.target, Constant(stride))


def radix_of(axis: ChainAxis, digit: Digit) -> int | None:
    """Return how many steps a digit has, where that is a number and the same on both sides."""
    if digit.radix is not None:
        return digit.radix
    whole = same(axis.extent, axis.source) and same(axis.extent, axis.target)
    if whole and isinstance(axis.extent, Constant):
        return -(-axis.extent.value // digit.divisor)
    return None


def _tile(chains: Chains, width: int, vector: int) -> Tile | None:
    fixed = width.bit_length() - 1
    source, target = (_lane(chains, side, LANE_BITS - fixed) for side in ("source", "target"))
    if source is None or target is None:
        return None
    extents = _extents(chains, (*source, *target))
    vectors = width * _product(extents) // 16
    if not all(map(_pure, chains.axes, extents)) or vectors > MOST_VECTORS:
        return None
    inside = tuple((-1, bit) for bit in range(fixed))
    start, goal = (*inside, *source), (*inside, *target)
    rest = frozenset(_bits(extents)) - frozenset(source)
    stages = _network(start, goal, rest, fixed)
    if stages is None:
        return None
    lines = _lines(chains, extents, width)
    wide, joined = _wide(chains, extents, lines, (vector // 16).bit_length() - 1, LANE_BITS - fixed)
    extents = _extents(chains, (*_bits(extents), *wide))
    box = fixed_box(chains, tuple(map(max, lines, extents)), width)
    box = tuple(map(_needed, chains.axes, extents, box))
    return Tile(extents, start, goal, stages, wide, joined, box)


def _wide(
    chains: Chains, extents: tuple[int, ...], lines: tuple[int, ...], wanted: int, lane: int
) -> tuple[tuple[Bit, ...], tuple[SideName, ...]]:
    """The bits that number the lanes of wide vectors: those that follow a lane in memory."""
    inside = _bits(extents)
    best: tuple[tuple[Bit, ...], tuple[SideName, ...]] = (), ()
    most = -1
    for count in range(wanted, 0, -1):
        for side in SIDES[::-1]:
            bits = _lane(chains, side, lane + count)
            if bits is None:
                continue
            wide = bits[lane:]
            larger = _extents(chains, (*inside, *wide))
            apart = not set(wide) & set(inside) and len(_bits(larger)) == len(inside) + count
            held = sum(map(fits, chains.axes, larger))
            if apart and held > most and all(map(le, larger, lines)):
                best, most = (wide, (side,)), held
    return best


def fits(axis: ChainAxis, extent: int) -> bool:
    """Return whether the whole of an axis, of a fixed extent, lies in a tile of such an extent.

    Its vectors are then known to be there or not when the text is made.
    """
    match axis.extent, axis.source, axis.target:
        case Constant(valid), Constant(read), Constant(written):
            return valid < extent and all(each in (valid, extent) for each in (read, written))
    return False


_network = lru_cache(maxsize=256)(network)


def _lane(chains: Chains, side: SideName, needed: int) -> tuple[Bit, ...] | None:
    """The index bits of the first ``2**needed`` elements of a side, where they are bits at all."""
    bits = list[Bit]()
    reach = 1
    while len(bits) < needed:
        found = _digit_at(chains, side, reach)
        if found is None:
            return None
        number, digit = found
        radix = radix_of(chains.axes[number], digit)
        first = digit.divisor.bit_length() - 1
        if digit.divisor != 1 << first or (radix is None and first):
            return None
        wanted = needed - len(bits)
        twos = wanted if radix is None else (radix & -radix).bit_length() - 1
        bits += [(number, first + bit) for bit in range(min(twos, wanted))]
        if len(bits) < needed and radix != 1 << twos:
            return None
        reach *= 1 << twos
    return tuple(bits)


def _digit_at(chains: Chains, side: SideName, stride: int) -> tuple[int, Digit] | None:
    for number, axis in enumerate(chains.axes):
        for digit in axis.digits:
            if radix_of(axis, digit) != 1 and same(getattr(digit, side), Constant(stride)):
                return number, digit
    return None


def _extents(chains: Chains, bits: tuple[Bit, ...]) -> tuple[int, ...]:
    return tuple(
        1 << max((bit + 1 for axis, bit in bits if axis == number), default=0)
        for number in range(len(chains.axes))
    )


def _pure(axis: ChainAxis, extent: int) -> bool:
    """Whether the low part of an axis is made of bits: no digit below is cut otherwise."""
    inner = [digit.divisor for digit in axis.digits if digit.divisor < extent]
    outer = [digit.divisor for digit in axis.digits if digit.divisor >= extent]
    return all(each & (each - 1) == 0 for each in inner) and all(d % extent == 0 for d in outer)


def _bits(extents: tuple[int, ...]) -> list[Bit]:
    return [
        (axis, bit) for axis, each in enumerate(extents) for bit in range(each.bit_length() - 1)
    ]


def _lines(chains: Chains, extents: tuple[int, ...], width: int) -> tuple[int, ...]:
    """The box that holds whole cache lines of both sides, where such a box is made of bits."""
    found = list(extents)
    for side in SIDES:
        lane = _lane(chains, side, (LINE_BYTES // width).bit_length() - 1)
        if lane is None:
            continue
        wider = tuple(map(_within, chains.axes, _extents(chains, lane)))
        if all(map(_pure, chains.axes, map(max, found, wider))):
            found = list(map(max, found, wider))
    return tuple(found)


def _needed(axis: ChainAxis, extent: int, box: int) -> int:
    """A box no longer than an axis of a fixed extent has use for."""
    if isinstance(axis.target, Constant) and axis.target.value <= extent:
        return extent
    return box


def _within(axis: ChainAxis, extent: int) -> int:
    """An extent that stays below the digit that goes as far as the axis, if there are others."""
    top = axis.digits[-1].divisor
    return extent if len(axis.digits) == 1 else min(extent, top)


def fixed_box(chains: Chains, boxes: tuple[int, ...], width: int) -> tuple[int, ...]:
    """Return the box that is moved without a look at its edges.

    Digits with a fixed number of steps are taken in, from the most minor of either side, for as
    long as the box stays small.
    """
    if 0 in boxes:
        return boxes
    for side in SIDES:
        reach = 1
        while (found := _digit_at(chains, side, reach)) is not None:
            number, digit = found
            radix = radix_of(chains.axes[number], digit)
            if radix is None:
                break
            past, now = digit.divisor * radix, boxes[number]
            if past > now:
                larger = tuple(past if k == number else each for k, each in enumerate(boxes))
                if past % now or digit.divisor > now or _product(larger) * width > BOX_BYTES:
                    break
                boxes = larger
            reach *= radix
    return boxes


def _product(numbers: tuple[int, ...]) -> int:
    total = 1
    for number in numbers:
        total *= number
    return total
