"""Expressions as affine ones of MLIR: over dimensions `d0`, ... and symbols `s0`, ...

Quotients and remainders round down there, so nothing need be known of signs or widths. Dimensions
are multiplied and divided by symbols and numbers only; what is otherwise has no such text.
"""

from __future__ import annotations

from collections.abc import Mapping

from layoutdsl.integers.expr import (
    Add,
    CeilDiv,
    Constant,
    Expr,
    Extent,
    FloorDiv,
    Index,
    MixedRadix,
    Mod,
    Mul,
    Sub,
    indices,
    text,
)

_SUM, _PRODUCT, _ATOM = range(1, 4)

_WORDS: Mapping[type[Expr], str] = {
    Mul: "*",
    FloorDiv: "floordiv",
    CeilDiv: "ceildiv",
    Mod: "mod",
}


class NotAffine(Exception):  # noqa: N818  a reason, and no fault of anybody
    """An expression has no affine text; says why."""


def affine(expr: Expr, names: Mapping[str, str], outer: int = 0) -> str:
    """Return an expression as MLIR writes it.

    Args:
        expr: over indices and extents.
        names: what stands for each.
        outer: how strongly what is around it binds.

    Raises:
        NotAffine: it is none.
    """
    body, level = _node(expr, names)
    return f"({body})" if level < outer else body


def _node(expr: Expr, names: Mapping[str, str]) -> tuple[str, int]:
    match expr:
        case Index(name) | Extent(name):
            return names[name], _ATOM
        case Constant(value):
            return str(value), _ATOM if value >= 0 else _SUM
        case MixedRadix(parts):
            total = parts[0].value
            for part in parts[1:]:
                total = Add(Mul(total, part.extent), part.value)
            return _node(total, names)
        case Add(left, right):
            return f"{affine(left, names, _SUM)} + {affine(right, names, _PRODUCT)}", _SUM
        case Sub(left, right):
            return f"{affine(left, names, _SUM)} - {affine(right, names, _PRODUCT)}", _SUM
        case Mul() | FloorDiv() | CeilDiv() | Mod():
            one, other = expr.left, expr.right
            if indices(other) and not (isinstance(expr, Mul) and not indices(one)):
                verb = "multiplies" if isinstance(expr, Mul) else "divides by"
                raise NotAffine(f"`{text(expr)}` {verb} an index")
            body = f"{affine(one, names, _PRODUCT)} {_WORDS[type(expr)]} "
            return f"{body}{affine(other, names, _ATOM)}", _PRODUCT
        case _:
            raise NotAffine(f"`{text(expr)}` is no affine arithmetic")
