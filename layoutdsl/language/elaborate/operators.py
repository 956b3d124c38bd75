"""Tree -> meaning for what a text says of operators: rules, kernels and preferences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from layoutdsl.language.elaborate.layout import Layouts
from layoutdsl.language.elaborate.operator_rules import rule_of, scope_of_attributes
from layoutdsl.language.elaborate.rules import silent, twice
from layoutdsl.language.integers.expr import Constant, text
from layoutdsl.language.meaning.model import Condition, Layout
from layoutdsl.language.meaning.operator import (
    Engine,
    Kernel,
    OperandPattern,
    OperatorRule,
    Preference,
)
from layoutdsl.language.syntax import ast
from layoutdsl.language.syntax.printer import print_body, print_declaration
from layoutdsl.language.texts.faults import Fault, did_you_mean, fault

CODE = "L218"
Known: TypeAlias = Callable[[], Sequence[OperatorRule]]
"""Rules that a text may speak of without having them; they are read where one is asked for."""


def engine_of(
    declared: Sequence[ast.OperatorDecl],
    layouts: Layouts,
    known: Known,
    report: Callable[[Fault], None],
) -> Engine:
    """Return what a text says of operators and has no fault, in its order.

    Args:
        declared: as it was written.
        layouts: that it may name.
        known: rules of operators that it may speak of, besides its own.
        report: takes the fault of each other.
    """
    rules: list[OperatorRule] = []
    kernels: list[Kernel] = []
    preferences: list[Preference] = []
    faulty: set[str] = set()
    for each in declared:
        if isinstance(each, ast.OperatorRuleDecl):
            try:
                rules.append(rule_of(each))
            except Fault as wrong:
                faulty |= {name.text for name in each.operators}
                report(wrong)
    reader = _Reader(rules, faulty, layouts, known)
    for each in declared:
        try:
            match each:
                case ast.KernelDecl():
                    kernels.append(reader.kernel(each))
                case ast.PreferenceDecl():
                    preferences.append(reader.preference(each))
        except Fault as wrong:
            report(wrong)
    return Engine(tuple(rules), tuple(kernels), tuple(preferences))


class _Reader:
    """Reads kernels and preferences of one text."""

    def __init__(
        self, rules: Sequence[OperatorRule], faulty: set[str], layouts: Layouts, known: Known
    ) -> None:
        self._rules, self._faulty = rules, faulty
        self._layouts, self._known = layouts, known

    def kernel(self, declared: ast.KernelDecl) -> Kernel:
        rules = self._rules_of(declared.operator)
        taken: dict[str, Layout] = {}
        names: dict[str, ast.Name] = {}
        rule = _that_has(rules, declared)
        operands = {each.name: each for each in rule.operands}
        for each in declared.operands:
            name = each.name
            if names.setdefault(name.text, name) is not name:
                raise twice("operand", name, names[name.text])
            if name.text not in operands:
                message = f"`{declared.operator.text}` has no operand `{name.text}`"
                hint = did_you_mean(name.text, operands) or _says(rule)
                raise fault(CODE, message, name.span, help=hint)
            taken[name.text] = self._layout(each.layout, operands[name.text])
        if len(declared.results) > len(rule.results):
            message = f"the rule of `{declared.operator.text}` names fewer results"
            raise fault(CODE, message, declared.results[len(rule.results)].span, help=_says(rule))
        made = zip(declared.results, rule.results, strict=False)
        return Kernel(
            declared.operator.text,
            taken,
            tuple(self._layout(layout, result) for layout, result in made),
            _where(declared.where, rule),
            print_declaration(declared),
            _place(declared),
            frozenset(each.name.text for each in declared.operands if each.optional),
        )

    def preference(self, declared: ast.PreferenceDecl) -> Preference:
        rules = self._rules_of(declared.operator)
        layouts = tuple(map(self._named, declared.layouts))
        for written, layout in zip(declared.layouts, layouts, strict=True):
            if not any(_fits(layout, each) for rule in rules for each in rule.results):
                message = f"`{layout.name}` has {layout.rank} axes"
                raise fault(CODE, message, written.span, help=_says(rules[0]))
        text = print_declaration(declared)
        return Preference(declared.operator.text, layouts, text, _place(declared))

    def _rules_of(self, operator: ast.Name) -> Sequence[OperatorRule]:
        if operator.text in self._faulty:
            raise silent(operator.span)
        every = (*self._rules, *self._known())
        found = [each for each in every if operator.text in each.operators]
        if not found:
            hint = did_you_mean(operator.text, [name for each in every for name in each.operators])
            hint = hint or f"say it: `rule {operator.text}(x[..]) -> [..]`"
            message = f"no rule says what `{operator.text}` is to the axes of its operands"
            raise fault(CODE, message, operator.span, help=hint)
        return found

    def _layout(self, written: ast.Reference, pattern: OperandPattern) -> Layout:
        layout = self._named(written)
        if pattern.axes is None:
            message = f"`{pattern.name}` is taken as it was written: its rule names no axes of it"
            raise fault(CODE, message, written.span)
        if not _fits(layout, pattern):
            least = sum(not each.many for each in pattern.axes)
            more = " or more" if any(each.many for each in pattern.axes) else ""
            called = f"`{pattern.name}`" if pattern.name else "the result"
            message = f"`{layout.name}` has {layout.rank} axes, and {called} {least}{more}"
            raise fault(CODE, message, written.span)
        return layout

    def _named(self, written: ast.Reference) -> Layout:
        layout = self._layouts.referred(written)
        if layout is None:
            raise silent(written.span)
        if layout.parameters:
            message = f"`{layout.name}` has an open parameter `{layout.parameters[0]}`"
            hint = f"write `{print_body(written)}<16>`, or another number"
            raise fault(CODE, message, written.span, help=hint)
        why = _no_tensor(layout)
        if why is not None:
            raise fault(CODE, f"`{layout.name}` {why}", written.span)
        return layout


def _says(rule: OperatorRule) -> str:
    return f"its rule is `{rule.text}`"


def _no_tensor(layout: Layout) -> str | None:
    """Why a layout is none of tensors in a graph."""
    if layout.domain:
        return "holds elements of a domain only"
    if layout.copies:
        return "holds copies of its elements"
    if layout.bit_of is not None:
        return "says where each bit lies"
    if layout.start != Constant(0):
        return f"begins {text(layout.start)} slots behind its start"
    return None


def _that_has(rules: Sequence[OperatorRule], kernel: ast.KernelDecl) -> OperatorRule:
    """The first rule that has the operands of a kernel, or the first."""
    names = {each.name.text for each in kernel.operands}
    fitting = (each for each in rules if names <= {operand.name for operand in each.operands})
    return next(fitting, rules[0])


def _fits(layout: Layout, pattern: OperandPattern) -> bool:
    if pattern.axes is None:
        return False
    least = sum(not each.many for each in pattern.axes)
    many = any(each.many for each in pattern.axes)
    return layout.rank >= least if many else layout.rank == least


def _where(where: ast.WhereClause | None, rule: OperatorRule) -> tuple[Condition, ...]:
    if where is None:
        return ()
    names = [axis.name for each in rule.operands for axis in each.axes or () if not axis.many]
    shapes, attributes = scope_of_attributes(where, names).restrictions(where)
    return (*shapes, *attributes)


def _place(declared: ast.OperatorDecl) -> str:
    source = declared.span.source
    return f"{source.name}:{source.place(declared.span.start)[0]}"
