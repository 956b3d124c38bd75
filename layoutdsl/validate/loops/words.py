"""Expressions of a tree and of its layouts as terms in one normal form. Trusted.

A normal form is a sum of products in a fixed order, so that equal products look alike to a solver,
which knows nothing of them. Beside the operations of the checker there are ``min`` and ``max``, and
``^`` and ``&`` of bits; `theorems` gives each of them a name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from layoutdsl.integers.conditions import Condition
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
    text,
)
from layoutdsl.kernel.checker import Polynomial, Term, total
from layoutdsl.kernel.checker import product as product_of
from layoutdsl.statements.terms import NotExpressible, Vocabulary
from layoutdsl.tactics.polynomials import canonical
from layoutdsl.validate.values import Meaningless, horner

_WORDS = {Add: "+", Sub: "-", Mul: "*", FloorDiv: "div", Mod: "mod", Min: "min", Max: "max"}
_WORDS |= {BitXor: "^", BitAnd: "&"}


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
        case Add() | Sub() | Mul() | FloorDiv() | Mod() | Min() | Max() | BitXor() | BitAnd():
            return (_WORDS[type(expr)], said(expr.left, known), said(expr.right, known))
    raise NotExpressible(f"`{text(expr)}` is outside what proofs can say")


def compared(condition: Condition, known: Mapping[str, Term]) -> Term:
    """Return a comparison as a formula."""
    sides = {"left": said(condition.left, known), "right": said(condition.right, known)}
    plain = Condition(Index("left"), condition.operator, Index("right"))
    return Vocabulary(indices=sides).condition(plain)


@dataclass(frozen=True, slots=True)
class Normal:
    """Normal forms; some products of extents have a name, as they are extents of axes read as one.

    Attributes:
        fused: extents that are multiplied, and the name of their product. What is shown for every
            value of the name is shown for that of the product.
    """

    fused: tuple[tuple[tuple[str, ...], str], ...] = ()

    def form(self, term: Term) -> Term:
        """Return the normal form of a term, or of a formula."""
        return _form(self, term)

    def polynomial(self, term: Term) -> Polynomial:
        """Return a term as a polynomial in names, quotients, remainders and extremes."""
        match term:
            case int():
                return {(): term} if term else {}
            case ("+", left, right):
                return total([(self.polynomial(left), 1), (self.polynomial(right), 1)])
            case ("-", left, right):
                return total([(self.polynomial(left), 1), (self.polynomial(right), -1)])
            case ("*", left, right):
                found = product_of(self.polynomial(left), self.polynomial(right))
                return total([(self._named(*each), 1) for each in found.items()])
            case ("div" | "mod" as word, left, int(block)) if block > 0:
                return _divided(word, self.polynomial(left), block)
            case (word, left, right):
                return {((word, self.form(left), self.form(right)),): 1}
        return {(term,): 1}

    def _named(self, factors: tuple[Term, ...], number: int) -> Polynomial:
        left = list(factors)
        for parts, name in self.fused:
            while all(left.count(each) >= parts.count(each) for each in parts):
                for each in parts:
                    left.remove(each)
                left.append(name)
        return product_of({tuple(left): number}, {(): 1})  # which puts them in order


@lru_cache(maxsize=20_000)
def _form(normal: Normal, term: Term) -> Term:
    match term:
        case (("and" | "or" | "not" | "=>" | "=" | "<=" | "<") as word, *parts):
            return (word, *map(normal.form, parts))
    return canonical(normal.polynomial(term))


def _divided(word: str, value: Polynomial, block: int) -> Polynomial:
    """Whole blocks are taken out: ``(16*a + b) div 16 = a + b div 16``, and leave no remainder."""
    whole = {each: number // block for each, number in value.items() if number // block}
    rest = {each: number % block for each, number in value.items() if number % block}
    if set(rest) <= {()}:
        left: Polynomial = {(): rest[()]} if rest and word == "mod" else {}
    else:
        left = {((word, canonical(rest), block),): 1}
    return left if word == "mod" else total([(whole, 1), (left, 1)])
