"""`_STORED` and `_CODES`: all that functions of words and of codes know of a layout."""

from __future__ import annotations

from layoutdsl.language.meaning.elements import FillAny, FillZeroPoint
from layoutdsl.language.meaning.interface import codes_of
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.storage import Stored

Words = tuple[int, str, int, int, bool, int, str, bool, bool]
Codes = tuple[str, int, int, int, int, str, bool, bool]


def words_constants(layout: Layout, stored: Stored) -> Words:
    """Return what the carried functions need to know of a layout and its storage.

    They are: the bits of an element and what it travels in; the least and the largest value, where
    it is narrower than its item; whether each bit is placed; how many of the last dimensions are
    words, and of which type; whether they are one word; and whether `out` keeps its padding.
    """
    element = stored.element
    kind, width = element.item
    low, high = (0, 0) if element.fills_item else element.values or (0, 0)
    return (
        element.bits,
        f"{kind}{width}",
        low,
        high,
        stored.placed,
        stored.joined,
        stored.words.dtype,
        stored.single,
        isinstance(layout.fill, FillAny),
    )


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
