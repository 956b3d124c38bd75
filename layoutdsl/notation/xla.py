"""XLA's layouts: ``f32[3,5]{1,0:T(2,2)}``, ``{1,0:T(8,128)(2,1)}``, and the older proto as text.

The dimensions are put in order by `minor_to_major`, read from the right, and cut by tiles. What
padding holds is not specified. ``L`` rounds the size up. ``SC`` splits a dimension among memories:
each piece is a chunk. ``M`` puts bytes before the first element. Other attributes say nothing of
where an element lies, and are printed back.

Source: OpenXLA, "Tiled layout" and "Shapes and layout"; `xla_data.proto` for the attributes, its
reserved fields for the older proto.
"""

from __future__ import annotations

from dataclasses import replace

from layoutdsl.language.integers.bounds import ONE, ZERO, simplify
from layoutdsl.language.integers.digit import Digit
from layoutdsl.language.integers.digit import read as digit
from layoutdsl.language.integers.expr import (
    CeilDiv,
    Constant,
    Coordinate,
    Expr,
    Extent,
    FloorDiv,
    Index,
    Mod,
)
from layoutdsl.language.meaning.model import Axis, Condition, Layout, Origin
from layoutdsl.language.texts.faults import Fault, fault
from layoutdsl.language.texts.source import LayoutError, Source, Span
from layoutdsl.notation import xla_text
from layoutdsl.notation.blocks import axes_or, with_extents
from layoutdsl.notation.notation import Notes, Reading, Unwritable
from layoutdsl.notation.xla_said import said
from layoutdsl.notation.xla_tiles import tiled, with_tail
from layoutdsl.notation.xla_types import bits_in_memory, element
from layoutdsl.notation.xla_written import Split, Written, spelled

ABOUT = "XLA layouts, as HLO prints them"
EXAMPLE = "{1,0:T(8,128)(2,1)}"

_NAMES = {1: "x", 2: "yx", 3: "zyx", 4: "pzyx"}


def read(text: Span, axes: tuple[Axis, ...] | None) -> Reading:
    """Return the layout of a shape, of braces or of a proto; see `Notation.read` for errors."""
    written = said(text)
    names = list(_NAMES.get(written.rank) or (f"d{number}" for number in range(written.rank)))
    found, where = _extents(written, axes_or(axes, names, text, "the text"), text)
    order = range(written.rank) if written.order is None else written.order[::-1]
    dimensions = [_dimension(written, found, number) for number in order]
    chunks, dimensions = _split(dimensions, written.splits, text)
    coordinates = with_tail(tiled(dimensions, written.tiles), written.tail)
    layout = Layout(
        "layout",
        found,
        (*chunks, *coordinates),
        chunk_rank=len(chunks) or None,
        fill=written.fill,
        element=None if written.kind is None else element(written.kind, written.bits),
        start=_start(written, text),
        where=where,
        origin=Origin("xla", spelled(written)),
    )
    return Reading(layout)


def _extents(
    written: Written, axes: tuple[Axis, ...], text: Span
) -> tuple[tuple[Axis, ...], tuple[Condition, ...]]:
    """Return the axes with the extents of the shape; one that is only bounded stays a name."""
    fixed: list[Expr] = [axis.extent for axis in axes]
    for number, room in enumerate(written.extents or ()):
        if room.value is not None and not room.bounded:
            fixed[number] = Constant(room.value)
    found = with_extents(axes, fixed, text)
    where: list[Condition] = []
    for number, axis in enumerate(found):
        largest = _largest(written, number)
        match axis.extent:
            case Constant(extent) if largest is not None and extent > largest:
                message = f"`{axis.name}` has {extent} elements, and there is room for {largest}"
                raise fault("L405", message, text)
            case Extent() if largest is not None:
                where.append(Condition(axis.extent, "<=", Constant(largest)))
    return found, tuple(where)


def _largest(written: Written, number: int) -> int | None:
    """Return how many elements of a dimension there is room for, where the text says so."""
    if written.padded:
        return written.padded[number]
    room = None if written.extents is None else written.extents[number]
    return room.value if room is not None and room.bounded else None


def _dimension(written: Written, axes: tuple[Axis, ...], number: int) -> Coordinate:
    axis = axes[number]
    largest = _largest(written, number)
    if largest is None or axis.extent == Constant(largest):
        return Coordinate(Index(axis.name), axis.extent)
    return Coordinate(Index(axis.name), Constant(largest), declared=True)


