"""What a table *is*: for each slot of a buffer, the index of the element that it holds.

Vendors publish layouts backwards, from the slot to the element. `Table.decode`, in plain integers,
is the definition; what is proved of tables is held against it. It imports `model` and `expr` only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product as boxes
from math import prod

from layoutdsl.language.integers.expr import Coordinate, Expr, substitute, text
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.arguments import integer, integers
from layoutdsl.language.meaning.model import ZERO, Axis, Condition, Indices, Layout, Shape
from layoutdsl.language.meaning.parameters import Parametrised
from layoutdsl.language.texts.values import brief, said


@dataclass(frozen=True, slots=True)
class Slot:
    """A slot coordinate: it runs over ``0 <= name < extent``, an expression in extents."""

    name: str
    extent: Expr

    __repr__ = brief


@dataclass(frozen=True, slots=True)
class Table(Parametrised):
    """Which element each slot of a buffer holds.

    Attributes:
        slots: the slot coordinates, most major first; the buffer is their box, flattened.
        index: for each axis, in axis order, the index as an expression over slot coordinates and
            extents. A slot whose index is outside the shape is padding.
        where: the shapes for which the table is defined.
        parameters: parameters that were given no value; each shape must name them.
    """

    name: str
    axes: tuple[Axis, ...]
    slots: tuple[Slot, ...]
    index: tuple[Expr, ...]
    where: tuple[Condition, ...] = ()
    parameters: tuple[str, ...] = ()

    def __repr__(self) -> str:
        slots = ", ".join(slot.name for slot in self.slots)
        return said(self, f"{self.name}[{slots}] = ({', '.join(map(text, self.index))})")

    @property
    def frame(self) -> Layout:
        """A layout of the same axes, parameters and range, whose box is that of the slots.

        For whoever asks for shapes only: it puts every element into the first slot.
        """
        coordinates = tuple(Coordinate(ZERO, slot.extent, declared=True) for slot in self.slots)
        return Layout(
            self.name, self.axes, coordinates, where=self.where, parameters=self.parameters
        )

    def substituted(self, values: Mapping[str, Expr]) -> Table:
        """Return the table with names replaced in everything but its axes and parameters."""
        return replace(
            self,
            slots=tuple(Slot(each.name, substitute(each.extent, values)) for each in self.slots),
            index=tuple(substitute(each, values) for each in self.index),
            where=tuple(each.substituted(values) for each in self.where),
        )

    def box(self, shape: Shape) -> tuple[int, ...]:
        """Return the extents of the slot coordinates; where one is below 1, there is no slot.

        Raises:
            ValueError: the shape does not fit the table.
        """
        return self.frame.box(shape)

    def size(self, shape: Shape) -> int:
        """Return the slots of the buffer, padding included."""
        return prod(max(extent, 0) for extent in self.box(shape))

    def every_slot(self, shape: Shape) -> Iterator[tuple[int, ...]]:
        """Yield every slot in the order of the buffer, the last coordinate fastest."""
        return boxes(*map(range, self.box(shape)))

    def decode(self, slot: Indices, shape: Shape) -> tuple[int, ...] | None:
        """Return the index of the element that the slot holds, or ``None`` for padding.

        Args:
            slot: one number per slot coordinate, in order or by name.
            shape: as for `Layout.bind`.

        Raises:
            ValueError: the shape does not fit, or the slot is outside the box.
        """
        frame = self.frame
        values = frame.bind(shape)
        given = self._slot(slot, values)
        return self.decode_at({**values, **given}, frame.shape_of(values))

    def decode_at(
        self, values: Mapping[str, int], extents: tuple[int, ...]
    ) -> tuple[int, ...] | None:
        """Return what `decode` does from bound extents and slot coordinates, without any check."""
        index = tuple(evaluate(each, values) for each in self.index)
        inside = all(0 <= i < extent for i, extent in zip(index, extents, strict=True))
        return index if inside else None

    def holders(self, index: Indices, shape: Shape) -> Iterator[tuple[int, ...]]:
        """Yield, in order, every slot that holds the element; a table may be wrong."""
        wanted = tuple(self._named("an index", index, [axis.name for axis in self.axes]).values())
        return (slot for slot in self.every_slot(shape) if self.decode(slot, shape) == wanted)

    def _named(self, noun: str, given: Indices, names: Sequence[str]) -> dict[str, int]:
        """Return numbers by name that were given in order or by name; ``noun`` is what they are."""
        word, listed = noun.split()[1], ", ".join(names)
        if isinstance(given, Mapping):
            named = {name: integer(given[name], f"`{name}` of the {word}") for name in given}
        else:
            numbers = integers(given, word, f"{noun} over {listed}, in order or by name")
            named = dict(zip(names, numbers, strict=False)) if len(numbers) == len(names) else {}
        if set(named) != set(names):
            raise ValueError(f"table `{self.name}` takes {noun} over {listed}")
        return {name: named[name] for name in names}

    def _slot(self, slot: Indices, values: Mapping[str, int]) -> dict[str, int]:
        given = self._named("a slot", slot, [each.name for each in self.slots])
        for each in self.slots:
            extent = evaluate(each.extent, values)
            if not 0 <= given[each.name] < extent:
                wrong = f"slot coordinate {each.name}={given[each.name]}"
                raise ValueError(f"{wrong} is outside 0..{extent - 1}")
        return given
