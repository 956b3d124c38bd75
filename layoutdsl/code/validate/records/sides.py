"""A part of a record as it is moved: its items, their layout, and the loops over its elements."""

from __future__ import annotations

from dataclasses import dataclass

from layoutdsl.code.placed import Placed
from layoutdsl.code.validate.records.bits import equal
from layoutdsl.code.validate.terms import Meaningless
from layoutdsl.language.integers.bounds import product, simplify
from layoutdsl.language.integers.expr import (
    Add,
    Constant,
    Coordinate,
    Expr,
    FloorDiv,
    Mul,
    substitute,
    substitute_coordinate,
)
from layoutdsl.language.meaning.model import ZERO

ONE = Constant(1)


def times(count: int, expr: Expr) -> Expr:
    """Return so many times an expression."""
    return Mul(Constant(count), expr)


def plus(expr: Expr, more: int) -> Expr:
    """Return an expression and a number."""
    return Add(expr, Constant(more))


def horner(values: list[Expr], counts: list[Expr]) -> Expr:
    """Return the number whose digits these are, most major first."""
    found: Expr = ZERO
    for value, count in zip(values, counts, strict=True):
        found = Add(Mul(found, count), value)
    return found


@dataclass(frozen=True, slots=True)
class Side:
    """A part, and how its layout's items are called and counted.

    Attributes:
        placed: how it is moved, as was claimed.
        stem: what the functions of its layout begin with.
    """

    placed: Placed
    stem: str

    @property
    def width(self) -> int:
        """The bytes of an item."""
        element = self.placed.items.element
        assert element is not None, "a part says of what type it is"
        return element.item[1]

    @property
    def box(self) -> list[Coordinate]:
        """The coordinates of the items' layout, over the extents of the record."""
        values = dict(self.placed.part.values)
        return [substitute_coordinate(each, values) for each in self.placed.items.coordinates]

    @property
    def size(self) -> Expr:
        """How many items the layout has."""
        return simplify(product(tuple(simplify(each.extent) for each in self.box)))

    @property
    def shape(self) -> list[Expr]:
        """The extents of the tensor of items."""
        values = dict(self.placed.part.values)
        return [substitute(axis.extent, values) for axis in self.placed.items.axes]

    @property
    def start(self) -> Expr:
        """The first byte of its region."""
        return simplify(FloorDiv(self.placed.part.over_record.start, Constant(8)))

    @property
    def free(self) -> list[tuple[str, Expr]]:
        """The digits of an index that are free: loops, and their extents."""
        digits = [each for picks in self.placed.part.picks for each in picks]
        return [(f"i{k}", each.extent) for k, each in enumerate(digits) if each.name]

    @property
    def is_direct(self) -> bool:
        """Whether items are elements of the field as they are."""
        part, placed = self.placed.part, self.placed
        digits = [each for picks in part.picks for each in picks]
        plain = all(each.name for each in digits) and not placed.by_bit and part.whole
        narrow = part.field_type.bits < 8 and part.field_type.kind == "i"
        same = self.width == part.field_type.item[1] and placed.bits == part.element.bits
        return plain and same and not narrow and placed.shift == 0


def cut_box(box: list[Coordinate], many: int) -> tuple[list[Coordinate], list[Coordinate]]:
    """Return the coordinates before blocks, and those of a block of so many items.

    Raises:
        Meaningless: no coordinates are those of a block.
    """
    box = [each for each in box if not _is_one(each)]
    size, count = 1, len(box)
    while count and size < many:
        extent = simplify(box[count - 1].extent)
        if not isinstance(extent, Constant):
            break
        size *= extent.value
        count -= 1
    if size != many:
        raise Meaningless("blocks of another size")
    return box[:count], box[count:]


def _is_one(each: Coordinate) -> bool:
    return equal(each.value, ZERO) and each.extent == ONE
