"""What is said of layouts, tables and records: claims, and the module that holds them all.

A claim is `prove` or `refute` with a predicate over one of them, in a range of shapes. This module
imports `model`, `table`, `record`, `rule`, `banks`, `expr` and `source` only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from layoutdsl.integers.expr import Coordinate, Expr
from layoutdsl.meaning.banks import Reading
from layoutdsl.meaning.elements import ElementType
from layoutdsl.meaning.model import Condition, Layout
from layoutdsl.meaning.record import Record
from layoutdsl.meaning.table import Table
from layoutdsl.texts.source import Diagnostic, Span
from layoutdsl.texts.values import brief, said

if TYPE_CHECKING:
    from layoutdsl.meaning.group import Group
    from layoutdsl.meaning.operator import Engine
    from layoutdsl.meaning.rule import Rule


@dataclass(frozen=True, slots=True)
class IntegerType:
    """A machine integer by name, with the largest and the least value it holds."""

    name: str
    largest: int
    least: int = 0


INTEGER_TYPES: Mapping[str, IntegerType] = {
    f"{prefix}{bits}": IntegerType(
        f"{prefix}{bits}", 2 ** (bits - signed) - 1, -(2 ** (bits - 1)) * signed
    )
    for prefix, signed in (("int", 1), ("uint", 0))
    for bits in (8, 16, 24, 32, 64)
}


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


def of_bits(bits: int) -> IntegerType:
    """Return the unsigned integers of so many bits."""
    return IntegerType(f"{bits} bits", 2**bits - 1)


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

_APPLIED = re.compile(r"([A-Za-z_]\w*)\s*<\s*([0-9]{1,18}(?:\s*,\s*[0-9]{1,18})*)\s*>", re.ASCII)
"""A name with numbers for its parameters."""


Written: TypeAlias = tuple[Span, Span]
"""Where a declaration, rule or claim stands: all of it, and the name or text that it is about."""


class Module(Mapping[str, Layout]):
    """The layouts of one text by name, in its order, its tables and records, and its claims.

    Where each of them stands is kept beside the meaning, so that two texts that say the same have
    equal layouts and claims: `span_of`, `name_span_of`.

    A layout with parameters is taken with numbers for them as ``module["NCHWc<8>"]``.

    >>> parse("layout NHWC(n, c, h, w) = [n, h, w, c]")["NHWC"].offset((1, 1, 0, 2), (2, 3, 4, 5))
    67
    """

    __slots__ = (
        "_layouts",
        "_written",
        "claims",
        "engine",
        "name",
        "record_claims",
        "records",
        "rules",
        "table_claims",
        "tables",
        "texts",
        "warnings",
    )

    def __init__(
        self,
        name: str,
        layouts: Mapping[str, Layout],
        claims: tuple[Claim, ...],
        texts: Mapping[str, str],
        tables: Mapping[str, Table] | None = None,
        table_claims: tuple[TableClaim, ...] = (),
        warnings: Mapping[str, tuple[Diagnostic, ...]] | None = None,
        records: Mapping[str, Record] | None = None,
        record_claims: tuple[RecordClaim, ...] = (),
        rules: tuple[Rule | Group, ...] = (),
        engine: Engine | None = None,
        written: Mapping[str, Sequence[Written]] | None = None,
    ) -> None:
        self.name = name
        """Where the text came from."""
        self.claims = claims
        """What is said of layouts."""
        self.texts = texts
        """The declaration of each layout, table and record, as the language writes it."""
        self.tables: Mapping[str, Table] = dict(tables or {})
        self.table_claims = table_claims
        """What is said of tables."""
        self.records: Mapping[str, Record] = dict(records or {})
        self.record_claims = record_claims
        """What is said of records."""
        self.rules = rules
        """How tensors of a file are packed, by their names; the first that fits holds."""
        self.engine = engine
        """What is said of operators of graphs; ``None`` where nothing is."""
        self.warnings: Mapping[str, tuple[Diagnostic, ...]] = dict(warnings or {})
        """What is legal and hardly meant, by the layout or table that says it."""
        self._layouts = dict(layouts)
        self._written = written or {}

    @property
    def operators(self) -> tuple[str, ...]:
        """What is said of operators, as the language writes it."""
        return () if self.engine is None else self.engine.texts

    @property
    def all_claims(self) -> tuple[AnyClaim, ...]:
        """What is said of layouts, then of tables, then of records."""
        return (*self.claims, *self.table_claims, *self.record_claims)

    def span_of(self, about: Layout | Table | Record | AnyClaim) -> Span | None:
        """Return where a declaration or claim of the text stands, the first where it does twice.

        That a layout is sound is claimed where it is declared, or by the rule that names it. There
        is none for what the text does not say: what is read from another notation, or made.
        """
        return next((whole for whole, _ in self.written(about)), None)

    def name_span_of(self, about: Layout | Table | Record | AnyClaim) -> Span | None:
        """Return where the name stands of what `span_of` finds: of a claim, that of its subject."""
        return next((name for _, name in self.written(about)), None)

    def written(self, about: Layout | Table | Record | AnyClaim) -> Sequence[Written]:
        """Return every place at which the text says this: all of it, and the name that it says."""
        if isinstance(about, Claim | TableClaim | RecordClaim):
            found = self._written.get(about.text, ())
            sound = isinstance(about.predicate, Sound) and not about.where
            return found or (self.written(about.subject) if sound else ())
        declared = self._written.get(about.name.partition("<")[0])
        ruled = next((each.text for each in self.rules if about in each.named), "")
        return declared or self._written.get(ruled, ())

    def __getitem__(self, name: str) -> Layout:
        """Return a layout by name; ``NCHWc<8>`` gives its parameters values, and is `NCHWc_8`.

        Raises:
            KeyError: there is none of that name, or it takes other parameters; says which.
        """
        if name in self._layouts:
            return self._layouts[name]
        applied = _APPLIED.fullmatch(name) if isinstance(name, str) else None
        if applied is None or applied[1] not in self._layouts:
            raise KeyError(name)
        layout = self._layouts[applied[1]]
        numbers = [int(each) for each in applied[2].split(",")]
        if len(numbers) != len(layout.parameters):
            held = f"<{', '.join(layout.parameters)}>" if layout.parameters else "no parameters"
            raise KeyError(f"layout `{layout.name}` has {held}, and not `{name}`")
        try:
            return layout.with_parameters(**dict(zip(layout.parameters, numbers, strict=True)))
        except ValueError as wrong:
            raise KeyError(str(wrong)) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._layouts)

    def __len__(self) -> int:
        return len(self._layouts)

    def __repr__(self) -> str:
        return said(self, f"{self.name}: {', '.join((*self, *self.tables, *self.records))}")
