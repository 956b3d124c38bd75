"""What was written: the tree of a `.layout` text, each node with its place.

Spans do not take part in comparison, so two texts that say the same have equal trees.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from layoutdsl.texts.source import Span

Polarity: TypeAlias = Literal["prove", "refute"]


@dataclass(frozen=True, slots=True)
class Number:
    """An integer as written, in decimal or hexadecimal."""

    value: int
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Name:
    """A word that stands for an axis, an extent, a parameter, a layout or a type."""

    text: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Operation:
    """Two operands with one of ``^ & << >> + - * / %`` between them; ``//`` is read as ``/``."""

    symbol: str
    left: Expression
    right: Expression
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Negation:
    """``-e``."""

    operand: Expression
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Call:
    """``ceil``, ``roundup``, ``min`` or ``max``, or a word that elaboration will refuse."""

    function: Name
    arguments: tuple[Expression, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Place:
    """A coordinate as written: an expression, and the extent declared after ``:``."""

    value: Expression
    extent: Expression | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Tuple:
    """Several coordinates in parentheses, or one with a declared extent."""

    parts: tuple[Place, ...]
    span: Span = field(compare=False, repr=False)


Expression: TypeAlias = Number | Name | Operation | Negation | Call | Tuple


@dataclass(frozen=True, slots=True)
class AxisDecl:
    """``c``, ``c: K`` or ``c: 3``; ``broadcast`` is the word behind it, where it stands there."""

    name: Name
    extent: Name | Number | None
    broadcast: Name | None = None


@dataclass(frozen=True, slots=True)
class Reference:
    """A layout by name, with the arguments of its parameters."""

    name: Name
    arguments: tuple[Name | Number, ...]
    span: Span = field(compare=False, repr=False)


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
    """``fill 0``, ``fill any`` or ``fill zero_point``."""

    value: int | str
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


@dataclass(frozen=True, slots=True)
class Comparison:
    """``a <= b < c``: operands with the operators between them."""

    operands: tuple[Expression, ...]
    operators: tuple[str, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Within:
    """``N in 1..64``, both ends included."""

    value: Expression
    low: Expression
    high: Expression
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class WhereClause:
    """``where`` with its conditions."""

    conditions: tuple[Comparison | Within, ...]
    span: Span = field(compare=False, repr=False)


Clause: TypeAlias = FillClause | ElementClause | OffsetClause | WhereClause


@dataclass(frozen=True, slots=True)
class LayoutDecl:
    """``layout NAME<parameters>(axes) = body clauses``."""

    name: Name
    parameters: tuple[Name, ...]
    axes: tuple[AxisDecl, ...] | None
    body: Coordinates | Reference | Foreign
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
    body: Coordinates | Reference | Foreign
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


@dataclass(frozen=True, slots=True)
class FromWords:
    """``from words u32 of GptqWeights``: what is stored is packed already, by that layout."""

    word: Name
    layout: Reference
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class RuleDecl:
    """``tensor "pattern"(axes) = body from_words clauses``, or ``tensor "pattern" = keep``.

    ``place`` is the pattern inside the quotes; there is no body where tensors are kept.
    """

    pattern: str
    axes: tuple[AxisDecl, ...] | None
    body: Coordinates | Reference | Foreign | None
    stored: FromWords | None
    clauses: tuple[Clause, ...]
    place: Span = field(compare=False, repr=False)
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Quoted:
    """A text in quotes; ``span`` is what stands inside them."""

    text: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SourceDecl:
    """``q = "{}.qweight" from_words``: which tensor a field comes from."""

    field: Name
    name: Quoted
    stored: FromWords | None


@dataclass(frozen=True, slots=True)
class GroupDecl:
    """``group "pattern" = record(sources) as "name"``."""

    pattern: Quoted
    record: Reference
    sources: tuple[SourceDecl, ...]
    target: Quoted
    span: Span = field(compare=False, repr=False)


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

    right: Reference | Coordinates | Foreign | Expression
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


@dataclass(frozen=True, slots=True)
class AxisPatternDecl:
    """``c: sum``, ``s..: window``, or ``..``, which has no name."""

    name: Name | None
    role: Name | None
    many: bool
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class OperandDecl:
    """``b?[o]``, ``x[..]*``, ``axes?``: an operand of an operator; a result may have no name."""

    name: Name | None
    axes: tuple[AxisPatternDecl, ...] | None
    optional: bool
    many: bool
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SettingDecl:
    """``axis = -1: whole``: an attribute, its value where it is left out, and what it says."""

    name: Name
    default: int | None
    role: Name | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class OperatorRuleDecl:
    """``rule OPERATORS(operands) -> results with settings where``."""

    operators: tuple[Name, ...]
    operands: tuple[OperandDecl, ...]
    results: tuple[OperandDecl, ...]
    settings: tuple[SettingDecl, ...]
    where: WhereClause | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TakenDecl:
    """``b?: Vec16``: an operand of a kernel with its layout."""

    name: Name
    optional: bool
    layout: Reference


@dataclass(frozen=True, slots=True)
class KernelDecl:
    """``op OPERATOR(operands) -> layouts where``."""

    operator: Name
    operands: tuple[TakenDecl, ...]
    results: tuple[Reference, ...]
    where: WhereClause | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class PreferenceDecl:
    """``prefer OPERATOR = layouts``."""

    operator: Name
    layouts: tuple[Reference, ...]
    span: Span = field(compare=False, repr=False)


OperatorDecl: TypeAlias = OperatorRuleDecl | KernelDecl | PreferenceDecl
"""What a text says of operators of graphs."""

Declaration: TypeAlias = (
    LayoutDecl | TableDecl | RecordDecl | RuleDecl | GroupDecl | OperatorDecl | ClaimDecl
)


@dataclass(frozen=True, slots=True)
class File:
    """All declarations of a text, in its order."""

    declarations: tuple[Declaration, ...]
