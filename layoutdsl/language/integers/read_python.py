"""Python text read back: what a formula that `languages.PYTHON` printed says.

What is proved of a layout is proved of the printed text, read back by this. Nothing is ever
evaluated: the text goes through Python's own parser and an allow-list of nodes.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from layoutdsl.language.integers.expr import (
    Add,
    BitAnd,
    BitOr,
    BitXor,
    Constant,
    Expr,
    FloorDiv,
    Max,
    Min,
    Mod,
    Mul,
    Sub,
)
from layoutdsl.language.integers.parsing import PARSING

_OPERATIONS: Mapping[type[ast.operator], Any] = {
    ast.Add: Add,
    ast.Sub: Sub,
    ast.Mult: Mul,
    ast.FloorDiv: FloorDiv,
    ast.Mod: Mod,
    ast.BitAnd: BitAnd,
    ast.BitOr: BitOr,
    ast.BitXor: BitXor,
}


def read_python(text: str, names: Mapping[str, Expr]) -> Expr:
    """Return what a printed Python formula says.

    Args:
        text: one expression, as `python` prints it.
        names: what each name in it stands for.

    Raises:
        ValueError: the text is anything but integer arithmetic over the names.
    """
    try:
        with PARSING:
            tree = ast.parse(text, mode="eval")
    except SyntaxError as error:
        raise ValueError(f"not a formula: {error.msg}") from None
    return _read(tree.body, names)


def _read(node: ast.expr, names: Mapping[str, Expr]) -> Expr:
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return Constant(value)
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return Sub(Constant(0), _read(operand, names))
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATIONS:
            return _OPERATIONS[type(operator)](_read(left, names), _read(right, names))  # type: ignore[no-any-return]
        case ast.Call(func=ast.Name(id="min" | "max" as word), args=[left, right], keywords=[]):
            extreme = Min if word == "min" else Max
            return extreme(_read(left, names), _read(right, names))
    raise ValueError(f"not a formula: {ast.dump(node)}")
