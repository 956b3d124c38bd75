"""Expressions of a tree and of its layouts as terms. Trusted.

Beside the operations of the checker there are ``min`` and ``max``, and ``|``, ``^`` and ``&`` of
bits; `theorems` gives each of them a name.
"""

from __future__ import annotations

from collections.abc import Mapping

from layoutdsl.code.validate.terms import Meaningless, horner
from layoutdsl.language.integers.conditions import Condition
from layoutdsl.language.integers.expr import (
    Add,
    BitAnd,
    BitOr,
    BitXor,
    CeilDiv,
    Constant,
    Expr,
    Extent,
    FloorDiv,
    Index,
    Max,
    Min,
    MixedRadix,
    Mod,
    Mul,
    Sub,
    text,
)
from layoutdsl.proof.kernel.checker import Term
from layoutdsl.proof.statements.terms import NotExpressible, Vocabulary

_WORDS = {Add: "+", Sub: "-", Mul: "*", FloorDiv: "div", Mod: "mod", Min: "min", Max: "max"}
_WORDS |= {BitOr: "|", BitXor: "^", BitAnd: "&"}


def said(expr: Expr, known: Mapping[str, Term]) -> Term:
    """Return an expression as a term, each name of it as what it stands for.

    Raises:
        Meaningless: a name stands for nothing, or a divisor may be zero.
        NotExpressible: terms have no such operation.
    """
    match expr:
        case Index(name) | Extent(name):
            if name not in known:
                raise Meaningless(f"`{name}` has no value here")
            return known[name]
        case Constant(value):
            return value
        case MixedRadix(parts):
            values = tuple(said(part.value, known) for part in parts)
            return horner(values, tuple(said(part.extent, known) for part in parts))
        case FloorDiv(_, divisor) | Mod(_, divisor) | CeilDiv(_, divisor) if not (
            isinstance(divisor, Extent) or (isinstance(divisor, Constant) and divisor.value > 0)
        ):
            raise Meaningless(f"the divisor `{text(divisor)}` is not known to be positive")
        case CeilDiv(left, right):
            block = said(right, known)
            return ("div", ("+", said(left, known), ("-", block, 1)), block)
        case Add() | Sub() | Mul() | FloorDiv() | Mod() | Min() | Max():
            return (_WORDS[type(expr)], said(expr.left, known), said(expr.right, known))
        case BitOr() | BitXor() | BitAnd():
            return (_WORDS[type(expr)], said(expr.left, known), said(expr.right, known))
    raise NotExpressible(f"`{text(expr)}` is outside what proofs can say")


def compared(condition: Condition, known: Mapping[str, Term]) -> Term:
    """Return a comparison as a formula."""
    sides = {"left": said(condition.left, known), "right": said(condition.right, known)}
    plain = Condition(Index("left"), condition.operator, Index("right"))
    return Vocabulary(indices=sides).condition(plain)
