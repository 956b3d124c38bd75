"""Axes that lie next to each other, whole, on both sides of a move: they are read as one."""

from __future__ import annotations

from dataclasses import replace

from layoutdsl.codegen.loops.sides import Cut, SideAxis
from layoutdsl.integers.bounds import ONE, ZERO, simplify
from layoutdsl.integers.digit import same
from layoutdsl.integers.expr import Mul

Pair = tuple[SideAxis, SideAxis]


def steps(axis: SideAxis) -> bool:
    """Whether an axis has more than one slot."""
    return bool(axis.cuts) and not same(axis.padded, ONE)


def with_cut(axis: SideAxis) -> SideAxis:
    """An axis with a cut: where it has one slot, it never steps."""
    return axis if axis.cuts else replace(axis, cuts=(Cut(1, ZERO, 0),))


def merged(pairs: list[Pair]) -> list[Pair]:
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
