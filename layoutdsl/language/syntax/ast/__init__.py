"""What was written: the tree of a `.layout` text, each node with its place.

Spans do not take part in comparison, so two texts that say the same have equal trees. Whoever walks
a tree names its nodes by this page: ``ast.Operation``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from layoutdsl.language.syntax.ast.claims import (
    Aligns,
    ClaimDecl,
    Computes,
    Definition,
    Equals,
    FieldName,
    Fills,
    Fits,
    Inverts,
    Keeps,
    Measure,
    OffsetsFit,
    Polarity,
    Predicate,
    Reads,
    Sound,
)
from layoutdsl.language.syntax.ast.expressions import (
    Application,
    Call,
    Comparison,
    Expression,
    Name,
    Negation,
    Number,
    Operation,
    Place,
    Reference,
    Tuple,
    WhereClause,
    Within,
)
from layoutdsl.language.syntax.ast.layouts import (
    AxisDecl,
    Body,
    Clause,
    Coordinates,
    DigitDecl,
    ElementClause,
    Entry,
    FillClause,
    Foreign,
    InterfaceWords,
    LayoutDecl,
    OffsetClause,
    PartDecl,
    RecordDecl,
    SlotDecl,
    TableDecl,
)
from layoutdsl.language.syntax.ast.operators import (
    AxisPatternDecl,
    KernelDecl,
    OperandDecl,
    OperatorDecl,
    OperatorRuleDecl,
    PreferenceDecl,
    SettingDecl,
    TakenDecl,
)
from layoutdsl.language.syntax.ast.weights import FromWords, GroupDecl, Quoted, RuleDecl, SourceDecl

__all__ = [
    "Aligns",
    "Application",
    "AxisDecl",
    "AxisPatternDecl",
    "Body",
    "Call",
    "ClaimDecl",
    "Clause",
    "Comparison",
    "Computes",
    "Coordinates",
    "Declaration",
    "Definition",
    "DigitDecl",
    "ElementClause",
    "Entry",
    "Equals",
    "Expression",
    "FieldName",
    "File",
    "FillClause",
    "Fills",
    "Fits",
    "Foreign",
    "FromWords",
    "GroupDecl",
    "InterfaceWords",
    "Inverts",
    "Keeps",
    "KernelDecl",
    "LayoutDecl",
    "Measure",
    "Name",
    "Negation",
    "Number",
    "OffsetClause",
    "OffsetsFit",
    "OperandDecl",
    "Operation",
    "OperatorDecl",
    "OperatorRuleDecl",
    "PartDecl",
    "Place",
    "Polarity",
    "Predicate",
    "PreferenceDecl",
    "Quoted",
    "Reads",
    "RecordDecl",
    "Reference",
    "RuleDecl",
    "SettingDecl",
    "SlotDecl",
    "Sound",
    "SourceDecl",
    "TableDecl",
    "TakenDecl",
    "Tuple",
    "WhereClause",
    "Within",
]

Declaration: TypeAlias = (
    LayoutDecl | TableDecl | RecordDecl | RuleDecl | GroupDecl | OperatorDecl | ClaimDecl
)


@dataclass(frozen=True, slots=True)
class File:
    """All declarations of a text, in its order."""

    declarations: tuple[Declaration, ...]
