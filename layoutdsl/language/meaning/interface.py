"""What an element stands for: itself, or a real number by a scale and a zero point.

`encode` and `decode` are the definition, in fractions: theorems, numpy and whatever else reads a
code are held against them. The interface of a layout that says nothing is *plain*: elements stand
for themselves, and there is no value for that but ``None``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from layoutdsl.language.meaning.elements import ElementType

MOST_BITS = 32
"""Of a code: beyond, differences of codes are no exact floats of 64 bits."""


@dataclass(frozen=True, slots=True)
class ScaleOffset:
    """``as scale_offset``: an element is a code, and stands for ``(code - zero_point)*scale``.

    The scale is a positive real number and the zero point a code; both are given when packing.

    Attributes:
        per: the axis along which each index has a scale and a zero point of its own; ``None`` where
            the tensor has one of each.
    """

    per: str | None = None


def interface_text(interface: ScaleOffset | None) -> str:
    """Return what follows an element type; nothing where elements stand for themselves."""
    if interface is None:
        return ""
    return " as scale_offset" + ("" if interface.per is None else f" per {interface.per}")


def takes_codes(element: ElementType) -> bool:
    """Return whether elements of a type may be codes: integers of up to 32 bits."""
    return element.kind in ("i", "u") and element.bits <= MOST_BITS


def codes_of(element: ElementType) -> tuple[int, int]:
    """Return the least and the largest code.

    Raises:
        ValueError: elements of the type are no codes.
    """
    found = element.values
    if found is None or not takes_codes(element):
        words = "codes are integers of up to 32 bits, signed or not"
        raise ValueError(f"`{element.name}` holds no codes: {words}")
    return found


def decode(code: int, scale: Fraction, zero_point: int) -> Fraction:
    """Return the number that a code stands for."""
    return (code - zero_point) * scale


def encode(value: Fraction, scale: Fraction, zero_point: int, element: ElementType) -> int:
    """Return the code of a number: the nearest one, of two that are as near the even multiple.

    >>> encode(Fraction(5, 2), Fraction(1), 128, ElementType("u8", "u", 8))
    130

    What is even is ``code - zero_point``: how many steps the number is from 0. A number beyond the
    largest code has that, and one below the least has the least.
    """
    low, high = codes_of(element)
    steps = round(value / scale)  # of a fraction: to the nearest, ties to even
    return min(max(steps + zero_point, low), high)
