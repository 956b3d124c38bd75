"""Expressions as affine ones of MLIR: over dimensions `d0`, ... and symbols `s0`, ...

Quotients and remainders round down there, so nothing need be known of signs or widths. Dimensions
are multiplied and divided by symbols and numbers only; what is otherwise has no such text.
"""

from __future__ import annotations

from collections.abc import Mapping

from layoutdsl.language.integers.expr import (
    BitAnd,
    BitOr,
    BitXor,
    CeilDiv,
    Expr,
    FloorDiv,
    Max,
    Min,
    Mod,
    Mul,
    Printer,
    indices,
    text,
    walk,
)
from layoutdsl.language.integers.languages import AFFINE
from layoutdsl.language.integers.written_out import written_out


class NotAffine(Exception):  # noqa: N818  a reason, and no fault of anybody
    """An expression has no affine text; says why."""


def affine(expr: Expr, names: Mapping[str, str]) -> str:
    """Return an expression as MLIR writes it.

    Args:
        expr: over indices and extents.
        names: what stands for each.

    Raises:
        NotAffine: it is none.
    """
    said = written_out(expr)
    for each in walk(said):
        match each:
            case BitAnd() | BitOr() | BitXor() | Min() | Max():
                raise NotAffine(f"`{text(each)}` is no affine arithmetic")
            case Mul(left, right) if indices(left) and indices(right):
                raise NotAffine(f"`{text(each)}` multiplies an index")
            case FloorDiv() | CeilDiv() | Mod() if indices(each.right):
                raise NotAffine(f"`{text(each)}` divides by an index")
    return Printer(AFFINE, names.__getitem__).text(said)
