"""Expressions of the language as terms of the checker: the vocabulary of every statement.

An index ``c`` is called ``i.c``, an extent or parameter ``C`` is ``n.C``; names of inverse steps
lose their ``_``. Quotients are floor quotients, which for positive divisors are Euclidean. Bitwise
operations are said in arithmetic, by `bits`, under assumptions that every statement has to list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from layoutdsl.language.integers.bits import arithmetic, assumed
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
    indices,
    text,
    walk,
)
from layoutdsl.language.meaning.model import Condition
from layoutdsl.proof.kernel.theorem import Term


class NotExpressible(Exception):  # noqa: N818  a reason for "undecided"
    """The checker's terms cannot say this; the message says what."""


def index_name(axis: str) -> str:
    """Return the name of the index along an axis."""
    return f"i.{axis}"


def extent_name(extent: str) -> str:
    """Return the name of an extent or parameter."""
    return f"n.{extent}"


def step_name(name: str) -> str:
    """Return the name of a step of the inverse."""
    return f"s.{name.removeprefix('_')}"


_WORDS: Mapping[type[Expr], str] = {Add: "+", Sub: "-", Mul: "*", FloorDiv: "div", Mod: "mod"}


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """How expressions are said.

    Attributes:
        shared: extents that have a name of their own, by expression.
        indices: what stands for each index; by default ``i.c``.
        axes: the extents of axes. They only decide how bitwise operations are said; what is taken
            from them is among the `assumptions`.
    """

    shared: Mapping[Expr, str] = field(default_factory=dict)
    indices: Mapping[str, Term] = field(default_factory=dict)
    axes: Mapping[str, Expr] = field(default_factory=dict)

    def term(self, expr: Expr) -> Term:
        """Return the term that says an expression.

        Raises:
            NotExpressible: the expression has an operation that terms do not have.
        """
        if expr in self.shared:
            return self.shared[expr]
        return self.spelled(expr)

    def spelled(self, expr: Expr) -> Term:
        """Return the term, without the name that the whole expression may have."""
        match expr:
            case Index(name):
                plain = step_name(name) if name.startswith("_") else index_name(name)
                return self.indices.get(name, plain)
            case Extent(name):
                return extent_name(name)
            case Constant(value):
                return value
            case MixedRadix(()):  # the only element of a tensor without axes
                return 0
            case MixedRadix(parts):
                first, *rest = parts
                total = self.term(first.value)
                for part in rest:
                    total = ("+", ("*", total, self.term(part.extent)), self.term(part.value))
                return total
            case Add() | Sub() | Mul() | FloorDiv() | Mod():
                return (_WORDS[type(expr)], self.term(expr.left), self.term(expr.right))
            case CeilDiv(left, right):
                block = self.term(right)
                return ("div", ("+", self.term(left), ("-", block, 1)), block)
            case BitOr() | BitXor() | BitAnd():
                in_words = arithmetic(expr, self.axes)
                if in_words is not None:
                    return self.term(in_words)
        raise NotExpressible(f"`{text(expr)}` is outside what proofs can say")

    def assumptions(self, *exprs: Expr) -> tuple[Term, ...]:
        """Return what has to hold for the terms of these expressions to mean what they do."""
        found: list[Term] = []
        for expr in exprs:
            for small, limit in assumed(expr, self.axes):
                term = self.term(small)
                found += [("<=", 0, term), ("<", term, limit)]
        return tuple(dict.fromkeys(found))

    def condition(self, condition: Condition) -> Term:
        """Return the formula that says a comparison."""
        left, right = self.term(condition.left), self.term(condition.right)
        match condition.operator:
            case "==":
                return ("=", left, right)
            case "!=":
                return ("not", ("=", left, right))
            case "<" | "<=":
                return (condition.operator, left, right)
            case ">":
                return ("<", right, left)
            case ">=":
                return ("<=", right, left)


def extremes(exprs: Iterable[Expr]) -> dict[Expr, str]:
    """Name every minimum and maximum over extents, the inner ones first."""
    found: dict[Expr, str] = {}
    for expr in exprs:
        for each in extremes_in(expr):
            if not indices(each):
                found.setdefault(each, f"m.{len(found)}")
    return found


def extremes_in(expr: Expr) -> list[Expr]:
    """Return every minimum and maximum in an expression, the inner ones first."""
    return [each for each in reversed(list(walk(expr))) if isinstance(each, Min | Max)]


def extreme_conditions(named: Mapping[Expr, str], vocabulary: Vocabulary) -> tuple[Term, ...]:
    """Return what makes each name the minimum or maximum that it stands for."""
    conditions: list[Term] = []
    for expr, name in named.items():
        assert isinstance(expr, Min | Max)
        left, right = vocabulary.term(expr.left), vocabulary.term(expr.right)
        conditions.append(("or", ("=", name, left), ("=", name, right)))
        sides = [(name, side) if isinstance(expr, Min) else (side, name) for side in (left, right)]
        conditions += [("<=", low, high) for low, high in sides]
    return tuple(conditions)
