"""Tree -> meaning for rules: which layout a tensor gets, and which tensors become a record."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from layoutdsl.language.elaborate.layout import Layouts
from layoutdsl.language.elaborate.packed import converted, field_from_words, refuse_wordless
from layoutdsl.language.elaborate.records import Records
from layoutdsl.language.elaborate.rules import silent
from layoutdsl.language.meaning.bands import undetermined
from layoutdsl.language.meaning.elements import FillZeroPoint
from layoutdsl.language.meaning.group import HOLE, WHOLE, Group, Names
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.record import Field, Record
from layoutdsl.language.meaning.rule import DEEP, WITHIN, FromWords, Rule
from layoutdsl.language.syntax import ast
from layoutdsl.language.syntax.printer import print_body, print_declaration
from layoutdsl.language.texts.faults import Fault, did_you_mean, fault
from layoutdsl.language.texts.source import Label, Span

CODE = "L216"
_BRACED = re.compile(r"\{[^{}]*\}|[{}]")


def group_of(group: ast.GroupDecl, records: Records, layouts: Layouts) -> Group:
    """Return the meaning of a group.

    Raises:
        Fault: names or fields do not fit; or a silent one, whose cause is reported already.
    """
    pattern = _names(group.pattern, None)
    record = records.referred(group.record)
    _refuse_open_record(group, record)
    native = group.record.name.text if records.is_known(group.record) else None
    named = _sources(group, record)
    sources = tuple(_whole(named[each.name].name, pattern) for each in record.fields)
    stored = tuple(_stored(named[each.name], each, layouts) for each in record.fields)
    first: dict[str, ast.Quoted] = {}
    for each in group.sources:
        if first.setdefault(each.name.text, each.name) is not each.name:
            label = (Label(first[each.name.text].span, "first here"),)
            message = f"two fields come from `{each.name.text}`"
            raise fault(CODE, message, each.name.span, others=label)
    target = _whole(group.target, pattern)
    source = group.span.source
    place = f"{source.name}:{source.place(group.span.start)[0]}"
    text = print_declaration(group)
    return Group(group.pattern.text, record, sources, stored, target, native, text, place)


def _stored(source: ast.SourceDecl, field: Field, layouts: Layouts) -> FromWords | None:
    return None if source.stored is None else field_from_words(source.stored, field, layouts)


def _names(quoted: ast.Quoted, pattern: Names | None) -> Names:
    """The text in quotes, with ``{}`` replaced by the pattern if there is one."""
    for braced in _BRACED.findall(quoted.text):
        if braced == WHOLE and pattern is not None:
            continue
        if HOLE.fullmatch(braced) is None:
            message = f"`{braced}` names no part of the pattern"
            if braced == WHOLE:
                message = "`{}` is the pattern itself"
            hint = "write `{i}` for a segment between dots"
            raise fault(CODE, message, quoted.span, help=hint)
    if "*" in quoted.text:
        hint = "write `{i}` in its place, for a segment between dots"
        raise fault(CODE, "a `*` of a group has no name", quoted.span, help=hint)
    whole = quoted.text if pattern is None else quoted.text.replace(WHOLE, pattern.text)
    if not whole.strip():
        raise fault(CODE, "the name is empty", quoted.span, help='write one, as "{i}.weight"')
    found = Names(whole)
    if found.crowded is not None:
        message = f"`{found.crowded}` can be read in several ways"
        hint = "put a dot between two parts that are named"
        raise fault(CODE, message, quoted.span, help=hint)
    return found


def _whole(quoted: ast.Quoted, pattern: Names) -> Names:
    """The names of a source or of the result, which tell all that fits the pattern apart."""
    found = _names(quoted, pattern)
    for hole in found.holes:
        if hole not in pattern.holes:
            hint = did_you_mean(hole, pattern.holes) or "the pattern names what may stand here"
            message = f"the pattern `{pattern.text}` has no `{{{hole}}}`"
            raise fault(CODE, message, quoted.span, help=hint)
    for hole in pattern.holes:
        if hole not in found.holes:
            message = f"`{quoted.text}` is the same for every `{{{hole}}}`"
            hint = f"put `{{}}` or `{{{hole}}}` into it"
            raise fault(CODE, message, quoted.span, help=hint)
    return found


def _refuse_open_record(group: ast.GroupDecl, record: Record) -> None:
    """Raise where the shapes of tensors would not say what the record is."""
    if record.parameters:
        message = f"`{record.name}` has an open parameter `{record.parameters[0]}`"
        hint = f"write `{record.name}<16>`, or another number"
        raise fault(CODE, message, group.record.span, help=hint)
    unknown = undetermined(record)
    if unknown is not None:
        message = f"the fields of `{record.name}` do not say what `{unknown}` is"
        raise fault(CODE, message, group.record.span)


def _sources(group: ast.GroupDecl, record: Record) -> dict[str, ast.SourceDecl]:
    """Where each field comes from, all of them."""
    fields = [each.name for each in record.fields]
    found: dict[str, ast.SourceDecl] = {}
    for each in group.sources:
        name = each.field
        if name.text not in fields:
            hint = did_you_mean(name.text, fields) or f"it has {', '.join(fields)}"
            message = f"the record `{record.name}` has no field `{name.text}`"
            raise fault(CODE, message, name.span, help=hint)
        if found.setdefault(name.text, each) is not each:
            label = (Label(found[name.text].field.span, "first here"),)
            message = f"the field `{name.text}` has two sources"
            raise fault("L203", message, name.span, others=label)
    missing = [each for each in fields if each not in found]
    if missing:
        message = f"the group has no source for the field `{missing[0]}` of `{record.name}`"
        hint = f'write `{missing[0]} = "{{}}.{missing[0]}"`'
        raise fault(CODE, message, group.record.span, help=hint)
    return found


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
    _refuse_record_layout(rule.body, records)
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


def _refuse_record_layout(body: ast.Body, records: Records) -> None:
    if isinstance(body, ast.Reference) and body.name.text in records:
        name = body.name.text
        message = f"`{name}` is a record, and is made of several tensors"
        names = [each.name for each in records.referred(body).fields]
        fields = ", ".join(f'{each} = "{{}}.{each}"' for each in names)
        hint = f'write `group "{{i}}" = {print_body(body)}({fields}) as "{{}}.weight"`'
        raise fault(CODE, message, body.span, help=hint)


def _layout(
    rule: ast.RuleDecl,
    body: ast.Body,
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
