"""Where the bits of items lie, and where the record says so: an identity of expressions."""

from __future__ import annotations

from layoutdsl.code.validate.records.bits import equal
from layoutdsl.code.validate.records.sides import ONE, Side, cut_box, horner, plus, times
from layoutdsl.code.validate.terms import Meaningless
from layoutdsl.language.integers.bounds import simplify
from layoutdsl.language.integers.expr import (
    Add,
    Coordinate,
    Expr,
    Index,
    substitute,
    substitute_coordinate,
)
from layoutdsl.language.meaning.elements import BIT_AXIS, FillValue
from layoutdsl.language.meaning.model import ZERO


def _offset(box: list[Coordinate]) -> Expr:
    return horner([each.value for each in box], [each.extent for each in box])


def expect_addresses(side: Side) -> None:
    """Compare where the bits of items lie with where the record says that they do.

    Raises:
        Meaningless: they lie elsewhere, or it cannot be told.
    """
    placed, part = side.placed, side.placed.part
    items, window = placed.items, placed.window
    if items.start != ZERO or items.fill != FillValue(0) or items.domain or items.copies:
        raise Meaningless("the layout of items has a start, a domain, copies or another fill")
    if placed.shift + part.element.bits > placed.bits and not placed.by_bit:
        raise Meaningless("an item holds less than its part")
    if side.is_direct and placed.bits != part.element.bits:
        raise Meaningless("an item holds more than its element")
    bit = Index(BIT_AXIS)
    alone = {name: ZERO for name, extent in part.extents().items() if simplify(extent) == ONE}
    laid = [substitute_coordinate(each, alone) for each in part.over_record.coordinates]
    box = [substitute_coordinate(each, alone) for each in side.box]
    inside: Expr = ZERO if placed.by_bit else plus(substitute(bit, alone), placed.shift)
    if window is None:
        wanted, found, first = _offset(laid), _offset(box), 0
    else:
        before, block = cut_box(laid, 8 * window.block)
        ours, own = cut_box(box, 8 * window.count // placed.bits)
        if len(before) != len(ours) or not all(map(_alike, before, ours)):
            raise Meaningless("the blocks of items are others than those of the record")
        if not 0 <= window.first <= window.first + window.count <= window.block:
            raise Meaningless("a window is no part of its block")
        wanted, found, first = _offset(block), _offset(own), window.first
    if not equal(wanted, plus(Add(times(placed.bits, found), inside), 8 * first)):
        raise Meaningless("a bit of an item lies elsewhere than the record says")


def _alike(one: Coordinate, other: Coordinate) -> bool:
    return equal(one.value, other.value) and equal(one.extent, other.extent)
