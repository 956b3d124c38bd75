"""What a table says of one slot, in words: the slot's coordinates, and the index read off them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from layoutdsl.language.integers.expr import text
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.counterexample import index_text
from layoutdsl.language.meaning.model import Shape
from layoutdsl.language.meaning.table import Table
from layoutdsl.view.places import Named
from layoutdsl.view.rows import place_of
from layoutdsl.view.words import at_shape


@dataclass(frozen=True, slots=True)
class Entry:
    """The index along one axis, how it is read off the slot, and what it has to stay below."""

    axis: str
    written: str
    value: int
    extent: int

    @property
    def inside(self) -> bool:
        """Whether there is such an index."""
        return 0 <= self.value < self.extent


@dataclass(frozen=True, slots=True)
class ReadSlot:
    """What a table says of one slot of the flattened box."""

    table: Table
    shape: Named
    slot: int
    coordinates: Named
    entries: tuple[Entry, ...]

    @property
    def element(self) -> Named | None:
        """The index of the element, or ``None`` for padding."""
        inside = all(each.inside for each in self.entries)
        return tuple((each.axis, each.value) for each in self.entries) if inside else None

    @property
    def holds(self) -> Literal["element", "padding"]:
        """What the slot holds."""
        return "padding" if self.element is None else "element"


def read_slot(table: Table, slot: int, shape: Shape) -> ReadSlot:
    """Return what a table says of a slot, by its number in the flattened box.

    Raises:
        ValueError: the shape does not fit, or there is no such slot.
    """
    frame = table.frame
    values, box = frame.bind(shape), frame.box(shape)
    if not 0 <= slot < table.size(shape):
        raise ValueError(f"slot {slot} is outside the {table.size(shape)} slots of the table")
    names = (each.name for each in table.slots)
    coordinates = tuple(zip(names, place_of(slot, box), strict=True))
    bound = {**values, **dict(coordinates)}
    rows = zip(table.axes, table.index, frame.shape_of(values), strict=True)
    entries = tuple(
        Entry(axis.name, text(expr), evaluate(expr, bound), extent) for axis, expr, extent in rows
    )
    return ReadSlot(table, tuple(values.items()), slot, coordinates, entries)


def read_slot_text(read: ReadSlot) -> str:
    """Return the answer in a few lines: the slot, what it holds, and each index."""
    head = at_shape(read.table.name, read.shape)
    held = "padding" if read.element is None else index_text(read.element)
    lines = [head, f"slot {read.slot}, {index_text(read.coordinates)} -> {held}", ""]
    for each in read.entries:
        too_far = "" if each.inside else f", outside 0..{each.extent - 1}"
        value = "" if each.written == str(each.value) else f" = {each.value}"
        lines.append(f"  {each.axis} = {each.written}{value}{too_far}")
    return "\n".join(lines)
