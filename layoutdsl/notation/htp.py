"""Qualcomm HTP's memory layouts: ``ChunkedMemoryLayout<4, 0,0, 1,0, 2,0, 3,0, 1,8, 2,8, 3,32>``.

The rank, then pairs of a dimension and a size, most major first; a size of 0 is all the rest of the
dimension, and stands once for each of them, before the sizes. The sizes are a chunk, and chunks may
lie apart. A list of pairs does not say what padding holds: that is 31 for the croutons that the
document names, by whichever name or pairs, and 0 for all others. Pairs speak of dimensions by their
place; the types that the document names are those of a tensor of b, h, w, d.

Source: Qualcomm 80-63442-10, "Tensors and Memory Layout". What it misprints is in
`tests/notation/test_notation_htp.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

from lark import Token, Tree

from layoutdsl.language.integers.bounds import simplify
from layoutdsl.language.integers.digit import read as read_digit
from layoutdsl.language.integers.expr import Coordinate
from layoutdsl.language.meaning.elements import FillValue
from layoutdsl.language.meaning.model import Axis, Layout
from layoutdsl.language.syntax.reading import tree
from layoutdsl.language.texts.faults import did_you_mean, fault
from layoutdsl.language.texts.source import Span
from layoutdsl.notation.blocked import blocked
from layoutdsl.notation.blocks import (
    MOST_PIECES,
    Piece,
    axes_called,
    axes_or,
    coordinates,
    number,
    refuse_huge,
    refuse_long_name,
    refuse_many,
)
from layoutdsl.notation.notation import Notes, Reading, Unwritable
from layoutdsl.notation.places import refuse_fill, whole_parts

ABOUT = "Qualcomm HTP's chunked memory layouts"
EXAMPLE = "ChunkedMemoryLayout<4, 0,0, 1,0, 2,0, 3,0, 1,8, 2,8, 3,32>"

Pairs: TypeAlias = tuple[tuple[int, int], ...]
"""Dimensions and sizes, most major first; a size of 0 is all the rest."""


def _pairs(text: str) -> Pairs:
    numbers = [int(word) for word in text.split(",")]
    return tuple(zip(numbers[::2], numbers[1::2], strict=True))


_PLAIN: Mapping[str, Pairs] = {
    "R4FlatMemoryLayout": _pairs("0,0, 1,0, 2,0, 3,0"),
    "R4NCHWMemoryLayout": _pairs("0,0, 3,0, 2,0, 1,0"),
    "R4Depth32MemoryLayout": _pairs("0,0, 1,0, 3,0, 2,0, 2,4, 3,32"),
}
_CROUTONS: Mapping[str, Pairs] = {
    "R4CroutonLayout": _pairs("0,0, 1,0, 2,0, 3,0, 1,8, 2,8, 3,32"),
    "R4Crouton4x1Layout": _pairs("0,0, 1,0, 2,0, 3,0, 1,8, 2,2, 3,32, 2,4"),
    "R4Crouton2x2Layout": _pairs("0,0, 1,0, 2,0, 3,0, 1,4, 2,4, 3,32, 1,2, 2,2"),
    "R4Crouton2Layout": _pairs("0,0, 1,0, 2,0, 3,0, 1,8, 2,2, 3,32, 2,2"),
    "ChannelMajorCrouton": _pairs("0,0, 1,0, 2,0, 3,0, 1,8, 2,8, 3,32"),
    "SpatialXYMajor": _pairs("0,0, 1,0, 2,0, 3,0, 1,4, 2,4, 3,32, 1,2, 2,2"),
    "SpatialXMajor": _pairs("0,0, 1,0, 2,0, 3,0, 1,4, 2,2, 3,32, 2,4"),
}
TYPES: Mapping[str, Pairs] = {**_PLAIN, **_CROUTONS}
"""The names of the document: its table, and its samples of croutons."""

_NAMES = ("b", "h", "w", "d")
_SPELLING = {"INT": "a number", "NAME": "the name of a type"}


@dataclass(frozen=True, slots=True)
class _Pair:
    dimension: int
    size: int
    span: Span


def read(text: Span, axes: tuple[Axis, ...] | None) -> Reading:
    """Return the layout of a type; `Notation.read` says what is raised.

    The note ``type`` holds the name, where the text is one.
    """
    found = tree("htp", text, "L401", _SPELLING).children[0]
    notes: Notes = {}
    if isinstance(found, Token):
        pairs, notes = _named(found, _at(text, found)), {"type": str(found)}
    else:
        pairs = _written(found, text)
    rank = sum(size == 0 for _, size in pairs)
    names = _NAMES if rank == len(_NAMES) else [f"i{number}" for number in range(rank)]
    known = (axes_called if notes else axes_or)(axes, names, text, "the type")
    pieces = [Piece(axis, size or None) for axis, size in pairs]
    chunk = rank if len(pairs) > rank else None
    return Reading(
        Layout("type", known, coordinates(known, pieces), chunk, fill=_fill(pairs)), notes
    )


def _fill(pairs: Pairs) -> FillValue:
    """Source: the document, "Practical tips working with Crouton"."""
    return FillValue(31 if pairs in _CROUTONS.values() else 0)


def _named(name: Token, at: Span) -> Pairs:
    refuse_long_name(at)
    if name in TYPES:
        return TYPES[name]
    hint = did_you_mean(name, TYPES) or "write its pairs: `<RANK, DIMENSION,SIZE, ...>`"
    raise fault("L401", f"there is no type `{name}`", at, help=hint)


def _written(branch: Tree[Token], text: Span) -> Pairs:
    written, *rest = branch.children
    at = _at(text, cast("Token", written))
    rank = number(at)
    if rank < 1:
        raise fault("L405", "a rank is 1 or more", at)
    if rank > MOST_PIECES:
        raise fault("L103", f"this rank is {rank}, at most {MOST_PIECES}", at)
    if branch.data == "flat":
        return tuple((dimension, 0) for dimension in range(rank))
    pairs = [_pair(cast("Tree[Token]", each), text) for each in rest]
    refuse_many(len(pairs), text)
    _refuse_wrong_pairs(pairs, rank, at)
    return tuple((each.dimension, each.size) for each in pairs if each.size != 1)


def _pair(branch: Tree[Token], text: Span) -> _Pair:
    dimension, size = (_at(text, each) for each in cast("list[Token]", branch.children))
    return _Pair(number(dimension), number(size), dimension.to(size))


def _at(text: Span, token: Token) -> Span:
    return Span(text.source, text.start + (token.start_pos or 0), text.start + (token.end_pos or 0))


def _refuse_wrong_pairs(pairs: Sequence[_Pair], rank: int, at: Span) -> None:
    rests: set[int] = set()
    block: _Pair | None = None
    for each in pairs:
        if each.dimension >= rank:
            message = f"there is no dimension {each.dimension}"
            raise fault("L404", message, each.span, help=f"the rank {rank} has 0 to {rank - 1}")
        if each.size:
            block = block or each
        elif each.dimension in rests:
            raise fault("L404", f"the rest of dimension {each.dimension} is there twice", each.span)
        elif block is not None:
            message = f"the rest of dimension {each.dimension} stands after a block"
            raise fault("L405", message, each.span, help=f"write it before `{block.span.text}`")
        else:
            rests.add(each.dimension)
    for missing in sorted(set(range(rank)) - rests):
        message = f"the rest of dimension {missing} is missing"
        raise fault("L404", message, at, help=f"write `{missing},0` among the first pairs")
    refuse_huge([(each.size, each.span) for each in pairs if each.size])


def write(layout: Layout, notes: Notes) -> str:
    """Return the type of a layout: by pairs, or by the name in the note ``type``."""
    found = blocked(layout)
    if len(found) > MOST_PIECES:
        raise Unwritable(f"it has more than {MOST_PIECES} axes and blocks")
    pairs = tuple((each.axis, each.size or 0) for each in found)
    _refuse_chunks(layout)
    if len(pairs) > layout.rank:
        _refuse_fill(layout, _fill(pairs))
    name = notes.get("type", "")
    if TYPES.get(name) == pairs:
        return name
    if pairs == tuple((axis, 0) for axis in range(layout.rank)):
        return f"FlatMemoryLayout<{layout.rank}>"
    return f"ChunkedMemoryLayout<{layout.rank}, {', '.join(f'{a},{size}' for a, size in pairs)}>"


def _refuse_chunks(layout: Layout) -> None:
    """A layout without chunks may be cut into them, as no element moves."""
    if layout.chunk_rank is None:
        return
    chunk, place = layout.coordinates[: layout.chunk_rank], layout.coordinates[layout.chunk_rank :]
    if any(map(_is_block, whole_parts(chunk))) or any(map(_is_rest, whole_parts(place))):
        raise Unwritable("its chunks are not its blocks")


def _is_block(coordinate: Coordinate) -> bool:
    digit = read_digit(simplify(coordinate.value))
    return digit is not None and digit.radix is not None


def _is_rest(coordinate: Coordinate) -> bool:
    digit = read_digit(simplify(coordinate.value))
    return digit is not None and digit.radix is None


def _refuse_fill(layout: Layout, expected: FillValue) -> None:
    try:
        refuse_fill(layout, expected)
    except Unwritable as reason:
        raise Unwritable(f"{reason}, that of this type {expected.value}") from None
