"""Integer expressions: the node types, and how each is written.

Everything a layout says with numbers is an `Expr`: coordinates over indices, extents over extents.
What it means is said by `value`. `Printer` writes it in any language that has a table; `text` is
this language's own. This module imports nothing of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, TypeAlias, cast

MOST = 200
"""Characters of an expression that its `repr` shows."""


@dataclass(frozen=True, slots=True)
class Index:
    """The index of the axis ``name``: 0 <= c < C."""

    name: str


@dataclass(frozen=True, slots=True)
class Extent:
    """A positive symbol: the extent of an axis, or a parameter of the layout."""

    name: str


@dataclass(frozen=True, slots=True)
class Constant:
    """An integer written in the text."""

    value: int


class _Written:
    """Its `repr` is what the language writes, cut where that is long: trees go deep."""

    __slots__ = ()

    def __repr__(self) -> str:
        written = (
            coordinate_text(self) if isinstance(self, Coordinate) else text(cast("Expr", self))
        )
        return f"<{type(self).__name__} {written[:MOST]}{'...' if len(written) > MOST else ''}>"


@dataclass(frozen=True, slots=True, repr=False)
class Add(_Written):
    """The sum."""

    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True, repr=False)
class Sub(_Written):
    """The difference; it may be negative."""

    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True, repr=False)
class Mul(_Written):
    """The product."""

    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True, repr=False)
class FloorDiv(_Written):
    """``left / right``, rounded down; ``right`` is positive."""

    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True, repr=False)
class CeilDiv(_Written):
    """``ceil(left / right)``; ``right`` is positive."""

    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True, repr=False)
class Mod(_Written):
    """``left % right``, in 0 to ``right - 1``; ``right`` is positive."""

    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True, repr=False)
class BitAnd(_Written):
    """The bits that both numbers have."""

    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True, repr=False)
class BitOr(_Written):
    """The bits that at least one of the numbers has."""

    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True, repr=False)
class BitXor(_Written):
    """The bits that exactly one of the numbers has."""

    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True, repr=False)
class Min(_Written):
    """The smaller of two numbers."""

    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True, repr=False)
class Max(_Written):
    """The larger of two numbers."""

    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True, repr=False)
class Coordinate(_Written):
    """One physical position: its value, and the extent it is declared or known to stay below.

    ``declared`` says that the text gave the extent (``e : X``) where it would otherwise follow
    from the value.
    """

    value: Expr
    extent: Expr
    declared: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class MixedRadix(_Written):
    """Several coordinates read as the digits of one number, most major first."""

    parts: tuple[Coordinate, ...]


Binary: TypeAlias = Add | Sub | Mul | FloorDiv | CeilDiv | Mod | BitAnd | BitOr | BitXor | Min | Max
Expr: TypeAlias = Index | Extent | Constant | Binary | MixedRadix


def children(expr: Expr) -> tuple[Expr, ...]:
    """Return the direct parts of ``expr``, the extents of mixed-radix parts included."""
    match expr:
        case Index() | Extent() | Constant():
            return ()
        case MixedRadix(parts):
            return tuple(each for part in parts for each in (part.value, part.extent))
        case _:
            return expr.left, expr.right


def walk(expr: Expr) -> Iterator[Expr]:
    """Yield ``expr`` and all its parts, each before its own."""
    pending = [expr]
    while pending:
        found = pending.pop()
        yield found
        pending += reversed(children(found))


def indices(expr: Expr) -> frozenset[str]:
    """Return the names of the indices that occur in ``expr``."""
    return frozenset(each.name for each in walk(expr) if isinstance(each, Index))


def extents(expr: Expr) -> frozenset[str]:
    """Return the names of the extents and parameters that occur in ``expr``."""
    return frozenset(each.name for each in walk(expr) if isinstance(each, Extent))


def substitute(expr: Expr, values: Mapping[str, Expr]) -> Expr:
    """Return ``expr`` with each named index or extent replaced, all at once."""
    match expr:
        case Index(name) | Extent(name):
            return values.get(name, expr)
        case Constant():
            return expr
        case MixedRadix(parts):
            return MixedRadix(tuple(substitute_coordinate(part, values) for part in parts))
        case _:
            return type(expr)(substitute(expr.left, values), substitute(expr.right, values))


def substitute_coordinate(coordinate: Coordinate, values: Mapping[str, Expr]) -> Coordinate:
    """Return ``coordinate`` with names replaced in its value and its extent."""
    return Coordinate(
        substitute(coordinate.value, values),
        substitute(coordinate.extent, values),
        coordinate.declared,
    )


class Binding(IntEnum):
    """How strongly a text binds: what binds less than its surroundings stands in parentheses."""

    NOTHING = 0
    OR = 1
    XOR = 2
    AND = 3
    SUM = 4
    PRODUCT = 5
    UNARY = 6
    ATOM = 7


Written: TypeAlias = tuple[str, Binding]
"""A text, and how strongly it binds."""


@dataclass(frozen=True, slots=True)
class Infix:
    """A sign between two sides, and how strongly these have to bind at least."""

    sign: str
    level: Binding
    left: Binding
    right: Binding


Operations: TypeAlias = Mapping[type[Binary], Infix | Callable[["Printer", Any], Written]]


def infix(sign: str, level: Binding) -> Infix:
    """Return a sign that is read from the left: ``a - (b - c)`` keeps its parentheses."""
    return Infix(sign, level, level, Binding(level + 1))


def call(name: str) -> Callable[[Printer, Binary], Written]:
    """Return how a function of two arguments is written."""

    def written(printer: Printer, expr: Binary) -> Written:
        return f"{name}({printer.text(expr.left)}, {printer.text(expr.right)})", Binding.ATOM

    return written


def number(value: int) -> Written:
    """Return how an integer is written, whose minus binds as one between terms."""
    return str(value), Binding.ATOM if value >= 0 else Binding.SUM


def enclosed_number(value: int) -> Written:
    """Return how an integer is written where a minus stands in parentheses always."""
    return str(value) if value >= 0 else f"({value})", Binding.ATOM


def as_it_is(name: str) -> str:
    """Return the name."""
    return name


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """How a language writes expressions.

    Attributes:
        operations: those that it has; whoever prints another is at fault.
        number: how it writes an integer.
        digits: how it writes a mixed-radix number, where it has any.
    """

    operations: Operations
    number: Callable[[int], Written] = number
    digits: Callable[[MixedRadix], str] | None = None


@dataclass(frozen=True, slots=True)
class Printer:
    """Writes expressions in a language; ``name`` says what an index or an extent is called."""

    language: Arithmetic
    name: Callable[[str], str] = as_it_is

    def text(self, expr: Expr, outer: Binding = Binding.NOTHING) -> str:
        """Return the text of ``expr``; ``outer`` is how strongly it has to bind."""
        body, level = self._written(expr)
        return f"({body})" if level < outer else body

    def _written(self, expr: Expr) -> Written:
        match expr:
            case Index(name) | Extent(name):
                return self.name(name), Binding.ATOM
            case Constant(value):
                return self.language.number(value)
            case MixedRadix():
                assert self.language.digits is not None, "tuples are written out before"
                return self.language.digits(expr), Binding.ATOM
        operation = self.language.operations[type(expr)]
        if not isinstance(operation, Infix):
            return operation(self, expr)
        left, right = self.text(expr.left, operation.left), self.text(expr.right, operation.right)
        return f"{left}{operation.sign}{right}", operation.level


def _ceiling(printer: Printer, expr: CeilDiv) -> Written:
    left, right = printer.text(expr.left, Binding.PRODUCT), printer.text(expr.right, Binding.UNARY)
    return f"ceil({left}/{right})", Binding.ATOM


def _tuple(expr: MixedRadix) -> str:
    return f"({', '.join(map(coordinate_text, expr.parts))})"


LAYOUTDSL = Arithmetic(
    {
        BitOr: infix(" | ", Binding.OR),
        BitXor: infix(" ^ ", Binding.XOR),
        BitAnd: infix(" & ", Binding.AND),
        Add: infix(" + ", Binding.SUM),
        Sub: infix(" - ", Binding.SUM),
        Mul: infix("*", Binding.PRODUCT),
        FloorDiv: infix("/", Binding.PRODUCT),
        Mod: infix("%", Binding.PRODUCT),
        CeilDiv: _ceiling,
        Min: call("min"),
        Max: call("max"),
    },
    enclosed_number,
    _tuple,
)
"""The language of this project; the tables of all others are in `languages`."""

_LAYOUTDSL = Printer(LAYOUTDSL)


def text(expr: Expr, outer: Binding = Binding.NOTHING) -> str:
    """Return ``expr`` as the language writes it; ``outer`` is how strongly it has to bind."""
    return _LAYOUTDSL.text(expr, outer)


def coordinate_text(coordinate: Coordinate) -> str:
    """Return the coordinate as the language writes it, its extent only where it was declared."""
    value = text(coordinate.value)
    return f"{value} : {text(coordinate.extent)}" if coordinate.declared else value
