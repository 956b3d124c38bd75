"""Rules and groups: how tensors of a file are packed, by their names."""

from __future__ import annotations

from dataclasses import dataclass, field

from layoutdsl.language.syntax.ast.expressions import Name, Reference
from layoutdsl.language.syntax.ast.layouts import AxisDecl, Body, Clause
from layoutdsl.language.texts.source import Span


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
    body: Body | None
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
