"""Integer expressions: the node types, and the short interpreter that says what each means.

Everything a layout says with numbers is an `Expr`: coordinates over indices, extents over extents.
`evaluate` is the meaning, in plain Python integers; `enclose` bounds it over a box of values, and
`text` writes it in the language. This module imports nothing of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, TypeAlias, assert_never, cast

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


Binary: TypeAlias = Add | Sub | Mul | FloorDiv | CeilDiv | Mod | BitAnd | BitXor | Min | Max
Expr: TypeAlias = Index | Extent | Constant | Binary | MixedRadix


def evaluate(expr: Expr, values: Mapping[str, int]) -> int:
    """Return the value of ``expr`` where each index and extent has the value named.

    Raises:
        ZeroDivisionError: a divisor is not positive, where the text has no meaning.
    """
    match expr:
        case Index(name) | Extent(name):
            return values[name]
        case Constant(value):
            return value
        case MixedRadix(parts):
            return horner(parts, values)
        case _:
            left, right = evaluate(expr.left, values), evaluate(expr.right, values)
            return apply(expr, left, right)


def horner(coordinates: tuple[Coordinate, ...], values: Mapping[str, int]) -> int:
    """Return the mixed-radix value of ``coordinates``, most major first."""
    total = 0
    for coordinate in coordinates:
        total = total * evaluate(coordinate.extent, values) + evaluate(coordinate.value, values)
    return total


def apply(operation: Binary, left: int, right: int) -> int:
    """Return what ``operation`` makes of two integers; its own operands are not looked at."""
    match operation:
        case Add():
            return left + right
        case Sub():
            return left - right
        case Mul():
            return left * right
        case FloorDiv():
            return left // _positive(right)
        case CeilDiv():
            return -(-left // _positive(right))
        case Mod():
            return left % _positive(right)
        case BitAnd():
            return left & right
        case BitXor():
            return left ^ right
        case Min():
            return min(left, right)
        case Max():
            return max(left, right)
        case _:
            assert_never(operation)


def _positive(divisor: int) -> int:
    if divisor <= 0:
        raise ZeroDivisionError(f"the divisor is {divisor}, and must be positive")
    return divisor


Interval: TypeAlias = tuple[int, int]


def enclose(expr: Expr, boxes: Mapping[str, Interval]) -> Interval:
    """Return bounds, both included, of ``expr`` where each name runs over an interval.

    The bounds hold always and are exact where a name occurs once; the search that inverts a layout
    prunes by them.
    """
    match expr:
        case Index(name) | Extent(name):
            return boxes[name]
        case Constant(value):
            return value, value
        case MixedRadix(parts):
            low = high = 0
            for part in parts:
                radix, value_box = enclose(part.extent, boxes), enclose(part.value, boxes)
                low, high = _corners(Mul(part.value, part.extent), (low, high), radix)
                low, high = low + value_box[0], high + value_box[1]
            return low, high
        case _:
            left, right = enclose(expr.left, boxes), enclose(expr.right, boxes)
            return _enclose_binary(expr, left, right)


def _enclose_binary(expr: Binary, left: Interval, right: Interval) -> Interval:
    match expr:
        case Sub():
            return left[0] - right[1], left[1] - right[0]
        case Mod():
            block = right[0]
            if right[0] == right[1] and block > 0 and left[0] // block == left[1] // block:
                return left[0] % block, left[1] % block
            return 0, max(right[1] - 1, 0)
        case BitAnd() | BitXor():
            if left[0] == left[1] and right[0] == right[1]:
                value = apply(expr, left[0], right[0])
                return value, value
            if left[0] < 0 or right[0] < 0:
                reach = 1 << max(abs(bound).bit_length() for bound in (*left, *right))
                return -reach, reach
            return 0, (1 << max(left[1].bit_length(), right[1].bit_length())) - 1
        case _:
            return _corners(expr, left, right)


def _corners(expr: Binary, left: Interval, right: Interval) -> Interval:
    values = [apply(expr, one, other) for one in left for other in right]
    return min(values), max(values)


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


def widest(expr: Expr) -> int:
    """Return bits that every value of ``expr`` fits in, an index or an extent taken as 64."""
    match expr:
        case Index() | Extent():
            return 64
        case Constant(value):
            return value.bit_length()
        case MixedRadix(parts):
            return sum(max(widest(part.value), widest(part.extent)) for part in parts)
        case _:
            left, right = widest(expr.left), widest(expr.right)
            return left + right if isinstance(expr, Mul) else max(left, right) + 1


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
    XOR = 1
    AND = 2
    SUM = 3
    PRODUCT = 4
    UNARY = 5
    ATOM = 6


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
