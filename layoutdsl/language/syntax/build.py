"""lark's tree -> our tree: layouts, tables, records, claims, and rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from lark import Token, Tree

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


MOST_OPERANDS = 100
"""Operands of one operator side by side."""

DEEPEST = 150
"""Levels of one statement: operators, signs, entries of lists; it bounds every recursion."""

MOST_PLACES = 64
"""Axes, parameters or coordinates in one list; numpy's arrays have no more dimensions."""

_CHAINS = frozenset({"joined", "xor", "masked", "shift", "sum", "product"})
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
                if right.data in ("coordinates", "reference", "foreign", "application"):
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
