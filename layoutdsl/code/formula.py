"""The formulas of a layout as sympy expressions: offset, size, physical extents, inverse.

sympy rewrites sums and quotients unasked, and stores floor quotients as rationals; so the integer
operations are functions of our own, and sums and products are built unevaluated, in the order of
the layout. Text of sympy and LaTeX is printed from them; all other languages are written from
expressions of our own, by `Printer`. No other file of the
package imports sympy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy
from sympy.printing.precedence import PRECEDENCE

from layoutdsl.language.digits.inverse import Inverse
from layoutdsl.language.digits.network import NotDigits
from layoutdsl.language.integers.bounds import ZERO
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
)
from layoutdsl.language.integers.value import apply
from layoutdsl.language.integers.written_out import written_out
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.offsets import offset_expr, physical_exprs, size_expr
from layoutdsl.language.texts.values import brief


class _Integer(sympy.Function):  # type: ignore[misc]
    """A function of two integers that is evaluated on numbers only."""

    nargs = 2
    is_integer = True
    meaning: Any = None
    word = ""

    @classmethod
    def eval(cls, left: Any, right: Any) -> Any:
        if not (left.is_Integer and right.is_Integer):
            return None
        if cls.meaning in (FloorDiv, CeilDiv, Mod) and right <= 0:
            return None
        operation = cls.meaning(ZERO, ZERO)
        return sympy.Integer(apply(operation, int(left), int(right)))

    def _eval_is_nonnegative(self) -> bool | None:
        left, right = self.args
        return True if left.is_nonnegative and right.is_nonnegative else None

    def _sympystr(self, printer: Any) -> str:
        left, right = map(printer.doprint, self.args)
        return f"{self.word}({left}, {right})"


class SymFloorDiv(_Integer):
    """``floor(left / right)`` for a positive ``right``."""

    meaning = FloorDiv

    def _sympystr(self, printer: Any) -> str:
        return f"floor({_fraction(self, printer)})"

    def _latex(self, printer: Any) -> str:
        left, right = map(printer.doprint, self.args)
        return rf"\left\lfloor \frac{{{left}}}{{{right}}} \right\rfloor"


def _fraction(expr: Any, printer: Any) -> str:
    left, right = expr.args
    top = printer.doprint(left)
    bottom = printer.doprint(right)
    return f"{top if left.is_Atom else f'({top})'}/{bottom if right.is_Atom else f'({bottom})'}"


def _operands(expr: Any, printer: Any) -> list[str]:
    return [printer.parenthesize(each, PRECEDENCE["Mul"]) for each in expr.args]


class SymCeilDiv(_Integer):
    """``ceil(left / right)`` for a positive ``right``."""

    meaning = CeilDiv

    def _eval_is_positive(self) -> bool | None:
        left, right = self.args
        return True if left.is_positive and right.is_positive else None

    def _sympystr(self, printer: Any) -> str:
        return f"ceiling({_fraction(self, printer)})"

    def _latex(self, printer: Any) -> str:
        left, right = map(printer.doprint, self.args)
        return rf"\left\lceil \frac{{{left}}}{{{right}}} \right\rceil"


class SymMod(_Integer):
    """``left - right * floor(left / right)`` for a positive ``right``."""

    meaning = Mod
    word = "Mod"

    def _eval_is_nonnegative(self) -> bool | None:
        return True if self.args[1].is_positive else None

    def _latex(self, printer: Any) -> str:
        level = PRECEDENCE["Mul"]
        left = printer.parenthesize(self.args[0], level, strict=True)
        right = printer.parenthesize(self.args[1], level)
        return rf"\left( {left} \bmod {right} \right)"


class SymBitAnd(_Integer):
    """The bits that both numbers have."""

    meaning = BitAnd
    word = "BitAnd"

    def _latex(self, printer: Any) -> str:
        left, right = _operands(self, printer)
        return rf"\left( {left} \mathbin{{\&}} {right} \right)"


class SymBitOr(_Integer):
    """The bits that at least one of the numbers has."""

    meaning = BitOr
    word = "BitOr"

    def _latex(self, printer: Any) -> str:
        left, right = _operands(self, printer)
        return rf"\left( {left} \mathbin{{|}} {right} \right)"


class SymBitXor(_Integer):
    """The bits that one of the numbers has."""

    meaning = BitXor
    word = "BitXor"

    def _latex(self, printer: Any) -> str:
        left, right = _operands(self, printer)
        return rf"\left( {left} \oplus {right} \right)"


class SymMin(_Integer):
    """The smaller of two numbers."""

    meaning = Min
    word = "Min"

    def _latex(self, printer: Any) -> str:
        return rf"\min\left({', '.join(map(printer.doprint, self.args))}\right)"


class SymMax(_Integer):
    """The larger of two numbers."""

    meaning = Max
    word = "Max"

    def _latex(self, printer: Any) -> str:
        return rf"\max\left({', '.join(map(printer.doprint, self.args))}\right)"


_FUNCTIONS: dict[type, Any] = {
    FloorDiv: SymFloorDiv,
    CeilDiv: SymCeilDiv,
    Mod: SymMod,
    BitAnd: SymBitAnd,
    BitOr: SymBitOr,
    BitXor: SymBitXor,
    Min: SymMin,
    Max: SymMax,
}


@dataclass(frozen=True, slots=True)
class Formula:
    """What a layout computes, as sympy expressions over its indices and extents.

    Attributes:
        layout: the layout.
        offset: in elements from the start of the buffer.
        size: elements of the buffer, padding included.
        box: the extents of the packed array.
        padded: the extent of each axis with its padding; ``None`` without a closed inverse.
        inverse: from ``_slot`` to the index, step by step; or the reason why there is none.
    """

    layout: Layout
    offset: sympy.Expr
    size: sympy.Expr
    box: tuple[sympy.Expr, ...]
    padded: tuple[tuple[str, sympy.Expr], ...] | None
    inverse: Inverse | NotDigits

    __repr__ = brief


NOT_ASKED = NotDigits("none was asked for", "unasked")


def formula(layout: Layout, inverse: Inverse | NotDigits = NOT_ASKED) -> Formula:
    """Return the formulas of a layout.

    >>> formula(layout).offset
    (W*(H*(n*ceiling(C/16) + floor(c/16)) + h) + w)*16 + Mod(c, 16)

    Args:
        layout: any layout.
        inverse: its closed inverse, by whoever knows that it is one.
    """
    padded = None
    if isinstance(inverse, Inverse):
        padded = tuple((name, symbolic(extent)) for name, extent in inverse.padded)
    return Formula(
        layout,
        symbolic(offset_expr(layout)),
        symbolic(size_expr(layout)),
        tuple(map(symbolic, physical_exprs(layout))),
        padded,
        inverse,
    )


def symbolic(expr: Expr) -> sympy.Expr:
    """Return ``expr`` in sympy; indices are non-negative symbols, extents positive ones."""
    match expr:
        case Index(name):
            return sympy.Symbol(name, integer=True, nonnegative=True)
        case Extent(name):
            return sympy.Symbol(name, integer=True, positive=True)
        case Constant(value):
            return sympy.Integer(value)
        case MixedRadix():
            return symbolic(written_out(expr))
        case Add(left, right):
            return sympy.Add(symbolic(left), symbolic(right), evaluate=False)
        case Sub(left, right):
            negative = sympy.Mul(sympy.S.NegativeOne, symbolic(right), evaluate=False)
            return sympy.Add(symbolic(left), negative, evaluate=False)
        case Mul(left, right):
            return sympy.Mul(symbolic(left), symbolic(right), evaluate=False)
        case _:
            return _FUNCTIONS[type(expr)](symbolic(expr.left), symbolic(expr.right))


def latex(expr: sympy.Expr) -> str:
    """Return the formula as LaTeX mathematics."""
    return str(sympy.latex(expr, order="none", mul_symbol="dot"))


def sympy_text(expr: sympy.Expr) -> str:
    """Return the formula as sympy prints it, in the order of the layout."""
    return str(sympy.sstr(expr, order="none"))
