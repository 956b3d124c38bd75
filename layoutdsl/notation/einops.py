"""einops' rearrangements and repetitions: ``n (co ci) h w -> n co h w ci, ci=16``.

The left side names the axes of the tensor, an axis in parentheses by the pieces it is cut into, the
first moving slowest; the right side is the packed array, and parentheses there make one coordinate
of several pieces. All sizes but one of every axis are given, and blocks divide their axis: the
layout is defined only where they do. What stands on the right side alone, with a size, counts
copies of each element, as in `einops.repeat`.

Source: einops documentation, `einops.rearrange` and `einops.repeat`.
"""

from __future__ import annotations

from typing import cast

from lark import Token, Tree

from layoutdsl.language.integers.bounds import ONE
from layoutdsl.language.integers.digit import Digit
from layoutdsl.language.integers.expr import (
    Constant,
    Coordinate,
    Expr,
    Extent,
    Index,
    MixedRadix,
    Mod,
)
from layoutdsl.language.meaning.elements import FillAny
from layoutdsl.language.meaning.model import Axis, Condition, Layout
from layoutdsl.language.syntax.reading import tree
from layoutdsl.language.texts.faults import fault
from layoutdsl.language.texts.source import Span
from layoutdsl.notation import einops_text
from layoutdsl.notation.blocks import axes_called, coordinate, with_extents
from layoutdsl.notation.notation import Notes, Reading

ABOUT = "einops rearrangements and repetitions"
EXAMPLE = "n (co ci) h w -> n co h w ci, ci=16"

MOST_DIGITS = 18
_SPELLING = {"NAME": "a name", "INT": "a number"}

Branch = Tree[Token]


def read(text: Span, axes: tuple[Axis, ...] | None) -> Reading:
    """Return the layout of a rearrangement; see `Notation.read` for errors."""
    return Reading(_Reader(text).layout(tree("einops", text, "L401", _SPELLING), axes))


def write(layout: Layout, notes: Notes) -> str:  # noqa: ARG001  nothing is said beyond
    """Return the rearrangement that packs a tensor."""
    return einops_text.write(layout)


