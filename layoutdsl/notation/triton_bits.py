"""From bases to coordinates: a linear map over bits, and the slots that hold each element.

The map leads from the bits of a slot to those of an index. It is turned round bit by bit: slot bits
that add something new are told by the index; the others are told by nothing, and count copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from layoutdsl.language.integers.digit import Digit
from layoutdsl.language.integers.expr import BitXor, Constant, Coordinate, Expr, Index, MixedRadix
from layoutdsl.language.meaning.model import Axis
from layoutdsl.notation.blocks import coordinate

Bases: TypeAlias = tuple[tuple[int, ...], ...]
Bit: TypeAlias = tuple[str, int]
"""A bit of an index, by the name of its axis."""


@dataclass(frozen=True, slots=True)
class Level:
    """Slots of one kind, registers say: where each bit of their number leads, the lowest first."""

    name: str
    bases: Bases


@dataclass(frozen=True, slots=True)
class Found:
    """Where an element lies: a coordinate for each level, and the axes of its copies."""

    places: tuple[Coordinate, ...]
    copies: tuple[Axis, ...]


class Nowhere(ValueError):  # noqa: N818  an answer, not an error of ours
    """No slot holds some element; says which."""


def coordinates(axes: Sequence[Axis], levels: Sequence[Level]) -> Found:
    """Return the coordinates of an element, those of the slowest level first.

    Args:
        axes: of the tensor; extents are powers of two.
        levels: the fastest first.

    Raises:
        Nowhere: no slot holds some element.
    """
    bits = [(axis.name, bit) for axis in axes for bit in range(_bits(axis))]
    place = {each: number for number, each in enumerate(bits)}
    slots = [(level.name, bit) for level in levels for bit in range(len(level.bases))]
    vectors = [_vector(basis, axes, place) for level in levels for basis in level.bases]
    new, free = _apart(vectors)
    told = _solved([vectors[number] for number in new], len(bits))
    if told is None:
        raise Nowhere("no slot holds some of the elements, whatever the bases add up to")
    counted = _counted([slots[number] for number in free])
    says: dict[Bit, tuple[Bit, ...]] = {slots[number]: (counted[slots[number]],) for number in free}
    for row, number in enumerate(new):
        own = [bits[at] for at in range(len(bits)) if told[at] >> row & 1]
        more = [counted[slots[other]] for other in free if _image(vectors[other], told) >> row & 1]
        says[slots[number]] = (*own, *more)
    copies = tuple(
        Axis(level.name, Constant(1 << count))
        for level in reversed(levels)
        if (count := sum(slots[number][0] == level.name for number in free))
    )
    every = (*axes, *copies)
    places = tuple(
        _place(every, [says[level.name, bit] for bit in range(len(level.bases))])
        for level in reversed(levels)
    )
    return Found(places or (Coordinate(Constant(0), Constant(1)),), copies)


def _bits(axis: Axis) -> int:
    assert isinstance(axis.extent, Constant)
    return axis.extent.value.bit_length() - 1


def _vector(basis: Sequence[int], axes: Sequence[Axis], place: dict[Bit, int]) -> int:
    """A basis as one number, a bit for each of the index."""
    found = 0
    for axis, step in zip(axes, basis, strict=True):
        for bit in range(step.bit_length()):
            found |= (step >> bit & 1) << place[axis.name, bit]
    return found


def _apart(vectors: Sequence[int]) -> tuple[list[int], list[int]]:
    """Which vectors are new, and which are sums of those before them."""
    kept: list[int] = []
    new, free = list[int](), list[int]()
    for number, vector in enumerate(vectors):
        rest = vector
        for each in kept:
            rest = min(rest, rest ^ each)
        (new if rest else free).append(number)
        if rest:
            kept.append(rest)
            kept.sort(reverse=True)
    return new, free


def _solved(vectors: Sequence[int], size: int) -> list[int] | None:
    """For each bit of an index, which of the vectors add up to it; ``None`` where not all do."""
    rows = [(vector, 1 << number) for number, vector in enumerate(vectors)]
    if len(rows) != size:
        return None
    for at in range(size):
        pivot = next((n for n in range(at, size) if rows[n][0] >> at & 1), None)
        assert pivot is not None, "they are as many as there are bits, and all new"
        rows[at], rows[pivot] = rows[pivot], rows[at]
        for n in range(size):
            if n != at and rows[n][0] >> at & 1:
                rows[n] = rows[n][0] ^ rows[at][0], rows[n][1] ^ rows[at][1]
    return [used for _, used in rows]


def _image(vector: int, told: Sequence[int]) -> int:
    found = 0
    for at, used in enumerate(told):
        if vector >> at & 1:
            found ^= used
    return found


def _counted(free: Sequence[Bit]) -> dict[Bit, Bit]:
    """The bit of the number of a copy for each slot bit that nothing else tells."""
    found: dict[Bit, Bit] = {}
    for name, bit in free:
        found[name, bit] = name, sum(other == name for other, _ in found)
    return found


def _place(axes: Sequence[Axis], bits: Sequence[tuple[Bit, ...]]) -> Coordinate:
    """The coordinate of a level, whose bits are told by those; the lowest first."""
    digits = list[Coordinate]()
    at = 0
    while at < len(bits):
        count = 1
        if len(bits[at]) == 1:
            ((name, first),) = bits[at]
            while bits[at + count : at + count + 1] == [((name, first + count),)]:
                count += 1
            value = _digit(axes, name, first, count)
        else:
            value = _sum(axes, bits[at])
        digits.insert(0, coordinate(axes, value))
        at += count
    if not digits:
        return Coordinate(Constant(0), Constant(1))
    return digits[0] if len(digits) == 1 else coordinate(axes, MixedRadix(tuple(digits)))


def _digit(axes: Sequence[Axis], name: str, first: int, count: int) -> Expr:
    whole = next(axis for axis in axes if axis.name == name)
    radix = None if first + count == _bits(whole) else Constant(1 << count)
    return Digit(Index(name), Constant(1 << first), radix).value


def _sum(axes: Sequence[Axis], bits: Sequence[Bit]) -> Expr:
    first, *others = (_digit(axes, name, bit, 1) for name, bit in bits)
    for each in others:
        first = BitXor(first, each)
    return first
