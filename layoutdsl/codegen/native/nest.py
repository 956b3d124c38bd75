"""The loops around what is moved at once, from the outermost to the innermost.

Loops over whole boxes of cache lines come first, in the order of the target, then those inside such
a box. The first loops, whose counts depend on nothing but the shape, are counted as one: its steps
are the units that threads share.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from layoutdsl.codegen.native.chains import ChainAxis, Chains, Digit
from layoutdsl.codegen.native.lanes import SIDES, SideName, digit_at, fixed_box, radix_of
from layoutdsl.codegen.native.leaves import Leaf
from layoutdsl.codegen.native.staged import Staged
from layoutdsl.codegen.native.tiles import Comb, Run, Tile
from layoutdsl.integers.bounds import product, simplify
from layoutdsl.integers.digit import same
from layoutdsl.integers.expr import CeilDiv, Constant, Expr, Mul

BLOCK_BYTES = 512
"""Where a box writes so many bytes in one place, boxes are taken in the order of the source."""

FEW_BLOCKS = 4
"""Up to so many blocks along the axis of its runs, a side that is cut is gone through in order."""


@dataclass(frozen=True, slots=True)
class Loop:
    """One loop.

    Attributes:
        axis: whose index grows.
        step: indices per turn.
        count: turns; with ``ragged`` no more than the slots of the axis leave.
        source: elements per turn.
        target: elements per turn.
        ragged: the axis may end inside.
        slides: the last turn starts early enough to be a whole one, where the extent is a multiple
            of so many; 0 for never.
    """

    axis: int
    step: int
    count: Expr
    source: Expr
    target: Expr
    ragged: bool
    slides: int

    def sliding(self, axis: ChainAxis) -> Digit:
        """Return the digit by which the last turn starts early."""
        return next(digit for digit in axis.digits if digit.divisor == self.slides)


@dataclass(frozen=True, slots=True)
class Nest:
    """All loops.

    Attributes:
        units: the loops that are counted as one.
        loops: those inside, from the outermost, down to one box.
        inner: those inside a box.
        boxes: for each axis, the indices that a box holds; the whole axis for 0.
        steps: for each axis, the indices that are moved at once; the whole axis for 0.
    """

    units: tuple[Loop, ...]
    loops: tuple[Loop, ...]
    inner: tuple[Loop, ...]
    boxes: tuple[int, ...]
    steps: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """Two orders for runs that are blocks of an axis on one side and lie together on the other.

    The whole side is gone through in order, and the other then is as many streams as there are
    blocks. Where these are few, or lines would be written in parts, it is the other way round.

    Attributes:
        blocks: how many there are along the axis of a run.
        bytes: of a run.
        cut: the side that has the blocks.
    """

    blocks: Expr
    bytes: int
    cut: SideName


def choice(chains: Chains, leaf: Leaf, width: int) -> Choice | None:
    """Return the two orders, where the shape decides between them."""
    if not isinstance(leaf, Run) or leaf.axis is None or leaf.count is None:
        return None
    tops = [axis.tops for axis in chains.axes]
    one_side = all(one == 1 for one, _ in tops) or all(other == 1 for _, other in tops)
    bytes_ = leaf.count * width
    if not one_side or bytes_ >= BLOCK_BYTES or not _majors_first(chains):
        return None
    axis = chains.axes[leaf.axis]
    if max(axis.tops) != leaf.count:
        return None
    blocks = simplify(CeilDiv(axis.target, Constant(leaf.count)))
    return Choice(blocks, bytes_, SIDES[axis.tops.index(leaf.count)])


def nest(chains: Chains, leaf: Leaf, width: int, *, by_source: bool = False) -> Nest:
    """Return the loops around a leaf.

    Args:
        chains: what is moved.
        leaf: what is moved at once.
        width: bytes of an element.
        by_source: in the order of the source, of two that there are.
    """
    match leaf:
        case Tile():
            steps, lines = leaf.extents, leaf.lines
        case Staged():
            steps, lines = leaf.extents, leaf.extents
        case Run():
            steps = tuple(
                (leaf.count or 0) if number == leaf.axis else 1
                for number in range(len(chains.axes))
            )
            lines = fixed_box(chains, steps, width)
        case Comb():
            steps = tuple(
                0
                if number == leaf.axis
                else (radix_of(axis, axis.digits[0]) or 1)
                if number in leaf.teeth
                else 1
                for number, axis in enumerate(chains.axes)
            )
            lines = steps
    outer, inner = list[_Placed](), list[_Placed]()
    for number, axis in enumerate(chains.axes):
        if not steps[number]:
            continue
        for placed in _loops(number, axis, steps[number], lines[number]):
            (outer if placed.loop.step >= lines[number] else inner).append(placed)
    run = isinstance(leaf, Run) and (by_source or _long(chains, leaf, width))
    blocks = isinstance(leaf, Tile) and _block(chains, lines) * width >= BLOCK_BYTES
    boxes = _source_order if run or (blocks and _majors_first(chains)) else _order
    ordered = [each.loop for each in sorted(outer, key=boxes)]
    box = [each.loop for each in sorted(inner, key=_source_order if run else _order)]
    shared, most = 0, len(outer) if isinstance(leaf, Comb) else len(outer) - 1
    while shared < most and not ordered[shared].ragged and not ordered[shared].slides:
        shared += 1
    if chains.target.gaps:
        shared = 0
    units, loops = tuple(ordered[:shared]), tuple(ordered[shared:])
    return Nest(units, loops, tuple(box), lines, steps)


@dataclass(frozen=True, slots=True)
class _Placed:
    loop: Loop
    place: tuple[int, int]


def _order(placed: _Placed) -> tuple[int, int, int]:
    return placed.place[0], -placed.loop.step, placed.place[1]


def _source_order(placed: _Placed) -> tuple[int, int, int]:
    return placed.place[1], -placed.loop.step, placed.place[0]


def _long(chains: Chains, run: Run, width: int) -> bool:
    """Whether the order of the source suits at every shape: runs that may be long, cut there."""
    if not _majors_first(chains):
        return False
    if run.count is not None:
        return run.count * width >= BLOCK_BYTES
    tops = [axis.tops for axis in chains.axes]
    return any(source > 1 for source, _ in tops) and all(target == 1 for _, target in tops)


def _majors_first(chains: Chains) -> bool:
    """Whether major digits come before minor ones, which say how many of them are left."""
    return all(
        major.place[1] <= minor.place[1]
        for axis in chains.axes
        for minor, major in pairwise(axis.digits)
    )


def _block(chains: Chains, box: tuple[int, ...]) -> int:
    """How many elements of a box lie together in the target."""
    reach = 1
    while (found := digit_at(chains, "target", reach)) is not None:
        number, digit = found
        held = box[number] // digit.divisor
        if digit.radix is not None and held >= digit.radix:
            reach *= digit.radix
        else:
            return reach * max(1, held)
    return reach


def _loops(number: int, axis: ChainAxis, step: int, line: int) -> list[_Placed]:
    divisors = sorted({each.divisor for each in axis.digits if each.divisor > step} | {step, line})
    found = list[_Placed]()
    for position, divisor in enumerate(divisors):
        digit = [each for each in axis.digits if each.divisor <= divisor][-1]
        times = Constant(divisor // digit.divisor)
        source, target = simplify(Mul(digit.source, times)), simplify(Mul(digit.target, times))
        if position + 1 == len(divisors):
            count, ragged = simplify(CeilDiv(axis.target, Constant(divisor))), False
        else:
            above = divisors[position + 1]
            count, ragged = Constant(above // divisor), not _holds_whole(axis, above)
        slides = _slides(axis, divisor) if divisor == line > 1 else 0
        loop = Loop(number, divisor, count, source, target, ragged, slides)
        if count != Constant(1):
            found.append(_Placed(loop, digit.place))
    return found


def _slides(axis: ChainAxis, step: int) -> int:
    """Of how many indices the extent has to be a multiple, so that a last step starts early."""
    if axis.slides:
        return 1
    top = axis.digits[-1].divisor
    padded = simplify(Mul(Constant(top), CeilDiv(axis.extent, Constant(top))))
    free = all(same(each, axis.extent) or same(each, padded) for each in (axis.source, axis.target))
    return top if free and step > top and step % top == 0 else 0


def _holds_whole(axis: ChainAxis, block: int) -> bool:
    """Whether the slots of the target are a multiple of a block."""
    if isinstance(axis.target, Constant):
        return axis.target.value % block == 0
    return axis.tops[1] % block == 0


def units(nest: Nest) -> Expr:
    """Return how many units there are."""
    return simplify(product((Constant(1), *(loop.count for loop in nest.units))))
