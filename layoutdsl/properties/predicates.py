"""What a claim of one property says of a layout: in words, on which conditions, as theorems."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from layoutdsl.integers.expr import Expr
from layoutdsl.kernel.theorem import Theorem
from layoutdsl.meaning.claims import (
    Aligns,
    Computes,
    EqualsFormula,
    EqualsLayout,
    Fits,
    Keeps,
    OffsetsFit,
)
from layoutdsl.meaning.model import ElementType, Layout
from layoutdsl.statements import claim_statement, statement, width_statement
from layoutdsl.statements.statement import Ground
from layoutdsl.statements.width_statement import Width

Predicate: TypeAlias = EqualsLayout | EqualsFormula | Width | Keeps | Aligns


def property_of(predicate: Predicate) -> str:
    """Return what a predicate says of a layout, in words."""
    match predicate:
        case EqualsLayout(other):
            return f"equals {other.name}"
        case EqualsFormula():
            return "equals the formula"
        case Fits() | OffsetsFit() | Computes():
            return width_statement.named(predicate)
        case Keeps():
            return "keeps the run contiguous"
        case Aligns(bytes=number):
            return f"aligns the run to {number} bytes"


def same_domains(layout: Layout, predicate: EqualsLayout) -> tuple[Theorem, ...]:
    """Return what says that two layouts have one domain, where either has any."""
    other = predicate.other
    if not (layout.domain or other.domain):
        return ()
    ground = statement.ground(common_range(layout, predicate), more=(other,))
    return (claim_statement.same_domain(ground, other),)


def common_range(layout: Layout, predicate: Predicate) -> Layout:
    """Return the layout in the shapes for which both sides are defined."""
    other = predicate.other.where if isinstance(predicate, EqualsLayout) else ()
    return replace(layout, where=tuple(dict.fromkeys((*layout.where, *other))))


def conditions_of(layout: Layout, predicate: Predicate) -> tuple[str, ...]:
    """Return under which conditions a predicate is proved."""
    match predicate:
        case Aligns(bytes=number, element=element):
            return (f"the buffer starts at a multiple of {number} bytes", *_packed(element))
        case Fits(element=element) | OffsetsFit(element=element):
            return _packed(element)
        case EqualsLayout(other):
            further = [each for each in other.where if each not in layout.where]
            defined = ", ".join(map(str, further))
            return (f"`{other.name}` is defined: {defined}",) if further else ()
    return ()


def _packed(element: ElementType | None) -> tuple[str, ...]:
    """Bytes of narrow elements are counted as if several shared one, which arrays may not do."""
    if element is None or element.bits >= 8:
        return ()
    return (f"elements of {element.name} are packed, {8 // element.bits} to a byte",)


def stated(layout: Layout, predicate: Predicate) -> tuple[Ground, Theorem, tuple[Expr, ...]]:
    """Return the theorem that states a predicate, and the expressions that it divides.

    Raises:
        Unstated: the checker's terms cannot say it.
    """
    other = predicate.other if isinstance(predicate, EqualsLayout) else None
    common = common_range(layout, predicate)
    ground = statement.ground(common, more=() if other is None else (other,))
    match predicate:
        case EqualsLayout(other):
            spoken = spoken_of(layout, other)
            ground = claim_statement.chosen(ground, spoken)
            return ground, claim_statement.equals_layout(ground, other), spoken
        case EqualsFormula(formula):
            spoken = (*spoken_of(layout), formula)
            ground = claim_statement.chosen(ground, spoken)
            return ground, claim_statement.equals_formula(ground, formula), spoken
        case Keeps(run):
            values = (*spoken_of(layout), *(each.value for each in run))
            return ground, claim_statement.keeps(ground, predicate), values
        case Aligns(run):
            values = (*spoken_of(layout), *(each.value for each in run))
            return ground, claim_statement.aligns(ground, predicate), values
        case Fits() | OffsetsFit() | Computes():
            return ground, width_statement.stated(ground, predicate), ()


def spoken_of(*layouts: Layout) -> tuple[Expr, ...]:
    """Return the values and extents of all coordinates."""
    coordinates = [each for layout in layouts for each in layout.coordinates]
    return tuple(expr for each in coordinates for expr in (each.value, each.extent))
