"""What elements are, and what padding holds in their place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class ElementType:
    """What an element is: ``u4`` has kind ``u`` and 4 bits."""

    name: str
    kind: Literal["i", "u", "f", "bf"]
    bits: int

    @property
    def values(self) -> tuple[int, int] | None:
        """The least and the largest value of a type of integers."""
        if self.kind not in ("i", "u"):
            return None
        low = -(1 << self.bits - 1) if self.kind == "i" else 0
        return low, low + (1 << self.bits) - 1

    @property
    def item(self) -> tuple[str, int]:
        """What an element travels in, in numpy: ``i``, ``u`` or ``f``, and how many bytes.

        ``bf16`` and ``f8``, which numpy has not, travel as unsigned integers of their width,
        elements narrower than a byte one per item of 8 bits.
        """
        foreign = self.kind == "bf" or self.name == "f8"
        return "u" if foreign else self.kind, max(self.bits, 8) // 8

    @property
    def fills_item(self) -> bool:
        """Whether every item of its width is a value of the type."""
        return self.bits >= 8


_KINDS: tuple[tuple[Literal["i", "u", "f", "bf"], tuple[int, ...]], ...] = (
    ("i", (1, 2, 4, 8, 16, 32, 64)),
    ("u", (1, 2, 4, 8, 16, 32, 64)),
    ("f", (8, 16, 32, 64)),
    ("bf", (16,)),
)
ELEMENT_TYPES: Mapping[str, ElementType] = {
    f"{kind}{bits}": ElementType(f"{kind}{bits}", kind, bits)
    for kind, widths in _KINDS
    for bits in widths
}


@dataclass(frozen=True, slots=True)
class FillValue:
    """Padding holds this number."""

    value: int


@dataclass(frozen=True, slots=True)
class FillAny:
    """Padding holds no particular value."""


@dataclass(frozen=True, slots=True)
class FillZeroPoint:
    """Padding holds the quantised zero, which the caller gives at pack time."""


Fill: TypeAlias = FillValue | FillAny | FillZeroPoint
