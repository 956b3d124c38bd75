"""Expressions without tuples: what a language without mixed-radix numbers can say."""

from __future__ import annotations

from layoutdsl.language.integers.expr import (
    Add,
    BitOr,
    BitXor,
    CeilDiv,
    Constant,
    Coordinate,
    Expr,
    Extent,
    FloorDiv,
    Index,
    MixedRadix,
    Mod,
    Mul,
    Sub,
)
from layoutdsl.language.integers.value import apply


def horner_expr(coordinates: tuple[Coordinate, ...]) -> Expr:
    """Return the mixed-radix value of the coordinates as nested products and sums.

    This is `horner` as an expression, by Horner's rule: ``(a*B + b)*C + c`` of the values ``a``,
    ``b``, ``c`` below the extents ``A``, ``B``, ``C``.
    """
    first, *rest = coordinates
    value = written_out(first.value)
    for each in rest:
        value = Add(Mul(value, each.extent), written_out(each.value))
    return value


def written_out(expr: Expr) -> Expr:
    """Return ``expr`` with every tuple written out."""
    match expr:
        case MixedRadix(parts):
            return horner_expr(parts)
        case Index() | Extent() | Constant():
            return expr
        case _:
            return type(expr)(written_out(expr.left), written_out(expr.right))


def folded(expr: Expr, *, sums: bool = True) -> Expr:
    """Return ``expr`` with every tuple written out and operations on two numbers worked out.

    What has no value, a quotient by 0, stays as it is.

    Args:
        expr: any.
        sums: sums, differences and products too, which tell a reader where a number is from.
    """
    match expr:
        case MixedRadix(parts):
            return folded(horner_expr(parts), sums=sums)
        case Index() | Extent() | Constant():
            return expr
        case _:
            within = type(expr)(folded(expr.left, sums=sums), folded(expr.right, sums=sums))
            return within if isinstance(expr, Add | Sub | Mul) and not sums else fold(within)


def fold(expr: Expr) -> Expr:
    """Return the number, where ``expr`` is an operation on two; its sides are not looked into."""
    if isinstance(expr, Index | Extent | Constant | MixedRadix):
        return expr
    match expr.left, expr.right:
        case Constant(left), Constant(right):
            divides = isinstance(expr, FloorDiv | CeilDiv | Mod)
            return expr if divides and right <= 0 else Constant(apply(expr, left, right))
    return expr


def settled(coordinate: Coordinate) -> Coordinate:
    """Return a coordinate in which numbers are worked out, and what adds nothing is left out.

    It has the same value and extent, and a number is told to be one: ``(0 : 4, c)/8 + 0`` is
    ``c/8``.
    """
    value = _settled(coordinate.value)
    declared = coordinate.declared or value != coordinate.value
    return Coordinate(value, coordinate.extent, declared)


def _settled(expr: Expr) -> Expr:
    match expr:
        case Index() | Extent() | Constant():
            return expr
        case MixedRadix(parts):
            kept = [settled(each) for each in parts]
            while len(kept) > 1 and kept[0].value == Constant(0):
                del kept[0]
            return kept[0].value if len(kept) == 1 else MixedRadix(tuple(kept))
    zero, one = Constant(0), Constant(1)
    found = fold(type(expr)(_settled(expr.left), _settled(expr.right)))
    match found:
        case Add(Constant(0), value) | Add(value, Constant(0)) | Sub(value, Constant(0)):
            return value
        case BitXor(Constant(0), value) | BitXor(value, Constant(0)):
            return value
        case BitOr(Constant(0), value) | BitOr(value, Constant(0)):
            return value
        case Mul(Constant(0), _) | Mul(_, Constant(0)) | FloorDiv(Constant(0), _):
            return zero
        case Mod(Constant(0), _) | Mod(_, Constant(1)):
            return zero
        case Mul(value, other) if other == one:
            return value
        case FloorDiv(value, other) if other == one:
            return value
    return found
