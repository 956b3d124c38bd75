"""Which colour a slot gets: by its block, its chunk, its bank, or the index along an axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import TypeAlias

from layoutdsl.language.integers.bounds import ONE
from layoutdsl.language.integers.digit import read
from layoutdsl.language.integers.expr import coordinate_text
from layoutdsl.language.meaning.banks import BANKS, WORD
from layoutdsl.language.meaning.counterexample import named_text
from layoutdsl.language.meaning.elements import ElementType
from layoutdsl.language.meaning.model import Layout
from layoutdsl.view.rows import place_of

EIGHT = (
    *("#afd7ff", "#ffd7af", "#afffaf", "#ffafff"),
    *("#ffffaf", "#d7d7ff", "#afffff", "#ffaf87"),
)
"""Light grounds on which black text reads well; those of a terminal, in this order."""

WAYS = ("block", "chunk", "bank")

Telling: TypeAlias = Callable[[int, tuple[int, ...]], tuple[int, str]]
"""From a slot and the index of its element to the number of a colour, and what it stands for."""


def ground_of(number: int, wheel: int) -> str:
    """Return a light colour, from its number and how many there are."""
    if wheel <= len(EIGHT):
        return EIGHT[number % len(EIGHT)]
    return f"hsl({number % wheel * 360 // wheel} 75% {84 if number % 2 else 76}%)"


def dark_ground_of(number: int, wheel: int) -> str:
    """Return the dark colour of the same hue, on which light text reads well."""
    return f"hsl({number % wheel * 360 // wheel} 45% {27 if number % 2 else 22}%)"


def told_by(layout: Layout, box: tuple[int, ...]) -> tuple[int, ...]:
    """Return the coordinates that number blocks: quotients; else the most major coordinate."""
    found = [
        k
        for k, each in enumerate(layout.coordinates)
        if (digit := read(each.value)) is not None
        and digit.radix is None
        and digit.divisor != ONE
        and box[k] > 1
    ]
    return tuple(found) or tuple([k for k, extent in enumerate(box) if extent > 1][:1])


def telling(
    layout: Layout, colour: str, values: Mapping[str, int], element: ElementType | None
) -> Telling:
    """Return how slots are coloured.

    Args:
        layout: what is drawn.
        colour: ``block``, ``chunk``, ``bank``, or an axis.
        values: every extent and parameter.
        element: the type of the elements, which banks need.

    Raises:
        ValueError: there is no such colour, or the layout does not say enough for it.
    """
    names = [axis.name for axis in layout.axes]
    box = layout.box(values)
    start = layout.size(values) - prod(box)
    if colour in names:
        place = names.index(colour)
        return lambda _, index: (index[place], f"{colour}={index[place]}")
    if colour == "block":
        return _by_block(layout, box, start)
    if colour == "chunk":
        if layout.chunk_rank is None:
            message = f"layout `{layout.name}` has no chunks to be coloured by"
            raise ValueError(f"{message}; a `;` between its coordinates makes some")
        inside = prod(box[layout.chunk_rank :])
        return lambda slot, _: ((slot - start) // inside, f"chunk {(slot - start) // inside}")
    if colour == "bank":
        width = element or layout.element
        if width is None:
            message = f"layout `{layout.name}` does not say how wide an element is"
            raise ValueError(f"{message}, and banks hold bytes: name a type, such as f16")
        return lambda slot, _: _bank(slot * width.bits // 8)
    known = ", ".join(f"`{each}`" for each in (*names, *WAYS))
    raise ValueError(f"there is no colour by `{colour}`; there is {known}")


def _bank(byte: int) -> tuple[int, str]:
    number = byte // WORD % BANKS
    return number, f"bank {number}"


def _by_block(layout: Layout, box: tuple[int, ...], start: int) -> Telling:
    by = told_by(layout, box)
    names = [coordinate_text(layout.coordinates[k]) for k in by]
    seen: dict[tuple[int, ...], int] = {}

    def tell(slot: int, _: tuple[int, ...]) -> tuple[int, str]:
        place = place_of(slot - start, box)
        key = tuple(place[k] for k in by)
        words = named_text(tuple(zip(names, key, strict=True)))
        return seen.setdefault(key, len(seen)), words

    return tell
