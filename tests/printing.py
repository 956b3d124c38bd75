"""An expression in each language that has formulas of any integers, for tests to ask by name."""

from __future__ import annotations

from collections.abc import Callable

from layoutdsl.formulas import formula
from layoutdsl.integers.expr import Expr, as_it_is
from layoutdsl.integers.languages import PYTHON, C, written
from layoutdsl.integers.written_out import folded

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
