"""Tree -> meaning for groups: which tensors are the fields of a record, and what they become."""

from __future__ import annotations

import re

from layoutdsl.language.elaborate.layout import Layouts
from layoutdsl.language.elaborate.packed import field_from_words
from layoutdsl.language.elaborate.records import Records
from layoutdsl.language.meaning.bands import undetermined
from layoutdsl.language.meaning.group import HOLE, WHOLE, Group, Names
from layoutdsl.language.meaning.record import Field, Record
from layoutdsl.language.meaning.rule import FromWords
from layoutdsl.language.syntax import ast
from layoutdsl.language.syntax.printer import print_declaration
from layoutdsl.language.texts.faults import did_you_mean, fault
from layoutdsl.language.texts.source import Label

CODE = "L216"
_BRACED = re.compile(r"\{[^{}]*\}|[{}]")


def group_of(group: ast.GroupDecl, records: Records, layouts: Layouts) -> Group:
    """Return the meaning of a group.

    Raises:
        Fault: names or fields do not fit; or a silent one, whose cause is reported already.
    """
    pattern = _names(group.pattern, None)
    record = records.referred(group.record)
    _refuse_record(group, record)
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
    """What stands in quotes, where ``{}`` stands for a pattern if there is one."""
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


def _refuse_record(group: ast.GroupDecl, record: Record) -> None:
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
