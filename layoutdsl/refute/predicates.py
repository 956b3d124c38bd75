"""What tries a claim of one property at a shape, in plain integers."""

from __future__ import annotations

from layoutdsl.meaning.claims import (
    Aligns,
    Computes,
    EqualsFormula,
    EqualsLayout,
    Fits,
    Keeps,
    OffsetsFit,
)
from layoutdsl.meaning.model import Layout
from layoutdsl.properties.predicates import Predicate
from layoutdsl.refute import refute, widths
from layoutdsl.refute.refute import At
from layoutdsl.statements.terms import Unstated


def tries(layout: Layout, predicate: Predicate, name: str) -> At | None:
    """Return what tries one shape; ``None`` where the predicate cannot be tried."""
    match predicate:
        case Fits() | OffsetsFit() | Computes():
            return widths.tries(layout, predicate, name)
        case EqualsLayout(other):
            return refute.different(layout, other, name)
        case EqualsFormula(formula):
            return refute.wrong_formula(layout, formula, name)
        case Keeps() | Aligns():
            try:
                return refute.broken_run(layout, predicate, name)
            except Unstated:
                return None
