"""What comparisons of arrays mean: which indices of a piece have a slot. Trusted.

An array of truth values is a list of tests on an index, and true where all of them hold: so
``(a <= b) & (c < d)`` is the list of both. Nothing else can be done with one than that, and to give
it the shape of a piece.
"""

from __future__ import annotations

import ast

from layoutdsl.code.validate.expressions import Names
from layoutdsl.code.validate.reading import Reader
from layoutdsl.code.validate.tables import Mask, Truths
from layoutdsl.code.validate.values import Meaningless
from layoutdsl.proof.kernel.checker import Term

_COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)


class MaskReader(Reader):
    """A reader that knows comparisons of arrays as well."""

    def _value(self, node: ast.expr, names: Names) -> object:
        match node:
            case ast.Compare(ops=[operator]) if isinstance(operator, _COMPARISONS):
                return Truths(self._test(node, names))
            case ast.BinOp(left=left, op=ast.BitAnd(), right=right):
                match self._value(left, names), self._value(right, names):
                    case Truths(one), Truths(other):
                        return Truths((*one, *other))
        return super()._value(node, names)

    def _test(self, node: ast.Compare, names: Names) -> tuple[Term, ...]:
        """A comparison; of numbers that are known, it is always true or never."""
        outcome = self._condition(node, names)
        if not isinstance(outcome, bool):
            return (outcome,)
        return () if outcome else (("<", 0, 0),)

    def _mask(self, node: ast.expr, names: Names) -> Mask:
        value = self._value(node, names)
        if not isinstance(value, Truths):
            raise Meaningless("a mask is made of something else than comparisons")
        return Mask(value.tests)
