"""Slots per element as a quotient of products, apart into parts that share no extent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

from layoutdsl.language.integers.bounds import ONE, ZERO, at_least, polynomial, product
from layoutdsl.language.integers.expr import (
    Add,
    Binding,
    CeilDiv,
    Constant,
    Expr,
    Extent,
    extents,
    text,
)
from layoutdsl.language.meaning.model import Condition, Layout

Factors = tuple[Expr, ...]


def elements(layout: Layout) -> Expr:
    """Return the elements of a tensor: the product of its extents."""
    return product(tuple(axis.extent for axis in layout.element_axes))


def held(layout: Layout) -> Expr:
    """Return the slots that hold an element, or a copy of one."""
    return product(tuple(axis.extent for axis in layout.axes))


def box(layout: Layout) -> Expr:
    """Return the slots of the coordinates, without those before the first."""
    return product(tuple(each.extent for each in layout.coordinates))


def size(layout: Layout) -> Expr:
    """Return the slots of the buffer."""
    return box(layout) if layout.start == ZERO else Add(layout.start, box(layout))


@dataclass(frozen=True, slots=True)
class Quotient:
    """``scale`` times the product of ``top`` over the product of ``bottom``; nothing is in both.

    ``common`` are the factors that were in both.
    """

    scale: Fraction
    top: Factors
    bottom: Factors
    common: Factors = ()

    def __str__(self) -> str:
        above = text(product((Constant(self.scale.numerator), *self.top)), Binding.PRODUCT)
        if self.scale.denominator == 1 and not self.bottom:
            return above
        below = text(product((Constant(self.scale.denominator), *self.bottom)), Binding.UNARY)
        return f"{above}/{below}"


def quotient(top: Iterable[Expr], bottom: Iterable[Expr]) -> Quotient:
    """Return a quotient of products with common factors taken out."""
    first, above = _factors(top)
    second, below = _factors(bottom)
    common = list[Expr]()
    for factor in list(below):
        if factor in above:
            above.remove(factor)
            below.remove(factor)
            common.append(factor)
    return Quotient(Fraction(first, second), tuple(above), tuple(below), tuple(common))


def _factors(exprs: Iterable[Expr]) -> tuple[int, list[Expr]]:
    """The factors of a product in order, a sum being one factor."""
    scale, found = 1, list[Expr]()
    for expr in exprs:
        terms = polynomial(expr)
        if len(terms) == 1:
            ((factors, coefficient),) = terms.items()
            scale *= coefficient
            found += factors
        else:
            found.append(expr)
    return scale, found


def per_element(layout: Layout) -> tuple[Quotient, ...]:
    """Return quotients whose sum is the slots per element: of the box, and of what is before it."""
    below = [axis.extent for axis in layout.element_axes]
    of_box = quotient((each.extent for each in layout.coordinates), below)
    return (of_box,) if layout.start == ZERO else (of_box, quotient((layout.start,), below))


def ratio_text(layout: Layout) -> str:
    """Return the slots per element as one formula."""
    of_box, *before = per_element(layout)
    if not before:
        return str(of_box)
    return f"({text(size(layout))})/{text(elements(layout), Binding.UNARY)}"


def parts(
    whole: Quotient, symbols: Sequence[str], conditions: Sequence[Condition] = ()
) -> tuple[tuple[tuple[str, ...], Quotient], ...]:
    """Return quotients with the product ``whole/scale``, each with the symbols that it alone has.

    Symbols that a condition speaks of together stay together.
    """
    groups: list[set[str]] = [{name} for name in symbols]
    together = [extents(factor) for factor in (*whole.top, *whole.bottom)]
    for named in (*together, *map(spoken_of, conditions)):
        joined = set(named).union(*(group for group in groups if group & named))
        groups = [*(group for group in groups if not group & named), joined]
    ordered = [tuple(name for name in symbols if name in group) for group in groups if group]
    ordered.sort(key=lambda names: symbols.index(names[0]))
    return tuple((names, _only(whole, set(names))) for names in ordered)


def _only(whole: Quotient, names: set[str]) -> Quotient:
    top = tuple(each for each in whole.top if extents(each) & names)
    bottom = tuple(each for each in whole.bottom if extents(each) & names)
    return Quotient(Fraction(1), top, bottom)


def spoken_of(condition: Condition) -> frozenset[str]:
    """Return the extents and parameters that a condition names."""
    return extents(condition.left) | extents(condition.right)


def simpler(whole: Quotient, conditions: Sequence[Condition], *, up: bool) -> Quotient:
    """Return a quotient that is nowhere smaller if ``up``, and nowhere larger if not.

    For positive numbers ``A/k <= ceil(A/k) <= A``, which is used where ``A`` has several extents;
    and an extent is put for one that a condition compares it with.
    """
    top, bottom = list(whole.top), list(whole.bottom)
    while (mixed := next(filter(_mixed, top), None)) is not None:
        assert isinstance(mixed, CeilDiv)
        top.remove(mixed)
        scale, factors = _factors((mixed.left,))
        top += [Constant(scale), *factors]
        bottom += [] if up else [mixed.right]
    rounded = quotient(top, bottom)
    known = dict(_compared(conditions, up))
    found = quotient([known.pop(each, each) for each in rounded.top], rounded.bottom)
    return Quotient(found.scale * rounded.scale * whole.scale, found.top, found.bottom)


def _mixed(expr: Expr) -> bool:
    return isinstance(expr, CeilDiv) and len(extents(expr)) > 1 and at_least(expr.left, 1)


def _compared(conditions: Sequence[Condition], up: bool) -> Iterator[tuple[Expr, Expr]]:
    """An extent, with one that is at least as large if ``up``, at most as large if not."""
    for each in conditions:
        match each:
            case Condition(Extent() as left, "<" | "<=" | "==", Extent() as right):
                yield (left, right) if up else (right, left)
            case Condition(Extent() as left, ">" | ">=", Extent() as right):
                yield (right, left) if up else (left, right)


def one_of(factors: Factors) -> Expr:
    """Return the product of factors as one expression."""
    return product(factors) if factors else ONE


def scaled(values: Iterable[Fraction]) -> Fraction:
    """Return the product of fractions."""
    return prod(values, start=Fraction(1))
