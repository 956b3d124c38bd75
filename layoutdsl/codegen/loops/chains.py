"""Two sides over common digits: what a kernel is made from.

Axes that lie next to each other uncut on both sides become one; the cuts of both sides together
cut each axis into digits that have one stride on either side.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise

from layoutdsl.codegen.loops.sides import Apart, Cut, Side, SideAxis
from layoutdsl.integers.bounds import ONE, ZERO, simplify
from layoutdsl.integers.digit import same
from layoutdsl.integers.expr import CeilDiv, Constant, Expr, Extent, Mul


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
    """

    axes: tuple[int, ...]
    names: tuple[str, ...]
    extent: Expr
    source: Expr
    target: Expr
    digits: tuple[Digit, ...]
    tops: tuple[int, int]
    multiple: int

    @property
    def slides(self) -> bool:
        """The axis is one digit, and nothing of it is filled: any part of it is like another."""
        return len(self.digits) == 1 and same(self.extent, self.target)


@dataclass(frozen=True, slots=True)
class Chains:
    """What is moved: axes over common digits.

    Attributes:
        axes: in the order of the tensor.
        source: the side that is read.
        target: the side that is written.
        ends: where axes may end.
    """

    axes: tuple[ChainAxis, ...]
    source: Side
    target: Side
    ends: Ends = Ends.ANY


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
    pairs = [(_cut(one), other) for one, other in pairs if _steps(other)]
    found = list[ChainAxis]()
    for pair in _merged(pairs):
        axis = _refined(*pair, known)
        if isinstance(axis, Apart):
            return axis
        found.append(axis)
    return Chains(tuple(found), source, target)


Pair = tuple[SideAxis, SideAxis]


def _steps(axis: SideAxis) -> bool:
    """Whether an axis has more than one slot."""
    return bool(axis.cuts) and not same(axis.padded, ONE)


def _cut(axis: SideAxis) -> SideAxis:
    """An axis with a cut: where it has one slot, it never steps."""
    return axis if axis.cuts else replace(axis, cuts=(Cut(1, ZERO, 0),))


def _merged(pairs: list[Pair]) -> list[Pair]:
    """Read axes as one that follow each other in memory, whole, on both sides."""
    left, progress = list(pairs), True
    while progress:
        progress = False
        for major in left:
            minor = next((m for m in left if m is not major and _follow(major, m)), None)
            if minor is not None:
                left[left.index(major)] = _joined(major, minor)
                left.remove(minor)
                progress = True
                break
    return left


def _follow(major: Pair, minor: Pair) -> bool:
    return all(map(_uncut, (*major, *minor))) and all(
        same(above.cuts[0].stride, Mul(below.cuts[0].stride, below.extent))
        for above, below in zip(major, minor, strict=True)
    )


def _uncut(axis: SideAxis) -> bool:
    return len(axis.cuts) == 1 and same(axis.extent, axis.padded)


def _joined(major: Pair, minor: Pair) -> Pair:
    def one(above: SideAxis, below: SideAxis) -> SideAxis:
        extent = simplify(Mul(above.extent, below.extent))
        cut = Cut(1, below.cuts[0].stride, below.cuts[0].place)
        names = (*above.names, *below.names)
        return SideAxis((*above.axes, *below.axes), names, extent, (cut,), extent)

    return one(major[0], minor[0]), one(major[1], minor[1])


def _refined(source: SideAxis, target: SideAxis, known: Mapping[str, int]) -> ChainAxis | Apart:
    multiple = multiple_of(source.extent, known)
    tops = source.cuts[-1].divisor, target.cuts[-1].divisor
    source, target = map(_needed, (source, target))
    divisors = sorted({cut.divisor for cut in (*source.cuts, *target.cuts)})
    if isinstance(target.padded, Constant):  # a digit above all slots never steps
        divisors = [each for each in divisors if each < target.padded.value]
    for below, above in pairwise(divisors):
        if above % below:
            return Apart(f"blocks of {below} and {above} have no common digits")
    digits = list[Digit]()
    for number, divisor in enumerate(divisors):
        radix = divisors[number + 1] // divisor if number + 1 < len(divisors) else None
        strides = [_at(side, divisor) for side in (source, target)]
        place = (strides[1][1], strides[0][1])
        digits.append(Digit(divisor, radix, strides[0][0], strides[1][0], place))
    slots = _unrounded(source, multiple), _unrounded(target, multiple)
    names, extent = source.names, source.extent
    return ChainAxis(source.axes, names, extent, *slots, tuple(digits), tops, multiple)


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
