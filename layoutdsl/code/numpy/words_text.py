"""`_STORED`: what functions of words know of the slots of a layout."""

from __future__ import annotations

from layoutdsl.code.arrays.names import literal, tuple_text
from layoutdsl.language.meaning.elements import FillAny
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.storage import Stored

Constants = tuple[int, str, int, int, bool, int, str, bool, bool]


def constants_of(layout: Layout, stored: Stored) -> Constants:
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


def stored_constant(layout: Layout, stored: Stored) -> str:
    """Return the line that says how slots of a layout become words."""
    return f"_STORED = {tuple_text([*map(_literal, constants_of(layout, stored))])}"


def _literal(value: object) -> str:
    return literal(value) if isinstance(value, str) else str(value)
