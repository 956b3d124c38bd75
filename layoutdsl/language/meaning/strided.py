"""Layouts that are given by strides: a sum of digits, each times its stride.

Where the strides nest, each a multiple of what lies inside it, the sum is a list of coordinates;
where they do not, it is one coordinate that is the sum itself. Strides may leave slots unused, but
no two elements may share one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import lcm, prod
from typing import Protocol

from layoutdsl.language.integers.bounds import ONE
from layoutdsl.language.integers.digit import Digit, exact_quotient
from layoutdsl.language.integers.expr import Add, Constant, Coordinate, Expr, FloorDiv, Index, Mul
from layoutdsl.language.meaning.arguments import called

MOST_ELEMENTS = 1 << 20
"""Elements of a layout whose strides do not nest; all are looked at for a shared slot."""


@dataclass(frozen=True, slots=True)
class Placed(Digit):
    """A digit that stays below ``extent`` and moves an element by ``stride`` for each step."""

    extent: int
    stride: int


class Aliasing(ValueError):  # noqa: N818  an answer, not an error of ours
    """Two elements share a slot; `one` and `other` are their digits, in the order given."""

    def __init__(self, one: tuple[int, ...], other: tuple[int, ...], slot: int) -> None:
        super().__init__(f"{one} and {other} share slot {slot}")
        self.one, self.other, self.slot = one, other, slot


class Strided(Protocol):
    """An array as numpy and its like describe it; strides are in bytes."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""

    @property
    def strides(self) -> tuple[int, ...]:
        """How far apart two elements are, in bytes, along each axis."""

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""


