"""Declarations of layouts, tables and records, with what stands in them and behind them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from layoutdsl.language.syntax.ast.expressions import (
    Application,
    Expression,
    Name,
    Number,
    Place,
    Reference,
    WhereClause,
)
from layoutdsl.language.texts.source import Span


@dataclass(frozen=True, slots=True)
class AxisDecl:
    """``c``, ``c: K`` or ``c: 3``; ``broadcast`` is the word behind it, where it stands there."""

    name: Name
    extent: Name | Number | None
    broadcast: Name | None = None


@dataclass(frozen=True, slots=True)
class Coordinates:
    """A list of coordinates; ``chunk_rank`` counts those before ``;``, where there is one."""

    places: tuple[Place, ...]
    chunk_rank: int | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Foreign:
    """``onednn "aBcd16b"``: a layout in another notation; ``place`` is inside the quotes."""

    notation: Name
    text: str
    place: Span = field(compare=False, repr=False)
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FillClause:
    """``fill 0``, ``fill 0.5``, or a word: ``fill any``, ``fill zero_point``, ``fill -inf``."""

    value: int | float | str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class InterfaceWords:
    """``as scale_offset per c``."""

    name: Name
    per: Name | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ElementClause:
    """``of u4``, ``of u8 as scale_offset``; ``as plain`` says nothing, and is not kept."""

    name: Name
    span: Span = field(compare=False, repr=False)
    interface: InterfaceWords | None = None


@dataclass(frozen=True, slots=True)
class OffsetClause:
    """``offset k``."""

    value: Expression
    span: Span = field(compare=False, repr=False)


Body: TypeAlias = Coordinates | Reference | Foreign | Application
"""The right side of ``=`` in a declaration: coordinates, or an application."""

Clause: TypeAlias = FillClause | ElementClause | OffsetClause | WhereClause


@dataclass(frozen=True, slots=True)
class LayoutDecl:
    """``layout NAME<parameters>(axes) = body clauses``."""

    name: Name
    parameters: tuple[Name, ...]
    axes: tuple[AxisDecl, ...] | None
    body: Body
    clauses: tuple[Clause, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SlotDecl:
    """``i: W*C``: a slot coordinate of a table with its extent."""

    name: Name
    extent: Expression


@dataclass(frozen=True, slots=True)
class Entry:
    """``h = j%H``: the index along one axis, as a table reads it off a slot."""

    axis: Name
    value: Expression
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TableDecl:
    """``table NAME<parameters>(axes)[slots] = (entries) where``."""

    name: Name
    parameters: tuple[Name, ...]
    axes: tuple[AxisDecl, ...]
    slots: tuple[SlotDecl, ...]
    entries: tuple[Entry, ...]
    where: WhereClause | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DigitDecl:
    """``s: K/256``, ``r``, or ``1 : 2``: a digit of an index, free or fixed, with its extent."""

    value: Name | Number
    extent: Expression | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class PartDecl:
    """``name(picks) bits a..b = body clauses``: where some bits of some elements of a field lie.

    ``picks`` has the digits of the index along each axis of the field, most major first.
    """

    name: Name
    picks: tuple[tuple[DigitDecl, ...], ...]
    bits: tuple[Number, Number] | None
    body: Body
    clauses: tuple[Clause, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class RecordDecl:
    """``record NAME<parameters>(axes) = { parts } clauses``."""

    name: Name
    parameters: tuple[Name, ...]
    axes: tuple[AxisDecl, ...]
    parts: tuple[PartDecl, ...]
    clauses: tuple[Clause, ...]
    span: Span = field(compare=False, repr=False)
