"""Classes of shapes: where extents are small they are numbers in the code of their class.

A loop of 3 turns, or an edge of a block that 56 never ends in, is worth knowing when C is made, and
the price is a library for each class. So is that a larger extent fills its pitch, as all rows are
then one copy. Past `MOST` classes, all other shapes are one.

That an extent fills blocks is worth nothing: their ends are seldom met, and boxes are chosen as if
there were none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import lcm
from typing import TypeAlias

from layoutdsl.code.loops.moves import Move, Side
from layoutdsl.language.integers.conditions import Condition
from layoutdsl.language.integers.expr import CeilDiv, Constant, Expr, Extent, Mod, Mul, extents
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.model import Layout, instantiate

SMALL = 128
"""Extents up to it are numbers: where 72 is none, tiles of 64 move most of it twice."""
MOST = 32
"""Classes of one function that are compiled."""

ShapeClass: TypeAlias = tuple[tuple[str, int], ...]
"""The extents that are numbers, by name, and as ``C%16`` with 0 those that fill their pitch; all
others may be anything."""

GENERAL: ShapeClass = ()


def class_of(layout: Layout, shape: tuple[int, ...]) -> ShapeClass:
    """Return the class of a shape, an extent for each axis."""
    pitches = dict[str, int]()
    for coordinate in layout.coordinates:
        match coordinate.extent:
            case Mul(Constant(block), CeilDiv(Extent(name), Constant(by))) if block == by:
                pitches[name] = lcm(pitches.get(name, 1), by)
    found = dict[str, int]()
    for axis, extent in zip(layout.element_axes, shape, strict=True):
        if isinstance(axis.extent, Extent):
            name = axis.extent.name
            if extent <= SMALL:
                found[name] = extent
            elif name in pitches and extent % pitches[name] == 0:
                found[f"{name}%{pitches[name]}"] = 0
    return tuple(found.items())


def special(layout: Layout, values: Mapping[str, int]) -> Layout:
    """Return a layout with what a class knows of its extents.

    Args:
        layout: without open parameters.
        values: of a class that shapes of the layout have, by name.
    """
    numbers, wholes = dict[str, Constant](), dict[str, int]()
    for known, number in values.items():
        name, _, by = known.partition("%")
        if by:
            wholes[name] = int(by)
        else:
            numbers[name] = Constant(number)
    made = instantiate(layout, numbers)
    where = [each for each in made.where if extents(each.left) | extents(each.right)]
    for name, block in wholes.items():
        where.append(Condition(Mod(Extent(name), Constant(block)), "==", Constant(0)))
    coordinates = [replace(c, extent=_rounded(c.extent, wholes)) for c in made.coordinates]
    return replace(made, where=tuple(where), coordinates=tuple(coordinates))


def _rounded(extent: Expr, wholes: Mapping[str, int]) -> Expr:
    """How far a coordinate goes, where what is rounded up is a number, or whole as it is."""
    if not extents(extent):
        return Constant(evaluate(extent, {}))
    match extent:
        case Mul(Constant(block), CeilDiv(Extent(name), Constant(by))) if block == by:
            return Extent(name) if wholes.get(name, 1) % by == 0 else extent
    return extent


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