def steps_of(array: Strided) -> list[int]:
    """Return the strides of an array in elements.

    Raises:
        TypeError: it is no array.
        ValueError: a stride is no multiple of an element.
    """
    if isinstance(array, type) or not hasattr(array, "strides"):
        words = "an array, with `shape`, `strides` and `itemsize`"
        raise TypeError(f"`array` is {called(array)}, and has to be {words}")
    strides = []
    for number, stride in enumerate(array.strides):
        if stride % array.itemsize:
            raise ValueError(f"stride {number} is {stride} bytes, no multiple of an element")
        strides.append(stride // array.itemsize)
    return strides


def row_major(extents: Sequence[int]) -> tuple[int, ...]:
    """Return the strides of extents that lie without gaps, most major first."""
    return tuple(prod(extents[number + 1 :]) for number in range(len(extents)))


def digits_at(
    names: Sequence[str], shape: Sequence[int], strides: Sequence[int]
) -> tuple[Placed, ...]:
    """Return the indices of an array with these strides, in elements, as digits.

    Raises:
        ValueError: extents and strides are not as many, or too small.
    """
    if len(shape) != len(strides):
        raise ValueError(f"{len(shape)} extents have {len(strides)} strides")
    for number, (extent, stride) in enumerate(zip(shape, strides, strict=True)):
        if extent < 1:
            raise ValueError(f"extent {number} is {extent}, must be >= 1")
        if stride < 0:
            raise ValueError(f"stride {number} is {stride}, must be >= 0")
    return tuple(
        Placed(Index(name), ONE, None, extent, stride)
        for name, extent, stride in zip(names, shape, strides, strict=True)
    )


def digits_of(axis: str, cuts: Sequence[tuple[int, int]]) -> list[Placed]:
    """Return the digits of an index, cut by extents with their strides, the fastest first."""
    found: list[Placed] = []
    below, whole = 1, prod(extent for extent, _ in cuts)
    for extent, stride in cuts:
        radix = Constant(extent) if below * extent < whole else None
        found.append(Placed(Index(axis), Constant(below), radix, extent, stride))
        below *= extent
    return found


def cuts_of(along: Sequence[int]) -> list[tuple[int, int]] | None:
    """Return extents and strides whose sum grows as the numbers do, the fastest first.

    Only a few of the numbers are looked at; ``None`` where not even these grow so.
    """
    found: list[tuple[int, int]] = []
    below, whole = 1, len(along)
    while below < whole:
        rest, stride = whole // below, along[below]
        fitting = [
            extent
            for extent in range(rest, 1, -1)
            if rest % extent == 0 and all(along[n * below] == n * stride for n in range(extent))
        ]
        if not fitting or stride < 0:
            return None
        found.append((fitting[0], stride))
        below *= fitting[0]
    return found or [(1, 0)]


def coordinates(digits: Sequence[Placed]) -> tuple[Coordinate, ...]:
    """Return coordinates whose mixed-radix value is the sum of the digits times their strides.

    Raises:
        Aliasing: two elements share a slot.
        ValueError: the strides do not nest, and there are too many elements to look at them all.
    """
    nested = _nested(digits)
    if nested is not None:
        return nested
    _refuse_aliasing(digits)
    value: Expr = Constant(0)
    for number, each in enumerate(_wide(digits)):
        summand = each.value if each.stride == 1 else Mul(each.value, Constant(each.stride))
        value = Add(value, summand) if number else summand
    return (Coordinate(value, Constant(_last(digits) + 1), declared=True),)


def slots(digits: Sequence[Placed]) -> int:
    """Return the size of the buffer that `coordinates` make, in elements."""
    nested = _nested(digits)
    if nested is None:
        return _last(digits) + 1
    return prod(each.extent.value for each in nested if isinstance(each.extent, Constant))


def _wide(digits: Sequence[Placed]) -> list[Placed]:
    return [each for each in digits if each.extent > 1]


def _last(digits: Sequence[Placed]) -> int:
    return sum((each.extent - 1) * each.stride for each in _wide(digits))


def nested(digits: Sequence[tuple[Expr, Expr, Expr]]) -> tuple[Coordinate, ...]:
    """Return coordinates of digits, each with its extent and its stride, the smallest stride first.

    Each stride is a multiple of the one before it, and has room for the extent there.
    """
    if not digits:
        return (Coordinate(Constant(0), ONE),)
    found: list[Coordinate] = []
    if digits[0][2] != ONE:
        found.append(Coordinate(Constant(0), digits[0][2], declared=True))
    for (value, extent, stride), (_, _, above) in pairwise(digits):
        radix = exact_quotient(above, stride) or FloorDiv(above, stride)
        found.append(Coordinate(value, radix, declared=radix != extent))
    found.append(Coordinate(*digits[-1][:2]))
    return tuple(reversed(found))


def _nested(digits: Sequence[Placed]) -> tuple[Coordinate, ...] | None:
    """Return the coordinates, where each stride is a multiple of what lies inside it."""
    wide = sorted(_wide(digits), key=lambda each: each.stride)
    fits = (
        above.stride % each.stride == 0 and above.stride >= each.extent * each.stride
        for each, above in pairwise(wide)
    )
    if wide and (wide[0].stride == 0 or not all(fits)):
        return None
    return nested([(e.value, Constant(e.extent), Constant(e.stride)) for e in wide])


def _refuse_aliasing(digits: Sequence[Placed]) -> None:
    for number, each in enumerate(digits):
        if each.stride == 0 and each.extent > 1:
            raise _apart(digits, {}, {number: 1}, 0)
    if prod(each.extent for each in digits) > MOST_ELEMENTS:
        _refuse_meeting(digits)
        raise ValueError(
            f"its strides do not nest, and it has more than {MOST_ELEMENTS} elements,"
            " too many to see whether two share a slot"
        )
    seen: dict[int, tuple[int, ...]] = {}
    for place in _places(digits):
        slot = sum(n * each.stride for n, each in zip(place, digits, strict=True))
        if slot in seen:
            raise Aliasing(seen[slot], place, slot)
        seen[slot] = place


def _refuse_meeting(digits: Sequence[Placed]) -> None:
    """Raise `Aliasing` where two digits alone reach the same slot."""
    for number, each in enumerate(digits):
        for other, second in enumerate(digits[:number]):
            slot = lcm(each.stride, second.stride)
            if slot < min(each.extent * each.stride, second.extent * second.stride):
                steps = slot // each.stride, slot // second.stride
                raise _apart(digits, {number: steps[0]}, {other: steps[1]}, slot)


def _apart(
    digits: Sequence[Placed], one: dict[int, int], other: dict[int, int], slot: int
) -> Aliasing:
    """Return that two elements share a slot whose digits are 0 but for these."""
    every = range(len(digits))
    return Aliasing(
        tuple(one.get(n, 0) for n in every), tuple(other.get(n, 0) for n in every), slot
    )


def _places(digits: Sequence[Placed]) -> Iterator[tuple[int, ...]]:
    return product(*(range(each.extent) for each in digits))
