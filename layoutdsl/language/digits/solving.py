"""Conditions and coordinates solved for one index that they are linear in. Not trusted."""

from __future__ import annotations

from collections.abc import Iterator

from layoutdsl.language.integers.bounds import ONE, polynomial, simplify
from layoutdsl.language.integers.conditions import Condition
from layoutdsl.language.integers.expr import (
    Add,
    Constant,
    Expr,
    Index,
    Sub,
    indices,
    substitute,
    walk,
)
from layoutdsl.language.meaning.model import Layout


def sign_of(value: Expr, axis: str) -> int | None:
    """The coefficient of an index, where it is 1 or -1 and the index occurs nowhere else."""
    terms = polynomial(value)
    factors: tuple[Expr, ...] = (Index(axis),)
    rest = [others for others in terms if others != factors]
    if any(Index(axis) in walk(each) for others in rest for each in others):
        return None
    sign = terms.get(factors, 0)
    return sign if sign in (1, -1) else None


def least(layout: Layout, row: str, column: str) -> Iterator[Expr]:
    """What the domain says is the first column of a row."""
    for condition in layout.domain:
        found = _bound(condition, column)
        if found is not None and found[0] and indices(found[1]) <= {row}:
            yield found[1]


def _bound(condition: Condition, axis: str) -> tuple[bool, Expr] | None:
    """A bound on an index: whether it is the lower one, and what it is, both ends included."""
    left, right = condition.left, condition.right
    sign = sign_of(Sub(left, right), axis)
    if sign is None:
        return None
    rest = substitute(Sub(left, right), {axis: Constant(0)})
    bound = simplify(Sub(Constant(0), rest) if sign == 1 else rest)
    lower = {"<=": sign == -1, "<": sign == -1, ">=": sign == 1, ">": sign == 1}
    match condition.operator:
        case "==":
            return True, bound
        case "!=":
            return None
        case "<" | ">" as operator:
            step = ONE if lower[operator] else Constant(-1)
            return lower[operator], simplify(Add(bound, step))
        case operator:
            return lower[operator], bound


def bounds(condition: Condition, axis: str) -> tuple[Expr | None, Expr | None] | None:
    """Return the first index that a condition allows, and the first behind them that it does not.

    Either is ``None`` where it sets no such end; so is all where it cannot be solved for the index.
    """
    found = _bound(condition, axis)
    if found is None:
        return None
    is_least, bound = found
    past = simplify(Add(bound, ONE))
    if condition.operator == "==":
        return bound, past
    return (bound, None) if is_least else (None, past)


def told_by_domain(layout: Layout, axis: str) -> Expr | None:
    """What the domain says an index is, where it says so with an equation."""
    for condition in layout.domain:
        if condition.operator == "==":
            found = _bound(condition, axis)
            if found is not None:
                return found[1]
    return None
