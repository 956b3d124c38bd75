"""What a text of XLA says, before it means anything: extents, order, tiles and attributes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

from lark import Token, Tree

from layoutdsl.model import ELEMENT_TYPES, ElementType, Fill, FillAny, FillValue
from layoutdsl.scope import fault
from layoutdsl.source import Span
from layoutdsl.syntax.reading import tree

MOST_DIGITS = 18
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
class Number:
    """A number, and where it stands."""

    value: int
    span: Span


@dataclass(frozen=True, slots=True)
class Bound:
    """The extent of a dimension in a shape; ``bounded`` where it is only the largest."""

    value: int
    bounded: bool


@dataclass(frozen=True, slots=True)
class Written:
    """What a text says, before it means anything."""

    order: tuple[Number, ...] | None
    extents: tuple[Bound, ...] | None = None
    element: ElementType | None = None
    tiles: tuple[tuple[Number | None, ...], ...] = ()
    tail: int = 1
    padded: tuple[Number, ...] = ()
    fill: Fill = _UNSPECIFIED
    notes: tuple[tuple[str, str], ...] = ()


def said(text: Span) -> Written:
    """Return what a text says.

    Raises:
        Fault: a number or a padding value is none that a layout can have.
        LayoutError: the text is not in the grammar.
    """
    (branch,) = cast("list[Branch]", tree("xla", text, "L401", _SPELLING).children)
    return _Reader(text).written(branch)


class _Reader:
    """Turns the tree of one text into what it says."""

    def __init__(self, text: Span) -> None:
        self._text = text

    def _number(self, token: Token) -> Number:
        start = self._text.start + (token.start_pos or 0)
        span = Span(self._text.source, start, start + len(token))
        if len(token) > MOST_DIGITS:
            raise fault("L103", "this number has more than 18 digits", span)
        return Number(int(token), span)

    def written(self, branch: Branch) -> Written:
        match branch.data:
            case "proto":
                return self._proto(branch)
            case "layout":
                return self._layout(branch, Written(None))
            case _:
                kind, extents, layout = branch.children
                element, notes = _element(str(kind))
                found = () if extents is None else tuple(map(self._extent, _branches(extents)))
                written = Written(None, found, element, notes=notes)
                return written if layout is None else self._layout(cast("Branch", layout), written)

    def _extent(self, branch: Branch) -> Bound:
        bound, number = branch.children
        found = self._number(cast("Token", number))
        if found.value < 1:
            raise fault("L405", "an extent is at least 1", found.span)
        return Bound(found.value, bound is not None)

    def _layout(self, branch: Branch, written: Written) -> Written:
        order, *attributes = branch.children
        numbers = () if order is None else tuple(map(self._number, _tokens(cast("Branch", order))))
        written = replace(written, order=numbers)
        for attribute in cast("list[Branch]", [each for each in attributes if each is not None]):
            written = self._attribute(attribute, written)
        return written

    def _attribute(self, branch: Branch, written: Written) -> Written:
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

    def _tile(self, branch: Branch) -> tuple[Number | None, ...]:
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

    def _proto(self, branch: Branch) -> Written:
        numbers: dict[str, list[Number]] = {}
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
        return Written(order, padded=padded, fill=fill)

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
