"""XLA's layouts: ``f32[3,5]{1,0:T(2,2)}``, ``{1,0:T(8,128)(2,1)}``, and the older proto as text.

The dimensions are put in order by `minor_to_major`, read from the right. A tile cuts as many of the
most minor dimensions as it has sizes, into their quotients and their remainders; the next tile cuts
what came out. ``*`` joins a dimension to the next more minor one before it is cut. What padding
holds is not specified. ``L`` rounds the size up; ``E`` and ``S`` say nothing of where an element
lies, and are kept as notes.

Source: OpenXLA, "Tiled layout" and "Shapes and layout" (`layout.proto` for the older fields).
"""

from __future__ import annotations

from collections.abc import Sequence

from layoutdsl.bounds import ONE, product, simplify
from layoutdsl.digits import Digit
from layoutdsl.digits import read as digit
from layoutdsl.expr import (
    CeilDiv,
    Constant,
    Coordinate,
    Expr,
    Extent,
    FloorDiv,
    Index,
    MixedRadix,
    Mod,
    Mul,
)
from layoutdsl.model import (
    Axis,
    Condition,
    Layout,
)
from layoutdsl.notation import xla_text
from layoutdsl.notation.blocks import axes_or, with_extents
from layoutdsl.notation.notation import Notes, Reading, Unwritable
from layoutdsl.notation.xla_said import Number, Written, said
from layoutdsl.scope import fault
from layoutdsl.source import Source, Span

ABOUT = "XLA layouts, as HLO prints them"
EXAMPLE = "{1,0:T(8,128)(2,1)}"

MOST_RANK = 16
_NAMES = {1: "x", 2: "yx", 3: "zyx", 4: "pzyx"}


def read(text: Span, axes: tuple[Axis, ...] | None) -> Reading:
    """Return the layout of a shape, of braces or of a proto; see `Notation.read` for errors."""
    written = said(text)
    rank = _rank(written, text)
    order = _order(written, rank)
    names = list(_NAMES.get(rank) or (f"d{number}" for number in range(rank)))
    found = axes_or(axes, names, text, "the text")
    found, where = _extents(written, found, text)
    dimensions = [_dimension(written, found, number) for number in order]
    for tile in written.tiles:
        dimensions = _tiled(dimensions, tile, text)
    coordinates = _with_tail([each for each in dimensions if each.extent != ONE], written.tail)
    layout = Layout(
        "layout", found, coordinates, fill=written.fill, element=written.element, where=where
    )
    return Reading(layout, dict(written.notes))


def write(layout: Layout, notes: Notes) -> str:
    """Return a shape where every extent is a number, else the braces or the proto."""
    text = xla_text.write(layout, notes)
    again = read(Span(Source("<xla>", text), 0, len(text)), layout.axes).layout
    if _wide(again) != _wide(layout) or again.where != layout.where:
        raise Unwritable("its blocks do not nest as tiles do")
    return text


def _wide(layout: Layout) -> list[tuple[Digit | None, Expr]]:
    """The coordinates of more than one slot, told apart by their digits."""
    wide = [each for each in layout.coordinates if each.extent != ONE]
    return [(digit(each.value), simplify(each.extent)) for each in wide]


def _rank(written: Written, text: Span) -> int:
    given = [
        len(each)
        for each in (written.extents, written.order, written.padded or None)
        if each is not None
    ]
    if len(set(given)) > 1:
        words = f"the text speaks of {given[0]} dimensions, and of {given[1]}"
        raise fault("L403", words, text)
    if given[0] > MOST_RANK:
        raise fault("L103", f"a layout has {MOST_RANK} dimensions at most", text)
    return given[0]


def _order(written: Written, rank: int) -> list[int]:
    """Return the dimensions from the most major; without braces they stand in their order."""
    if written.order is None:
        return list(range(rank))
    seen: set[int] = set()
    for number in written.order:
        if number.value >= rank:
            hint = f"the dimensions are 0 to {rank - 1}"
            raise fault("L404", f"there is no dimension {number.value}", number.span, help=hint)
        if number.value in seen:
            raise fault("L404", f"dimension {number.value} is there twice", number.span)
        seen.add(number.value)
    return [number.value for number in reversed(written.order)]


