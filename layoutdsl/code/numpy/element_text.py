"""What a layout says of its elements, as Python: what they travel in, and what values they have.

Items of another kind or width are refused, and so are numbers that an element narrower than a byte
does not have, before anything is written. Padding is not looked at.
"""

from __future__ import annotations

from layoutdsl.code.numpy.words import literal
from layoutdsl.language.meaning.elements import ElementType


def travels(element: ElementType | None, array: str) -> list[str]:
    """Return the line that refuses an array of other items."""
    if element is None:
        return []
    kind, width = element.item
    return [f"_travels({array}, {literal(kind)}, {width})"]


def within(element: ElementType | None, array: str) -> list[str]:
    """Return the line that refuses an array of numbers that are no values of the type."""
    if element is None or element.values is None or element.fills_item:
        return []
    low, high = element.values
    return [f"_within({array}, {low}, {high})"]
