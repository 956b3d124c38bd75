"""Where a layout can be taken apart: a run of outermost blocks is a smaller tensor of its own.

A seam goes along one axis, every so many indices. What lies between two of them fills whole blocks
of an outermost coordinate, and lies in them as the same layout puts a tensor of that size. So a
piece is packed by the code of the whole. Further seams go through one outermost block.

Whether that is so is shown by `proof`; here it is only guessed, from the numbers in the layout.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import lcm

from layoutdsl.language.integers.bounds import simplify
from layoutdsl.language.integers.digit import opened
from layoutdsl.language.integers.expr import (
    BitAnd,
    CeilDiv,
    Constant,
    Expr,
    Extent,
    FloorDiv,
    Mod,
    children,
    extents,
    indices,
    substitute,
    text,
)
from layoutdsl.language.meaning.model import Layout

MOST_UNIT = 1 << 16
"""Indices between two seams, at most: what needs more is no outermost block."""


@dataclass(frozen=True, slots=True)
class Seam:
    """Where a layout can be taken apart, where every coordinate before this one is 0.

    Attributes:
        coordinate: its number in `flat`.
        axis: the name of the axis.
        unit: indices of the axis from one seam to the next.
        blocks: values of the coordinate from one seam to the next.
    """

    coordinate: int
    axis: str
    unit: int
    blocks: int


def flat(layout: Layout) -> Layout:
    """Return the layout with its outermost tuples replaced by their parts, which lie alike."""
    return replace(layout, coordinates=opened(layout.coordinates))


def extent_of(layout: Layout, axis: str) -> Extent:
    """Return the extent of an axis that has a seam."""
    extent = next(each.extent for each in layout.axes if each.name == axis)
    assert isinstance(extent, Extent)
    return extent


def candidates(layout: Layout, coordinate: int) -> tuple[Seam, ...] | str:
    """Return seams that a coordinate may have, or why it can have none.

    Args:
        layout: a flat one.
        coordinate: its number.
    """
    value = layout.coordinates[coordinate].value
    axes = indices(value)
    if len(axes) != 1:
        return f"`{text(value)}` speaks of several axes" if axes else f"`{text(value)}` is fixed"
    (axis,) = axes
    extent = next(each.extent for each in layout.axes if each.name == axis)
    if not isinstance(extent, Extent):
        return f"axis `{axis}` always has {text(extent)}"
    name = extent.name
    if name in layout.parameters or sum(each.extent == extent for each in layout.axes) > 1:
        return f"the extent `{name}` is not of axis `{axis}` alone"
    if name not in extents(layout.coordinates[coordinate].extent):
        return f"`{text(value)}` has the same extent whatever `{name}` is"
    others = [each for number, each in enumerate(layout.coordinates) if number != coordinate]
    if any(name in extents(each.extent) for each in others) or name in extents(layout.start):
        return f"more than one extent of the buffer depends on `{name}`"
    found = (_seam(layout, coordinate, axis, unit) for unit in _units(layout, axis))
    return tuple(each for each in found if each is not None)


def _seam(layout: Layout, coordinate: int, axis: str, unit: int) -> Seam | None:
    """The seam with this unit: its blocks are as many more as the extent has with a unit more."""
    extent = layout.coordinates[coordinate].extent
    if extents(extent) != {extent_of(layout, axis).name}:
        return None
    found = simplify(substitute(extent, {extent_of(layout, axis).name: Constant(unit)}))
    return Seam(coordinate, axis, unit, found.value) if isinstance(found, Constant) else None


def _units(layout: Layout, axis: str) -> list[int]:
    found = spans(layout, extent_of(layout, axis).name)
    return sorted(each for each in {*found, lcm(*found)} if each <= MOST_UNIT)


def spans(layout: Layout, extent: str) -> set[int]:
    """Return after how many steps of an extent, or of its index, a part may repeat itself."""
    axes = [axis.name for axis in layout.axes if axis.extent == Extent(extent)]
    spoken = [side for each in layout.where for side in (each.left, each.right)]
    for each in layout.coordinates:
        spoken += [each.value, each.extent]
    return {1}.union(*(_spans(each, name) for each in spoken for name in (extent, *axes)))


def _spans(expr: Expr, name: str) -> set[int]:
    if name not in indices(expr) | extents(expr):
        return {1}
    inner = {span for each in children(expr) for span in _spans(each, name)}
    match expr:
        case (
            FloorDiv(_, Constant(number)) | CeilDiv(_, Constant(number)) | Mod(_, Constant(number))
        ):
            return inner | {span * number for span in inner}
        case BitAnd(_, Constant(mask)) | BitAnd(Constant(mask), _):
            return inner | {span << mask.bit_length() for span in inner}
    return inner
