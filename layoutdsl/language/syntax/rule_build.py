"""lark's tree -> our tree: rules for tensors of a file, and groups of them."""

from __future__ import annotations

from typing import cast

from lark import Token

from layoutdsl.language.syntax import ast
from layoutdsl.language.syntax.expression_build import Branch, ExpressionBuilder, branches, tokens


class RuleBuilder(ExpressionBuilder):
    """Builds rules and groups of one source."""

    def _rule(self, tree: Branch) -> ast.RuleDecl:
        pattern = self._quoted(tokens(tree)[0])
        if tree.data == "kept":
            return ast.RuleDecl(pattern.text, None, None, None, (), pattern.span, self._span(tree))
        _, axes, body, stored, *clauses = tree.children
        return ast.RuleDecl(
            pattern.text,
            None if axes is None else tuple(self._axis(each) for each in branches(axes)),
            self._body(cast("Branch", body)),
            None if stored is None else self._from_words(cast("Branch", stored)),
            tuple(self._clause(cast("Branch", clause)) for clause in clauses),
            pattern.span,
            self._span(tree),
        )

    def _from_words(self, tree: Branch) -> ast.FromWords:
        word, layout = tree.children
        reference = self._reference(cast("Branch", layout))
        return ast.FromWords(self._name(cast("Token", word)), reference, self._span(tree))

    def _group(self, tree: Branch) -> ast.GroupDecl:
        pattern, record, *sources, target = tree.children
        return ast.GroupDecl(
            self._quoted(cast("Token", pattern)),
            self._reference(cast("Branch", record)),
            tuple(self._source_of(cast("Branch", each)) for each in sources),
            self._quoted(cast("Token", target)),
            self._span(tree),
        )

    def _source_of(self, tree: Branch) -> ast.SourceDecl:
        field, name, stored = tree.children
        packed = None if stored is None else self._from_words(cast("Branch", stored))
        quoted = self._quoted(cast("Token", name))
        return ast.SourceDecl(self._name(cast("Token", field)), quoted, packed)
