"""Integers and comparisons in the text of a module, as expressions. Trusted."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from layoutdsl.code.validate.terms import Meaningless
from layoutdsl.language.integers.bounds import ZERO, at_least
from layoutdsl.language.integers.conditions import Condition, Operator
from layoutdsl.language.integers.expr import (
    Add,
    BitAnd,
    BitOr,
    BitXor,
    CeilDiv,
    Constant,
    Expr,
    FloorDiv,
    Max,
    Min,
    Mod,
    Mul,
    Sub,
)

_BINARY: dict[
    type[ast.operator], type[Add | Sub | Mul | FloorDiv | Mod | BitXor | BitAnd | BitOr]
] = {
    ast.Add: Add,
    ast.Sub: Sub,
    ast.Mult: Mul,
    ast.FloorDiv: FloorDiv,
    ast.Mod: Mod,
    ast.BitXor: BitXor,
    ast.BitAnd: BitAnd,
    ast.BitOr: BitOr,
}
_COMPARED: dict[type[ast.cmpop], Operator] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
_EXTREMES: dict[str, type[Min | Max]] = {"min": Min, "max": Max}
_OF_ARRAYS: dict[str, type[Min | Max]] = {"np.minimum": Min, "np.maximum": Max}


def number(node: ast.expr, env: Mapping[str, object], *, arrays: bool = False) -> Expr:
    """Return an integer of the text.

    Args:
        node: its syntax.
        env: what names stand for.
        arrays: it is computed in arrays of numpy.

    Raises:
        Meaningless: it is none, or a divisor may be 0.
    """
    match node:
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            return Constant(value)
        case ast.Name(id=name) if isinstance(found := env.get(name), Expr):
            return found
        case ast.UnaryOp(
            op=ast.USub(),
            operand=ast.BinOp(
                op=ast.FloorDiv(), left=ast.UnaryOp(op=ast.USub(), operand=top), right=block
            ),
        ):
            return CeilDiv(number(top, env, arrays=arrays), _divisor(block, env, arrays))
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return Sub(ZERO, number(inner, env, arrays=arrays))
        case ast.BinOp(left=left, op=ast.FloorDiv() | ast.Mod() as op, right=right):
            return _BINARY[type(op)](number(left, env, arrays=arrays), _divisor(right, env, arrays))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _BINARY[type(op)](
                number(left, env, arrays=arrays), number(right, env, arrays=arrays)
            )
        case ast.Call(func=word, args=[left, right], keywords=[]):
            extreme = (_OF_ARRAYS if arrays else _EXTREMES).get(ast.unparse(word))
            if extreme is not None:
                return extreme(number(left, env, arrays=arrays), number(right, env, arrays=arrays))
    raise Meaningless(f"`{ast.unparse(node)}` is no number that is known")


def _divisor(node: ast.expr, env: Mapping[str, object], arrays: bool) -> Expr:
    found = number(node, env, arrays=arrays)
    if not at_least(found, 1):
        raise Meaningless(f"the divisor `{ast.unparse(node)}` may be 0")
    return found


def condition(node: ast.expr, env: Mapping[str, object], *, arrays: bool = False) -> Condition:
    """Return a comparison of the text, or that a number is not 0.

    Raises:
        Meaningless: it is none of both, or the number may be negative.
    """
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARED:
            return Condition(
                number(left, env, arrays=arrays),
                _COMPARED[type(op)],
                number(right, env, arrays=arrays),
            )
    value = number(node, env, arrays=arrays)
    if not at_least(value, 0):
        raise Meaningless(f"`{ast.unparse(node)}` may be negative")
    return Condition(value, ">", ZERO)
