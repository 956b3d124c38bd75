"""Classes of shapes: where extents are small they are numbers in the code of their class.

A loop of 3 turns, or an edge of a block that 56 never ends in, is worth knowing when C is made, and
the price is a library for each class. Past `MOST` of them, all other shapes are one class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias

from layoutdsl.codegen.loops.moves import Move, Side
from layoutdsl.integers.conditions import Condition
from layoutdsl.integers.expr import CeilDiv, Constant, Extent, extents, walk
from layoutdsl.meaning.model import Layout

SMALL = 64
"""Extents up to it are numbers."""
ROUNDED = 128
"""Likewise of those that a layout rounds up: what ends in a block is known then, and takes long."""
MOST = 32
"""Classes of one function that are compiled."""

ShapeClass: TypeAlias = tuple[tuple[str, int], ...]
"""The extents that are numbers, by name; all others may be anything."""

GENERAL: ShapeClass = ()


def class_of(layout: Layout, shape: tuple[int, ...]) -> ShapeClass:
    """Return the class of a shape, an extent for each axis."""
    rounded = set[str]()
    for coordinate in layout.coordinates:
        for part in walk(coordinate.extent):
            if isinstance(part, CeilDiv):
                rounded |= extents(part)
    found = {
        axis.extent.name: extent
        for axis, extent in zip(layout.element_axes, shape, strict=True)
        if isinstance(axis.extent, Extent)
        if extent <= (ROUNDED if axis.extent.name in rounded else SMALL)
    }
    return tuple(found.items())


def special(layout: Layout, values: Mapping[str, int]) -> Layout:
    """Return a layout with some of its extents fixed.

    Args:
        layout: without open parameters.
        values: extents by name, of a shape that the layout has.
    """
    numbers = {name: Constant(value) for name, value in values.items()}
    made = layout.substituted(numbers)
    axes = tuple(
        replace(axis, extent=numbers.get(axis.extent.name, axis.extent))
        if isinstance(axis.extent, Extent)
        else axis
        for axis in made.axes
    )
    where = tuple(each for each in made.where if extents(each.left) | extents(each.right))
    return replace(made, axes=axes, where=where)


def settled(layout: Layout) -> Layout:
    """Return a layout with those extents fixed that its range says to be a number.

    Args:
        layout: without open parameters, defined for some shape.
    """
    found = dict[str, int]()
    for each in layout.where:
        match each:
            case Condition(Extent(name), "==", Constant(value)):
                found[name] = value
    return special(layout, found)


def special_move(move: Move, found: ShapeClass) -> Move:
    """Return a move for the shapes of one class."""
    values = dict(found)

    def side(each: Side) -> Side:
        return None if each is None else special(each, values)

    return Move(side(move.source), side(move.target))
