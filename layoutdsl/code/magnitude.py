"""How large the numbers are that arithmetic over arrays of indices passes through.

The *magnitude* of an expression is a number of extents that the absolute value of no part of it
exceeds, at any index. It is at least 1 where no extent is 0, so that a sum or product has the
magnitudes of its operands below its own, and only what a remainder takes away has to be asked for
beside the whole. It is crude, and may be: where it leaves 64 bits, Python's integers serve.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from layoutdsl.language.integers.expr import (
    Add,
    Constant,
    Expr,
    Extent,
    Index,
    MixedRadix,
    Mod,
    Mul,
)


def peaks(expr: Expr, axes: Mapping[str, Expr]) -> Iterator[Expr]:
    """Yield what no part of an expression exceeds, the whole last; each over extents alone.

    Args:
        expr: without tuples.
        axes: the extent of each index.
    """
    found: list[Expr] = []
    whole = _magnitude(expr, axes, found)
    yield from found
    yield whole


def _magnitude(expr: Expr, axes: Mapping[str, Expr], lost: list[Expr]) -> Expr:
    """The magnitude of a value; those of parts that are above it are put into a list."""
    match expr:
        case Index(name):
            return axes[name]
        case Extent():
            return expr
        case Constant(value):
            return Constant(max(1, abs(value)))
        case MixedRadix():
            raise TypeError("a tuple is no arithmetic of machines")
    left, right = (_magnitude(each, axes, lost) for each in (expr.left, expr.right))
    match expr:
        case Mul():
            return Mul(left, right)
        case Mod():
            lost.append(Add(left, right))
            return right
        case _:  # a quotient is no larger than what is divided, nor bits than the sum of both sides
            return Add(left, right)