class _Reader:
    """Reads one text."""

    def __init__(self, text: Span) -> None:
        self._text = text

    def _span(self, token: Token) -> Span:
        start = self._text.start
        return Span(self._text.source, start + (token.start_pos or 0), start + (token.end_pos or 0))

    def _number(self, token: Token) -> int:
        if len(token) > MOST_DIGITS:
            message = f"this number has more than {MOST_DIGITS} digits"
            raise fault("L103", message, self._span(token))
        if int(token) < 1:
            raise fault("L405", "a size is at least 1", self._span(token))
        return int(token)

    def layout(self, branch: Branch, given: tuple[Axis, ...] | None) -> Layout:
        left, right, *sizes = cast("list[Branch]", branch.children)
        known = self._sizes(sizes)
        entries = [self._entry(each) for each in cast("list[Branch]", left.children)]
        self._refuse_repeats([token for entry in entries for token in entry])
        names = _axis_names(entries)
        unnamed = {number for number, entry in enumerate(entries) if _only_name(entry) is None}
        axes = axes_called(given, names, self._text, "the left side", unnamed)
        pieces: dict[str, Digit] = {}
        extents, blocks = list[Expr](), list[int]()
        for axis, entry in zip(axes, entries, strict=True):
            found, block, open_ = self._cut(axis, entry, known)
            pieces |= found
            extents.append(axis.extent if open_ else Constant(block))
            blocks.append(block if open_ else 1)
        axes = with_extents(axes, extents, self._text)
        copied = self._copies(right, pieces, known, axes)
        self._refuse_unknown_sizes(sizes, pieces)
        where: list[Condition] = []
        for axis, block in zip(axes, blocks, strict=True):
            if block > 1:
                where += self._divisible(axis.extent, block)
        axes = (*axes, *copied)
        places = self._places(axes, cast("list[Branch]", right.children), pieces)
        copies = tuple(axis.name for axis in copied)
        return Layout("rearranged", axes, places, fill=FillAny(), where=tuple(where), copies=copies)

    def _copies(
        self,
        right: Branch,
        pieces: dict[str, Digit],
        known: dict[str, int],
        axes: tuple[Axis, ...],
    ) -> list[Axis]:
        """The axes that only the right side has, whose sizes are given; they become pieces too."""
        found = list[Axis]()
        taken = {axis.name for axis in axes}
        for entry in cast("list[Branch]", right.children):
            for token in self._entry(entry):
                word = str(token)
                if token.type != "NAME" or word in pieces or word not in known:
                    continue
                name = word.lower()
                if name in taken or name[0] == "_":
                    message = f"`{word}` is no name for an axis of copies here"
                    raise fault("L404", message, self._span(token), help="choose another name")
                taken.add(name)
                found.append(Axis(name, Constant(known[word])))
                pieces[word] = Digit(Index(name), ONE, None)
        return found

    def _divisible(self, extent: Expr, block: int) -> list[Condition]:
        match extent:
            case Constant(number) if number % block:
                raise fault("L405", f"blocks of {block} do not divide {number}", self._text)
            case Extent():
                return [Condition(Mod(extent, Constant(block)), "==", Constant(0))]
        return []

    def _sizes(self, sizes: list[Branch]) -> dict[str, int]:
        known: dict[str, int] = {}
        for each in sizes:
            name, number = cast("list[Token]", each.children)
            if str(name) in known:
                raise fault("L404", f"the size of `{name}` is given twice", self._span(name))
            known[str(name)] = self._number(number)
        return known

    def _refuse_unknown_sizes(self, sizes: list[Branch], pieces: dict[str, Digit]) -> None:
        for each in sizes:
            name = cast("Token", each.children[0])
            if str(name) not in pieces:
                raise fault("L404", f"`{name}` is on neither side", self._span(name))

    def _entry(self, branch: Branch) -> list[Token]:
        inside = branch.children[0]
        if isinstance(inside, Token):
            return [inside]
        return [each for each in inside.children if isinstance(each, Token)]

    def _refuse_repeats(self, tokens: list[Token]) -> None:
        seen: set[str] = set()
        for token in tokens:
            if token.type == "INT" and str(token) != "1":
                hint = "give it a name, and its size after the comma"
                raise fault("L404", "only 1 stands for itself", self._span(token), help=hint)
            if token.type == "NAME" and str(token) in seen:
                raise fault("L404", f"`{token}` is there twice", self._span(token))
            seen.add(str(token))

    def _cut(
        self, axis: Axis, entry: list[Token], known: dict[str, int]
    ) -> tuple[dict[str, Digit], int, bool]:
        """Return the pieces of an axis, the product of the given sizes, and whether one is open."""
        names = [token for token in entry if token.type == "NAME"]
        open_ = [token for token in names if str(token) not in known]
        if len(open_) > 1:
            message = f"the sizes of `{open_[0]}` and `{open_[1]}` are both open"
            raise fault("L404", message, self._span(open_[1]), help=f"add `, {open_[1]}=16`")
        if open_ and open_[0] != names[0]:
            message = f"the size of the block `{open_[0]}` is open"
            hint = f"give `{open_[0]}`, and leave `{names[0]}` open"
            raise fault("L404", message, self._span(open_[0]), help=hint)
        found: dict[str, Digit] = {}
        below = 1
        for token in reversed(names):
            size = known.get(str(token), 1)
            radix = None if token == names[0] else Constant(size)
            found[str(token)] = Digit(Index(axis.name), Constant(below), radix)
            below *= size
        return found, below, bool(open_)

    def _places(
        self, axes: tuple[Axis, ...], entries: list[Branch], pieces: dict[str, Digit]
    ) -> tuple[Coordinate, ...]:
        tokens = [token for entry in entries for token in self._entry(entry)]
        self._refuse_repeats(tokens)
        names = {str(token) for token in tokens if token.type == "NAME"}
        for token in tokens:
            if token.type == "NAME" and str(token) not in pieces:
                message = f"`{token}` is not on the left side"
                hint = f"where it counts copies of an element, say how many: `, {token}=4`"
                raise fault("L404", message, self._span(token), help=hint)
        lost = [name for name in pieces if name not in names]
        if lost:
            raise fault("L404", f"`{lost[0]}` is not on the right side", self._text)
        places: list[Coordinate] = []
        for entry in entries:
            parts = tuple(self._place(axes, token, pieces) for token in self._entry(entry))
            if len(parts) == 1:
                places.append(parts[0])
            elif parts:
                places.append(coordinate(axes, MixedRadix(parts)))
            else:
                places.append(Coordinate(Constant(0), ONE))
        return tuple(places) or (Coordinate(Constant(0), ONE),)

    def _place(self, axes: tuple[Axis, ...], token: Token, pieces: dict[str, Digit]) -> Coordinate:
        if token.type == "INT":
            return Coordinate(Constant(0), ONE)
        piece = pieces[str(token)]
        if any(Index(axis.name) == piece.whole and axis.extent == ONE for axis in axes):
            return Coordinate(Constant(0), ONE)
        return coordinate(axes, piece.value)


def _axis_names(entries: list[list[Token]]) -> list[str]:
    """Name every axis: after its only piece, after what its pieces begin with, or by its number."""
    only = [_only_name(entry) for entry in entries]
    taken = {name for name in only if name is not None}
    names: list[str] = []
    for number, (name, entry) in enumerate(zip(only, entries, strict=True)):
        found = name or _common([str(token).lower() for token in entry if token.type == "NAME"])
        if name is None and (found in taken or not found.isidentifier() or found[0] == "_"):
            found = f"d{number}"
        taken.add(found)
        names.append(found)
    return names


def _only_name(entry: list[Token]) -> str | None:
    """The name of an axis that has one piece, where an axis may be called so."""
    words = [str(token).lower() for token in entry if token.type == "NAME"]
    return words[0] if len(words) == 1 and words[0][0] != "_" else None


def _common(words: list[str]) -> str:
    letters = list[str]()
    for column in zip(*words, strict=False):
        if len(set(column)) > 1:
            break
        letters.append(column[0])
    return "".join(letters)
