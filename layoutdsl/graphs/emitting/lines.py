"""Whole numbers that are worked out from a batch: ``slope * batch + rest``, for every batch.

Extents are such numbers, and what models make of them. What is asked of one has an answer only
where that is the same at every batch, so none is a guess from some of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from layoutdsl.graphs.graph import Array


class UndecidedError(TypeError):
    """What is asked depends on the batch, or its answer is no line."""


@dataclass(frozen=True, eq=False)
class Line:
    """A number for each batch from 1 on; its slope is not 0.

    >>> Line(3, 0) + 2, Line(2, 0) - Line(2, -1), Line(1, 0) == 0
    (Line(slope=3, rest=2), 1, False)
    """

    slope: int
    rest: int

    def at(self, batch: int) -> int:
        """Return the number of a batch."""
        return self.slope * batch + self.rest

    def __add__(self, other: Number) -> Number:
        slope, rest = parts(other)
        return line(self.slope + slope, self.rest + rest)

    def __sub__(self, other: Number) -> Number:
        return self + -other

    def __rsub__(self, other: Number) -> Number:
        return -self + other

    def __mul__(self, other: Number) -> Number:
        slope, rest = parts(other)
        if slope:
            raise UndecidedError("a batch times a batch")
        return line(self.slope * rest, self.rest * rest)

    def __neg__(self) -> Line:
        return Line(-self.slope, -self.rest)

    __radd__, __rmul__ = __add__, __mul__

    def __lt__(self, other: Number) -> bool:
        slope, rest = parts(self - other)
        if slope <= 0 and slope + rest < 0:
            return True
        if slope >= 0 and slope + rest >= 0:
            return False
        raise UndecidedError("smaller at some batches only")

    def __le__(self, other: Number) -> bool:
        return self - 1 < other

    def __gt__(self, other: Number) -> bool:
        return not self <= other

    def __ge__(self, other: Number) -> bool:
        return not self < other

    def __eq__(self, other: object) -> bool:
        slope, rest = parts(self - other)  # type: ignore[operator]  # whatever is no number fails
        if slope == 0:
            return rest == 0
        if rest % slope or -rest // slope < 1:
            return False
        raise UndecidedError("the same at one batch only")

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]  # two of them may not be comparable

    def __bool__(self) -> bool:
        return self != 0


Number: TypeAlias = int | Line
Lines: TypeAlias = tuple[Number, ...]


@dataclass(frozen=True, slots=True)
class Repeated:
    """A constant that is one piece, whatever the batch, repeated along some of its axes.

    Attributes:
        extents: of the constant.
    """

    extents: Lines


Traced: TypeAlias = Array | Repeated | None
"""Numbers, some of which may be lines; or what is repeated; `None` where it is not known."""


def line(slope: int, rest: int) -> Number:
    """Return the number ``slope * batch + rest``."""
    return Line(slope, rest) if slope else rest


def parts(number: Number) -> tuple[int, int]:
    """Return the slope of a number, and the rest.

    Raises:
        UndecidedError: it is no whole number.
    """
    if isinstance(number, Line):
        return number.slope, number.rest
    if isinstance(number, int | np.integer):
        return 0, int(number)
    raise UndecidedError(f"{number} is no whole number")


def value_at(number: Number, batch: int) -> int:
    """Return a number of a batch."""
    return number.at(batch) if isinstance(number, Line) else int(number)


def parts_of(numbers: Iterable[Number]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the slopes of numbers, and what is left of each."""
    both = [parts(each) for each in numbers]
    return tuple(each[0] for each in both), tuple(each[1] for each in both)
