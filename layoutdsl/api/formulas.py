"""Layouts to formulas: of offsets, and of what padding costs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from layoutdsl.api.claims import range_of
from layoutdsl.meaning.arguments import TEXT, expect
from layoutdsl.meaning.elements import ELEMENT_TYPES
from layoutdsl.meaning.model import LAYOUT, Layout, Shape

if TYPE_CHECKING:
    from layoutdsl.digits.inverse import Inverse
    from layoutdsl.digits.network import NotDigits
    from layoutdsl.formulas.formula import Formula
    from layoutdsl.padding.cost import Cost


def formula(layout: Layout) -> Formula:
    """Return the offset, the size and the inverse of a layout as sympy expressions.

    The inverse is one that was proved; where none was, its place is taken by the reason.
    """
    from layoutdsl.formulas.formula import formula as formula_of

    expect(layout=(layout, LAYOUT))
    return formula_of(layout, closed_inverse(layout))


def closed_inverse(layout: Layout) -> Inverse | NotDigits:
    """Return how to read a slot in closed form, where that was proved; or why there is none."""
    from layoutdsl.prover.closed import closed_inverse as proved

    return proved(layout)


def cost(
    layout: Layout, shape: Shape | None = None, *, of: str | None = None, where: str | None = None
) -> Cost:
    """Return what padding costs: formulas, the worst ratio of slots to elements, numbers.

    >>> cost(library("NCHW16c"), (1, 20, 3, 4)).at.ratio
    Fraction(8, 5)

    Args:
        layout: its ``where`` clause is the range of shapes.
        shape: gives the numbers at this shape as well.
        of: the element type by name, for bytes; that of the layout if left out.
        where: narrows the range: ``C <= 64, N == 1``.

    Raises:
        LayoutError: the range is not in the language, or names what the layout has not.
        ValueError: the shape does not fit, the type is unknown, or the range is empty.
    """
    from layoutdsl.padding.cost import cost as cost_of

    expect(layout=(layout, LAYOUT), of=(of, TEXT.or_none()), where=(where, TEXT.or_none()))
    if of is not None and of not in ELEMENT_TYPES:
        raise ValueError(f"there is no element type `{of}`; known are {', '.join(ELEMENT_TYPES)}")
    conditions = () if where is None else range_of(layout, where)
    narrow = replace(layout, where=(*layout.where, *conditions))
    return cost_of(narrow, shape, None if of is None else ELEMENT_TYPES[of])
