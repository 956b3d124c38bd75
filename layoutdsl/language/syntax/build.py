"""lark's tree -> our tree: whole texts, and in them layouts, tables and claims."""

from __future__ import annotations

from typing import cast

from lark import Token

from layoutdsl.language.syntax import ast
from layoutdsl.language.syntax.expression_build import Branch, branches, tokens
from layoutdsl.language.syntax.operator_build import OperatorBuilder
from layoutdsl.language.syntax.record_build import RecordBuilder
from layoutdsl.language.syntax.rule_build import RuleBuilder

MOST_OPERANDS = 100
"""Operands of one operator side by side."""

DEEPEST = 150
"""Levels of one statement: operators, signs, entries of lists; it bounds every recursion."""

MOST_PLACES = 64
"""Axes, parameters or coordinates in one list; numpy's arrays have no more dimensions."""

_CHAINS = frozenset({"xor", "masked", "shift", "sum", "product"})
_LISTS = frozenset(
    {
        "parameters",
        "axes",
        "places",
        "arguments",
        "call",
        "tuple",
        "slots",
        "decoded",
        "names",
        "called",
        "picks",
        "pick",
        "operators",
        "operands",
        "patterns",
        "results",
        "settings",
        "takes",
        "references",
    }
)


def _levels(branch: Branch) -> int:
    """How many levels of our tree a branch becomes: a chain folds to the left, a list is summed."""
    if branch.data in _CHAINS:
        return len(branch.children) // 2
    return len(branch.children) if branch.data in ("places", "tuple", "call", "sign") else 0


class FileBuilder(RecordBuilder, RuleBuilder, OperatorBuilder):
    """Builds the declarations of one source."""

    def file(self, tree: Branch) -> ast.File:
        """Return the declarations of the whole tree."""
        self._measure(tree)
        return ast.File(tuple(map(self._declaration, branches(tree))))

    def _declaration(self, tree: Branch) -> ast.Declaration:
        match tree.data:
            case "layout":
                return self._layout(tree)
            case "table":
                return self._table(tree)
            case "record":
                return self._record(tree)
            case "rule" | "kept":
                return self._rule(tree)
            case "group":
                return self._group(tree)
            case "operator_rule":
                return self._operator_rule(tree)
            case "kernel":
                return self._kernel(tree)
            case "preference":
                return self._preference(tree)
            case _:
                return self._claim(tree)

    def _measure(self, tree: Branch) -> None:
        """Refuse what is too deep or too wide, before anything recurses into it."""
        pending = [(tree, 0)]
        while pending:
            branch, above = pending.pop()
            inside, level = branches(branch), above + _levels(branch)
            if branch.data in _CHAINS and len(inside) > MOST_OPERANDS:
                message = f"more than {MOST_OPERANDS} operands stand side by side"
                hint = "group some of them in parentheses"
                raise self._too_much("L104", message, branch, hint)
            if branch.data in _LISTS and len(branch.children) > MOST_PLACES:
                message = f"a list has more than {MOST_PLACES} entries"
                raise self._too_much("L103", message, branch, None)
            if level > DEEPEST:
                message = f"this is nested more than {DEEPEST} operators and coordinates deep"
                raise self._too_much("L104", message, branch, None)
            pending += [(each, level) for each in reversed(inside)]

    def _layout(self, tree: Branch) -> ast.LayoutDecl:
        name, parameters, axes, body, *clauses = tree.children
        return ast.LayoutDecl(
            self._name(cast("Token", name)),
            tuple(self._name(token) for token in tokens(parameters)),
            None if axes is None else tuple(self._axis(each) for each in branches(axes)),
            self._body(cast("Branch", body)),
            tuple(self._clause(cast("Branch", clause)) for clause in clauses),
            self._span(tree),
        )

    def _table(self, tree: Branch) -> ast.TableDecl:
        name, parameters, axes, slots, entries, where = tree.children
        return ast.TableDecl(
            self._name(cast("Token", name)),
            tuple(self._name(token) for token in tokens(parameters)),
            tuple(self._axis(each) for each in branches(axes)),
            tuple(self._slot(each) for each in branches(slots)),
            tuple(self._entry(each) for each in branches(entries)),
            None if where is None else self._where(cast("Branch", where)),
            self._span(tree),
        )

    def _slot(self, tree: Branch) -> ast.SlotDecl:
        name, extent = tree.children
        return ast.SlotDecl(
            self._name(cast("Token", name)), self._expression(cast("Branch", extent))
        )

    def _claim(self, tree: Branch) -> ast.ClaimDecl:
        polarity, subject, part, predicate, where = tree.children
        return ast.ClaimDecl(
            "prove" if polarity == "prove" else "refute",
            self._reference(cast("Branch", subject)),
            ast.Sound() if predicate is None else self._predicate(cast("Branch", predicate)),
            None if where is None else self._where(cast("Branch", where)),
            self._span(tree),
            None if part is None else self._field(cast("Branch", part)),
        )

    def _field(self, tree: Branch) -> ast.FieldName:
        name, called = tree.children
        axes = tuple(map(self._name, tokens(called)))
        return ast.FieldName(self._name(cast("Token", name)), axes, self._span(tree))

    def _predicate(self, tree: Branch) -> ast.Predicate:
        match tree.data:
            case "equals":
                right, *names = branches(tree)
                given = tuple(self._definition(each) for each in branches(*names))
                if right.data in ("coordinates", "reference", "foreign"):
                    return ast.Equals(self._body(right), given)
                return ast.Equals(self._expression(right), given)
            case "fits" | "offsets_fit":
                width, *measure = branches(tree)
                form = ast.Fits if tree.data == "fits" else ast.OffsetsFit
                return form(self._atom(tokens(width)[0]), self._counted(measure))
            case "computes":
                return ast.Computes(self._atom(tokens(branches(tree)[0])[0]))
            case "inverts":
                return ast.Inverts(self._reference(branches(tree)[0]))
            case "fills":
                return ast.Fills(self._number(tokens(tree)[0]), self._span(tree))
            case "reads":
                return self._reads(tree)
            case "keeps":
                return ast.Keeps(self._places(branches(tree)[0]))
            case _:
                number, *element = tokens(tree)
                places = self._places(branches(tree)[0])
                of = self._name(element[0]) if element else None
                return ast.Aligns(places, self._number(number), of)

    def _reads(self, tree: Branch) -> ast.Reads:
        number, element, thread, threads, index = tree.children
        return ast.Reads(
            self._number(cast("Token", number)),
            None if element is None else self._name(cast("Token", element)),
            self._name(cast("Token", thread)),
            self._number(cast("Token", threads)),
            tuple(self._entry(each) for each in branches(index)),
            self._span(tree),
        )

    def _counted(self, branches: list[Branch]) -> ast.Measure | None:
        if not branches:
            return None
        (tree,) = branches
        names = tokens(tree)
        return ast.Measure(self._name(names[0]) if names else None, self._span(tree))

    def _definition(self, tree: Branch) -> ast.Definition:
        return ast.Definition(self._name(tokens(tree)[0]), self._expression(branches(tree)[0]))
