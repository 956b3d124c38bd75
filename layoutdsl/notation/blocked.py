"""A layout as axes cut into blocks: the rest of every axis, then blocks of a fixed size."""

from __future__ import annotations

from collections.abc import Iterator

from layoutdsl.language.integers.digit import same
from layoutdsl.language.integers.expr import Constant
from layoutdsl.language.meaning.model import Layout
from layoutdsl.notation.blocks import Piece
from layoutdsl.notation.notation import Unwritable
from layoutdsl.notation.places import (
    Place,
    places,
    refuse_range,
    refuse_start,
)


def blocked(layout: Layout) -> tuple[Piece, ...]:
    """Return the layout as pieces: the rest of every axis, then blocks, both most major first.

    Raises:
        Unwritable: it is anything else.
    """
    if not layout.axes:
        raise Unwritable("it has no axes")
    refuse_start(layout)
    refuse_range(layout)
    found = places(layout)
    rests = [Piece(each.axis, None) for each in found if each.radix is None]
    if any(each.radix is not None for each in found[: len(rests)]):
        raise Unwritable("a block stands before the most major digit of an axis")
    blocks = _blocks(found[len(rests) :])
    return (*_without_rest(layout, rests, blocks), *rests, *blocks)


def _blocks(inner: tuple[Place, ...]) -> list[Piece]:
    """The blocks; those of one axis have to come from the most major down."""
    blocks: list[Piece] = []
    below: dict[int, int] = {}
    for each in reversed(inner):
        reached = below.get(each.axis, 1)
        if not same(each.divisor, Constant(reached)):
            raise Unwritable("the blocks of an axis do not stand in their order")
        below[each.axis] = reached * each.block
        if each.block > 1:
            blocks.append(Piece(each.axis, each.block))
    return blocks[::-1]


def _without_rest(layout: Layout, rests: list[Piece], blocks: list[Piece]) -> Iterator[Piece]:
    """The axes of one element that no coordinate needs."""
    cut = {each.axis for each in blocks}
    for number, axis in enumerate(layout.axes):
        rest = Piece(number, None)
        if number in cut and rest not in rests:
            raise Unwritable(f"the digits of `{axis.name}` end at a block, with no rest above it")
        if rest not in rests:
            yield rest
