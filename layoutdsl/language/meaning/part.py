"""A part of a record: a layout over the free digits of an index, which says where some bits lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from layoutdsl.language.integers.bounds import simplify
from layoutdsl.language.integers.expr import (
    Constant,
    Coordinate,
    Expr,
    Index,
    Mod,
    Mul,
    extents,
    substitute,
)
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.elements import BIT, BIT_AXIS, ElementType
from layoutdsl.language.meaning.model import ZERO, Axis, Condition, Layout, instantiate
from layoutdsl.language.texts.values import brief


@dataclass(frozen=True, slots=True)
class PickedDigit:
    """A digit of an index along one axis of a field.

    Attributes:
        name: of the axis that the digit is for the part's layout; empty where it is fixed.
        fixed: its value where it is.
        extent: over the extents and parameters of the record.
    """

    name: str
    fixed: int
    extent: Expr

    def __str__(self) -> str:
        return self.name or str(self.fixed)


Picks = tuple[tuple[PickedDigit, ...], ...]


@dataclass(frozen=True, slots=True)
class Part:
    """Where some bits of some elements of a field lie.

    Attributes:
        field: its name.
        picks: the digits of the index along each axis of the field, most major first.
        low: the lowest bit of an element that it holds.
        layout: over the free digits; its elements are the bits that the part holds.
        values: what each extent and parameter of the layout is, over those of the record.
        field_type: of the elements of the field.
    """

    field: str
    picks: Picks
    low: int
    layout: Layout
    values: tuple[tuple[str, Expr], ...]
    field_type: ElementType

    __repr__ = brief

    @property
    def element(self) -> ElementType:
        """The type of what the layout moves."""
        found = self.layout.tensor_element
        assert found is not None
        return found

    @property
    def slot_bits(self) -> int:
        """The bits of a slot of the layout: those that it holds, or one where it places each."""
        return 1 if self.layout.bit_of is not None else self.element.bits

    @property
    def whole(self) -> bool:
        """Whether it holds all bits of its elements."""
        return self.element.bits == self.field_type.bits

    @property
    def bits(self) -> range:
        """The bits of an element that it holds."""
        return range(self.low, self.low + self.element.bits)

    @property
    def label(self) -> str:
        """``scale(r, (s, 1, i)) bits 4..5``: what it is called in messages."""
        axes = ", ".join(_pick_text(each) for each in self.picks)
        held = "" if self.whole else f" bits {self.bits[0]}..{self.bits[-1]}"
        return f"{self.field}({axes}){held}"

    @property
    def in_bits(self) -> Layout:
        """The layout with each bit placed by itself: ``bit`` is its last axis, a slot is a bit."""
        layout = self.layout
        if layout.bit_of is not None:
            return layout
        width = self.element.bits
        return replace(
            layout,
            axes=(*layout.axes, Axis(BIT_AXIS, Constant(width))),
            coordinates=(*layout.coordinates, Coordinate(Index(BIT_AXIS), Constant(width))),
            start=layout.start if layout.start == ZERO else _times(width, layout.start),
            chunk_rank=None,
            element=BIT,
            bit_of=self.element,
        )

    @property
    def over_record(self) -> Layout:
        """`in_bits` with its expressions over the extents of the record; its axes stay as named."""
        layout = self.in_bits.substituted(dict(self.values))
        coordinates = tuple(replace(e, extent=simplify(e.extent)) for e in layout.coordinates)
        start = simplify(layout.start)
        return replace(layout, coordinates=coordinates, start=start, where=(), parameters=())

    def extents(self) -> dict[str, Expr]:
        """Return the extent of each axis of `in_bits`, over the extents of the record."""
        values = dict(self.values)
        return {axis.name: substitute(axis.extent, values) for axis in self.in_bits.axes}

    def shape(self, values: Mapping[str, int]) -> dict[str, int]:
        """Return what the extents and parameters of the layout are, from those of the record."""
        return {name: evaluate(expr, values) for name, expr in self.values}

    def own_index(self, index: Sequence[int], values: Mapping[str, int]) -> tuple[int, ...] | None:
        """Return the index in the layout of an element of the field; ``None`` if it has none."""
        found: list[int] = []
        for digits, number in zip(self.picks, index, strict=True):
            read: list[int] = []
            left = number
            for digit in reversed(digits):
                left, value = divmod(left, evaluate(digit.extent, values))
                if digit.name:
                    read.append(value)
                elif value != digit.fixed:
                    return None
            found += reversed(read)
        return tuple(found)

    def field_index(self, own: Sequence[int], values: Mapping[str, int]) -> tuple[int, ...]:
        """Return which element of the field an index of the layout is."""
        given = iter(own)
        found = []
        for digits in self.picks:
            number = 0
            for digit in digits:
                value = next(given) if digit.name else digit.fixed
                number = number * evaluate(digit.extent, values) + value
            found.append(number)
        return tuple(found)


def _pick_text(digits: tuple[PickedDigit, ...]) -> str:
    said_ = ", ".join(map(str, digits))
    return said_ if len(digits) == 1 else f"({said_})"


def _times(number: int, expr: Expr) -> Expr:
    return simplify(Mul(Constant(number), expr))


def plain(condition: Condition) -> Condition | None:
    """Return a condition of a range in plainer words; ``None`` if it holds for every shape.

    ``32*B == 32`` is ``B == 1``, and ``8*K % 32 == 0`` is ``K % 4 == 0``.
    """
    match condition:
        case Condition(Mod(Mul(Constant(factor), rest), Constant(divisor)), "==", Constant(0)):
            if factor % divisor == 0:
                return None
            if divisor % factor == 0:
                return Condition(Mod(rest, Constant(divisor // factor)), "==", Constant(0))
        case Condition(Mul(Constant(factor), rest), "==", Constant(number)):
            if factor > 0 and number % factor == 0:
                return Condition(rest, "==", Constant(number // factor))
    left, right = simplify(condition.left), simplify(condition.right)
    if isinstance(left, Constant) and isinstance(right, Constant):
        return None if condition.holds({}) else condition
    return Condition(left, condition.operator, right)


def with_numbers(part: Part, numbers: Mapping[str, Expr]) -> Part:
    """The part with numbers for parameters of the record."""
    opened = set(part.layout.parameters) & set(numbers)
    given = {name: each for name, each in numbers.items() if name in opened}
    values = tuple(
        (name, simplify(substitute(each, numbers)))
        for name, each in part.values
        if name not in opened
    )
    picks = tuple(
        tuple(replace(each, extent=simplify(substitute(each.extent, numbers))) for each in digits)
        for digits in part.picks
    )
    return replace(part, picks=picks, layout=instantiate(part.layout, given), values=values)


def part_size(part: Part, values: Mapping[str, int]) -> int:
    """Return the bits of the buffer of a part, those before its first included."""
    layout, extents = part.in_bits, part.shape(values)
    box = prod(evaluate(each.extent, extents) for each in layout.coordinates)
    return evaluate(layout.start, extents) + box


def part_address(part: Part, own: Sequence[int], bit: int, values: Mapping[str, int]) -> int:
    """Return where a bit of an element of a part lies, without any check."""
    layout = part.in_bits
    names = [axis.name for axis in layout.axes]
    bound = dict(zip(names, (*own, bit), strict=True))
    return layout.offset_at({**part.shape(values), **bound})


def extents_of_others(layout: Layout) -> list[str]:
    """Return the extents that a layout speaks of and has not, as parts over a record's may."""
    exprs = [each for place in layout.coordinates for each in (place.value, place.extent)]
    return sorted(extents(layout.start).union(*map(extents, exprs)) - {*layout.symbols})
