"""`_CODES`: what functions of codes know of the elements of a layout."""

from __future__ import annotations

from layoutdsl.code.arrays.names import literal, tuple_text
from layoutdsl.language.meaning.elements import FillZeroPoint
from layoutdsl.language.meaning.interface import codes_of
from layoutdsl.language.meaning.model import Layout

Codes = tuple[str, int, int, int, int, str, bool, bool]


def codes_constants(layout: Layout) -> Codes:
    """Return what the carried functions need to know of the codes of a layout.

    They are: what a code travels in; the least and the largest; the rank of a tensor, and the axis
    along which scales differ, -1 where there is one; the name of the element type; whether
    padding holds the quantised zero; and whether some elements of a shape have no slot.
    """
    assert layout.element is not None
    assert layout.interface is not None
    kind, width = layout.element.item
    low, high = codes_of(layout.element)
    names = [axis.name for axis in layout.tensor_axes]
    per = layout.interface.per
    axis = -1 if per is None else names.index(per)
    zero = isinstance(layout.fill, FillZeroPoint)
    name, partial = layout.element.name, bool(layout.domain)
    return f"{kind}{width}", low, high, len(layout.tensor_axes), axis, name, zero, partial


def codes_constant(layout: Layout) -> str:
    """Return the line that says which codes the elements of a layout are."""
    return f"_CODES = {tuple_text([*map(_literal, codes_constants(layout))])}"


def _literal(value: object) -> str:
    return literal(value) if isinstance(value, str) else str(value)
