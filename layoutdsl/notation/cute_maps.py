"""Offsets of CuTe as coordinates, after the functions that stand before a layout.

A layout after a layout is meant as functions are: ``A o k o B`` puts ``c`` at ``A(k + B(c))``.
Where the result is a sum of digits with strides again it is read as one; else it is one coordinate
that says what is worked out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import TypeAlias

from layoutdsl.language.integers.bounds import reach
from layoutdsl.language.integers.expr import Add, Constant, Coordinate, Expr, Index, MixedRadix, Mul
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning import strided
from layoutdsl.language.meaning.model import Axis
from layoutdsl.notation.cute_functions import Function, Plus, Through, through

MOST_ELEMENTS = 1 << 16
"""Elements of a layout after a layout; each is looked at."""

Place: TypeAlias = tuple[int, ...]
"""An index: a number for each axis."""


@dataclass(frozen=True, slots=True)
class Sum:
    """An offset: ``start`` and digits of indices, each times its stride."""

    axes: tuple[Axis, ...]
    digits: tuple[strided.Placed, ...]
    start: int = 0

    @property
    def value(self) -> Expr:
        """The offset as an expression."""
        found: Expr = Constant(self.start)
        for each in self.digits:
            found = Add(found, Mul(each.value, Constant(each.stride)))
        return found


@dataclass(frozen=True, slots=True)
class Listed:
    """An offset: ``start`` and coordinates, which may be over extents that are not known."""

    axes: tuple[Axis, ...]
    coordinates: tuple[Coordinate, ...]
    start: int = 0


class Shared(ValueError):  # noqa: N818  an answer, not an error of ours
    """Two indices share an offset: ``one`` and ``other``, a number for each axis."""

    def __init__(self, one: Place, other: Place, offset: int) -> None:
        super().__init__(f"{one} and {other} share offset {offset}")
        self.one, self.other, self.offset = one, other, offset


def coordinates(
    offset: Sum | Listed, functions: Sequence[Function]
) -> tuple[tuple[Coordinate, ...], int]:
    """Return the coordinates, and the elements before the first slot, after all functions.

    Raises:
        Shared: two indices share an offset.
        ValueError: there are too many elements to see whether two share one, or a layout comes
            before numbers that are not known.
    """
    left = list(functions)
    while left:
        match offset, left[0]:
            case Sum() | Listed(), Plus(number):
                offset = replace(offset, start=offset.start + number)
            case Sum(), Through() as function:
                fitted = _as_sum(offset, function)
                if fitted is None:
                    break
                offset = fitted
            case _:
                break
        left.pop(0)
    nested = offset.coordinates if isinstance(offset, Listed) else _nested(offset, left)
    return _worked(offset, nested, left) if left else (nested, offset.start)


def _worked(
    offset: Sum | Listed, nested: tuple[Coordinate, ...], left: Sequence[Function]
) -> tuple[tuple[Coordinate, ...], int]:
    """Return one coordinate that says what is worked out."""
    value = nested[0].value if len(nested) == 1 else MixedRadix(nested)
    value = through(value, (Plus(offset.start), *left))
    if not any(isinstance(each, Through) for each in left):
        bound = reach(value, {axis.name: axis.extent for axis in offset.axes})
        if bound is not None:
            return (Coordinate(value, bound.high),), 0
    seen: dict[int, Place] = {}
    for index, place in _offsets(offset, left):
        if place in seen:
            raise Shared(seen[place], index, place)
        seen[place] = index
    return (Coordinate(value, Constant(max(seen) + 1), declared=True),), 0


def _nested(offset: Sum, left: Sequence[Function]) -> tuple[Coordinate, ...]:
    """Return the coordinates of a sum; two elements that share an offset are named."""
    try:
        return strided.coordinates(offset.digits)
    except strided.Aliasing as shared:
        one, other = (_index(offset, place) for place in (shared.one, shared.other))
        slot = through(Constant(shared.slot + offset.start), left)
        raise Shared(one, other, evaluate(slot, {})) from None


def _index(offset: Sum, place: Place) -> Place:
    """Return the index whose digits these are."""
    found: dict[Expr, int] = {Index(axis.name): 0 for axis in offset.axes}
    for digit, number in zip(offset.digits, place, strict=True):
        found[digit.whole] += number * evaluate(digit.divisor, {})
    return tuple(found.values())


def _offsets(offset: Sum | Listed, functions: Sequence[Function]) -> Iterator[tuple[Place, int]]:
    """Yield every index with its offset."""
    if isinstance(offset, Listed):
        raise ValueError("only a layout whose numbers are known can be followed through another")
    room = [axis.extent.value for axis in offset.axes if isinstance(axis.extent, Constant)]
    if prod(room) > MOST_ELEMENTS:
        message = f"more than {MOST_ELEMENTS} elements are too many to follow through a layout"
        raise ValueError(message)
    value, names = through(offset.value, functions), [axis.name for axis in offset.axes]
    for index in product(*map(range, room)):
        yield index, evaluate(value, dict(zip(names, index, strict=True)))


def _as_sum(offset: Sum, function: Through) -> Sum | None:
    """Return what a layout makes of an offset, where that is a sum of digits at every index."""
    offsets = dict(_offsets(offset, [function]))
    start = offsets[(0,) * len(offset.axes)]
    digits: list[strided.Placed] = []
    for number, axis in enumerate(offset.axes):
        others = [n for n in range(len(offset.axes)) if n != number]
        along = [place - start for i, place in offsets.items() if not any(i[n] for n in others)]
        cuts = strided.cuts_of(along)
        if cuts is None:
            return None
        digits += strided.digits_of(axis.name, cuts)
    found = Sum(offset.axes, tuple(digits), start)
    return found if dict(_offsets(found, [])) == offsets else None
