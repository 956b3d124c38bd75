"""A layout read as pieces of axes, for notations that can write nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from layoutdsl.language.digits.network import NotDigits, network
from layoutdsl.language.integers.bounds import ONE, ZERO, reach, simplify
from layoutdsl.language.integers.digit import Digit, opened, read, same
from layoutdsl.language.integers.expr import (
    Constant,
    Coordinate,
    Expr,
    Index,
    MixedRadix,
    coordinate_text,
    text,
)
from layoutdsl.language.meaning.elements import Fill, FillAny, FillValue, FillZeroPoint
from layoutdsl.language.meaning.model import Layout
from layoutdsl.notation.notation import Unwritable


@dataclass(frozen=True, slots=True)
class Place(Digit):
    """A coordinate that is a digit of an axis; ``axis`` is its number."""

    axis: int

    @property
    def block(self) -> int:
        """The block of a digit that has one, as a number.

        Raises:
            Unwritable: the block is no number.
        """
        if not isinstance(self.radix, Constant):
            written = "all the rest" if self.radix is None else text(self.radix)
            raise Unwritable(f"the block `{written}` is not a number")
        return self.radix.value


def places(layout: Layout) -> tuple[Place, ...]:
    """Return the coordinates as digits of axes, most major first; tuples are opened.

    Coordinates of one slot are left out; so the rest need not be one for one with the layout's.

    Raises:
        Unwritable: a coordinate is no digit of an axis, the digits do not follow one another, or an
            extent was declared larger than its digit needs.
    """
    wires = network(layout)
    if isinstance(wires, NotDigits):
        raise Unwritable(wires.reason)
    found = [
        (each, place_of(layout, each.value))
        for each in whole_parts(layout.coordinates)
        if not _is_one_slot(each)
    ]
    for each, digit in found:
        if not is_natural(layout, each):
            name = layout.axes[digit.axis].name
            raise Unwritable(f"a digit of `{name}` has the declared extent `{text(each.extent)}`")
    return tuple(digit for _, digit in found)


def whole_parts(coordinates: tuple[Coordinate, ...]) -> tuple[Coordinate, ...]:
    """Return the coordinates with each tuple replaced by its parts.

    Raises:
        Unwritable: a tuple has a larger extent than its parts.
    """
    found = opened(coordinates)
    for each in found:
        if isinstance(each.value, MixedRadix):
            raise Unwritable(f"`{coordinate_text(each)}` pads a tuple")
    return found


def _is_one_slot(coordinate: Coordinate) -> bool:
    """Whether nothing moves along a coordinate; it raises `Unwritable` where it has more slots."""
    still = isinstance(simplify(coordinate.value), Constant)
    if still and coordinate.extent != ONE:
        raise Unwritable(f"`{coordinate_text(coordinate)}` is padding of its own")
    return still


def place_of(layout: Layout, value: Expr) -> Place:
    """Return the value of a coordinate as a digit of an axis.

    Raises:
        Unwritable: it is none.
    """
    digit = read(value)
    if digit is None or not isinstance(digit.whole, Index):
        raise Unwritable(f"`{text(value)}` is not a digit of an axis")
    wholes = [Index(axis.name) for axis in layout.axes]
    return Place(digit.whole, digit.divisor, digit.radix, wholes.index(digit.whole))


def is_natural(layout: Layout, coordinate: Coordinate) -> bool:
    """Return whether a coordinate has the extent that follows from its value."""
    bound = reach(coordinate.value, {axis.name: axis.extent for axis in layout.axes})
    return bound is not None and same(bound.high, coordinate.extent)


def refuse_start(layout: Layout) -> None:
    """Raise `Unwritable` where the first slot is not the first of the buffer."""
    if layout.start != ZERO:
        raise Unwritable(f"it starts at the offset `{text(layout.start)}`")


def refuse_range(layout: Layout) -> None:
    """Raise `Unwritable` where the layout is defined for some shapes only."""
    if layout.where:
        raise Unwritable(f"it is defined only where {layout.where[0]}")


def refuse_fill(layout: Layout, *allowed: Fill) -> None:
    """Raise `Unwritable` unless padding holds what the notation says that it holds."""
    if layout.fill not in allowed:
        raise Unwritable(f"its padding holds {_fill_words(layout.fill)}")


def _fill_words(fill: Fill) -> str:
    match fill:
        case FillValue(value):
            return str(value)
        case FillAny():
            return "no particular value"
        case FillZeroPoint():
            return "the quantised zero"
