"""Numbers, names, operators and tuples; comparisons of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from layoutdsl.language.texts.source import Span


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


@dataclass(frozen=True, slots=True)
class Reference:
    """A layout by name, with the arguments of its parameters."""

    name: Name
    arguments: tuple[Name | Number, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Application:
    """``A[e, f]``: a layout with expressions as its index; ``A[B]``, with the slot of a layout.

    ``A[B]`` is one index, the name ``B``, until elaboration finds that ``B`` is a layout. With
    arguments, ``A[B<8>]``, only a layout can be meant: then it is ``inner``, and there are no
    indices.
    """

    layout: Reference
    indices: tuple[Place, ...]
    inner: Reference | None
    span: Span = field(compare=False, repr=False)


Expression: TypeAlias = Number | Name | Operation | Negation | Call | Tuple | Application


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
