"""Values of formulas as the language prints them, by Python's own parser and plain integers.

It knows nothing of our parser: `/` becomes Python's `//`, and Python says what belongs together.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from functools import cache
from math import prod
from typing import Any

SIGNS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}


def value(text: str, point: Mapping[str, Any], extents: Mapping[str, Any] | None = None) -> Any:
    """What a formula is where its names are these integers, or arrays of integers.

    Args:
        text: the formula.
        point: the value of each name.
        extents: of each axis, where the formula has tuples of digits of axes.
    """
    return _value(_tree(text), point, extents or {})


def extent(text: str, point: Mapping[str, Any], extents: Mapping[str, Any]) -> Any:
    """How many values a digit or a tuple of digits has, where nothing else is declared of it."""
    return _extent(_tree(text), point, extents)


@cache
def _tree(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _extent(node: ast.expr, point: Mapping[str, Any], extents: Mapping[str, Any]) -> Any:
    match node:
        case ast.Name(id=name):
            return extents[name]
        case ast.BinOp(op=ast.Mod(), right=right):
            return _value(right, point, extents)
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return -(-_extent(left, point, extents) // _value(right, point, extents))
        case ast.Tuple(elts=parts):
            return prod(_extent(each, point, extents) for each in parts)
    raise AssertionError(ast.unparse(node))


def _value(node: ast.expr, point: Mapping[str, Any], extents: Mapping[str, Any]) -> Any:
    def of(part: ast.expr) -> Any:
        return _value(part, point, extents)

    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=name):
            return point[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -of(operand)
        case ast.BinOp(left=left, op=sign, right=right):
            return SIGNS[type(sign)](of(left), of(right))
        case ast.Call(func=ast.Name(id="ceil"), args=[ast.BinOp(left=left, right=right)]):
            return -(-of(left) // of(right))
        case ast.Call(func=ast.Name(id="roundup"), args=[left, right]):
            return -(-of(left) // of(right)) * of(right)
        case ast.Call(func=ast.Name(id="min" | "max" as name), args=[left, right]):
            one, other = of(left), of(right)
            smaller = one + (other - one) * (other < one)
            return smaller if name == "min" else one + other - smaller
        case ast.Tuple(elts=parts):
            total: Any = 0
            for each in parts:
                total = total * _extent(each, point, extents) + of(each)
            return total
    raise AssertionError(ast.unparse(node))
