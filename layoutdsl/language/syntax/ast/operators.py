"""What a text says of operators of graphs: rules, kernels and preferences."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from layoutdsl.language.syntax.ast.expressions import Name, Reference, WhereClause
from layoutdsl.language.texts.source import Span


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
