"""What is said of layouts, tables and records: claims.

A claim is `prove` or `refute` with a predicate over one of them, in a range of shapes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from layoutdsl.language.integers.expr import Coordinate, Expr
from layoutdsl.language.meaning.banks import Reading
from layoutdsl.language.meaning.elements import ElementType, IntegerType
from layoutdsl.language.meaning.model import Condition, Layout
from layoutdsl.language.meaning.record import Record
from layoutdsl.language.meaning.table import Table
from layoutdsl.language.texts.values import brief, said


@dataclass(frozen=True, slots=True)
class Sound:
    """The checks that every layout has to pass."""


@dataclass(frozen=True, slots=True)
class EqualsLayout:
    """Both layouts put every element at the same offset, in buffers of the same size."""

    other: Layout

    __repr__ = brief


@dataclass(frozen=True, slots=True)
class EqualsFormula:
    """The offset is the value of a hand-written formula."""

    formula: Expr

    __repr__ = brief


@dataclass(frozen=True, slots=True)
class Fits:
    """The size of the buffer, and so every offset in it, is a value of the integer type.

    With an element type the size is counted in bytes, the last of which may be filled in part.
    """

    type: IntegerType
    element: ElementType | None = None


@dataclass(frozen=True, slots=True)
class OffsetsFit:
    """The offset of every element is a value of the integer type; the size may be none.

    With an element type it is the address of each of its bytes, from the start of the buffer.
    """

    type: IntegerType
    element: ElementType | None = None


@dataclass(frozen=True, slots=True)
class Computes:
    """Whatever is worked out on the way to an offset, as printed in C, is a value of the type."""

    type: IntegerType


@dataclass(frozen=True, slots=True)
class Keeps:
    """Elements that differ in these digits only lie next to each other, in their order."""

    run: tuple[Coordinate, ...]

    __repr__ = brief


@dataclass(frozen=True, slots=True)
class Aligns:
    """Every such run starts at a multiple of ``bytes``, if the buffer does."""

    run: tuple[Coordinate, ...]
    bytes: int
    element: ElementType

    __repr__ = brief


@dataclass(frozen=True, slots=True)
class Fills:
    """The last coordinates fill whole words of so many bits, for every shape (`storage`)."""

    bits: int


@dataclass(frozen=True, slots=True)
class Reads:
    """Threads that read together want no two words of one bank (`banks`)."""

    reading: Reading

    __repr__ = brief


Predicate: TypeAlias = (
    Sound
    | EqualsLayout
    | EqualsFormula
    | Fits
    | OffsetsFit
    | Computes
    | Keeps
    | Aligns
    | Fills
    | Reads
)


@dataclass(frozen=True, slots=True)
class Claim:
    """``prove`` or ``refute``, of a layout, over the shapes of its range and of ``where``.

    ``text`` is the claim as the language writes it.
    """

    polarity: Literal["prove", "refute"]
    layout: Layout
    predicate: Predicate
    where: tuple[Condition, ...] = ()
    text: str = ""

    def __repr__(self) -> str:
        return said(self, self.text)

    @property
    def subject(self) -> Layout:
        """The layout."""
        return self.layout

    @property
    def ranged(self) -> Layout:
        """The layout, narrowed to the shapes that the claim speaks of."""
        return replace(self.layout, where=(*self.layout.where, *self.where))


@dataclass(frozen=True, slots=True)
class Inverts:
    """The table says of every slot what the layout puts there; the buffers have one size."""

    layout: Layout


@dataclass(frozen=True, slots=True)
class TableClaim:
    """``prove`` or ``refute``, of a table: `Sound` says that each element lies in one slot."""

    polarity: Literal["prove", "refute"]
    table: Table
    predicate: Sound | Inverts
    where: tuple[Condition, ...] = ()
    text: str = ""

    def __repr__(self) -> str:
        return said(self, self.text)

    @property
    def subject(self) -> Table:
        """The table."""
        return self.table

    @property
    def ranged(self) -> Table:
        """The table, narrowed to the shapes that the claim speaks of."""
        return replace(self.table, where=(*self.table.where, *self.where))


@dataclass(frozen=True, slots=True)
class EqualsRecord:
    """Both records put every bit of every field, by name, at the same place, in equal buffers.

    A bit that only one of them has is put elsewhere. Types of elements are not compared.
    """

    other: Record

    __repr__ = brief


@dataclass(frozen=True, slots=True)
class FieldFormula:
    """The lowest bit of every element of a field lies, in bits, where a formula says.

    ``axes`` are what the formula calls the axes of the field; its extents are the record's.
    """

    field: str
    axes: tuple[str, ...]
    formula: Expr

    __repr__ = brief


@dataclass(frozen=True, slots=True)
class FieldAligns:
    """The lowest bit of an element whose digits in the run are zero lies at a multiple of bytes."""

    field: str
    axes: tuple[str, ...]
    run: tuple[Coordinate, ...]
    bytes: int

    __repr__ = brief


OfField: TypeAlias = FieldFormula | FieldAligns
"""What is said of one field of a record."""


@dataclass(frozen=True, slots=True)
class RecordClaim:
    """``prove`` or ``refute``, of a record: `Sound` says what every record has to pass."""

    polarity: Literal["prove", "refute"]
    record: Record
    predicate: Sound | EqualsRecord | OfField
    where: tuple[Condition, ...] = ()
    text: str = ""

    def __repr__(self) -> str:
        return said(self, self.text)

    @property
    def subject(self) -> Record:
        """The record."""
        return self.record

    @property
    def ranged(self) -> Record:
        """The record, narrowed to the shapes that the claim speaks of."""
        return replace(self.record, where=(*self.record.where, *self.where))


AnyClaim: TypeAlias = Claim | TableClaim | RecordClaim
