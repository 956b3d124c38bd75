"""TVM's layouts: tags such as ``NCHW16c``, and index maps, ``lambda n, c: [n, c // 16, c % 16]``.

A tag lists axes and their blocks from the most major; a capital is an axis, or what its blocks
leave of it, and a number with a small letter a block. ``[4o4i]`` is one coordinate of two blocks.
An axis that its blocks do not divide is padded (TVM rounds up). A tag may cut an axis several
times, as TVM's quantised convolutions call their weights; its `slayout` refuses such a tag, and so
none is printed. An index map gives the position of an index, and ``IndexMap.AXIS_SEPARATOR``, which
later versions have no more, stands where the chunk ends.

Source: TVM documentation, `tvm.tir.Layout`, `tvm.tir.IndexMap`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from lark import Token, Tree

from layoutdsl.language.integers.bounds import ONE, reach
from layoutdsl.language.integers.expr import Constant, Coordinate, Expr, Index, MixedRadix, text
from layoutdsl.language.meaning.model import Axis, Layout
from layoutdsl.language.syntax.reading import tree
from layoutdsl.language.texts.faults import fault
from layoutdsl.language.texts.source import Span
from layoutdsl.notation import tvm_text
from layoutdsl.notation.arithmetic import MOST_DIGITS, Arithmetic
from layoutdsl.notation.blocks import Piece, axes_called, coordinate, coordinates
from layoutdsl.notation.notation import Notes, Reading

ABOUT = "TVM layouts and index maps"
EXAMPLE = "NCHW16c"

_SPELLING = {
    "LETTER": "a letter",
    "INT": "a number",
    "NAME": "a name",
    "SEPARATOR": "`IndexMap.AXIS_SEPARATOR`",
    "SIGN": "`+` or `-`",
    "FACTOR": "`*`, `//` or `%`",
    "SHIFT": "`<<` or `>>`",
}

Branch = Tree[Token]


def read(whole: Span, axes: tuple[Axis, ...] | None) -> Reading:
    """Return the layout of a tag or an index map; see `Notation.read` for errors."""
    (branch,) = cast("list[Branch]", tree("tvm", whole, "L401", _SPELLING).children)
    if branch.data == "tag":
        return Reading(_Tag(whole).layout(branch, axes))
    layout = _map(whole, branch, axes)
    return Reading(layout, {"form": "map" if layout.chunk_rank is None else "separated map"})


def write(layout: Layout, notes: Notes) -> str:
    """Return the tag of a layout that has one, else its index map."""
    return tvm_text.write(layout, notes)


class _Tag:
    """Reads one tag."""

    def __init__(self, whole: Span) -> None:
        self._whole = whole

    def _span(self, first: Token, last: Token) -> Span:
        start = self._whole.start
        return Span(self._whole.source, start + (first.start_pos or 0), start + (last.end_pos or 0))

    def layout(self, branch: Branch, axes: tuple[Axis, ...] | None) -> Layout:
        items = [each for each in branch.children if isinstance(each, Tree)]
        letters = self._letters(items)
        found = axes_called(axes, [each.lower() for each in letters], self._whole, "the tag")
        names = {letter.lower(): number for number, letter in enumerate(letters)}
        groups = [self._pieces(item, names) for item in items]
        flat = list(coordinates(found, [piece for group in groups for piece in group]))
        opened: list[Coordinate] = []
        for group in groups:
            parts, flat = tuple(flat[: len(group)]), flat[len(group) :]
            opened.append(parts[0] if len(parts) == 1 else coordinate(found, MixedRadix(parts)))
        return Layout("tag", found, tuple(opened))

    def _letters(self, items: list[Branch]) -> list[str]:
        """Return the axes in the order of the tag."""
        seen: dict[str, Token] = {}
        for item in items:
            token = cast("Token", item.children[-1])
            if item.data == "fused" or len(item.children) == 2:
                continue
            if not token.isupper():
                message = f"`{token}` is an axis, and axes are capitals"
                raise fault(
                    "L404", message, self._span(token, token), help=f"write `{token.upper()}`"
                )
            if str(token) in seen:
                message = f"the axis `{token}` is there twice"
                raise fault("L404", message, self._span(token, token))
            seen[str(token)] = token
        if not seen:
            raise fault("L404", "the tag names no axis", self._whole)
        return list(seen)

    def _pieces(self, item: Branch, names: Mapping[str, int]) -> list[Piece]:
        tokens = [each for each in item.children if isinstance(each, Token)]
        if len(tokens) == 1:
            return [Piece(names[tokens[0].lower()], None)]
        return [
            self._block(size, letter, names)
            for size, letter in zip(tokens[::2], tokens[1::2], strict=True)
        ]

    def _block(self, size: Token, letter: Token, names: Mapping[str, int]) -> Piece:
        span = self._span(size, letter)
        if letter.isupper():
            hint = f"write `{size}{letter.lower()}`"
            raise fault("L404", f"`{letter}` is no block", span, help=hint)
        if str(letter) not in names:
            message = f"`{letter}` is a block of no axis of the tag"
            raise fault("L404", message, span, help=f"the axis would be `{letter.upper()}`")
        if len(size) > MOST_DIGITS:
            raise fault("L103", f"this number has more than {MOST_DIGITS} digits", span)
        if int(size) < 1:
            raise fault("L405", "a block has 1 element or more", span)
        return Piece(names[str(letter)], int(size))


def _map(whole: Span, branch: Branch, axes: tuple[Axis, ...] | None) -> Layout:
    names, body = branch.children
    written = _tokens(names)
    arithmetic = Arithmetic(whole, {})
    for number, token in enumerate(written):
        if token in written[:number]:
            message = f"the index `{token}` is declared twice"
            raise fault("L404", message, arithmetic.span(token))
        if axes is None and not (token.islower() and token.isidentifier() and token[0] != "_"):
            message = f"`{token}` is no name of an axis, which is in lower case"
            raise fault("L404", message, arithmetic.span(token))
    found = axes_called(axes, [str(token) for token in written], whole, "the map")
    indices: dict[str, Expr] = {
        str(token): Index(axis.name) for token, axis in zip(written, found, strict=True)
    }
    arithmetic = Arithmetic(whole, indices)
    places: list[Coordinate] = []
    rank: int | None = None
    for each in _values(cast("Branch", body)):
        if each.data == "separator":
            if rank is not None:
                raise fault("L404", "the separator is there twice", arithmetic.span(each))
            rank = len(places)
            continue
        places.append(_place(arithmetic, found, each))
    return Layout("map", found, tuple(places) or (Coordinate(Constant(0), ONE),), rank or None)


def _tokens(branch: Branch | Token | None) -> list[Token]:
    return [t for t in branch.children if isinstance(t, Token)] if isinstance(branch, Tree) else []


def _values(body: Branch) -> list[Branch]:
    if body.data != "list":
        return [body]
    found: list[Branch] = []
    for each in body.children:
        if isinstance(each, Tree):
            found += _values_of(each)
    return found


def _values_of(branch: Branch) -> list[Branch]:
    if branch.data != "values":
        return [branch]
    return [each for each in branch.children if isinstance(each, Tree)]


def _place(arithmetic: Arithmetic, axes: tuple[Axis, ...], branch: Branch) -> Coordinate:
    value = arithmetic.value(branch)
    bound = reach(value, {axis.name: axis.extent for axis in axes})
    if bound is None:
        message = f"no extent follows from `{text(value)}`"
        raise fault("L405", message, arithmetic.span(branch))
    return Coordinate(value, bound.high)
