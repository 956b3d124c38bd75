"""A layout as axes cut into blocks: the rest of every axis, then blocks of a fixed size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from layoutdsl.integers.digit import same
from layoutdsl.integers.expr import Constant
from layoutdsl.meaning.model import Layout
from layoutdsl.notation.notation import Unwritable
from layoutdsl.notation.places import (
    Place,
    block,
    places,
    refuse_padded,
    refuse_range,
    refuse_start,
)


@dataclass(frozen=True, slots=True)
class Blocked:
    """What is left of the axes, by number, and the blocks, both most major first.

    Attributes:
        order: every axis once.
        blocks: pairs of an axis and a size; the last one of an axis is its lowest digit.
    """

    order: tuple[int, ...]
    blocks: tuple[tuple[int, int], ...]


def blocked(layout: Layout) -> Blocked:
    """Return the layout as axes and blocks.

    Raises:
        Unwritable: it is anything else.
    """
    if not layout.axes:
        raise Unwritable("it has no axes")
    refuse_start(layout)
    refuse_range(layout)
    found = places(layout)
    refuse_padded(found, layout)
    rests = [each.axis for each in found if each.radix is None]
    if any(each.radix is not None for each in found[: len(rests)]):
        raise Unwritable("a block stands before the most major digit of an axis")
    blocks = _blocks(found[len(rests) :])
    return Blocked((*_without_rest(layout, rests, blocks), *rests), blocks)


def _blocks(inner: tuple[Place, ...]) -> tuple[tuple[int, int], ...]:
    """The blocks as axes and sizes; those of one axis have to come from the most major down."""
    blocks: list[tuple[int, int]] = []
    below: dict[int, int] = {}
    for each in reversed(inner):
        reached = below.get(each.axis, 1)
        if not same(each.divisor, Constant(reached)):
            raise Unwritable("the blocks of an axis do not stand in their order")
        below[each.axis] = reached * block(each)
        if block(each) > 1:
            blocks.append((each.axis, block(each)))
    return tuple(reversed(blocks))


def _without_rest(
    layout: Layout, rests: list[int], blocks: tuple[tuple[int, int], ...]
) -> Iterator[int]:
    """The axes of one element that no coordinate needs."""
    cut = {axis for axis, _ in blocks}
    for number, axis in enumerate(layout.axes):
        if number in cut and number not in rests:
            raise Unwritable(f"the digits of `{axis.name}` end at a block, with no rest above it")
        if number not in rests:
            yield number
