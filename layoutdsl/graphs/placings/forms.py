"""The dimensions of a buffer: the digits of its placing with those of extent one, cut as one likes.

A placing says what memory holds; a tensor has a shape besides, and an operator that names its
dimensions wants a certain one. All forms of a placing are the same memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import prod

from layoutdsl.graphs.placings.placing import MANY, Digit, Placing, as_written, canonical
from layoutdsl.graphs.placings.reading import digits_at, placed
from layoutdsl.language.meaning.model import Layout


@dataclass(frozen=True, slots=True)
class Form:
    """Digits that are the dimensions of a tensor, most major first; some may be of extent one.

    Attributes:
        digits: a dimension each.
        name: of the layout, as it may stand in the name of an operator; `""` for as it was written.
        of_layout: whether that is a layout, and what bears its name is the same for all extents.
    """

    digits: tuple[Digit, ...]
    name: str
    of_layout: bool = True

    @property
    def extents(self) -> tuple[int, ...]:
        """The shape of the tensor."""
        return tuple(digit.extent for digit in self.digits)


@lru_cache(MANY)
def form_of(placing: Placing, layouts: tuple[Layout, ...]) -> Form:
    """Return the usual form of a placing: as written, that of the first layout that is it, or that
    of its digits.
    """
    found = written_form(placing)
    if found is not None:
        return found
    for layout in layouts:
        found = form_in(layout, placing)
        if found is not None:
            return found
    return Form(placing.digits, "d" + "d".join(map(_digit_word, placing.digits)), of_layout=False)


def written_form(placing: Placing) -> Form | None:
    """Return the dimensions that a value has as it was written, if that is its placing."""
    if placing != as_written(placing.shape):
        return None
    return Form(tuple(Digit(axis, 1, each) for axis, each in enumerate(placing.shape)), "")


def form_in(layout: Layout, placing: Placing) -> Form | None:
    """Return the dimensions that a layout has, if a placing is that layout."""
    if len(layout.axes) != len(placing.shape) or placed(layout, placing.shape) != placing:
        return None
    return Form(digits_at(layout, placing.shape), _word(layout.name))


def _digit_word(digit: Digit) -> str:
    return f"{digit.axis}" if digit.divisor == 1 else f"{digit.axis}o{digit.divisor}"


def _word(name: str) -> str:
    return "".join(each if each.isascii() and each.isalnum() else "_" for each in name)


def cut_as(placing: Placing, extents: Sequence[int]) -> tuple[Digit, ...] | None:
    """Return the digits that the dimensions of a tensor are; `None` where one is several digits.

    Args:
        placing: what its memory holds.
        extents: of the tensor.
    """
    found, left = list[Digit](), list(placing.digits)
    for extent in extents:
        if extent == 1:
            found.append(Digit(-1, 1, 1))
            continue
        if not left or left[0].extent % extent:
            return None
        first = left.pop(0)
        below = first.extent // extent
        found.append(Digit(first.axis, first.divisor * below, extent))
        if below > 1:
            left.insert(0, Digit(first.axis, first.divisor, below))
    return None if left else tuple(found)


def atoms(one: Placing, other: Placing) -> tuple[Digit, ...]:
    """Return the digits of one placing, cut where the other cuts them.

    Both have the same padding.
    """
    cuts = {
        (digit.axis, bound)
        for digit in other.digits
        for bound in (digit.divisor, digit.divisor * digit.extent)
    }
    found = list[Digit]()
    for digit in one.digits:
        low, high = digit.divisor, digit.divisor * digit.extent
        inner = sorted(bound for axis, bound in cuts if axis == digit.axis and low < bound < high)
        bounds = [low, *inner, high]
        pieces = [Digit(digit.axis, start, end // start) for start, end in pairwise(bounds)]
        found += reversed(pieces)
    return tuple(found)


def are_aligned(one: Placing, other: Placing) -> bool:
    """Return whether digits of two placings can be cut into the same ones: 8 and 20 cannot."""
    pieces, others = atoms(one, other), atoms(other, one)
    whole = slots([piece.extent for piece in pieces]) == one.slots
    return whole and sorted(pieces, key=_by_place) == sorted(others, key=_by_place)


def _by_place(digit: Digit) -> tuple[int, int, int]:
    return digit.axis, digit.divisor, digit.extent


def top_of(digits: Sequence[Digit], axis: int) -> int:
    """Return the number of the digit of an axis that no other stands above; the first of these."""
    own = [number for number, digit in enumerate(digits) if digit.axis == axis]
    return max(own, key=lambda number: (digits[number].divisor, -number))


def same_memory(placing: Placing, digits: Sequence[Digit]) -> bool:
    """Return whether digits are those of a placing."""
    return canonical(digits) == placing.digits


def slots(extents: Sequence[int]) -> int:
    """Return the elements of a tensor."""
    return prod(extents)
