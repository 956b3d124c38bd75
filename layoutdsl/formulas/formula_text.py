"""Formulas as text: Python, C, LaTeX and sympy; and Python text read back.

`read_python` is the other half of `python`: what is proved of a layout is proved of the printed
text, read back by it. Nothing is ever evaluated: the text goes through Python's own parser and an
allow-list of nodes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import sympy

from layoutdsl.formulas.formula import (
    SymBitAnd,
    SymBitXor,
    SymCeilDiv,
    SymFloorDiv,
    SymMax,
    SymMin,
    SymMod,
)
from layoutdsl.integers.expr import (
    Add,
    BitAnd,
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

Rename = Callable[[str], str]

_XOR, _AND, _SUM, _PRODUCT, _UNARY, _ATOM = range(1, 7)


def as_is(name: str) -> str:
    """Return the name unchanged."""
    return name


def python(expr: sympy.Expr, rename: Rename = as_is) -> str:
    """Return the formula as Python integer arithmetic."""
    return _Printer(rename, "python").text(expr, 0)


def c(expr: sympy.Expr, rename: Rename = as_is) -> str:
    """Return the formula as C, for signed integers wide enough for every part of it.

    C rounds quotients towards zero; where a dividend may be negative, the text says so with a
    conditional. Extents are at least 1.
    """
    return _Printer(rename, "c").text(expr, 0)


def latex(expr: sympy.Expr) -> str:
    """Return the formula as LaTeX mathematics."""
    return str(sympy.latex(expr, order="none", mul_symbol="dot"))


def sympy_text(expr: sympy.Expr) -> str:
    """Return the formula as sympy prints it, in the order of the layout."""
    return str(sympy.sstr(expr, order="none"))


class _Printer:
    def __init__(self, rename: Rename, language: str) -> None:
        self._rename = rename
        self._c = language == "c"

    def text(self, expr: Any, outer: int) -> str:
        body, level = self._node(expr)
        return f"({body})" if level < outer else body

    def _node(self, expr: Any) -> tuple[str, int]:
        """The text of a node, and how strongly it binds."""
        match expr:
            case sympy.Symbol():
                return self._rename(expr.name), _ATOM
            case sympy.Integer():
                return str(int(expr)), _ATOM if expr >= 0 else _SUM
            case sympy.Add():
                return self._sum(expr), _SUM
            case sympy.Mul():
                return self._product(expr)
            case SymFloorDiv():
                return self._quotient(*expr.args)
            case SymCeilDiv():
                return self._ceiling(*expr.args)
            case SymMod():
                return self._remainder(*expr.args)
            case SymBitXor():
                left, right = expr.args
                return f"{self.text(left, _XOR)} ^ {self.text(right, _AND)}", _XOR
            case SymBitAnd():
                left, right = expr.args
                return f"{self.text(left, _AND)} & {self.text(right, _SUM)}", _AND
            case SymMin() | SymMax():
                return self._extreme(expr), _UNARY if not self._c else 0
        raise ValueError(f"{expr} is not a formula in integers")

    def _sum(self, expr: Any) -> str:
        first, *rest = expr.args
        words = [self.text(first, _SUM)]
        for term in rest:
            negative = isinstance(term, sympy.Mul) and term.args[0] == -1 and len(term.args) == 2
            words += (
                ["-", self.text(term.args[1], _PRODUCT)]
                if negative
                else ["+", self.text(term, _PRODUCT)]
            )
        return " ".join(words)

    def _product(self, expr: Any) -> tuple[str, int]:
        first, *rest = expr.args
        if first == -1 and len(rest) == 1:
            return f"-{self.text(rest[0], _ATOM)}", _SUM
        factors = _factors(expr)
        numbers = [each for each in factors if each.is_Integer]
        if self._c and len(numbers) > 1:
            # C works out a product of plain numbers in `int`, where it may not fit.
            others = (each for each in factors if not each.is_Integer)
            first, *rest = sympy.Integer(prod(map(int, numbers))), *others
        words = [self.text(first, _PRODUCT), *(self.text(each, _UNARY) for each in rest)]
        return "*".join(words), _PRODUCT

    def _quotient(self, left: Any, right: Any) -> tuple[str, int]:
        divisor = self.text(right, _UNARY)
        if not self._c:
            return f"{self.text(left, _PRODUCT)}//{divisor}", _PRODUCT
        if left.is_nonnegative:
            return f"{self.text(left, _PRODUCT)}/{divisor}", _PRODUCT
        dividend = self.text(left, 0)
        down = f"-((-({dividend}) + {divisor} - 1)/{divisor})"
        return f"(({dividend}) < 0 ? {down} : ({dividend})/{divisor})", _ATOM

    def _ceiling(self, left: Any, right: Any) -> tuple[str, int]:
        divisor = self.text(right, _UNARY)
        if not self._c:
            return f"-(-{self.text(left, _ATOM)}//{divisor})", _SUM
        if left.is_positive:
            return f"(({self.text(left, _SUM)} - 1)/{divisor} + 1)", _ATOM
        dividend = self.text(left, 0)
        up = f"(({dividend}) - 1)/{divisor} + 1"
        return f"(({dividend}) > 0 ? {up} : -(-({dividend})/{divisor}))", _ATOM

    def _remainder(self, left: Any, right: Any) -> tuple[str, int]:
        divisor = self.text(right, _UNARY)
        if not self._c or left.is_nonnegative:
            return f"{self.text(left, _PRODUCT)}%{divisor}", _PRODUCT
        return f"(({self.text(left, 0)})%{divisor} + {divisor})%{divisor}", _PRODUCT

    def _extreme(self, expr: Any) -> str:
        smaller = isinstance(expr, SymMin)
        left, right = (self.text(each, 0) for each in expr.args)
        if not self._c:
            return f"{'min' if smaller else 'max'}({left}, {right})"
        return f"({left}) {'<' if smaller else '>'} ({right}) ? ({left}) : ({right})"


_OPERATIONS: Mapping[type[ast.operator], Any] = {
    ast.Add: Add,
    ast.Sub: Sub,
    ast.Mult: Mul,
    ast.FloorDiv: FloorDiv,
    ast.Mod: Mod,
    ast.BitAnd: BitAnd,
    ast.BitXor: BitXor,
}


def _factors(expr: Any) -> list[Any]:
    """The factors of a product, those of products within it included."""
    if not isinstance(expr, sympy.Mul):
        return [expr]
    return [factor for each in expr.args for factor in _factors(each)]


def read_python(text: str, names: Mapping[str, Expr]) -> Expr:
    """Return what a printed Python formula says.

    Args:
        text: one expression, as `python` prints it.
        names: what each name in it stands for.

    Raises:
        ValueError: the text is anything but integer arithmetic over the names.
    """
    try:
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
