"""Elements stored without room between them: in bytes, or in words of so many bytes.

A bit of an element lies at ``bits*offset + bit``, the lowest first, and words are little-endian.
The dimensions of the stored array are those of the buffer, but for the last ones, which together
fill whole words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Literal, TypeAlias

from layoutdsl.language.integers.expr import Constant
from layoutdsl.language.meaning.elements import ElementType
from layoutdsl.language.meaning.model import ZERO, Layout

StorageName: TypeAlias = Literal[
    "items", "bytes", "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"
]
ITEMS = "items"
"""One item of the array for each element, which is as packed as any array is."""


@dataclass(frozen=True, slots=True)
class Words:
    """What a stored array is made of.

    Attributes:
        kind: ``i`` or ``u``.
        bits: of a word.
    """

    kind: Literal["i", "u"]
    bits: int

    @property
    def dtype(self) -> str:
        """The type of its items, as numpy calls it."""
        return f"<{self.kind}{self.bits // 8}"


STORAGES: Mapping[str, Words] = {
    "bytes": Words("u", 8),
    **{f"{kind}{bits}": Words(kind, bits) for bits in (8, 16, 32, 64) for kind in ("u", "i")},
}
"""All but `ITEMS`, by name."""


class NoWordsError(ValueError):
    """The last coordinates of a layout fill no whole words, whatever the shape."""


@dataclass(frozen=True, slots=True)
class Stored:
    """How the buffer of a layout becomes words.

    Attributes:
        element: of a tensor.
        placed: the layout says where each bit of an element lies.
        words: what is stored.
        joined: how many of the last dimensions of the buffer become words.
        single: they are one word for every shape, and so no dimension.
    """

    element: ElementType
    placed: bool
    words: Words
    joined: int
    single: bool

    @property
    def slot_bits(self) -> int:
        """Bits of a slot."""
        return 1 if self.placed else self.element.bits


def stored(layout: Layout, storage: str) -> Stored:
    """Return how a layout's buffer is stored in words.

    Args:
        layout: with an element type.
        storage: a name in `STORAGES`.

    Raises:
        NoWordsError: the last coordinates fill no whole words, whatever the shape.
        ValueError: there is no such storage, or the layout does not say how wide an element is.
    """
    if storage not in STORAGES:
        known = ", ".join((ITEMS, *STORAGES))
        raise ValueError(f"there is no storage `{storage}`; known are {known}")
    words, element = STORAGES[storage], layout.tensor_element
    if element is None:
        message = f"`{layout.name}` does not say how wide an element is, so it fills no {storage}"
        raise ValueError(f"{message}: add a type to the layout, as `of u4`")
    placed = layout.bit_of is not None
    if layout.start != ZERO:  # such a buffer is flat
        return Stored(element, placed, words, 1, single=False)
    count = joined(layout, words)
    extents = [each.extent for each in layout.coordinates[len(layout.coordinates) - count :]]
    sizes = [each.value for each in extents if isinstance(each, Constant)]
    bits = prod(sizes, start=1 if placed else element.bits)
    left = bits % words.bits
    if left and len(sizes) == len(extents):
        message = f"the {bits} bits of `{layout.name}` fill no whole words of {words.bits}"
        raise NoWordsError(f"{message}: {left} are left over")
    single = len(sizes) == len(extents) and bits == words.bits
    return Stored(element, placed, words, count, single)


def joined(layout: Layout, words: Words) -> int:
    """Return how many of the last coordinates become words.

    As few as fill whole words by numbers alone; else those up to the first that is no number, which
    a shape has to make whole.
    """
    assert layout.element is not None
    bits = layout.element.bits
    for count, each in enumerate(reversed(layout.coordinates), 1):
        if not isinstance(each.extent, Constant):
            return count
        bits *= each.extent.value
        if bits % words.bits == 0:
            return count
    return len(layout.coordinates)
