"""Expressions in languages that have formulas of any integers, and expressions that are drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from layoutdsl.code import formula
from layoutdsl.language.integers.expr import (
    Add,
    Binary,
    BitAnd,
    BitOr,
    BitXor,
    CeilDiv,
    Constant,
    Coordinate,
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
    as_it_is,
)
from layoutdsl.language.integers.languages import PYTHON, C, written
from layoutdsl.language.integers.written_out import folded

Rename = Callable[[str], str]


def python(expr: Expr, rename: Rename = as_it_is) -> str:
    """Return an expression as Python."""
    return written(expr, PYTHON, rename)


def c(expr: Expr, rename: Rename = as_it_is) -> str:
    """Return an expression as C."""
    return written(folded(expr), C, rename)


def latex(expr: Expr) -> str:
    """Return an expression as LaTeX."""
    return formula.latex(formula.symbolic(expr))


def sympy_text(expr: Expr) -> str:
    """Return an expression as text of sympy."""
    return formula.sympy_text(formula.symbolic(expr))


AXES = {"c": Index("c"), "h": Index("h"), "C": Extent("C"), "H": Extent("H")}
OPERATIONS: tuple[type[Binary], ...] = (
    *(Add, Sub, Mul, BitAnd, BitOr, BitXor, Min, Max, FloorDiv, CeilDiv, Mod),
)


def any_expression(
    random: Random,
    depth: int,
    operations: Sequence[type[Binary]] = OPERATIONS,
    *,
    tuples: bool = False,
) -> Expr:
    """Return an expression of so many levels at most; its values fit 64 bits, and may be negative.

    Args:
        random: draws it.
        depth: its levels.
        operations: that are in it; half of them divide, by what is positive.
        tuples: whether some parts are tuples.
    """
    if not depth or random.random() < 0.2:
        return random.choice([*AXES.values(), *(Constant(random.randint(-9, 40)) for _ in "ab")])
    left, right = (any_expression(random, depth - 1, operations, tuples=tuples) for _ in "ab")
    if tuples and random.random() < 0.2:
        return MixedRadix((Coordinate(left, AXES["C"]), Coordinate(right, AXES["H"])))
    dividing = [each for each in operations if each in (FloorDiv, CeilDiv, Mod)]
    if dividing and random.random() < 0.5:
        divisors = [AXES["C"], AXES["H"], Constant(3), Constant(8), Mul(AXES["C"], AXES["H"])]
        return random.choice(dividing)(left, random.choice(divisors))
    return random.choice([each for each in operations if each not in dividing])(left, right)
