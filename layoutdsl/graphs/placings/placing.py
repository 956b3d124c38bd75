"""How a value of known shape lies in memory: a sequence of digits of its axes.

Two reductions make it canonical: a digit of extent 1 is dropped, and neighbours that are one run of
an axis are merged. Then equal digits are equal memory: NCHW is NHWC where H and W are 1.

The digits of an axis, the lowest first, follow one another without gap or overlap; what their
extents make together is the extent of the axis or more, and what is more is padding.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod

MANY = 1 << 14
"""Placings that are remembered; a graph has a few of them for each of its shapes."""


@dataclass(frozen=True, slots=True)
class Digit:
    """``axis / divisor % extent``.

    Attributes:
        axis: its number in the value's shape.
        divisor: product of the extents of the lower digits of the axis.
        extent: the digit stays below it.
    """

    axis: int
    divisor: int
    extent: int


@dataclass(frozen=True, slots=True)
class Placing:
    """Where the elements of a value lie.

    Attributes:
        shape: of the value, as its graph has it.
        digits: most major first, canonical.
    """

    shape: tuple[int, ...]
    digits: tuple[Digit, ...]

    @property
    def physical_shape(self) -> tuple[int, ...]:
        """The extents of the digits, most major first; none for a single slot."""
        return tuple(digit.extent for digit in self.digits)

    @property
    def slots(self) -> int:
        """The elements of the buffer, padding included."""
        return prod(digit.extent for digit in self.digits)

    @property
    def padded_shape(self) -> tuple[int, ...]:
        """The extent of each axis with its padding."""
        return padded_shape(self)

    @property
    def padded_axes(self) -> tuple[int, ...]:
        """The axes that have padding."""
        both = zip(self.shape, self.padded_shape, strict=True)
        return tuple(number for number, (own, padded) in enumerate(both) if own != padded)

    def of_axis(self, axis: int) -> tuple[Digit, ...]:
        """Return the digits of an axis, most major first."""
        found = [digit for digit in self.digits if digit.axis == axis]
        return tuple(sorted(found, key=lambda digit: -digit.divisor))

    def __str__(self) -> str:
        return f"[{', '.join(map(_digit_text, self.digits))}]"


def _digit_text(digit: Digit) -> str:
    over = "" if digit.divisor == 1 else f"/{digit.divisor}"
    return f"d{digit.axis}{over}%{digit.extent}"


@lru_cache(MANY)
def padded_shape(placing: Placing) -> tuple[int, ...]:
    """Return the extent of each axis with its padding."""
    extents = [1] * len(placing.shape)
    for digit in placing.digits:
        extents[digit.axis] *= digit.extent
    return tuple(extents)


def canonical(digits: Iterable[Digit]) -> tuple[Digit, ...]:
    """Return the same memory in the fewest digits.

    >>> canonical([Digit(1, 16, 2), Digit(1, 1, 16), Digit(0, 1, 1)])
    (Digit(axis=1, divisor=1, extent=32),)
    """
    found: list[Digit] = []
    for digit in digits:
        if digit.extent == 1:
            continue
        last = found[-1] if found else None
        if last and last.axis == digit.axis and last.divisor == digit.divisor * digit.extent:
            found[-1] = Digit(digit.axis, digit.divisor, last.extent * digit.extent)
        else:
            found.append(digit)
    return tuple(found)


def is_chained(shape: Sequence[int], digits: Iterable[Digit]) -> bool:
    """Return whether the digits of each axis follow one another and tell all of it apart."""
    reached = [1] * len(shape)
    for digit in sorted(digits, key=lambda each: each.divisor):
        if digit.extent == 1:
            continue
        if digit.divisor != reached[digit.axis]:
            return False
        reached[digit.axis] *= digit.extent
    return all(own <= most for own, most in zip(shape, reached, strict=True))


@lru_cache(MANY)
def as_written(shape: tuple[int, ...]) -> Placing:
    """Return where a graph has a value: its axes in order, the last one fastest."""
    return Placing(shape, canonical(Digit(axis, 1, extent) for axis, extent in enumerate(shape)))


@lru_cache(MANY)
def transposed(placing: Placing, order: tuple[int, ...]) -> Placing:
    """Return the same memory under other names: axis ``order[k]`` is axis ``k`` now."""
    now = {axis: number for number, axis in enumerate(order)}
    digits = (Digit(now[each.axis], each.divisor, each.extent) for each in placing.digits)
    return Placing(tuple(placing.shape[axis] for axis in order), canonical(digits))


def inverse(order: Sequence[int]) -> tuple[int, ...]:
    """Return the order that undoes another."""
    return tuple(sorted(range(len(order)), key=lambda number: order[number]))
