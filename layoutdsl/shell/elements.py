"""Whether an array holds elements of a layout's type; `ElementType` says what they travel in."""

from __future__ import annotations

from typing import Any

from layoutdsl.language.meaning.elements import FillAny, FillValue, FillZeroPoint
from layoutdsl.language.meaning.model import Layout
from layoutdsl.shell.exits import Exit, Failure


def refuse_items(layout: Layout, source: str, array: Any) -> None:
    """Fail where the items of an array are not what holds the layout's elements.

    What numpy has no name for it saves as bare bytes, which stand for unsigned integers.
    """
    element = layout.tensor_element
    if element is None:
        return
    kind, width = element.item
    taken = (kind, "V") if kind == "u" else kind
    if array.dtype.kind not in taken or array.dtype.itemsize != width:
        words = {"i": "int", "u": "uint", "f": "float", "c": "complex", "b": "bool"}
        bits = "" if kind == "b" else 8 * width
        coded = kind == "u" and element.kind != "u"
        way = "save the bits of its elements as" if coded else "convert it to"
        message = (
            f"`{source}` holds {array.dtype.name}, and `{layout.name}` is of {element.name}: "
            f"{way} {words[kind]}{bits}"
        )
        raise Failure(Exit.INPUT, message)


def refuse_values(layout: Layout, source: str, array: Any) -> None:
    """Fail where a value needs more bits than the layout's elements have."""
    element = layout.tensor_element
    if element is None or element.values is None or element.fills_item or array.size == 0:
        return
    low, high = element.values
    held = array.view("u1") if array.dtype.kind == "V" else array
    for value in (int(held.min()), int(held.max())):
        if not low <= value <= high:
            words = f"`{source}` holds {value}, and {element.name} is {low}..{high}"
            raise Failure(Exit.INPUT, words)


def refuse_fill(layout: Layout, fill: float) -> None:
    """Fail where the fill that was asked for is no value of a narrow element type."""
    element = layout.element
    if element is None or element.values is None or element.fills_item:
        return
    low, high = element.values
    if not low <= fill <= high:
        message = f"--fill is {fill}, and {element.name} is {low}..{high}"
        raise Failure(Exit.USAGE, message)


def refuse_unfilled(layout: Layout, fill: float | None) -> None:
    """Fail where padding holds the quantised zero, and nobody says which number that is."""
    if fill is None and isinstance(layout.fill, FillZeroPoint):
        message = f"padding of `{layout.name}` holds the quantised zero, a number of each tensor"
        raise Failure(Exit.USAGE, message, "write --fill 128, where that is the zero point")


def refuse_unheld(layout: Layout, fill: float | None, array: Any) -> None:
    """Fail where the fill is none that the items of an array can hold.

    Args:
        layout: that is filled, where nothing was asked for with what it says.
        fill: what was asked for.
        array: of the items.
    """
    from layoutdsl.code.compiling import holds

    bare, bits = array.dtype.char == "V", 8 * array.dtype.itemsize
    seen = bare and array.dtype.names is None and bits in (8, 16, 32, 64)
    hint = f"save `array.view(numpy.uint{bits})`, whose fill is a number" if seen else None
    if fill is not None and not holds(array.dtype, fill):
        raise Failure(Exit.USAGE, f"--fill is {fill}, which {array.dtype} cannot hold", hint)
    if bare and fill is None and layout.fill not in (FillValue(0), FillAny(), FillZeroPoint()):
        raise Failure(Exit.INPUT, f"`{layout.name}` has a fill that bare bytes cannot hold", hint)