def _split(
    dimensions: list[Coordinate], splits: tuple[Split, ...], text: Span
) -> tuple[list[Coordinate], list[Coordinate]]:
    """Return which memory an element lies in, and the dimensions as each memory has them."""
    chunks: list[Coordinate] = []
    found = list(dimensions)
    for split in splits:
        if split.dimension >= len(found):
            hint = f"they count from the most major dimension, 0 to {len(found) - 1}"
            raise fault(
                "L404", f"there is no dimension {split.dimension} to split", text, help=hint
            )
        whole = found[split.dimension]
        piece = Constant(_piece(whole, split, text))
        count = simplify(CeilDiv(whole.extent, piece))
        chunks.append(Coordinate(FloorDiv(whole.value, piece), count, whole.declared))
        found[split.dimension] = Coordinate(Mod(whole.value, piece), piece)
    return chunks, found


def _piece(whole: Coordinate, split: Split, text: Span) -> int:
    """Return the elements of each piece; they have to be the same, but for a smaller last one."""
    if not isinstance(whole.extent, Constant):
        hint = "write the shape before the braces, with a number for this dimension"
        message = "where a dimension is split, its extent has to be known"
        raise fault("L407", message, text, help=hint)
    ends = (*split.places, whole.extent.value)
    pieces = [end - start for start, end in zip((0, *split.places), ends, strict=True)]
    if min(pieces) < 1:
        message = f"the places of a split rise from 1 to {whole.extent.value - 1}"
        raise fault("L405", message, text)
    if len(set(pieces[:-1])) > 1 or pieces[-1] > pieces[0] or isinstance(whole.value, Mod):
        words = ", ".join(map(str, pieces))
        hint = "leave `SC` out for the layout before it is split"
        message = f"memories that hold {words} elements of a dimension are no chunks of one size"
        raise fault("L409", message, text, help=hint)
    return pieces[0]


def _start(written: Written, text: Span) -> Expr:
    """Return the elements before the first, of the metadata that a dynamic shape has there."""
    if not written.prefix:
        return ZERO
    if written.splits:
        message = "`M` and `SC` do not say together which memory the metadata lies in"
        raise fault("L407", message, text)
    if written.kind is None and not written.bits:
        hint = "write the shape before the braces"
        message = "`M` counts bytes, and braces alone do not say how wide an element is"
        raise fault("L407", message, text, help=hint)
    width = bits_in_memory(written.kind or "pred", written.bits)
    count, rest = divmod(8 * written.prefix, width)
    if rest:
        message = f"{written.prefix} bytes are no whole number of elements of {width} bits"
        raise fault("L405", message, text)
    return Constant(count)


def write(layout: Layout, notes: Notes) -> str:  # noqa: ARG001  a layout's origin says more
    """Return a shape where every extent is a number or bounded, else the braces or the proto."""
    found = _kept(layout)
    if found is not None:
        return found
    text = spelled(xla_text.written(layout))
    again = _again(text, layout)
    if again is None or _wide(again) != _wide(layout) or again.where != layout.where:
        raise Unwritable("its blocks do not nest as tiles do")
    return text


def _kept(layout: Layout) -> str | None:
    """Return the order and tiles that the layout was read with, where they still say what it is.

    Its extents, and its element type, may be known better than by that text.
    """
    if layout.origin is None or layout.origin.notation != "xla":
        return None
    first = said(_span(layout.origin.text))
    try:
        kind, extents = xla_text.shape(layout, first.kind, first.bits)
    except Unwritable:
        return None
    text = spelled(replace(first, kind=kind, extents=extents))
    again = _again(text, layout)
    if again is None or replace(again, name=layout.name, element=layout.element) != layout:
        return None
    return text


def _again(text: str, layout: Layout) -> Layout | None:
    """Return what a text says on the axes of a layout, where it says anything."""
    try:
        return read(_span(text), layout.axes).layout
    except (Fault, LayoutError):
        return None


def _span(text: str) -> Span:
    return Span(Source("<xla>", text), 0, len(text))


def _wide(layout: Layout) -> list[tuple[Digit | None, Expr]]:
    """The coordinates of more than one slot, told apart by their digits."""
    wide = [each for each in layout.coordinates if each.extent != ONE]
    return [(digit(each.value), simplify(each.extent)) for each in wide]
