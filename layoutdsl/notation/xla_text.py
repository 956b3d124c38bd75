"""A layout as XLA writes it: order, tiles, alignment of the tail, and the shape where it is known.

What was found is read again by the reader's rules, and has to be the layout.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from layoutdsl.language.integers.bounds import ONE, product, simplify
from layoutdsl.language.integers.digit import Digit, read, same
from layoutdsl.language.integers.expr import (
    CeilDiv,
    Constant,
    Coordinate,
    Expr,
    Extent,
    Index,
    MixedRadix,
    Mul,
    text,
)
from layoutdsl.language.meaning.elements import FillAny, FillValue
from layoutdsl.language.meaning.model import Axis, Layout
from layoutdsl.notation.notation import Unwritable
from layoutdsl.notation.places import refuse_fill, refuse_start
from layoutdsl.notation.xla_tiles import Tile
from layoutdsl.notation.xla_types import element, name
from layoutdsl.notation.xla_written import PADDING, Room, Written

MOST_TILES = 16


@dataclass(frozen=True, slots=True)
class Dimension:
    """One dimension, or several joined by ``*``; ``block`` elements of it are cut further."""

    axes: tuple[str, ...]
    whole: Expr
    block: int


def dimensions_of(
    digits: list[Digit], room: Mapping[str, int | None]
) -> tuple[list[Dimension], list[Digit]]:
    """Return the dimensions from the most major, and the digits of their blocks.

    Args:
        digits: of the layout, most major first.
        room: how many elements each axis has at most, where that is known.

    Raises:
        Unwritable: the digits are not those of blocks of numbers.
    """
    outer = [each for each in digits if each.radix is None]
    if any(each.radix is not None for each in digits[: len(outer)]):
        raise Unwritable("a block stands before the most major digit of a dimension")
    found = []
    for each in outer:
        if not isinstance(each.divisor, Constant):
            raise Unwritable(f"the block `{text(each.divisor)}` is not a number")
        found.append(Dimension(_axes_of(each.whole, room), each.whole, each.divisor.value))
    rows = digits[len(outer) :]
    return _with_small(found, rows, room), rows


def _with_small(
    dimensions: list[Dimension], rows: list[Digit], room: Mapping[str, int | None]
) -> list[Dimension]:
    """Return the dimensions with those no larger than their block, which have no quotient.

    The remainders of a tile come in the order of its dimensions; each small one is put before that
    whose remainder comes next, and else behind all, where tiles cut.
    """
    found = list(dimensions)
    firsts = [
        each for n, each in enumerate(rows) if not any(same(each.whole, r.whole) for r in rows[:n])
    ]
    place = len(found)
    for each in reversed(firsts):
        at = next((n for n, other in enumerate(found) if same(other.whole, each.whole)), None)
        block = _block_of_all(each, room) if at is None else None
        if block is not None:
            found.insert(place, Dimension(_axes_of(each.whole, room), each.whole, block))
        place = place if at is None else at
    return found


def _block_of_all(each: Digit, room: Mapping[str, int | None]) -> int | None:
    """Return the elements that a digit and those below it tell apart, if there are no more."""
    elements = [room[name] for name in _axes_of(each.whole, room)]
    match each.divisor, each.radix:
        case Constant(divisor), Constant(radix) if None not in elements:
            few = prod(count or 0 for count in elements) <= divisor * radix
            return divisor * radix if few else None
    return None


def _axes_of(whole: Expr, known: Container[str]) -> tuple[str, ...]:
    match whole:
        case Index(name) if name in known:
            return (name,)
        case MixedRadix(parts):
            return tuple(name for part in parts for name in _axes_of(part.value, known))
    raise Unwritable(f"`{text(whole)}` is joined of more than dimensions")


def tiles_of(dimensions: Sequence[Dimension], rows: list[Digit]) -> tuple[Tile, ...]:
    """Return the tiles, those that are cut first in front.

    Raises:
        Unwritable: the digits do not come in rows.
    """
    found: list[Tile] = []
    left = list(rows)
    current = list(dimensions)
    while any(each.block > 1 for each in current):
        first = next(n for n, each in enumerate(current) if each.block > 1)
        current = current[first:]
        if len(found) > MOST_TILES:
            raise Unwritable("its blocks do not nest as tiles do")
        joined = [0 if found else len(each.axes) - 1 for each in current]
        sizes = [(*[None] * n, each.block) for n, each in zip(joined, current, strict=True)]
        found.append(tuple(size for each in sizes for size in each))
        before = len(left)
        current = [_cut(each, left) for each in current]
        if len(left) == before:
            raise Unwritable("its blocks do not nest as tiles do")
    if left:
        raise Unwritable("its blocks do not nest as tiles do")
    return tuple(found)


def _cut(dimension: Dimension, left: list[Digit]) -> Dimension:
    """Take the digit that stands next, where it is the most major one of the block."""
    found = left[0] if left else None
    if dimension.block == 1 or found is None or not same(found.whole, dimension.whole):
        return dimension
    match found.divisor, found.radix:
        case Constant(divisor), Constant(radix) if divisor * radix == dimension.block:
            left.pop(0)
            return Dimension(dimension.axes, dimension.whole, divisor)
    raise Unwritable("its blocks do not nest as tiles do")


def written(layout: Layout) -> Written:
    """Return a shape where every extent is known, the proto where extents are padded, else braces.

    Raises:
        Unwritable: XLA has no text for it.
    """
    refuse_start(layout)
    if layout.parameters:
        raise Unwritable(f"its parameter `{layout.parameters[0]}` has no number")
    bounds = _bounds(layout)
    coordinates, tail = _without_tail(layout.coordinates)
    digits = [_digit(each) for each in coordinates if each.extent != ONE]
    room = {
        axis.name: axis.extent.value if isinstance(axis.extent, Constant) else bounds.get(axis.name)
        for axis in layout.axes
    }
    dimensions, rows = dimensions_of(digits, room)
    minor = _minor_to_major(dimensions, room)
    tiles = tiles_of(dimensions, rows)
    padded = _padded(layout, coordinates, bounds)
    if tiles or not padded:
        refuse_fill(layout, FillAny(), *(() if tiles else (FillValue(0),)))
    bits = layout.element.bits if layout.element is not None and layout.element.bits < 8 else 0
    kind, extents = shape(layout, None, bits)
    if padded and extents is None:
        return _proto(layout, minor, padded, tiles, tail)
    bits = bits if extents is not None else 0
    return Written(minor, kind, extents, tiles=tiles, tail=tail, bits=bits)


def _minor_to_major(dimensions: list[Dimension], room: Mapping[str, int | None]) -> tuple[int, ...]:
    """Return the numbers of the dimensions; those of one element are the most major."""
    names = list(room)
    order = [axis for each in dimensions for axis in each.axes]
    if len(set(order)) < len(order):
        raise Unwritable("a dimension is cut in two ways")
    small = [axis for axis in names if axis not in order]
    for axis in small:
        if room[axis] != 1:
            raise Unwritable(f"the digits of `{axis}` end at a block")
    return tuple(names.index(each) for each in reversed(small + order))


def shape(
    layout: Layout, kind: str | None, bits: int
) -> tuple[str | None, tuple[Room, ...] | None]:
    """Return the element type and the extents, where all are known; else neither.

    Args:
        layout: any.
        kind: XLA's type that the layout was read with, which is kept where it is still its type.
        bits: of an element in memory, 0 for those of the type.

    Raises:
        Unwritable: its shapes are restricted by more than largest extents.
    """
    bounds = _bounds(layout)
    if kind is None or element(kind, bits) != layout.element:
        kind = None if layout.element is None else name(layout.element)
    rooms: list[Room] = []
    for axis in layout.axes:
        if isinstance(axis.extent, Constant):
            rooms.append(Room(axis.extent.value))
        elif axis.name in bounds:
            rooms.append(Room(bounds[axis.name], bounded=True))
    return (kind, tuple(rooms)) if kind and len(rooms) == layout.rank else (None, None)


def _bounds(layout: Layout) -> dict[str, int]:
    """Return the largest extent of each axis that has one; other ranges cannot be written."""
    names = {axis.extent: axis.name for axis in layout.axes}
    found: dict[str, int] = {}
    for condition in layout.where:
        match condition.left, condition.operator, condition.right:
            case (Extent() as extent, "<=", Constant(most)) if extent in names:
                found[names[extent]] = most
            case _:
                raise Unwritable(f"it is defined only where {condition}")
    return found


def _without_tail(coordinates: tuple[Coordinate, ...]) -> tuple[tuple[Coordinate, ...], int]:
    """Take apart one coordinate whose extent is rounded up."""
    if len(coordinates) != 1 or not coordinates[0].declared:
        return coordinates, 1
    (whole,) = coordinates
    parts = whole.value.parts if isinstance(whole.value, MixedRadix) else None
    if parts is None:
        return coordinates, 1
    inside = product(tuple(part.extent for part in parts))
    match simplify(whole.extent), simplify(inside):
        case (Constant(rounded), Constant(exact)) if rounded >= exact:
            return parts, _alignment(rounded, exact)
        case (rounded, exact):
            for align in _numbers(rounded):
                if simplify(Mul(CeilDiv(exact, Constant(align)), Constant(align))) == rounded:
                    return parts, align
    raise Unwritable(f"its size `{text(whole.extent)}` is not rounded up to a multiple")


def _alignment(rounded: int, exact: int) -> int:
    """Return the smallest multiple that rounds one number up to the other."""
    for align in range(max(rounded - exact, 1), rounded + 1):
        if -(-exact // align) * align == rounded:
            return align
    raise Unwritable(f"its size {rounded} is not {exact} rounded up")


def _numbers(extent: Expr) -> list[int]:
    match extent:
        case Mul(left, right):
            return [*_numbers(left), *_numbers(right)]
        case Constant(value):
            return [value]
    return []


def _digit(coordinate: Coordinate) -> Digit:
    digit = read(coordinate.value)
    if digit is None:
        raise Unwritable(f"`{text(coordinate.value)}` is not a digit of an axis")
    return digit


def _padded(
    layout: Layout, coordinates: tuple[Coordinate, ...], bounds: dict[str, int]
) -> dict[str, int]:
    """Return the extent of each axis that is padded to a number."""
    found: dict[str, int] = {}
    axes = {axis.name: axis for axis in layout.axes}
    for each in coordinates:
        if not each.declared:
            continue
        match each.value, each.extent:
            case Index(name), Constant(extent):
                found[name] = extent
                if not _is_within(axes[name], bounds.get(name), extent):
                    raise Unwritable(f"nothing says that `{name}` has {extent} elements at most")
            case _ if bounds:
                continue
            case _:
                raise Unwritable(f"`{text(each.value)}` has the extent `{text(each.extent)}`")
    return found


def _is_within(axis: Axis, bound: int | None, extent: int) -> bool:
    if isinstance(axis.extent, Constant):
        return axis.extent.value <= extent
    return bound is not None and bound <= extent


def _proto(
    layout: Layout,
    minor: tuple[int, ...],
    padded: dict[str, int],
    tiles: tuple[Tile, ...],
    tail: int,
) -> Written:
    if tiles or tail > 1:
        raise Unwritable("padded extents and tiles together have no text")
    extents: list[int] = []
    for axis in layout.axes:
        match axis.extent:
            case _ if axis.name in padded:
                extents.append(padded[axis.name])
            case Constant(extent):
                extents.append(extent)
            case _:
                raise Unwritable(f"the padded extent of `{axis.name}` is no number")
    if layout.fill not in PADDING.values():
        refuse_fill(layout, *PADDING.values())
    return Written(minor, padded=tuple(extents), fill=layout.fill)
