"""XLA's element types: their names, and how many bits an element takes in memory.

Source: OpenXLA, `xla_data.proto`, `PrimitiveType` and `element_size_in_bits`.
"""

from __future__ import annotations

from collections.abc import Mapping

from layoutdsl.language.meaning.elements import ELEMENT_TYPES, ElementType

_WIDTHS: Mapping[str, int] = {
    "pred": 8,
    **{f"{kind}{bits}": bits for kind in "su" for bits in (1, 2, 4, 8, 16, 32, 64)},
    **{f"f{bits}": bits for bits in (16, 32, 64)},
    "bf16": 16,
    "f8e5m2": 8,
    "f8e4m3": 8,
    "f8e4m3fn": 8,
    "f8e4m3b11fnuz": 8,
    "f8e3m4": 8,
    "f8e5m2fnuz": 8,
    "f8e4m3fnuz": 8,
    "f8e8m0fnu": 8,
    "f6e2m3fn": 6,
    "f6e3m2fn": 6,
    "f4e2m1fn": 4,
    "c64": 64,
    "c128": 128,
}
"""Bits of an element by XLA's name of its type."""

TYPES = frozenset(_WIDTHS)
WITHOUT_ELEMENTS = frozenset({"token", "opaque"})
"""Types of values that are no array."""


def bits_in_memory(kind: str, given: int) -> int:
    """Return the bits that an element of a type takes; ``given`` is 0 where a layout says nothing.

    Elements narrower than a byte take a whole one unless the layout says otherwise, as ``E(4)``
    does.
    """
    return given or max(_WIDTHS[kind], 8)


def element(kind: str, given: int) -> ElementType | None:
    """Return our type of such elements: of the same kind, as wide as they are in memory."""
    bits = bits_in_memory(kind, given)
    if kind[0] == "f" and bits != _WIDTHS[kind]:
        return None
    ours = {"p": "u", "s": "i", "u": "u", "f": "f", "b": "bf"}.get(kind[0], "")
    return ELEMENT_TYPES.get(f"{ours}{bits}")


def name(ours: ElementType) -> str | None:
    """Return XLA's name of a type of ours, ``None`` where it has several, as of 8-bit floats."""
    found = f"s{ours.name[1:]}" if ours.kind == "i" else ours.name
    return found if found in TYPES else None
