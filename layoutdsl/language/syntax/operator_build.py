"""lark's tree -> our tree: what is said of operators of graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from lark import Token, Tree

from layoutdsl.language.syntax import ast
from layoutdsl.language.syntax.expression_build import Branch, ExpressionBuilder, branches, tokens


class OperatorBuilder(ExpressionBuilder):
    """Builds rules of operators, kernels and preferences of one source."""

    def _operator_rule(self, tree: Branch) -> ast.OperatorRuleDecl:
        names, operands, results, settings, where = tree.children
        return ast.OperatorRuleDecl(
            tuple(map(self._name, tokens(names))),
            tuple(map(self._operand, branches(operands))),
            tuple(map(self._result, branches(results))),
            tuple(map(self._setting, branches(settings))),
            None if where is None else self._where(cast("Branch", where)),
            self._span(tree),
        )

    def _operand(self, tree: Branch) -> ast.OperandDecl:
        name, optional, axes, many = tree.children
        return ast.OperandDecl(
            self._name(cast("Token", name)),
            self._patterns(axes),
            optional is not None,
            many is not None,
            self._span(tree),
        )

    def _result(self, tree: Branch) -> ast.OperandDecl:
        name, *read = tree.children
        called = None if name is None else self._name(cast("Token", name))
        if not read:
            return ast.OperandDecl(called, None, False, False, self._span(tree))
        axes, many = read
        patterns = self._patterns(axes)
        return ast.OperandDecl(called, patterns, False, many is not None, self._span(tree))

    def _patterns(self, tree: Branch | Token | None) -> tuple[ast.AxisPatternDecl, ...] | None:
        return None if tree is None else tuple(map(self._pattern, branches(tree)))

    def _pattern(self, tree: Branch) -> ast.AxisPatternDecl:
        words = [None if each is None else self._name(each) for each in _words(tree)]
        name, role = (None, *words) if tree.data == "other_axes" else words
        return ast.AxisPatternDecl(name, role, tree.data != "one_axis", self._span(tree))

    def _setting(self, tree: Branch) -> ast.SettingDecl:
        name, default, role = tree.children
        value = None
        if isinstance(default, Tree):
            sign, digits = _words(default)
            value = self._number(cast("Token", digits)).value * (-1 if sign == "-" else 1)
        called = None if role is None else self._name(cast("Token", role))
        return ast.SettingDecl(self._name(cast("Token", name)), value, called, self._span(tree))

    def _kernel(self, tree: Branch) -> ast.KernelDecl:
        name, takes, layouts, where = tree.children
        return ast.KernelDecl(
            self._name(cast("Token", name)),
            tuple(map(self._taken, branches(takes))),
            self._references(layouts),
            None if where is None else self._where(cast("Branch", where)),
            self._span(tree),
        )

    def _taken(self, tree: Branch) -> ast.TakenDecl:
        name, optional, layout = tree.children
        called = self._name(cast("Token", name))
        return ast.TakenDecl(called, optional is not None, self._reference(cast("Branch", layout)))

    def _preference(self, tree: Branch) -> ast.PreferenceDecl:
        name, layouts = tree.children
        operator = self._name(cast("Token", name))
        return ast.PreferenceDecl(operator, self._references(layouts), self._span(tree))

    def _references(self, tree: Branch | Token | None) -> tuple[ast.Reference, ...]:
        return tuple(map(self._reference, branches(tree)))


def _words(tree: Branch) -> Sequence[Token | None]:
    return cast("Sequence[Token | None]", tree.children)
