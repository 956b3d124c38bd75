"""Tree -> meaning for rules: which layout tensors get, and what they may not be given."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from layoutdsl.language.elaborate.grouped import group_of
from layoutdsl.language.elaborate.layout import Layouts
from layoutdsl.language.elaborate.packed import converted, refuse_wordless
from layoutdsl.language.elaborate.records import Records
from layoutdsl.language.elaborate.rules import silent
from layoutdsl.language.meaning.elements import FillZeroPoint
from layoutdsl.language.meaning.group import Group
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.rule import DEEP, WITHIN, Rule
from layoutdsl.language.syntax import ast
from layoutdsl.language.syntax.printer import print_body, print_declaration
from layoutdsl.language.texts.faults import Fault, fault
from layoutdsl.language.texts.source import Label, Span

CODE = "L216"


def rules_of(
    declared: Sequence[ast.RuleDecl | ast.GroupDecl],
    layouts: Layouts,
    records: Records,
    report: Callable[[Fault], None],
) -> tuple[Rule | Group, ...]:
    """Return the rules and groups of a text that have no fault, in its order.

    Args:
        declared: as they were written.
        layouts: that rules may name.
        records: that groups may name.
        report: takes the fault of each other.
    """
    found: list[Rule | Group] = []
    first: dict[str, Span] = {}
    for number, each in enumerate(declared, start=1):
        try:
            if isinstance(each, ast.GroupDecl):
                found.append(group_of(each, records, layouts))
                continue
            _refuse_pattern(each)
            if first.setdefault(each.pattern, each.place) is not each.place:
                label = (Label(first[each.pattern], "first here"),)
                message = f"there are two rules for `{each.pattern}`"
                raise fault("L203", message, each.place, others=label)
            found.append(_rule(each, number, layouts, records))
        except Fault as wrong:
            report(wrong)
    return tuple(found)


def _refuse_pattern(rule: ast.RuleDecl) -> None:
    if not rule.pattern.strip():
        message = "the pattern is empty, and fits no name"
        raise fault(CODE, message, rule.place, help='write `"**"` for all tensors')
    if DEEP + WITHIN in rule.pattern:
        hint = "`*` is anything without a dot, `**` anything at all"
        raise fault(CODE, "there are three stars in a row", rule.place, help=hint)


def _rule(rule: ast.RuleDecl, number: int, layouts: Layouts, records: Records) -> Rule:
    source = rule.span.source
    place = f"{source.name}:{source.place(rule.span.start)[0]}"
    text = print_declaration(rule)
    if rule.body is None:
        return Rule(rule.pattern, None, None, text, place)
    _refuse_record(rule.body, records)
    layout = _layout(rule, rule.body, number, layouts)
    if layout.parameters:
        message = f"`{layout.name}` has an open parameter `{layout.parameters[0]}`"
        hint = f"write `{print_body(rule.body)}<16>`, or another number"
        raise fault(CODE, message, rule.body.span, help=hint)
    if layout.domain:
        message = f"`{layout.name}` holds elements of a domain only, and others would be lost"
        raise fault(CODE, message, rule.body.span)
    if isinstance(layout.fill, FillZeroPoint):
        message = f"the rule has to give the fill of `{layout.name}` as a number"
        raise fault(CODE, message, rule.body.span, help="write `fill 0`, or another number")
    if rule.stored is not None:
        made, packed = converted(rule.stored, layout, layouts)
        return Rule(rule.pattern, made, packed, text, place)
    if layout.bit_of is not None:
        refuse_wordless(layout, "bytes", rule.body.span)
    return Rule(rule.pattern, layout, None, text, place)


def _refuse_record(body: ast.Coordinates | ast.Reference | ast.Foreign, records: Records) -> None:
    if isinstance(body, ast.Reference) and body.name.text in records:
        name = body.name.text
        message = f"`{name}` is a record, and is made of several tensors"
        names = [each.name for each in records.referred(body).fields]
        fields = ", ".join(f'{each} = "{{}}.{each}"' for each in names)
        hint = f'write `group "{{i}}" = {print_body(body)}({fields}) as "{{}}.weight"`'
        raise fault(CODE, message, body.span, help=hint)


def _layout(
    rule: ast.RuleDecl,
    body: ast.Coordinates | ast.Reference | ast.Foreign,
    number: int,
    layouts: Layouts,
) -> Layout:
    """The layout of a rule; it has a name of its own where the rule says more than a name."""
    if isinstance(body, ast.Reference):
        if rule.axes is not None:
            message = "a tensor with a layout by name takes the axes of the layout"
            hint = f'write `tensor "{rule.pattern}" = {print_body(body)}`'
            raise fault("L208", message, body.span, help=hint)
        if not rule.clauses:
            found = layouts.referred(body)
            if found is None:
                raise silent(body.span)
            return found
        name = f"{body.name.text}_rule{number}"
    else:
        name = f"rule{number}"
    if isinstance(body, ast.Coordinates) and rule.axes is None:
        hint = f'write `tensor "{rule.pattern}"(n, k) = {print_body(body)}`'
        raise fault("L208", "the rule names no axes", rule.place, help=hint)
    called = ast.Name(name, rule.place)
    return layouts.unnamed(ast.LayoutDecl(called, (), rule.axes, body, rule.clauses, rule.span))
