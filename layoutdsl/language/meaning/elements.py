"""What elements are, what padding holds in their place, and the integers of machines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["i", "u", "f", "bf", "e", "c", "bool"]


@dataclass(frozen=True, slots=True)
class ElementType:
    """What an element is: ``u4`` has kind ``u`` and 4 bits."""

    name: str
    kind: Kind
    bits: int

    @property
    def values(self) -> tuple[int, int] | None:
        """The least and the largest value of integers, or of the codes of what is narrow."""
        if self.kind == "i":
            return -(1 << self.bits - 1), (1 << self.bits - 1) - 1
        if self.kind == "u" or self.bits < 8:
            return 0, (1 << self.bits) - 1
        return None

    @property
    def item(self) -> tuple[str, int]:
        """What an element travels in, in numpy: ``i``, ``u``, ``f``, ``c`` or ``b``, and its bytes.

        ``bf16``, ``f8`` and what else numpy has not travel as unsigned integers of their width,
        elements of other widths one per item of the next larger width: ``u4`` in a byte, ``u24`` in
        four.
        """
        width = max(8, 1 << (self.bits - 1).bit_length()) // 8
        if self.kind == "bool":
            return "b", width
        if self.kind in ("i", "c") or (self.kind == "f" and self.bits >= 16):
            return self.kind, width
        return "u", width

    @property
    def fills_item(self) -> bool:
        """Whether every item of its width is a value of the type."""
        return self.bits == 8 * self.item[1]


# 10, 12 and 14 bits are those of cameras and video, 24 those of audio and of accumulators.
_INTEGERS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 24, 32, 64)
_KINDS: tuple[tuple[Kind, tuple[int, ...]], ...] = (
    ("i", _INTEGERS),
    ("u", _INTEGERS),
    ("f", (4, 6, 8, 16, 32, 64)),
    ("bf", (16,)),
    ("e", (8,)),
    ("c", (64,)),
)
ELEMENT_TYPES: Mapping[str, ElementType] = {
    **{
        f"{kind}{bits}": ElementType(f"{kind}{bits}", kind, bits)
        for kind, widths in _KINDS
        for bits in widths
    },
    **{name: ElementType(name, "f", 8) for name in ("f8e4m3", "f8e5m2")},
    "bool": ElementType("bool", "bool", 8),
}
"""By name. ``f4`` is e2m1, ``e8`` the power of two e8m0 (OCP Microscaling Formats, version 1.0); of
``f8`` two kinds are told apart where that matters: a layout moves bits, and never reads them."""
BIT = ELEMENT_TYPES["u1"]
BIT_AXIS = "bit"
"""The name of a bit within an element, in a layout that says where each lies."""


@dataclass(frozen=True, slots=True, eq=False)
class FillValue:
    """Padding holds this number; it is a ``float`` only where no whole number says the same.

    NaN equals NaN, and 0 does not equal -0.0: fills are equal if the bits in padding are.
    """

    value: int | float

    def __eq__(self, other: object) -> bool:
        """Return whether the other one is the same number."""
        return isinstance(other, FillValue) and repr(self.value) == repr(other.value)

    def __hash__(self) -> int:
        """Return a hash; that of NaN is the same for all of them."""
        return hash(repr(self.value))


@dataclass(frozen=True, slots=True)
class FillAny:
    """Padding holds no particular value."""


@dataclass(frozen=True, slots=True)
class FillZeroPoint:
    """Padding holds the quantised zero, which the caller gives at pack time."""


Fill: TypeAlias = FillValue | FillAny | FillZeroPoint


def fill_text(fill: Fill) -> str:
    """Return what follows the word ``fill``."""
    match fill:
        case FillValue(value):
            return str(value)
        case FillAny():
            return "any"
        case FillZeroPoint():
            return "zero_point"


@dataclass(frozen=True, slots=True)
class IntegerType:
    """A machine integer by name, with the largest and the least value it holds."""

    name: str
    largest: int
    least: int = 0


INTEGER_TYPES: Mapping[str, IntegerType] = {
    f"{prefix}{bits}": IntegerType(
        f"{prefix}{bits}", 2 ** (bits - signed) - 1, -(2 ** (bits - 1)) * signed
    )
    for prefix, signed in (("int", 1), ("uint", 0))
    for bits in (8, 16, 24, 32, 64)
}


def of_bits(bits: int) -> IntegerType:
    """Return the unsigned integers of so many bits."""
    return IntegerType(f"{bits} bits", 2**bits - 1)
