"""Tree -> meaning: every rule of the language, each fault with its place.

All faults of a text are collected and raised together. What names and operators mean inside a
layout is in `scope`, what a layout and a claim must satisfy in `rules`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from operator import itemgetter
from typing import TYPE_CHECKING, TypeVar

from layoutdsl.language.elaborate.claim import claim_of, table_claim_of
from layoutdsl.language.elaborate.layout import Layouts
from layoutdsl.language.elaborate.records import Records, record_claim_of
from layoutdsl.language.elaborate.rules import twice
from layoutdsl.language.elaborate.table import Tables
from layoutdsl.language.meaning import claims
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.module import Module, Written
from layoutdsl.language.meaning.record import Record
from layoutdsl.language.meaning.table import Table
from layoutdsl.language.syntax import ast
from layoutdsl.language.syntax.printer import print_declaration
from layoutdsl.language.texts.faults import Fault
from layoutdsl.language.texts.source import Diagnostic, LayoutError

if TYPE_CHECKING:
    from layoutdsl.language.elaborate.operators import Known
    from layoutdsl.language.meaning.group import Group
    from layoutdsl.language.meaning.rule import Rule

MOST_FAULTS = 100
"""Faults of one text that are collected before we give up on it."""

Found = TypeVar("Found")


def elaborate(
    file: ast.File,
    name: str,
    known: Mapping[str, Layout] | None = None,
    tables: Mapping[str, Table] | None = None,
    records: Mapping[str, Record] | None = None,
    operators: Known = tuple,
) -> Module:
    """Return the layouts, tables, records, rules, operators and claims of a text.

    Args:
        file: the parsed text.
        name: what to call it.
        known: layouts of the library, which the text may use by name.
        tables: tables of the library, which claims may be about.
        records: records of the library, likewise.
        operators: what rules of operators there are besides those of the text.

    Raises:
        LayoutError: with every fault of the text, in source order.
    """
    known, tables = known or {}, {} if tables is None else tables
    faults = _Faults()
    said = [each for each in file.declarations if isinstance(each, ast.ClaimDecl)]
    of_layouts, of_tables, of_records = _declared(file, faults)
    names = Tables(of_tables, tables, (of_layouts, of_records, known))
    refuted = {each.subject.name.text for each in said if each.polarity == "refute"}
    layouts = Layouts(of_layouts, known, names, refuted, faults.report)
    plain = layouts.plain()
    plain_tables, wrong = names.plain()
    for each in wrong:
        faults.report(each)
    held = Records(of_records, records or {}, (of_layouts, of_tables, known, tables), layouts)
    plain_records, wrong_records = held.plain()
    for each in wrong_records:
        faults.report(each)
    about_records = [each for each in said if each.subject.name.text in held]
    found_records = faults.without(lambda each: record_claim_of(each, held), about_records)
    said = [each for each in said if each not in about_records]
    about = [each for each in said if each.subject.name.text not in names]
    about_tables = [each for each in said if each.subject.name.text in names]
    found = faults.without(lambda each: claim_of(each, layouts), about)
    found_tables = faults.without(lambda each: table_claim_of(each, names, layouts), about_tables)
    ruled = [each for each in file.declarations if isinstance(each, ast.RuleDecl | ast.GroupDecl)]
    rules: tuple[Rule | Group, ...] = ()
    if ruled:
        from layoutdsl.language.elaborate.ruled import (
            rules_of,  # a text without rules waits for none of it
        )

        rules = rules_of(ruled, layouts, held, faults.report)
    engine = None
    of_graphs = [each for each in file.declarations if isinstance(each, ast.OperatorDecl)]
    if of_graphs:
        from layoutdsl.language.elaborate.operators import engine_of  # likewise

        engine = engine_of(of_graphs, layouts, operators, faults.report)
    faults.raise_any()
    declared: list[_Named] = [*map(of_layouts.__getitem__, plain)]
    declared += map(of_tables.__getitem__, plain_tables)
    declared += map(of_records.__getitem__, plain_records)
    every: tuple[claims.AnyClaim, ...] = (*found, *found_tables, *found_records)
    claimed = zip(every, (*about, *about_tables, *about_records), strict=True)
    texts, written = _kept(declared, zip(rules, ruled, strict=True), claimed)
    doubts = dict(filter(itemgetter(1), (layouts.doubts | names.doubts).items()))
    return Module(
        name,
        plain,
        found,
        texts,
        plain_tables,
        found_tables,
        doubts,
        plain_records,
        found_records,
        rules,
        engine,
        written,
    )


def _kept(
    declared: Iterable[_Named],
    ruled: Iterable[tuple[Rule | Group, ast.RuleDecl | ast.GroupDecl]],
    claimed: Iterable[tuple[claims.AnyClaim, ast.ClaimDecl]],
) -> tuple[dict[str, str], dict[str, list[Written]]]:
    """What a text declares as the language writes it, and where all that it says stands."""
    texts: dict[str, str] = {}
    written: dict[str, list[Written]] = {}
    for each in declared:
        texts[each.name.text] = print_declaration(each)
        written[each.name.text] = [(each.span, each.name.span)]
    for rule, decl in ruled:
        place = decl.place if isinstance(decl, ast.RuleDecl) else decl.pattern.span
        written.setdefault(rule.text, []).append((decl.span, place))
    for claim, said in claimed:
        written.setdefault(claim.text, []).append((said.span, said.subject.name.span))
    return texts, written


class _Faults:
    """The faults of one text so far."""

    def __init__(self) -> None:
        self._found: list[Diagnostic] = []

    def report(self, found: Fault) -> None:
        if found.diagnostic.code:
            self._found.append(found.diagnostic)
        if len(self._found) >= MOST_FAULTS:
            self.raise_any()

    def raise_any(self) -> None:
        if self._found:
            raise LayoutError(tuple(dict.fromkeys(self._found)))

    def without(
        self, read: Callable[[ast.ClaimDecl], Found | None], said: list[ast.ClaimDecl]
    ) -> tuple[Found, ...]:
        """Return what is read of claims, but of none that has a fault."""
        found: list[Found] = []
        for each in said:
            try:
                claim = read(each)
            except Fault as wrong:
                self.report(wrong)
                continue
            if claim is not None:
                found.append(claim)
        return tuple(found)


_Named = ast.LayoutDecl | ast.TableDecl | ast.RecordDecl
_Declared = tuple[dict[str, ast.LayoutDecl], dict[str, ast.TableDecl], dict[str, ast.RecordDecl]]
_KINDS = {ast.LayoutDecl: "layout", ast.TableDecl: "table", ast.RecordDecl: "record"}


def _declared(file: ast.File, faults: _Faults) -> _Declared:
    """What a text declares, each kind by name; one name is for one of them."""
    layouts: dict[str, ast.LayoutDecl] = {}
    tables: dict[str, ast.TableDecl] = {}
    records: dict[str, ast.RecordDecl] = {}
    first: dict[str, ast.Name] = {}
    for declaration in file.declarations:
        if isinstance(declaration, ast.ClaimDecl | ast.RuleDecl | ast.GroupDecl | ast.OperatorDecl):
            continue
        name = declaration.name
        if first.setdefault(name.text, name) is not name:
            faults.report(twice(_KINDS[type(declaration)], name, first[name.text]))
            continue
        match declaration:
            case ast.LayoutDecl():
                layouts[name.text] = declaration
            case ast.TableDecl():
                tables[name.text] = declaration
            case ast.RecordDecl():
                records[name.text] = declaration
    return layouts, tables, records
