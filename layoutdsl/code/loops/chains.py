"""Two sides over common digits: what a kernel is made from.

Axes that lie next to each other uncut on both sides become one; the cuts of both sides together
cut each axis into digits that have one stride on either side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise
from math import lcm, prod
from typing import Literal

from layoutdsl.code.loops.merged import merged, steps, with_cut
from layoutdsl.code.loops.sides import Apart, Side, SideAxis
from layoutdsl.language.integers.bounds import ZERO, simplify
from layoutdsl.language.integers.digit import same
from layoutdsl.language.integers.expr import CeilDiv, Constant, Expr, Extent, Mul

MOST_BOXED = 256
"""Indices that are moved at once at most, as two sides have no digits in common in them."""


class Ends(Enum):
    """Where axes may end: anywhere in a leaf, or between leaves only."""

    ANY = "any"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Digit:
    """``index / divisor % radix``, with its strides in elements.

    Attributes:
        divisor: indices per step.
        radix: steps; ``None`` for the most major digit, which goes as far as the axis does.
        source: stride.
        target: stride.
        place: orders the digits of the target, and then those of the source, most major first.
    """

    divisor: int
    radix: int | None
    source: Expr
    target: Expr
    place: tuple[int, int]


@dataclass(frozen=True, slots=True)
class ChainAxis:
    """One axis, cut into the digits of both sides.

    Attributes:
        axes: positions in the tensor; several that are read as one, most major first.
        names: of these.
        extent: elements.
        source: indices that have a slot in the source.
        target: indices that have a slot in the target; they are filled beyond the extent.
        digits: most minor first, never empty.
        tops: the divisors of the most major digits of source and target.
        multiple: of this number the extent is known to be one.
        own: the digits of source and of target in the lowest digit, where none of them are common:
            with the strides of their own side alone. The lowest digit then has a stride on neither.
    """

    axes: tuple[int, ...]
    names: tuple[str, ...]
    extent: Expr
    source: Expr
    target: Expr
    digits: tuple[Digit, ...]
    tops: tuple[int, int]
    multiple: int
    own: tuple[tuple[Digit, ...], tuple[Digit, ...]] | None = None

    @property
    def slides(self) -> bool:
        """The axis is one digit, and nothing of it is filled: any part of it is like another."""
        return len(self.digits) == 1 and same(self.extent, self.target)


@dataclass(frozen=True, slots=True)
class Chains:
    """What is moved: axes over common digits, but for the lowest of some.

    Attributes:
        axes: in the order of the tensor.
        source: the side that is read.
        target: the side that is written.
        ends: where axes may end.
        rank: which leaves it is moved by: those that seem to be the fastest, or the next after so
            many.
    """

    axes: tuple[ChainAxis, ...]
    source: Side
    target: Side
    ends: Ends = Ends.ANY
    rank: int = 0

    @property
    def boxed(self) -> tuple[int, ...]:
        """The axes whose lowest digit is moved whole, as neither side has it."""
        return tuple(number for number, axis in enumerate(self.axes) if axis.own is not None)

    def of(self, side: Literal["source", "target"]) -> Chains:
        """Return the same over the digits that a side has."""
        which = 0 if side == "source" else 1
        axes = (
            replace(axis, digits=(*axis.own[which], *axis.digits[1:]), own=None)
            if axis.own is not None
            else axis
            for axis in self.axes
        )
        return replace(self, axes=tuple(axes))


def chains(source: Side, target: Side, known: Mapping[str, int]) -> Chains | Apart:
    """Return the two sides over common digits, or why they have none.

    Args:
        source: what is read.
        target: what is written.
        known: of which number an extent is a multiple, by name, wherever there is anything to do.
    """
    if [each.axes for each in source.axes] != [each.axes for each in target.axes]:
        return Apart("axes are read as one on one side only")
    pairs = list(zip(source.axes, target.axes, strict=True))
    if not all(same(one.extent, other.extent) for one, other in pairs):
        return Apart("the layouts take different shapes")
    pairs = [(with_cut(one), other) for one, other in pairs if steps(other)]
    found = list[ChainAxis]()
    for pair in merged(pairs):
        axis = _refined(*pair, known)
        if isinstance(axis, Apart):
            return axis
        found.append(axis)
    made = Chains(tuple(found), source, target)
    if prod(made.axes[each].digits[1].divisor for each in made.boxed) > MOST_BOXED:
        return Apart("the blocks of several axes have no common digits")
    return made


def _refined(source: SideAxis, target: SideAxis, known: Mapping[str, int]) -> ChainAxis | Apart:
    multiple = multiple_of(source.extent, known)
    tops = source.cuts[-1].divisor, target.cuts[-1].divisor
    source, target = map(_needed, (source, target))
    divisors = sorted({cut.divisor for cut in (*source.cuts, *target.cuts)})
    if isinstance(target.padded, Constant):  # a digit above all slots never steps
        divisors = [each for each in divisors if each < target.padded.value]
    own = None
    for below, above in pairwise(divisors):
        if above % below:
            boxed = _boxed(source, target, divisors)
            if boxed is None:
                return Apart(f"blocks of {below} and {above} have no common digits")
            digits, own = boxed
            break
    else:
        digits = _digits(divisors, source, target)
    slots = _unrounded(source, multiple), _unrounded(target, multiple)
    names, extent = source.names, source.extent
    return ChainAxis(source.axes, names, extent, *slots, digits, tops, multiple, own)


def _digits(divisors: Sequence[int], *sides: SideAxis) -> tuple[Digit, ...]:
    """The digits by some cuts, with the strides of source and target; of a single side, of that."""
    digits = list[Digit]()
    for number, divisor in enumerate(divisors):
        radix = divisors[number + 1] // divisor if number + 1 < len(divisors) else None
        source, target = (_at(each, divisor) for each in (sides[0], sides[-1]))
        digits.append(Digit(divisor, radix, source[0], target[0], (target[1], source[1])))
    return tuple(digits)


def _boxed(
    source: SideAxis, target: SideAxis, divisors: Sequence[int]
) -> tuple[tuple[Digit, ...], tuple[tuple[Digit, ...], tuple[Digit, ...]]] | None:
    """A digit that blocks of both sides fill, the one over it, and the digits of both within it."""
    block = lcm(*divisors)
    if block > MOST_BOXED:
        return None
    (top,) = _digits((block,), source, target)
    lowest = Digit(1, block, ZERO, ZERO, top.place)

    def within(side: SideAxis) -> tuple[Digit, ...]:
        own = sorted({block, *(cut.divisor for cut in side.cuts)} & {block, *divisors})
        return _digits(own, side)[:-1]

    return (lowest, top), (within(source), within(target))


def multiple_of(extent: Expr, known: Mapping[str, int]) -> int:
    """Return a number of which an extent is a multiple, as far as is known."""
    match extent:
        case Constant(value):
            return value
        case Extent(name):
            return known.get(name, 1)
        case Mul(left, right):
            return multiple_of(left, known) * multiple_of(right, known)
    return 1


def _unrounded(side: SideAxis, multiple: int) -> Expr:
    """The slots along an axis: its extent, where to round that up changes nothing."""
    if side.cuts:
        block = side.cuts[-1].divisor
        rounded = Mul(Constant(block), CeilDiv(side.extent, Constant(block)))
        if multiple % block == 0 and same(side.padded, rounded):
            return side.extent
    return side.padded


def _needed(side: SideAxis) -> SideAxis:
    """An axis without the cuts over which it goes on as before."""
    kept = list(side.cuts[:1])
    for cut in side.cuts[1:]:
        steps = Constant(cut.divisor // kept[-1].divisor)
        if cut.divisor % kept[-1].divisor or not same(cut.stride, Mul(kept[-1].stride, steps)):
            kept.append(cut)
    return replace(side, cuts=tuple(kept))


def _at(side: SideAxis, divisor: int) -> tuple[Expr, int]:
    """The stride of a step of ``divisor`` indices, and the place of the digit it lies in."""
    cut = [each for each in side.cuts if divisor % each.divisor == 0 and each.divisor <= divisor][
        -1
    ]
    return simplify(Mul(cut.stride, Constant(divisor // cut.divisor))), cut.place