def _extents(
    written: Written, axes: tuple[Axis, ...], text: Span
) -> tuple[tuple[Axis, ...], tuple[Condition, ...]]:
    """Return the axes with the extents of the shape; one that is only bounded stays a name."""
    where: list[Condition] = []
    fixed: list[Expr] = [axis.extent for axis in axes]
    for number, extent in enumerate(written.extents or ()):
        if not extent.bounded:
            fixed[number] = Constant(extent.value)
        elif isinstance(axes[number].extent, Extent):
            where.append(Condition(axes[number].extent, "<=", Constant(extent.value)))
    found = with_extents(axes, fixed, text)
    for axis, padded in zip(axes, written.padded, strict=False):
        if isinstance(axis.extent, Extent):
            where.append(Condition(axis.extent, "<=", Constant(padded.value)))
        elif axis.extent.value > padded.value:
            message = f"dimension `{axis.name}` has {axis.extent.value} elements, padded to fewer"
            raise fault("L405", message, padded.span)
    return found, tuple(where)


def _dimension(written: Written, axes: tuple[Axis, ...], number: int) -> Coordinate:
    axis = axes[number]
    value = Index(axis.name)
    largest: Expr | None = None
    if written.extents is not None and written.extents[number].bounded:
        largest = Constant(written.extents[number].value)
    if written.padded:
        padded = written.padded[number]
        if padded.value < 1:
            raise fault("L405", "a padded extent is at least 1", padded.span)
        largest = Constant(padded.value)
    if largest is None or largest == axis.extent:
        return Coordinate(value, axis.extent)
    return Coordinate(value, largest, declared=True)


def _tiled(
    dimensions: Sequence[Coordinate], tile: tuple[Number | None, ...], text: Span
) -> list[Coordinate]:
    """Cut the most minor dimensions by a tile."""
    if len(tile) > len(dimensions):
        message = f"a tile of {len(tile)} sizes cuts only {len(dimensions)} dimensions"
        raise fault("L403", message, text)
    count = len(dimensions) - len(tile)
    kept, cut = list(dimensions[:count]), list(dimensions[count:])
    outer: list[Coordinate] = []
    inner: list[Coordinate] = []
    joined: list[Coordinate] = []
    for dimension, size in zip(cut, tile, strict=True):
        joined.append(dimension)
        if size is None:
            continue
        whole, joined = _joined(joined), []
        outer.append(_quotient(whole, size.value))
        inner.append(_remainder(whole, size.value))
    if joined:
        raise fault("L405", "`*` joins a dimension to the next one, and none follows", text)
    return [*kept, *outer, *inner]


def _joined(parts: list[Coordinate]) -> Coordinate:
    """Return dimensions as one; those of one slot are left out."""
    wide = [part for part in parts if part.extent != ONE] or parts[-1:]
    if len(wide) == 1:
        return wide[0]
    return Coordinate(MixedRadix(tuple(wide)), product(tuple(part.extent for part in wide)))


def _quotient(whole: Coordinate, size: int) -> Coordinate:
    if size == 1:
        return whole
    extent = simplify(CeilDiv(whole.extent, Constant(size)))
    return Coordinate(FloorDiv(whole.value, Constant(size)), extent, whole.declared)


def _remainder(whole: Coordinate, size: int) -> Coordinate:
    if size == 1:
        return Coordinate(Constant(0), ONE)
    match whole.value:
        case Mod(value, Constant(block)) if block % size == 0:
            return Coordinate(Mod(value, Constant(size)), Constant(size))
    return Coordinate(Mod(whole.value, Constant(size)), Constant(size))


def _with_tail(coordinates: list[Coordinate], tail: int) -> tuple[Coordinate, ...]:
    """Round the size up to a multiple of ``tail``."""
    found = tuple(coordinates) or (Coordinate(Constant(0), ONE),)
    if tail == 1:
        return found
    extent = product(tuple(each.extent for each in found))
    rounded = simplify(Mul(CeilDiv(extent, Constant(tail)), Constant(tail)))
    if rounded == simplify(extent):
        return found
    value = found[0].value if len(found) == 1 else MixedRadix(found)
    return (Coordinate(value, rounded, declared=True),)
