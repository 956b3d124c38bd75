"""Chunk grids of Zarr: ``shape=(10, 7), chunks=(4, 3), order=F, fill_value=0``.

Each chunk is an object of its own, and all are of one size: those at the ends are filled up with
``fill_value``, which is 0 where it is left out. Within a chunk elements are row-major, or
column-major with ``order=F``; ``order=(2, 0, 1)`` is that of the transpose codec. Chunks of a shard
lie in it as its index says, in any order, so a text with shards says no layout.

Source: Zarr, "Zarr core specification", regular chunk grids; "Storage specification version 2",
`order` and `fill_value`; "Transpose codec"; "Sharding codec".
"""

from __future__ import annotations

from typing import cast

from lark import Token, Tree

from layoutdsl.language.integers.expr import Constant
from layoutdsl.language.meaning.elements import FillValue
from layoutdsl.language.meaning.model import Axis, Layout
from layoutdsl.language.syntax.reading import tree
from layoutdsl.language.texts.faults import fault
from layoutdsl.language.texts.source import Span
from layoutdsl.notation.blocks import (
    Piece,
    axes_or,
    coordinates,
    number,
    refuse_huge,
    refuse_many,
    with_extents,
)
from layoutdsl.notation.notation import Notes, Reading, Unwritable
from layoutdsl.notation.places import places, refuse_range, refuse_start

ABOUT = "chunk grids of Zarr"
EXAMPLE = "shape=(10, 7), chunks=(4, 3), order=F, fill_value=0"

_SPELLING = {"INT": "a number", "SIGN": "`-`", "LETTER": "`C` or `F`", "CHUNKS": "`chunks`"}

Branch = Tree[Token]


def read(text: Span, axes: tuple[Axis, ...] | None) -> Reading:
    """Return the layout of a chunk grid; see `Notation.read` for errors."""
    fields: dict[str, Branch] = {}
    for each in cast("list[Branch]", tree("zarr", text, "L401", _SPELLING).children):
        if each.data in fields:
            raise fault("L404", f"`{each.data}` is given twice", _span(text, each))
        fields[str(each.data)] = each
    if "shards" in fields:
        words = "where chunks lie in a shard only its index says"
        raise fault("L407", words, _span(text, fields["shards"]))
    if "chunks" not in fields:
        raise fault("L401", "the chunks are missing", text, help="write `chunks=(4, 3)`")
    chunk = _numbers(text, fields["chunks"])
    refuse_many(2 * len(chunk), text)
    refuse_huge(chunk)
    found = axes_or(axes, [f"d{each}" for each in range(len(chunk))], text, "the chunk grid")
    if "shape" in fields:
        shape = _numbers(text, fields["shape"])
        if len(shape) != len(chunk):
            words = f"{len(shape)} extents have chunks of {len(chunk)}"
            raise fault("L405", words, _span(text, fields["shape"]))
        found = with_extents(found, [Constant(extent) for extent, _ in shape], text)
    order = _order(text, fields["order"], len(chunk)) if "order" in fields else range(len(chunk))
    alone = [axis for axis, (size, _) in enumerate(chunk) if size == 1]
    ordered = [*alone, *(axis for axis in order if axis not in alone)]  # where 1 stands is all one
    inner = [Piece(axis, chunk[axis][0]) for axis in ordered]
    cut = coordinates(found, [*(Piece(axis, None) for axis in range(len(chunk))), *inner])
    fill = FillValue(_fill(text, fields["fill"]) if "fill" in fields else 0)
    return Reading(Layout("grid", found, cut, fill=fill, chunk_rank=len(chunk)))


def _span(text: Span, branch: Branch) -> Span:
    return Span(text.source, text.start + branch.meta.start_pos, text.start + branch.meta.end_pos)


def _number(text: Span, token: Token) -> tuple[int, Span]:
    start = text.start + (token.start_pos or 0)
    span = Span(text.source, start, start + len(token))
    return number(span), span


def _order(text: Span, branch: Branch, rank: int) -> list[int]:
    """The axes within a chunk, most major first."""
    said = branch.children[-1]
    if isinstance(said, Token):
        order = list(range(rank))
        return order[::-1] if "F" in said else order
    order = [each for each, _ in _numbers(text, said, least=0)]
    if sorted(order) != list(range(rank)):
        raise fault("L405", f"this is no order of {rank} axes", _span(text, said))
    return order


def _numbers(text: Span, branch: Branch, least: int = 1) -> list[tuple[int, Span]]:
    tokens = branch.scan_values(lambda each: isinstance(each, Token) and each.type == "INT")
    found = [_number(text, token) for token in tokens]
    for extent, span in found:
        if extent < least:
            raise fault("L405", "an extent is at least 1", span)
    return found


def _fill(text: Span, branch: Branch) -> int:
    _, sign, digits = cast("list[Token | None]", branch.children)
    assert digits is not None
    found, _ = _number(text, digits)
    return -found if sign else found


def write(layout: Layout, notes: Notes) -> str:  # noqa: ARG001  nothing is said beyond
    """Return the chunk grid of a layout."""
    refuse_start(layout)
    refuse_range(layout)
    if layout.chunk_rank is None:
        raise Unwritable("it has no chunks that may lie anywhere")
    if layout.parameters:
        raise Unwritable(f"its parameter `{layout.parameters[0]}` has no number")
    if not isinstance(layout.fill, FillValue) or isinstance(layout.fill.value, float):
        message = "a chunk at the end is filled with a whole number, and its padding holds none"
        raise Unwritable(message)
    sizes, order = _grid(layout)
    words = [f"chunks={_tuple(sizes)}"]
    extents = [axis.extent for axis in layout.axes]
    if all(isinstance(each, Constant) for each in extents):
        words.insert(0, f"shape={_tuple([cast('Constant', each).value for each in extents])}")
    elif any(isinstance(each, Constant) for each in extents):
        raise Unwritable("some extents are numbers and others are not")
    if order:
        words.append(f"order={order}")
    return ", ".join([*words, f"fill_value={layout.fill.value}"])


def _grid(layout: Layout) -> tuple[list[int], str]:
    """The extents of a chunk, and the order within it, empty where it is row-major."""
    rank, found = layout.rank, places(layout)
    outer = [each for each in found if each.radix is None]
    inner = [each for each in found if each.radix is not None and each.block > 1]
    if layout.chunk_rank is None or any(each.radix for each in found[: len(outer)]):
        raise Unwritable("digits within a chunk stand before those that count chunks")
    if [each.axis for each in outer] != sorted(each.axis for each in outer):
        raise Unwritable("chunks are not counted in the order of the axes")
    axes = [each.axis for each in inner]
    if len({*axes}) < len(axes):
        raise Unwritable("an axis is cut twice within a chunk")
    sizes = [1] * rank
    for each in inner:
        sizes[each.axis] = each.block
    whole = [each for each in layout.coordinates[layout.chunk_rank :] if each.extent != Constant(1)]
    if len(whole) != len(inner):
        raise Unwritable("more than a block of each axis lies in a chunk")
    if axes == sorted(axes):
        return sizes, ""
    if axes == sorted(axes, reverse=True):
        return sizes, "F"
    return sizes, _tuple([*(axis for axis in range(rank) if axis not in axes), *axes])


def _tuple(numbers: list[int]) -> str:
    return f"({', '.join(map(str, numbers))}{',' if len(numbers) == 1 else ''})"
