"""What a record *is*: several tensors, its fields, in one buffer of bits.

Each line of a record is a part: a layout of its own, which says where some of the bits of some of
the elements of a field lie. `Record.bit_address`, in plain integers, is the definition; what is
proved, generated and moved is held against it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from math import prod

from layoutdsl.language.integers.bounds import simplify
from layoutdsl.language.integers.expr import Expr, substitute
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.arguments import Kind, integer, integers
from layoutdsl.language.meaning.elements import ElementType, Fill, FillValue
from layoutdsl.language.meaning.model import Axis, Condition, Indices, Layout, Shape
from layoutdsl.language.meaning.parameters import Parametrised
from layoutdsl.language.meaning.part import Part, part_address, part_size, with_numbers
from layoutdsl.language.texts.values import Displayed, brief, said


@dataclass(frozen=True, slots=True)
class Field:
    """A tensor of a record.

    Attributes:
        name: by which `pack` takes it.
        element: its type.
        extents: along each axis, over the extents and parameters of the record.
        parts: that hold it, in the order of the text.
    """

    name: str
    element: ElementType
    extents: tuple[Expr, ...]
    parts: tuple[Part, ...]

    __repr__ = brief

    def shape(self, values: Mapping[str, int]) -> tuple[int, ...]:
        """Return its extents, from those of the record."""
        return tuple(evaluate(each, values) for each in self.extents)

    def index(self, index: Indices, values: Mapping[str, int]) -> tuple[int, ...]:
        """Return an index of the field in numbers, a number for each axis.

        Raises:
            ValueError: there is no such element.
        """
        given = integers([*index.values()] if isinstance(index, Mapping) else index, "index", "")
        extents = self.shape(values)
        if len(given) != len(extents):
            raise ValueError(f"`{self.name}` takes {len(extents)} indices, not {len(given)}")
        for number, extent in zip(given, extents, strict=True):
            if not 0 <= number < extent:
                raise ValueError(f"index {number} of `{self.name}` is outside 0..{extent - 1}")
        return tuple(given)

    def bit(self, bit: int) -> int:
        """Return the number of a bit of its elements.

        Raises:
            ValueError: there is no such bit.
        """
        if not 0 <= integer(bit, "bit") < self.element.bits:
            raise ValueError(
                f"bit {bit} is outside 0..{self.element.bits - 1} of {self.element.name}"
            )
        return bit


@dataclass(frozen=True, slots=True)
class Held:
    """A bit of an element of a field."""

    field: str
    index: tuple[int, ...]
    bit: int

    def __str__(self) -> str:
        return f"bit {self.bit} of {self.field}[{', '.join(map(str, self.index))}]"

    @staticmethod
    def at_start(words: str) -> Held | None:
        """Return the bit that a line of a counterexample begins with: ``bit 0 of q[0, 1] -> ``."""
        found = _HELD.match(words)
        if found is None:
            return None
        index = tuple(int(each) for each in found[3].split(",") if each.strip())
        return Held(found[2], index, int(found[1]))


_HELD = re.compile(r"bit (\d+) of (\w+)\[([\d, ]*)\] -> ", re.ASCII)


@dataclass(frozen=True)
class Record(Parametrised, Displayed):
    """Several tensors in one buffer.

    Attributes:
        axes: whose extents a shape gives values to; fields have axes of their own.
        fields: in the order in which the text names them first.
        parts: all of them, in the order of the text.
        where: the shapes for which the record is defined.
        fill: what bits hold that no field does: 0, or anything.
        parameters: parameters that were given no value; each shape must name them.
    """

    name: str
    axes: tuple[Axis, ...]
    fields: tuple[Field, ...]
    parts: tuple[Part, ...]
    where: tuple[Condition, ...] = ()
    fill: Fill = field(default=FillValue(0))
    parameters: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return said(self, f"{self.name}: {', '.join(each.name for each in self.fields)}")

    @cached_property
    def frame(self) -> Layout:
        """A layout of the same axes, parameters and range: for whoever asks for shapes only."""
        return Layout(self.name, self.axes, (), where=self.where, parameters=self.parameters)

    @cached_property
    def laid(self) -> tuple[Layout, ...]:
        """The layout of each part in bits, over the extents of the record."""
        return tuple(part.over_record for part in self.parts)

    @cached_property
    def regions(self) -> tuple[tuple[Part, ...], ...]:
        """Parts that begin at the same bit, in the order of the text; each region is a buffer."""
        found: dict[Expr, list[Part]] = {}
        for part, layout in zip(self.parts, self.laid, strict=True):
            found.setdefault(layout.start, []).append(part)
        return tuple(map(tuple, found.values()))

    def substituted(self, values: Mapping[str, Expr]) -> Record:
        """Return the record with these for some of its parameters, in all but their list."""
        parts = tuple(with_numbers(each, values) for each in self.parts)
        by_part = dict(zip(self.parts, parts, strict=True))
        fields = tuple(
            replace(
                each,
                extents=tuple(simplify(substitute(e, values)) for e in each.extents),
                parts=tuple(by_part[part] for part in each.parts),
            )
            for each in self.fields
        )
        where = tuple(each.substituted(values) for each in self.where)
        return replace(self, parts=parts, fields=fields, where=where)

    def field(self, name: str) -> Field:
        """Return a field.

        Raises:
            ValueError: there is none of that name.
        """
        for each in self.fields:
            if each.name == name:
                return each
        known = ", ".join(f"`{each.name}`" for each in self.fields)
        raise ValueError(f"record `{self.name}` has no field `{name}`; it has {known}")

    def bind(self, shape: Shape) -> dict[str, int]:
        """Return the value of every extent and parameter; see `Layout.bind`."""
        try:
            return self.frame.bind(shape)
        except ValueError as unfit:
            said_ = str(unfit)
        raise ValueError(said_.replace(f"layout `{self.name}`", f"record `{self.name}`", 1))

    def field_shapes(self, shape: Shape) -> dict[str, tuple[int, ...]]:
        """Return the shape of each field.

        Raises:
            ValueError: the shape does not fit the record.
        """
        values = self.bind(shape)
        return {each.name: each.shape(values) for each in self.fields}

    def size_bits(self, shape: Shape) -> int:
        """Return the bits of the buffer: up to the end of the part that ends last."""
        return self.size_bits_at(self.bind(shape))

    def size_bits_at(self, values: Mapping[str, int]) -> int:
        """Return `size_bits` from bound values, without any check."""
        return max(part_size(part, values) for part in self.parts)

    def bit_address(self, field: str, index: Indices, bit: int, shape: Shape) -> int:
        """Return where a bit of an element lies, in bits from the start of the buffer.

        Args:
            field: its name.
            index: of the element, a number for each axis of the field.
            bit: of the element, the lowest is 0.
            shape: of the record.

        Raises:
            ValueError: there is no such field, element or bit; or no part holds it.
        """
        values, found = self.bind(shape), self.field(field)
        given = found.index(index, values)
        bit = found.bit(bit)
        for part in found.parts:
            own = part.own_index(given, values) if bit in part.bits else None
            if own is not None:
                return part_address(part, own, bit - part.low, values)
        raise ValueError(f"no part holds {Held(field, given, bit)}")

    def holders(self, address: int, shape: Shape) -> Iterator[Held]:
        """Yield what a bit of the buffer holds: one bit of an element, or none where it is free.

        Where a wrong record holds several there, all of them.

        Raises:
            ValueError: the shape does not fit, or the bit is outside the buffer.
        """
        values = self.bind(shape)
        if not 0 <= address < self.size_bits_at(values):
            message = f"bit {address} is outside the buffer of {self.size_bits_at(values)} bits"
            raise ValueError(message)
        for part in self.parts:
            layout, extents = part.in_bits, part.shape(values)
            inside = [extents[name] for name in layout.symbols]
            given = dict(zip(layout.symbols, inside, strict=True))
            if address >= layout.size(given):
                continue
            for *own, bit in layout.holders(address, given):
                yield Held(part.field, part.field_index(own, values), part.low + bit)

    def every_bit(self, values: Mapping[str, int]) -> Iterator[tuple[Part, Held, int]]:
        """Yield every bit that parts hold with its address, part by part, in plain integers."""
        for part in self.parts:
            layout, extents = part.in_bits, part.shape(values)
            names = [axis.name for axis in layout.axes]
            for own in product(*map(range, layout.shape_of(extents))):
                bound = {**extents, **dict(zip(names, own, strict=True))}
                index = part.field_index(own[:-1], values)
                held = Held(part.field, index, part.low + own[-1])
                yield part, held, layout.offset_at(bound)

    def elements_bits(self, values: Mapping[str, int]) -> int:
        """Return the bits of all elements of all fields."""
        return sum(prod(each.shape(values)) * each.element.bits for each in self.fields)


RECORD = Kind("a record", lambda value: isinstance(value, Record))
"""The argument that is a record."""
