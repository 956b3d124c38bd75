"""Expressions without tuples: what a language without mixed-radix numbers can say."""

from __future__ import annotations

from layoutdsl.integers.expr import (
    Add,
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
from layoutdsl.integers.value import apply


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
