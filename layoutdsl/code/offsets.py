"""Layouts to formulas: of offsets, and of what padding costs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, overload

from layoutdsl.language.elaborate.shelf import find_layout, find_layout_or_record
from layoutdsl.language.meaning.arguments import TEXT, expect
from layoutdsl.language.meaning.elements import ELEMENT_TYPES
from layoutdsl.language.meaning.model import Layout, Shape
from layoutdsl.language.meaning.record import Record
from layoutdsl.proof.claims import range_of

if TYPE_CHECKING:
    from layoutdsl.code.formula import Formula
    from layoutdsl.language.digits.inverse import Inverse
    from layoutdsl.language.digits.network import NotDigits
    from layoutdsl.proof.padding.cost import Cost
    from layoutdsl.proof.padding.record_cost import RecordCost


def formula(layout: Layout | str) -> Formula:
    """Return the offset, the size and the inverse of a layout as sympy expressions.

    >>> formula("NCHW16c").size
    (W*(H*(N*ceiling(C/16))))*16

    The inverse is one that was proved; where none was, its place is taken by the reason.
    """
    from layoutdsl.code.formula import formula as formula_of

    layout = find_layout(layout)
    return formula_of(layout, closed_inverse(layout))


def closed_inverse(layout: Layout) -> Inverse | NotDigits:
    """Return how to read a slot in closed form, where that was proved; or why there is none."""
    from layoutdsl.proof.prover.closed import closed_inverse as proved

    return proved(layout)


@overload
def cost(
    layout: Layout | str,
    shape: Shape | None = None,
    *,
    of: str | None = None,
    where: str | None = None,
) -> Cost: ...


@overload
def cost(
    layout: Record, shape: Shape | None = None, *, of: None = None, where: str | None = None
) -> RecordCost: ...


def cost(
    layout: Layout | Record | str,
    shape: Shape | None = None,
    *,
    of: str | None = None,
    where: str | None = None,
) -> Cost | RecordCost:
    """Return what padding costs: formulas, the worst ratio of slots to elements, numbers.

    >>> cost("NCHW16c", (1, 20, 3, 4)).at.ratio
    Fraction(8, 5)

    Of a record it counts in bits: those of the buffer, of each field, and of none.

    Args:
        layout: a layout or record, or the name of one of the library; its ``where`` clause is the
            range of shapes.
        shape: gives the numbers at this shape as well.
        of: the element type by name, for bytes; that of the layout if left out. Fields of a record
            have their own.
        where: narrows the range: ``C <= 64, N == 1``.

    Raises:
        LayoutError: the range is not in the language, or names what the layout has not.
        ValueError: the shape does not fit, the type is unknown, or the range is empty.
    """
    from layoutdsl.proof.padding.cost import cost as cost_of

    layout = find_layout_or_record(layout)
    expect(of=(of, TEXT.or_none()), where=(where, TEXT.or_none()))
    if isinstance(layout, Record):
        return _of_record(layout, shape, of, where)
    if of is not None and of not in ELEMENT_TYPES:
        raise ValueError(f"there is no element type `{of}`; known are {', '.join(ELEMENT_TYPES)}")
    conditions = () if where is None else range_of(layout, where)
    narrow = replace(layout, where=(*layout.where, *conditions))
    return cost_of(narrow, shape, None if of is None else ELEMENT_TYPES[of])


def _of_record(
    record: Record, shape: Shape | None, of: str | None, where: str | None
) -> RecordCost:
    from layoutdsl.proof.padding.record_cost import record_cost

    if of is not None:
        raise ValueError(f"`{record.name}` is a record, and its fields have types of their own")
    conditions = () if where is None else range_of(record.frame, where)
    return record_cost(replace(record, where=(*record.where, *conditions)), shape)
