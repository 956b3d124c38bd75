"""Expressions in the words of languages that divide towards zero."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from layoutdsl.integers.expr import (
    Add,
    BitAnd,
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
)
from layoutdsl.meaning.model import Condition

Operation: TypeAlias = Add | Sub | Mul | FloorDiv | Mod | BitAnd | BitXor

XOR, AND, SUM, PRODUCT, UNARY, ATOM = range(1, 7)


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a language writes arithmetic.

    Attributes:
        quotient: the sign of a quotient.
        smaller, larger: the smaller and the larger of two texts.
        number: a number that is not negative.
    """

    quotient: str
    smaller: Callable[[str, str], str]
    larger: Callable[[str, str], str]
    number: Callable[[int], str] = str

    def text(self, expr: Expr, outer: int = 0) -> str:
        """Return an expression of `machine`; ``outer`` is how strongly what is around it binds."""
        body, level = self._node(expr)
        return f"({body})" if level < outer else body

    def condition(self, condition: Condition) -> str:
        """Return a comparison."""
        left, right = self.text(condition.left, SUM), self.text(condition.right, SUM)
        return f"{left} {condition.operator} {right}"

    def _node(self, expr: Expr) -> tuple[str, int]:
        """The text of a node, and how strongly it binds."""
        match expr:
            case Index(name) | Extent(name):
                return name, ATOM
            case Constant(value):
                return (
                    (self.number(value), ATOM) if value >= 0 else (f"-{self.number(-value)}", SUM)
                )
            case Min(left, right):
                return self.smaller(self.text(left), self.text(right)), ATOM
            case Max(left, right):
                return self.larger(self.text(left), self.text(right)), ATOM
            case CeilDiv() | MixedRadix():
                raise AssertionError("no machine rounds up, or knows tuples")
            case _:
                sign, level, first, second = self._sign(expr)
                return f"{self.text(expr.left, first)}{sign}{self.text(expr.right, second)}", level

    def _sign(self, expr: Operation) -> tuple[str, int, int, int]:
        """The sign of an operation, how strongly it binds, and how strongly its sides have to."""
        match expr:
            case Add():
                return " + ", SUM, SUM, PRODUCT
            case Sub():
                return " - ", SUM, SUM, PRODUCT
            case Mul():
                return "*", PRODUCT, PRODUCT, UNARY
            case FloorDiv():
                return self.quotient, PRODUCT, PRODUCT, UNARY
            case Mod():
                return "%", PRODUCT, PRODUCT, UNARY
            case BitAnd():
                return " & ", AND, UNARY, UNARY
            case BitXor():
                return " ^ ", XOR, UNARY, UNARY
            case _:
                assert_never(expr)
