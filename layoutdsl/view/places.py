"""Where an element lies, coordinate by coordinate. Nothing is printed here; `words` writes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from layoutdsl.language.integers.expr import coordinate_text, substitute, text
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.model import Indices, Layout, Shape
from layoutdsl.language.meaning.parameters import constants

Named: TypeAlias = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Term:
    """One coordinate and what it adds to the offset.

    ``working`` is its expression with the numbers put in, before it is worked out.
    """

    coordinate: str
    working: str
    value: int
    extent: int
    stride: int

    @property
    def amount(self) -> int:
        """What the coordinate adds to the offset, in elements."""
        return self.value * self.stride


@dataclass(frozen=True, slots=True)
class Address:
    """A position in bytes, and in bits within the byte, low bits first."""

    element: str
    byte: int
    bit: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """A run of elements that stay together, and a place in it, in elements."""

    number: int
    place: int


@dataclass(frozen=True, slots=True)
class Placement:
    """Where one element lies.

    Attributes:
        shape: every extent and parameter with its value.
        start: elements before the first slot.
        chunk: where the layout has chunks.
        address: where the element type is known.
        slots: all that hold the element; more than one where it has copies, of which this is one.
    """

    layout: Layout
    shape: Named
    index: Named
    terms: tuple[Term, ...]
    start: int
    offset: int
    chunk: Chunk | None
    address: Address | None
    slots: tuple[int, ...]


def where(layout: Layout, index: Indices, shape: Shape) -> Placement:
    """Return where the element lies, with what each coordinate adds.

    Args:
        layout: what it lies in.
        index: of the element; or of one of its copies, else the first is told.
        shape: the extents.

    Raises:
        ValueError: the shape or the index does not fit the layout.
    """
    if layout.copies and len(index) == len(layout.element_axes):
        index = _first_copy(layout, index)
    offset = layout.offset(index, shape)
    values = layout.bind(shape)
    given = named(layout, index)
    numbers = constants({**values, **dict(given)})
    return Placement(
        layout,
        tuple(values.items()),
        given,
        terms(
            layout,
            layout.place(index, shape),
            [text(substitute(each.value, numbers)) for each in layout.coordinates],
            values,
        ),
        evaluate(layout.start, values),
        offset,
        None if layout.chunk_rank is None else Chunk(*layout.chunk(index, shape)),
        address(layout, offset),
        layout.slots(dict(element_of(layout, given)), shape),
    )


def element_of(layout: Layout, index: Named) -> Named:
    """Return the index of an element, from that of one of its copies."""
    return tuple(each for each in index if each[0] not in layout.copies)


def _first_copy(layout: Layout, index: Indices) -> Indices:
    """The index of the first copy of an element."""
    if isinstance(index, Mapping):
        return {**dict.fromkeys(layout.copies, 0), **index}
    given = iter(index)
    return tuple(0 if axis.name in layout.copies else next(given) for axis in layout.axes)


def named(layout: Layout, index: Indices) -> Named:
    """Return an index with the names of its axes, in axis order."""
    if isinstance(index, Mapping):
        return tuple((axis.name, index[axis.name]) for axis in layout.axes)
    return tuple((axis.name, value) for axis, value in zip(layout.axes, index, strict=True))


def terms(
    layout: Layout, place: Sequence[int], workings: Sequence[str], values: Mapping[str, int]
) -> tuple[Term, ...]:
    """Return one term per coordinate, from its value and how that was worked out."""
    box = [evaluate(each.extent, values) for each in layout.coordinates]
    return tuple(
        Term(coordinate_text(each), workings[k], place[k], box[k], prod(box[k + 1 :]))
        for k, each in enumerate(layout.coordinates)
    )


def address(layout: Layout, offset: int) -> Address | None:
    """Return the offset in bytes, where the layout knows its element type."""
    if layout.element is None:
        return None
    byte, bit = divmod(offset * layout.element.bits, 8)
    return Address(layout.element.name, byte, bit)
