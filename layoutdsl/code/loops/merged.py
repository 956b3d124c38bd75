"""Axes that lie next to each other, whole, on both sides of a move: they are read as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from layoutdsl.code.loops.sides import Cut, SideAxis
from layoutdsl.language.integers.bounds import ONE, ZERO, Polynomial, polynomial, simplify
from layoutdsl.language.integers.digit import same
from layoutdsl.language.integers.expr import Mul

Pair = tuple[SideAxis, SideAxis]


def steps(axis: SideAxis) -> bool:
    """Whether an axis has more than one slot."""
    return bool(axis.cuts) and not same(axis.padded, ONE)


def with_cut(axis: SideAxis) -> SideAxis:
    """An axis with a cut: where it has one slot, it never steps."""
    return axis if axis.cuts else replace(axis, cuts=(Cut(1, ZERO, 0),))


def merged(pairs: list[Pair]) -> list[Pair]:
    """Read axes as one that follow each other in memory, whole, on both sides."""
    left = list(pairs)
    # Polynomials of 64 axes have 64 factors: each is worked out once, and not for each two axes.
    ends = [_ends(pair) for pair in left]
    while (found := _following(ends)) is not None:
        major, minor = found
        left[major] = _joined(left[major], left[minor])
        ends[major] = _ends(left[major])
        del left[minor], ends[minor]
    return left


Ends = tuple[list[Polynomial], list[Polynomial]]
"""Of an axis on both sides: the stride of a step, and that of a step of all that is within."""


def _following(ends: Sequence[Ends | None]) -> tuple[int, int] | None:
    """Return the numbers of the first two axes of which one goes on where the other ends."""
    for major, above in enumerate(ends):
        for minor, below in enumerate(ends):
            if major != minor and above is not None and below is not None and above[0] == below[1]:
                return major, minor
    return None


def _ends(pair: Pair) -> Ends | None:
    """Return the steps of an axis; ``None`` where it is cut, or padded, on a side."""
    if not all(map(_uncut, pair)):
        return None
    within = [polynomial(each.cuts[0].stride) for each in pair]
    beyond = [polynomial(Mul(each.cuts[0].stride, each.extent)) for each in pair]
    return within, beyond


def _uncut(axis: SideAxis) -> bool:
    return len(axis.cuts) == 1 and same(axis.extent, axis.padded)


def _joined(major: Pair, minor: Pair) -> Pair:
    def one(above: SideAxis, below: SideAxis) -> SideAxis:
        extent = simplify(Mul(above.extent, below.extent))
        cut = Cut(1, below.cuts[0].stride, below.cuts[0].place)
        names = (*above.names, *below.names)
        return SideAxis((*above.axes, *below.axes), names, extent, (cut,), extent)

    return one(major[0], minor[0]), one(major[1], minor[1])
