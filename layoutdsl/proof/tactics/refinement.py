"""Indices and extents cut finely enough that every quotient in some expressions can be read off.

The cuts of an index are the places where any of the expressions cuts it; they have to divide one
another, as 8, 16 and 32 do. An extent is cut as ``C - 1`` is, so that ``ceil(C/16)``,
``(C + 15)/16`` and ``(C - 1)/16 + 1`` come out alike; where the range says ``C % 16 == 0``, as
``C/16`` is. Not trusted.
"""

from __future__ import annotations

from collections.abc import Iterable

from layoutdsl.language.integers.bits import arithmetic as arithmetic_of
from layoutdsl.language.integers.bounds import polynomial, product, simplify
from layoutdsl.language.integers.digit import exact_quotient, read, times
from layoutdsl.language.integers.expr import (
    Add,
    CeilDiv,
    Constant,
    Expr,
    Extent,
    FloorDiv,
    Index,
    MixedRadix,
    Mod,
    Sub,
    indices,
    walk,
)
from layoutdsl.language.meaning.model import Condition
from layoutdsl.proof.kernel.builder import ProofBuilder
from layoutdsl.proof.statements.terms import Vocabulary
from layoutdsl.proof.tactics.arith import Arithmetic
from layoutdsl.proof.tactics.cutting import Cutter


def refine(
    arithmetic: Arithmetic,
    vocabulary: Vocabulary,
    exprs: Iterable[Expr],
    range_: Iterable[Condition] = (),
) -> None:
    """Cut every index, tuple and extent where the expressions cut it."""
    plain = (arithmetic_of(each, vocabulary.axes) or each for each in exprs)
    wholes, extents = _places(plain)
    for name in (each for each in arithmetic.builder.theorem.variables if each.startswith("i.")):
        wholes.setdefault(Index(name[2:]), [])
    for name in (each for each in arithmetic.builder.theorem.variables if each.startswith("n.")):
        extents.setdefault(Extent(name[2:]), [])
    divisible = {
        each.left.left: each.left.right
        for each in range_
        if isinstance(each.left, Mod) and each.operator == "==" and each.right == Constant(0)
    }
    equal = _equal_extents(arithmetic.builder)
    for name, (other, _) in equal.items():
        extents[Extent(other)] += extents.pop(Extent(name))
    cutter = Cutter(arithmetic, vocabulary)
    plain_first = sorted(extents, key=lambda each: not isinstance(each, Extent))
    for extent in [*divisible, *(each for each in plain_first if each not in divisible)]:
        if not isinstance(extent, Extent):
            cutter.equal(equal)
            equal = {}
        cutter.extent(extent, extents.get(extent, []), divisible.get(extent))
    cutter.equal(equal)
    for whole, places in wholes.items():
        Cutter(arithmetic, vocabulary).whole(whole, places)


def _equal_extents(builder: ProofBuilder) -> dict[str, tuple[str, str]]:
    """Extents that the range says are others: the other, and the fact."""
    found: dict[str, tuple[str, str]] = {}
    for fact in builder.hypotheses:
        match builder.formula(fact):
            case ("=", str(left), str(right)) if (
                left != right and left.startswith("n.") and right.startswith("n.")
            ):
                name, other = left.removeprefix("n."), right.removeprefix("n.")
                if not {name, other} & {*found, *(each for each, _ in found.values())}:
                    found[name] = (other, fact)
    return found


def _places(exprs: Iterable[Expr]) -> tuple[dict[Expr, list[Expr]], dict[Expr, list[Expr]]]:
    wholes: dict[Expr, list[Expr]] = {}
    extents: dict[Expr, list[Expr]] = {}
    for expr in exprs:
        for each in walk(expr):
            if not isinstance(each, FloorDiv | Mod | CeilDiv) or _is_half_of_squares(each):
                continue
            if not indices(each.left):
                base, divisor = _extent_cut(each.left, each.right)
                extents.setdefault(base, []).append(divisor)
                continue
            if any(name.startswith("_") for name in indices(each.left)):
                continue  # steps of an inverse stay whole: both sides divide them alike
            digit = read(each.left)
            if digit is not None:
                places = wholes.setdefault(digit.whole, [])
                places += [digit.divisor, times(digit.divisor, each.right)]
            else:
                for name in sorted(indices(each.left)):
                    wholes.setdefault(Index(name), []).append(each.right)
    ordered = dict(sorted(wholes.items(), key=lambda item: isinstance(item[0], MixedRadix)))
    return ordered, extents


def _is_half_of_squares(cut: FloorDiv | Mod | CeilDiv) -> bool:
    """Whether `halves` reads it off, which no cut of its parts does."""
    squares = any(len(set(factors)) < len(factors) for factors in polynomial(cut.left))
    return cut.right == Constant(2) and squares


def _extent_cut(expr: Expr, divisor: Expr) -> tuple[Expr, Expr]:
    """Look through nested quotients and added numbers to what is cut, and by how much."""
    while True:
        expr = _base(expr, divisor)
        match expr:
            case FloorDiv(left, right) | CeilDiv(left, right):
                expr, divisor = left, times(right, divisor)
            case _:
                return expr, divisor


def _base(expr: Expr, divisor: Expr) -> Expr:
    """Drop numbers and multiples of the divisor, which need no cut, and the sign of the rest."""
    terms = polynomial(expr)
    plain: Expr = Constant(0)
    for factors, coefficient in terms.items():
        term = product((*factors, Constant(coefficient)))
        if factors and exact_quotient(term, divisor) is None:
            plain = Add(plain, term)
    plain = simplify(plain)
    if all(coefficient < 0 for factors, coefficient in polynomial(plain).items() if factors):
        plain = simplify(Sub(Constant(0), plain))
    return plain
