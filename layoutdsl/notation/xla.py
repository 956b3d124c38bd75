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
from dataclasses import dataclass, replace
from typing import cast

from lark import Token, Tree

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
    ELEMENT_TYPES,
    Axis,
    Condition,
    ElementType,
    Fill,
    FillAny,
    FillValue,
    Layout,
)
from layoutdsl.notation import xla_text
from layoutdsl.notation.blocks import axes_or, with_extents
from layoutdsl.notation.notation import Notes, Reading, Unwritable
from layoutdsl.scope import fault
from layoutdsl.source import Source, Span
from layoutdsl.syntax.reading import tree

ABOUT = "XLA layouts, as HLO prints them"
EXAMPLE = "{1,0:T(8,128)(2,1)}"

MOST_RANK = 16
_NAMES = {1: "x", 2: "yx", 3: "zyx", 4: "pzyx"}
_SPELLING = {
    "INT": "a number",
    "TYPE": "an element type",
    "FIELD": "a field of the proto",
    "WORD": "a padding value",
    "BOUND": "`<=`",
    "COMBINE": "`*`",
}
_UNSPECIFIED = FillAny()
_PADDING: dict[str, Fill] = {
    "INVALID_PAD": _UNSPECIFIED,
    "UNKNOWN_PAD": _UNSPECIFIED,
    "ZERO_PAD": FillValue(0),
    "ONE_PAD": FillValue(1),
}

Branch = Tree[Token]


@dataclass(frozen=True, slots=True)
class _Number:
    value: int
    span: Span


@dataclass(frozen=True, slots=True)
class _Extent:
    """The extent of a dimension in a shape; ``bounded`` where it is only the largest."""

    value: int
    bounded: bool


@dataclass(frozen=True, slots=True)
class _Written:
    """What a text says, before it means anything."""

    order: tuple[_Number, ...] | None
    extents: tuple[_Extent, ...] | None = None
    element: ElementType | None = None
    tiles: tuple[tuple[_Number | None, ...], ...] = ()
    tail: int = 1
    padded: tuple[_Number, ...] = ()
    fill: Fill = _UNSPECIFIED
    notes: tuple[tuple[str, str], ...] = ()


def read(text: Span, axes: tuple[Axis, ...] | None) -> Reading:
    """Return the layout of a shape, of braces or of a proto; see `Notation.read` for errors."""
    (branch,) = cast("list[Branch]", tree("xla", text, "L401", _SPELLING).children)
    written = _Reader(text).written(branch)
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


class _Reader:
    """Turns the tree of one text into what it says."""

    def __init__(self, text: Span) -> None:
        self._text = text

    def _number(self, token: Token) -> _Number:
        start = self._text.start + (token.start_pos or 0)
        span = Span(self._text.source, start, start + len(token))
        if len(token) > 18:
            raise fault("L103", "this number has more than 18 digits", span)
        return _Number(int(token), span)

    def written(self, branch: Branch) -> _Written:
        match branch.data:
            case "proto":
                return self._proto(branch)
            case "layout":
                return self._layout(branch, _Written(None))
            case _:
                kind, extents, layout = branch.children
                element, notes = _element(str(kind))
                found = () if extents is None else tuple(map(self._extent, _branches(extents)))
                written = _Written(None, found, element, notes=notes)
                return written if layout is None else self._layout(cast("Branch", layout), written)

    def _extent(self, branch: Branch) -> _Extent:
        bound, number = branch.children
        found = self._number(cast("Token", number))
        if found.value < 1:
            raise fault("L405", "an extent is at least 1", found.span)
        return _Extent(found.value, bound is not None)

    def _layout(self, branch: Branch, written: _Written) -> _Written:
        order, *attributes = branch.children
        numbers = () if order is None else tuple(map(self._number, _tokens(cast("Branch", order))))
        written = replace(written, order=numbers)
        for attribute in cast("list[Branch]", [each for each in attributes if each is not None]):
            written = self._attribute(attribute, written)
        return written

    def _attribute(self, branch: Branch, written: _Written) -> _Written:
        if branch.data == "tiles":
            if written.tiles:
                raise fault("L404", "the tiles are given twice", self._text)
            return replace(written, tiles=tuple(map(self._tile, _branches(branch))))
        number = self._number(_tokens(branch)[0])
        if branch.data == "tail":
            if number.value < 1:
                raise fault("L405", "the alignment of the tail is at least 1", number.span)
            return replace(written, tail=number.value)
        letter = {"element": "E", "space": "S"}[branch.data]
        return replace(written, notes=(*written.notes, (letter, str(number.value))))

    def _tile(self, branch: Branch) -> tuple[_Number | None, ...]:
        sizes = []
        for size in _branches(branch):
            (token,) = _tokens(size)
            number = None if token.type == "COMBINE" else self._number(token)
            if number is not None and number.value < 1:
                raise fault(
                    "L405", "a tile has 1 element or more along each dimension", number.span
                )
            sizes.append(number)
        return tuple(sizes)

    def _proto(self, branch: Branch) -> _Written:
        numbers: dict[str, list[_Number]] = {}
        fill: Fill = _UNSPECIFIED
        for field in _branches(branch):
            name, value = field.children
            tokens = _tokens(cast("Branch", value))
            if name == "padding_value":
                fill = self._padding(tokens)
            elif any(token.type != "INT" for token in tokens):
                raise fault("L401", f"`{name}` takes numbers", self._number_span(tokens[0]))
            else:
                numbers.setdefault(str(name), []).extend(map(self._number, tokens))
        order = tuple(numbers.get("minor_to_major", ()))
        padded = tuple(numbers.get("padded_dimensions", ()))
        return _Written(order, padded=padded, fill=fill)

    def _number_span(self, token: Token) -> Span:
        start = self._text.start + (token.start_pos or 0)
        return Span(self._text.source, start, start + len(token))

    def _padding(self, tokens: list[Token]) -> Fill:
        word = str(tokens[0]) if len(tokens) == 1 else ""
        if word in _PADDING:
            return _PADDING[word]
        span = self._number_span(tokens[0]) if tokens else self._text
        hint = f"write {', '.join(_PADDING)}"
        raise fault("L407", f"the padding value `{word}` is no number we know", span, help=hint)


def _branches(branch: object) -> list[Branch]:
    return [each for each in cast("Branch", branch).children if isinstance(each, Tree)]


def _tokens(branch: Branch) -> list[Token]:
    return [each for each in branch.children if isinstance(each, Token)]


_KINDS = {"pred": "u8", "bf16": "bf16"}


def _element(name: str) -> tuple[ElementType | None, tuple[tuple[str, str], ...]]:
    """Return the element type, and XLA's name for it as a note, where ours is another."""
    ours = _KINDS.get(name, f"i{name[1:]}" if name[0] == "s" else name)
    notes = () if ours == name else (("type", name),)
    return ELEMENT_TYPES.get(ours), notes


def _rank(written: _Written, text: Span) -> int:
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


def _order(written: _Written, rank: int) -> list[int]:
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
    written: _Written, axes: tuple[Axis, ...], text: Span
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


def _dimension(written: _Written, axes: tuple[Axis, ...], number: int) -> Coordinate:
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
    dimensions: Sequence[Coordinate], tile: tuple[_Number | None, ...], text: Span
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
