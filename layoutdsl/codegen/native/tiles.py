"""What is moved at once: a run that both sides have in common, a tile of vectors, or a comb.

A tile holds the elements of a vector on either side. Its extents are powers of two, so moving it is
a permutation of index bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from operator import le

from layoutdsl.codegen.native.chains import Chains
from layoutdsl.codegen.native.lanes import (
    SIDES,
    SideName,
    bits_of,
    ends_are_told,
    extents_of,
    fits,
    fixed_box,
    low_bits,
    made_of_bits,
    needed,
    whole_lines,
)
from layoutdsl.codegen.native.network import (
    LANE_BITS,
    Bit,
    Lane,
    Stage,
    exchanges,
    network,
)

MOST_VECTORS = 32
MOST_AT_ONCE = 16
"""Vectors that may depend on each other; registers are scarce."""
ANY_BYTES = 64
"""Machines with vectors of so many bytes pick any of the bytes of two vectors at once."""


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
        runs: for each side, how many of its lane bits are one stretch of memory; the others number
            the stretches of a vector.
        stages: from one to the other.
        lines: for each axis, the extent of the box that whole cache lines of both sides hold.
    """

    extents: tuple[int, ...]
    source: Lane
    target: Lane
    runs: tuple[int, int]
    stages: tuple[Stage, ...]
    lines: tuple[int, ...]

    @property
    def vector(self) -> int:
        """Bytes of a vector."""
        return 1 << len(self.source)

    def vectors(self, width: int) -> int:
        """Return how many vectors there are."""
        return max(1, prod(self.extents) * width // self.vector)

    def work(self) -> float:
        """Return roughly how many instructions each vector takes, for each of its bytes."""
        stretches = sum(1 << (len(self.source) - run) for run in self.runs)
        return (2 * stretches - 2 + len(self.stages)) / self.vector


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


def best_tile(chains: Chains, width: int, vector: int) -> Tile | None:
    """Return the tile that takes the fewest instructions, if there is one."""
    tiles = [_lanes_apart(chains, width, vector)]
    if vector == ANY_BYTES:
        tiles.append(_any_bytes(chains, width))
    return min((each for each in tiles if each is not None), key=Tile.work, default=None)


def _lanes_apart(chains: Chains, width: int, vector: int) -> Tile | None:
    """Return the tile of vectors of 16 bytes, or of wider ones that hold several side by side."""
    fixed = width.bit_length() - 1
    lane = LANE_BITS - fixed
    source, target = (low_bits(chains, side, lane, lane) for side in SIDES)
    if len(source) < lane or len(target) < lane:
        return None
    extents = extents_of(chains, (*source, *target))
    if not all(map(made_of_bits, chains.axes, extents)):
        return None
    if not ends_are_told(chains, extents, (source, target)):
        return None
    if width * prod(extents) // 16 > MOST_VECTORS:
        return None
    inside = tuple((-1, bit) for bit in range(fixed))
    start, goal = (*inside, *source), (*inside, *target)
    rest = frozenset(bits_of(extents)) - frozenset(source)
    stages = network(start, goal, rest, fixed)
    if stages is None:
        return None
    lines = whole_lines(chains, extents, width)
    most = (vector // 16).bit_length() - 1
    wide, joined = _wide(chains, extents, lines, most, (source, target))
    stages = tuple(Stage((*each.lane, *wide), each.bit, each.dropped) for each in stages)
    extents = extents_of(chains, (*bits_of(extents), *wide))
    one, other = (LANE_BITS + (len(wide) if side in joined else 0) for side in SIDES)
    box = _box(chains, extents, lines, width)
    return Tile(extents, (*start, *wide), (*goal, *wide), (one, other), stages, box)


def _box(
    chains: Chains, extents: tuple[int, ...], lines: tuple[int, ...], width: int
) -> tuple[int, ...]:
    box = fixed_box(chains, tuple(map(max, lines, extents)), width)
    return tuple(map(needed, chains.axes, extents, box))


def _any_bytes(chains: Chains, width: int) -> Tile | None:
    """Return the tile of vectors of 64 bytes, each of stretches of 16 bytes or more."""
    fixed, lane = width.bit_length() - 1, ANY_BYTES.bit_length() - 1
    source, target = (low_bits(chains, side, lane - fixed, LANE_BITS - fixed) for side in SIDES)
    if min(len(source), len(target)) < LANE_BITS - fixed:
        return None
    start = (*source, *(bit for bit in target if bit not in source))[: lane - fixed]
    goal = (*target, *(bit for bit in start if bit not in target))[: lane - fixed]
    extents = extents_of(chains, (*source, *target))
    if len(start) < lane - fixed or not all(map(made_of_bits, chains.axes, extents)):
        return None
    if not ends_are_told(chains, extents, (source, target)):
        return None
    if set(bits_of(extents)) != {*source, *target}:
        return None
    if width * prod(extents) // ANY_BYTES > MOST_VECTORS or any(map(fits, chains.axes, extents)):
        return None
    inside = tuple((-1, bit) for bit in range(fixed))
    start, goal = (*inside, *start), (*inside, *goal)
    stages = exchanges(start, goal, fixed)
    if 1 << len(stages) > MOST_AT_ONCE:
        return None
    runs = (len(source) + fixed, len(target) + fixed)
    box = _box(chains, extents, whole_lines(chains, extents, width), width)
    return Tile(extents, start, goal, runs, stages, box)


def _wide(
    chains: Chains,
    extents: tuple[int, ...],
    lines: tuple[int, ...],
    wanted: int,
    lanes: tuple[Lane, Lane],
) -> tuple[tuple[Bit, ...], tuple[SideName, ...]]:
    """Return the bits that number the lanes of wide vectors: those that follow a lane in memory."""
    inside, lane = bits_of(extents), len(lanes[0])
    best: tuple[tuple[Bit, ...], tuple[SideName, ...]] = (), ()
    most = -1
    for count in range(wanted, 0, -1):
        for side in SIDES[::-1]:
            bits = low_bits(chains, side, lane + count)
            if len(bits) < lane + count:
                continue
            wide = bits[lane:]
            larger = extents_of(chains, (*inside, *wide))
            apart = not set(wide) & set(inside) and len(bits_of(larger)) == len(inside) + count
            held = sum(map(fits, chains.axes, larger))
            one, other = (bits if each == side else lanes[SIDES.index(each)] for each in SIDES)
            told = ends_are_told(chains, larger, (one, other))
            if apart and told and held > most and all(map(le, larger, lines)):
                best, most = (wide, (side,)), held
    return best
