"""lark's tree -> our tree: records."""

from __future__ import annotations

from typing import cast

from lark import Token, Tree

from layoutdsl.language.syntax import ast
from layoutdsl.language.syntax.expression_build import Branch, ExpressionBuilder, branches, tokens

MOST_PARTS = 64
"""Parts of one record: each two of them are held against each other."""


class RecordBuilder(ExpressionBuilder):
    """Builds records of one source."""

    def _record(self, tree: Branch) -> ast.RecordDecl:
        name, parameters, axes, *rest = tree.children
        inside = [each for each in rest if isinstance(each, Tree)]
        parts = [each for each in inside if each.data == "part"]
        if len(parts) > MOST_PARTS:
            message = f"a record has more than {MOST_PARTS} parts"
            raise self._too_much("L103", message, tree, None)
        return ast.RecordDecl(
            self._name(cast("Token", name)),
            tuple(self._name(token) for token in tokens(parameters)),
            tuple(self._axis(each) for each in branches(axes)),
            tuple(map(self._part, parts)),
            tuple(self._clause(each) for each in inside if each.data != "part"),
            self._span(tree),
        )

    def _part(self, tree: Branch) -> ast.PartDecl:
        name, picks, bits, body, *clauses = tree.children
        held = None
        if bits is not None:
            first, last = map(self._number, tokens(bits))
            held = first, last
        return ast.PartDecl(
            self._name(cast("Token", name)),
            tuple(tuple(map(self._digit, branches(each))) for each in branches(picks)),
            held,
            self._body(cast("Branch", body)),
            tuple(self._clause(cast("Branch", clause)) for clause in clauses),
            self._span(tree),
        )

    def _digit(self, tree: Branch) -> ast.DigitDecl:
        value, extent = tree.children
        declared = None if extent is None else self._expression(cast("Branch", extent))
        return ast.DigitDecl(self._atom(cast("Token", value)), declared, self._span(tree))
