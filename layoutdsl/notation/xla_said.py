"""XLA's text -> what it says, before it means anything; what is no array's layout is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from lark import Token, Tree

from layoutdsl.language.meaning.elements import Fill
from layoutdsl.language.syntax.reading import tree
from layoutdsl.language.texts.faults import did_you_mean, fault
from layoutdsl.language.texts.source import Span
from layoutdsl.notation.xla_types import TYPES, WITHOUT_ELEMENTS
from layoutdsl.notation.xla_written import PADDING, UNSPECIFIED, Room, Split, Written

MOST_DIGITS = 18
MOST_RANK = 16
_SPELLING = {
    "INT": "a number",
    "TYPE": "an element type",
    "BUFFER": "`b`",
    "FIELD": "a field of the proto",
    "WORD": "a padding value",
    "BOUND": "`<=`",
    "UNKNOWN": "`?`",
    "COMBINE": "`*`",
    "LEVEL": "`D`",
}
Branch = Tree[Token]


def said(text: Span) -> Written:
    """Return what a text says.

    Raises:
        Fault: it speaks of no array, or of numbers that a layout cannot have.
        LayoutError: the text is not in the grammar.
    """
    (branch,) = cast("list[Branch]", tree("xla", text, "L401", _SPELLING).children)
    return _Reader(text).written(branch)


class _Reader:
    """Turns the tree of one text into what it says."""

    def __init__(self, text: Span) -> None:
        self._text = text

    def written(self, branch: Branch) -> Written:
        match branch.data:
            case "proto":
                return self._proto(branch)
            case "layout":
                return self._layout(branch, Written(None))
            case "buffer":
                return replace(self.written(branches(branch)[0]), buffer=True)
            case "tuple":
                raise self._tuple(branch)
            case _:
                return self._array(branch)

    def _tuple(self, branch: Branch) -> Exception:
        parts = [self._span(each).text for each in branches(branch)]
        message = "a tuple is a table of arrays, and each has a layout of its own"
        named = ", ".join(f"`{part}`" for part in parts[:3]) + ", ..." * (len(parts) > 3)
        hint = f"give one of them: {named}" if parts else "this one holds none"
        return fault("L409", message, self._text, help=hint)

    def _array(self, branch: Branch) -> Written:
        kind, extents, layout = cast("list[Branch | None]", branch.children)
        name = self._type(cast("Token", kind))
        found = () if extents is None else tuple(map(self._extent, branches(extents)))
        self._refuse_rank(len(found))
        written = Written(None, name, found)
        return written if layout is None else self._layout(layout, written)

    def _type(self, token: Token) -> str:
        name, span = str(token), self._span(token)
        if name in WITHOUT_ELEMENTS:
            raise fault("L409", f"a `{name}` has no elements, and no layout", span)
        if name not in TYPES:
            hint = did_you_mean(name, TYPES)
            raise fault("L404", f"XLA has no element type `{name}`", span, help=hint)
        return name

    def _extent(self, branch: Branch) -> Room:
        number = cast("Token", branch.children[-1])
        if number.type == "UNKNOWN":
            return Room(None)
        value = self._number(number)
        if value < 1:
            hint = "an array without elements has no layout"
            raise fault("L405", "an extent is at least 1", self._span(number), help=hint)
        return Room(value, bounded=branch.children[0] is not None)

    def _layout(self, branch: Branch, written: Written) -> Written:
        order, *attributes = cast("list[Branch | None]", branch.children)
        numbers = [] if order is None else tokens(order)
        written = replace(written, order=self._order(numbers, written))
        seen: set[str] = set()
        for attribute in [each for each in attributes if each is not None]:
            if attribute.data in seen:
                message = f"`{self._span(attribute).text}` stands here a second time"
                raise fault("L404", message, self._span(attribute))
            seen.add(str(attribute.data))
            written = self._attribute(attribute, written)
        return written

    def _order(self, numbers: list[Token], written: Written) -> tuple[int, ...]:
        """Return the dimensions from the most minor; each stands there once."""
        rank = len(numbers) if written.extents is None else len(written.extents)
        if rank != len(numbers):
            words = f"the text speaks of {rank} dimensions, and of {len(numbers)}"
            raise fault("L403", words, self._text)
        self._refuse_rank(rank)
        found: list[int] = []
        for token in numbers:
            number, span = self._number(token), self._span(token)
            if number >= rank:
                hint = f"the dimensions are 0 to {rank - 1}"
                raise fault("L404", f"there is no dimension {number}", span, help=hint)
            if number in found:
                raise fault("L404", f"dimension {number} is there twice", span)
            found.append(number)
        return tuple(found)

    def _refuse_rank(self, rank: int) -> None:
        if rank > MOST_RANK:
            raise fault("L103", f"a layout has {MOST_RANK} dimensions at most", self._text)

    def _attribute(self, branch: Branch, written: Written) -> Written:
        match branch.data:
            case "levels":
                return self._levels(branch, written)
            case "physical":
                message = "a physical shape is that of a sparse array, whose elements have no slots"
                raise fault("L409", message, self._span(branch))
            case "tiles":
                return replace(written, tiles=tuple(map(self._tile, branches(branch))))
            case "splits":
                return replace(written, splits=tuple(map(self._split, branches(branch))))
            case "index":
                return replace(written, index=self._type(tokens(branch)[0]))
            case "pointer":
                return replace(written, pointer=self._type(tokens(branch)[0]))
        (token,) = tokens(branch)
        number = self._number(token)
        if branch.data == "tail" and number < 1:
            message = "the alignment of the tail is at least 1"
            raise fault("L405", message, self._span(token))
        match branch.data:
            case "tail":
                return replace(written, tail=number)
            case "bits":
                return replace(written, bits=number)
            case "space":
                return replace(written, space=number)
        return replace(written, prefix=number)

    def _levels(self, branch: Branch, written: Written) -> Written:
        """All dimensions have to be dense; the newer printers do not say so."""
        for token in tokens(branch):
            if not token.startswith("D"):
                message = "a sparse array stores only some elements, at places that its data tell"
                hint = "a layout is of dense dimensions: `D`, or nothing"
                raise fault("L409", message, self._span(token), help=hint)
        if len(tokens(branch)) != written.rank:
            words = f"{len(tokens(branch))} dimensions are described, the array has {written.rank}"
            raise fault("L403", words, self._span(branch))
        return written

    def _tile(self, branch: Branch) -> tuple[int | None, ...]:
        sizes = []
        for size in branches(branch):
            (token,) = tokens(size)
            number = None if token.type == "COMBINE" else self._number(token)
            if number is not None and number < 1:
                message = "a tile has 1 element or more along each dimension"
                raise fault("L405", message, self._span(token))
            sizes.append(number)
        if sizes and sizes[-1] is None:
            message = "`*` joins a dimension to the next one, and none follows"
            raise fault("L405", message, self._span(branch))
        return tuple(sizes)

    def _split(self, branch: Branch) -> Split:
        dimension, *places = map(self._number, tokens(branch))
        return Split(dimension, tuple(places))

    def _proto(self, branch: Branch) -> Written:
        numbers: dict[str, list[Token]] = {}
        fill: Fill = UNSPECIFIED
        for field in branches(branch):
            name, value = field.children
            held = tokens(cast("Branch", value))
            if name == "padding_value":
                fill = self._padding(held)
            elif any(token.type != "INT" for token in held):
                raise fault("L401", f"`{name}` takes numbers", self._span(held[0]))
            else:
                numbers.setdefault(str(name), []).extend(held)
        order = numbers.get("minor_to_major", [])
        padded = numbers.get("padded_dimensions", [])
        if padded and len(padded) != len(order):
            words = f"the text speaks of {len(order)} dimensions, and of {len(padded)}"
            raise fault("L403", words, self._text)
        found = self._order(order, Written(None))
        return Written(found, padded=tuple(map(self._padded, padded)), fill=fill)

    def _padded(self, token: Token) -> int:
        found = self._number(token)
        if found < 1:
            raise fault("L405", "a padded extent is at least 1", self._span(token))
        return found

    def _padding(self, held: list[Token]) -> Fill:
        word = str(held[0]) if len(held) == 1 else ""
        if word in PADDING:
            return PADDING[word]
        span = self._span(held[0]) if held else self._text
        hint = f"write {', '.join(PADDING)}"
        raise fault("L407", f"the padding value `{word}` is no number we know", span, help=hint)

    def _number(self, token: Token) -> int:
        if len(token) > MOST_DIGITS:
            message = f"this number has more than {MOST_DIGITS} digits"
            raise fault("L103", message, self._span(token))
        return int(token)

    def _span(self, place: Token | Branch) -> Span:
        found = place if isinstance(place, Token) else place.meta
        start = found.start_pos or 0
        end = found.end_pos or start
        return Span(self._text.source, self._text.start + start, self._text.start + end)


def branches(branch: object) -> list[Branch]:
    """Return the branches of a branch, without its tokens."""
    return [each for each in cast("Branch", branch).children if isinstance(each, Tree)]


def tokens(branch: Branch) -> list[Token]:
    """Return the tokens of a branch, without its branches."""
    return [each for each in branch.children if isinstance(each, Token)]
