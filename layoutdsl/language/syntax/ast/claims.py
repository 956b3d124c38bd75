"""Claims: what is proved or refuted of a layout, table or record."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from layoutdsl.language.syntax.ast.expressions import (
    Expression,
    Name,
    Number,
    Place,
    Reference,
    WhereClause,
)
from layoutdsl.language.syntax.ast.layouts import Body, Entry
from layoutdsl.language.texts.source import Span

Polarity: TypeAlias = Literal["prove", "refute"]


@dataclass(frozen=True, slots=True)
class Sound:
    """The checks that every layout, table and record has to pass."""


@dataclass(frozen=True, slots=True)
class Definition:
    """``cb = c/16``: a name for a part of what stands before ``with``."""

    name: Name
    value: Expression


@dataclass(frozen=True, slots=True)
class Equals:
    """Equality with a layout, in whatever notation, or with a formula for the offset."""

    right: Body | Expression
    names: tuple[Definition, ...] = ()


@dataclass(frozen=True, slots=True)
class Measure:
    """``in bytes of f32``; without a name, of the layout's element type."""

    element: Name | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Fits:
    """``fits int32``, ``fits 24 bits in bytes of f32``."""

    type: Name | Number
    measure: Measure | None = None


@dataclass(frozen=True, slots=True)
class OffsetsFit:
    """``offsets fit int32``."""

    type: Name | Number
    measure: Measure | None = None


@dataclass(frozen=True, slots=True)
class Computes:
    """``computes in int32``."""

    type: Name | Number


@dataclass(frozen=True, slots=True)
class Keeps:
    """``keeps c%16 contiguous``."""

    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Aligns:
    """``aligns c%16 to 64 bytes of f32``; of a field, whose elements have a type, without one."""

    places: tuple[Place, ...]
    bytes: Number
    element: Name | None


@dataclass(frozen=True, slots=True)
class Fills:
    """``fills words of 32 bits``."""

    bits: Number
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Reads:
    """``reads 16 bytes of f16 by t: 32 at (m = t%8, k = t/8*8) without conflicts``."""

    bytes: Number
    element: Name | None
    thread: Name
    threads: Number
    index: tuple[Entry, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Inverts:
    """``inverts ChannelMajor``."""

    layout: Reference


Predicate: TypeAlias = (
    Sound | Equals | Fits | OffsetsFit | Computes | Keeps | Aligns | Fills | Reads | Inverts
)


@dataclass(frozen=True, slots=True)
class FieldName:
    """``scale(r, j)`` behind the dot: a field of a record, and names for the axes of it, if any."""

    name: Name
    axes: tuple[Name, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ClaimDecl:
    """``prove`` or ``refute``, a layout, table or record, and what is claimed of it.

    ``part`` is a field of the record, where the claim speaks of one.
    """

    polarity: Polarity
    subject: Reference
    predicate: Predicate
    where: WhereClause | None
    span: Span = field(compare=False, repr=False)
    part: FieldName | None = None
