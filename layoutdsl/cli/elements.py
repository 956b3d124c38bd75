"""Whether an array holds elements of a layout's type.

Integers and floats travel as the items of numpy of their kind and width; ``bf16`` and ``f8``, which
numpy has not, as unsigned integers of their width; elements narrower than a byte one per item of 8
bits.
"""

from __future__ import annotations

from typing import Any

from layoutdsl.cli.exits import Exit, Failure
from layoutdsl.model import ElementType, Layout


def item_of(element: ElementType) -> tuple[str, int]:
    """Return the kind of numpy, and the bits, of the item that an element travels in."""
    foreign = element.kind == "bf" or element.name == "f8"
    return "u" if foreign else element.kind, max(element.bits, 8)


def refuse_items(layout: Layout, source: str, array: Any) -> None:
    """Fail where the items of an array are not what holds the layout's elements."""
    element = layout.element
    if element is None:
        return
    kind, bits = item_of(element)
    if (array.dtype.kind, 8 * array.dtype.itemsize) != (kind, bits):
        word = {"i": "int", "u": "uint", "f": "float"}[kind]
        message = (
            f"`{source}` holds {array.dtype.name}, and `{layout.name}` is of {element.name}: "
            f"its elements travel as {word}{bits}"
        )
        raise Failure(Exit.INPUT, message)


def refuse_values(layout: Layout, source: str, array: Any) -> None:
    """Fail where a value needs more bits than the layout's elements have."""
    element = layout.element
    if element is None or element.bits >= 8 or array.size == 0:
        return
    low, high = range_of(element)
    for value in (int(array.min()), int(array.max())):
        if not low <= value <= high:
            words = f"`{source}` holds {value}, and {element.name} is {low}..{high}"
            raise Failure(Exit.INPUT, words)


def range_of(element: ElementType) -> tuple[int, int]:
    """Return the least and the largest value of an integer type."""
    if element.kind == "i":
        return -(2 ** (element.bits - 1)), 2 ** (element.bits - 1) - 1
    return 0, 2**element.bits - 1


def refuse_fill(layout: Layout, fill: float) -> None:
    """Fail where the fill that was asked for is no value of a narrow element type."""
    element = layout.element
    if element is None or element.bits >= 8:
        return
    low, high = range_of(element)
    if not low <= fill <= high:
        message = f"--fill is {fill}, and {element.name} is {low}..{high}"
        raise Failure(Exit.USAGE, message)
