"""Tree -> meaning: every rule of the language, each fault with its place.

All faults of a text are collected and raised together. What names and operators mean inside a
layout is in `scope`; what a layout and a claim must satisfy is here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from layoutdsl import claims
from layoutdsl.digits import NotDigits, network
from layoutdsl.elaborate_table import Tables, plain_predicate
from layoutdsl.expr import (
    Constant,
    Expr,
    Extent,
    extents,
)
from layoutdsl.model import (
    Axis,
    Layout,
)
from layoutdsl.naming import with_names
from layoutdsl.rules import (
    arguments_of,
    axes_of,
    check_fill,
    counted,
    element_of,
    fill_of,
    foreign,
    gap,
    on_axes_of,
    refuse_domain,
    run_of,
    scope_of,
    silent,
    start_of,
    twice,
    width_of,
    with_parameters,
    wrong_count,
)
from layoutdsl.scope import Fault, Scope, did_you_mean, fault
from layoutdsl.source import Diagnostic, Label, LayoutError
from layoutdsl.syntax import ast
from layoutdsl.syntax.printer import print_body, print_declaration
from layoutdsl.table import Table

MOST_ALIASES = 32
"""How many layouts may be named after one another in a row."""

MOST_FAULTS = 100
"""Faults of one text that are collected before we give up on it."""

_CLAUSE_WORDS = {
    ast.FillClause: "fill",
    ast.ElementClause: "of",
    ast.OffsetClause: "offset",
    ast.WhereClause: "where",
}


def elaborate(
    file: ast.File,
    name: str,
    known: Mapping[str, Layout] | None = None,
    tables: Mapping[str, Table] | None = None,
) -> claims.Module:
    """Return the layouts, tables and claims of a text.

    Args:
        file: the parsed text.
        name: what to call it.
        known: layouts of the library, which the text may use by name.
        tables: tables of the library, which claims may be about.

    Raises:
        LayoutError: with every fault of the text, in source order.
    """
    return _Elaborator(file, known or {}, {} if tables is None else tables).module(name)


class _Elaborator:
    """One text: declarations by name, layouts as far as they are known, faults so far."""

    def __init__(
        self, file: ast.File, known: Mapping[str, Layout], tables: Mapping[str, Table]
    ) -> None:
        self._known = known
        self._faults: list[Diagnostic] = []
        self._layouts: dict[str, Layout | None] = {}
        self._open: dict[str, Fault] = {}
        self._under_way: list[str] = []
        self._declared: dict[str, ast.LayoutDecl] = {}
        self._claimed = [each for each in file.declarations if isinstance(each, ast.ClaimDecl)]
        declared: dict[str, ast.TableDecl] = {}
        first: dict[str, ast.Name] = {}
        for declaration in file.declarations:
            if isinstance(declaration, ast.ClaimDecl):
                continue
            name = declaration.name
            kind = "layout" if isinstance(declaration, ast.LayoutDecl) else "table"
            if first.setdefault(name.text, name) is not name:
                self._report(twice(kind, name, first[name.text]))
            elif isinstance(declaration, ast.LayoutDecl):
                self._declared[name.text] = declaration
            else:
                declared[name.text] = declaration
        self._tables = Tables(declared, tables, (self._declared, known))
        self._refuted = {
            each.subject.name.text for each in self._claimed if each.polarity == "refute"
        }

    def _report(self, found: Fault) -> None:
        if found.diagnostic.code:
            self._faults.append(found.diagnostic)
        if len(self._faults) >= MOST_FAULTS:
            raise LayoutError(tuple(dict.fromkeys(self._faults)))

    def module(self, name: str) -> claims.Module:
        for declared in self._declared:
            self._plain(declared)
        tables, faults = self._tables.plain()
        for each in faults:
            self._report(each)
        names = self._tables
        of_layouts = [each for each in self._claimed if each.subject.name.text not in names]
        of_tables = [each for each in self._claimed if each.subject.name.text in names]
        found = tuple(filter(None, map(self._claim, of_layouts)))
        said = tuple(filter(None, map(self._table_claim, of_tables)))
        if self._faults:
            raise LayoutError(tuple(dict.fromkeys(self._faults)))
        layouts = {each: layout for each, layout in self._layouts.items() if layout is not None}
        ordered = {each: layouts[each] for each in self._declared if each in layouts}
        texts = {each: print_declaration(self._declared[each]) for each in ordered}
        texts |= {each: print_declaration(names.declared[each]) for each in tables}
        return claims.Module(name, ordered, found, texts, tables, said)

    def _plain(self, name: str) -> Layout | None:
        """The layout of that name, its parameters left open; its faults are reported once."""
        if name not in self._layouts:
            self._layouts[name] = None
            declaration = self._declared[name]
            try:
                self._layouts[name] = self._layout(declaration, {})
                self._look_for_gaps(declaration, self._layouts[name])
            except Fault as found:
                if found.needs_numbers and declaration.parameters:
                    self._open[name] = found
                else:
                    self._report(found)
        return self._layouts[name]

    def _layout(self, declaration: ast.LayoutDecl, arguments: Mapping[str, Expr]) -> Layout:
        parameters = {
            each.text: arguments.get(each.text, Extent(each.text))
            for each in declaration.parameters
        }
        if isinstance(declaration.body, ast.Reference):
            return self._alias(declaration, declaration.body, parameters)
        if isinstance(declaration.body, ast.Foreign):
            return self._foreign(declaration, declaration.body, parameters)
        axes = self._axes(declaration)
        scope = scope_of(axes, parameters)
        coordinates = tuple(map(scope.coordinate, declaration.body.places))
        opened = tuple(name for name, value in parameters.items() if isinstance(value, Extent))
        rank = declaration.body.chunk_rank
        layout = Layout(declaration.name.text, axes, coordinates, rank, parameters=opened)
        return self._with_clauses(layout, declaration, scope)

    def _foreign(
        self, declaration: ast.LayoutDecl, body: ast.Foreign, parameters: Mapping[str, Expr]
    ) -> Layout:
        axes = None if declaration.axes is None else self._axes(declaration)
        found = foreign(body, axes)
        taken = tuple(each for each in parameters if each not in found.parameters)
        layout = replace(found, name=declaration.name.text, parameters=(*found.parameters, *taken))
        return self._with_clauses(layout, declaration, scope_of(layout.axes, parameters))

    def _axes(self, declaration: ast.LayoutDecl) -> tuple[Axis, ...]:
        if declaration.axes is None:
            span = declaration.name.span
            hint = f"write `layout {declaration.name.text}(n, c, h, w) = ...`"
            raise fault("L208", "the layout names no axes", span, help=hint)
        return axes_of(declaration.axes, declaration.parameters)

    def _alias(
        self, declaration: ast.LayoutDecl, body: ast.Reference, parameters: Mapping[str, Expr]
    ) -> Layout:
        if declaration.axes is not None:
            span = declaration.name.span
            hint = f"write `layout {declaration.name.text} = {body.name.text}`"
            raise fault("L208", "a layout named after another takes its axes", span, help=hint)
        if declaration.name.text in self._under_way:
            message = f"the layout `{declaration.name.text}` is named after itself"
            raise fault("L208", message, body.span)
        if len(self._under_way) >= MOST_ALIASES:
            message = f"more than {MOST_ALIASES} layouts are named after one another"
            raise fault("L104", message, body.span)
        takes = self._parameters_of(body.name)
        if takes and not body.arguments:
            raise fault("L210", wrong_count(body, takes, 0), body.span)
        self._under_way.append(declaration.name.text)
        try:
            other = self._referred(body, parameters)
        finally:
            self._under_way.pop()
        if other is None:
            raise silent(body.span)
        opened = tuple(dict.fromkeys(v.name for v in parameters.values() if isinstance(v, Extent)))
        layout = replace(other, name=declaration.name.text, parameters=opened)
        return self._with_clauses(layout, declaration, scope_of(other.axes, parameters))

    def _referred(self, reference: ast.Reference, parameters: Mapping[str, Expr]) -> Layout | None:
        """The layout that a reference names; ``None`` where its own faults are reported already."""
        name = reference.name.text
        values = arguments_of(reference, self._parameters_of(reference.name), parameters)
        declaration = self._declared.get(name)
        if declaration is None:
            return with_parameters(self._known[name], values)
        if not reference.arguments and name not in self._under_way:
            layout = self._plain(name)
            if name in self._open:
                raise self._open[name]
            return layout
        self._plain(name)
        return self._layout(declaration, values)

    def _table_claim(self, claim: ast.ClaimDecl) -> claims.TableClaim | None:
        try:
            table = self._tables.referred(claim.subject)
            table = replace(table, name=print_body(claim.subject))
            parameters = {name: Extent(name) for name in table.parameters}
            where = scope_of(table.axes, parameters).conditions(claim.where)
            predicate: claims.Sound | claims.Inverts
            match claim.predicate:
                case ast.Inverts(reference):
                    other = self._on_axes(table.frame, reference)
                    if other.domain:
                        message = f"`{other.name}` holds only part of a shape, a table all of it"
                        raise fault("L304", message, reference.span)
                    predicate = claims.Inverts(other)
                case plain:
                    predicate = plain_predicate(plain, table, claim.span)
        except Fault as found:
            self._report(found)
            return None
        text = print_declaration(claim)
        return claims.TableClaim(claim.polarity, table, predicate, where, text)

    def _on_axes(self, layout: Layout, reference: ast.Reference) -> Layout:
        """The layout that a reference names, on the axes of another."""
        other = self._referred(reference, {})
        if other is None:
            raise silent(reference.span)
        named = replace(other, name=print_body(reference))
        return on_axes_of(layout, named, reference.span)

    def _parameters_of(self, name: ast.Name) -> list[str]:
        if name.text in self._tables:
            message = f"`{name.text}` is a table, and a layout is named here"
            raise fault("L201", message, name.span)
        if name.text in self._declared:
            return [each.text for each in self._declared[name.text].parameters]
        if name.text in self._known:
            return list(self._known[name.text].parameters)
        hint = did_you_mean(name.text, [*self._declared, *self._known])
        raise fault("L201", f"there is no layout `{name.text}`", name.span, help=hint)

    def _with_clauses(self, layout: Layout, declaration: ast.LayoutDecl, scope: Scope) -> Layout:
        seen: dict[type, ast.Clause] = {}
        for clause in declaration.clauses:
            first = seen.setdefault(type(clause), clause)
            if first is not clause:
                word = _CLAUSE_WORDS[type(clause)]
                label = (Label(first.span, "first here"),)
                raise fault("L203", f"two `{word}` clauses", clause.span, others=label)
            match clause:
                case ast.FillClause():
                    layout = replace(layout, fill=fill_of(clause))
                case ast.ElementClause(name):
                    layout = replace(layout, element=element_of(name))
                case ast.OffsetClause(value):
                    layout = replace(layout, start=start_of(scope, value))
                case ast.WhereClause():
                    shapes, indices = scope.restrictions(clause)
                    where, domain = (*layout.where, *shapes), (*layout.domain, *indices)
                    layout = replace(layout, where=where, domain=domain)
        check_fill(layout, seen.get(ast.FillClause) or seen.get(ast.ElementClause))
        return layout

    def _look_for_gaps(self, declaration: ast.LayoutDecl, layout: Layout | None) -> None:
        """Report digits that can tell no large extent apart, unless a claim refutes the layout."""
        body = declaration.body
        if layout is None or layout.name in self._refuted or not isinstance(body, ast.Coordinates):
            return
        found = network(layout)
        if not isinstance(found, NotDigits) or found.kind not in ("gap", "unused"):
            return
        ranged = {
            name for each in layout.where for name in extents(each.left) | extents(each.right)
        }
        if (
            ranged
            or layout.domain
            or any(isinstance(axis.extent, Constant) for axis in layout.axes)
        ):
            return
        if found.kind == "unused":
            hint = "give it a coordinate, or fix its extent to 1"
            self._report(fault("L209", found.reason, declaration.name.span, help=hint))
        elif all(wire < len(body.places) for wire in found.wires):
            self._report(gap(found, body, layout))

    def _claim(self, claim: ast.ClaimDecl) -> claims.Claim | None:
        try:
            layout = self._referred(claim.subject, {})
            if layout is None:
                return None
            layout = replace(layout, name=print_body(claim.subject))
            scope = scope_of(layout.axes, {name: Extent(name) for name in layout.parameters})
            predicate = self._predicate(claim.predicate, layout, scope)
            where = scope.conditions(claim.where)
        except Fault as found:
            self._report(found)
            return None
        return claims.Claim(claim.polarity, layout, predicate, where, print_declaration(claim))

    def _predicate(
        self, predicate: ast.Predicate, layout: Layout, scope: Scope
    ) -> claims.Predicate:
        match predicate:
            case ast.Sound():
                return claims.Sound()
            case ast.Fits(width, measure):
                return claims.Fits(width_of(width), counted(measure, layout))
            case ast.OffsetsFit(width, measure):
                return claims.OffsetsFit(width_of(width), counted(measure, layout))
            case ast.Computes(width):
                return claims.Computes(width_of(width))
            case ast.Keeps(places):
                refuse_domain(layout, places[0].span)
                return claims.Keeps(run_of(scope, places))
            case ast.Aligns(places, number, element):
                refuse_domain(layout, places[0].span)
                if number.value < 1:
                    raise fault("L301", "alignment is to 1 byte or more", number.span)
                return claims.Aligns(run_of(scope, places), number.value, element_of(element))
            case ast.Equals(right, names):
                return self._equality(right, layout, with_names(scope, right, names))
            case ast.Inverts(reference):
                message = f"`{layout.name}` is a layout, and only a table inverts one"
                hint = f"write `{layout.name} == {print_body(reference)}`"
                raise fault("L304", message, reference.span, help=hint)

    def _equality(
        self,
        right: ast.Reference | ast.Coordinates | ast.Foreign | ast.Expression,
        layout: Layout,
        scope: Scope,
    ) -> claims.Predicate:
        if isinstance(right, ast.Coordinates):
            places = tuple(map(scope.coordinate, right.places))
            body = replace(layout, coordinates=places, chunk_rank=right.chunk_rank)
            return claims.EqualsLayout(replace(body, name=print_body(right), start=Constant(0)))
        if isinstance(right, ast.Foreign):
            read = replace(foreign(right, None), name=print_body(right))
            return claims.EqualsLayout(on_axes_of(layout, read, right.span))
        if isinstance(right, ast.Name) and right.text not in {**scope.axes, **scope.symbols}:
            right = ast.Reference(right, (), right.span)
        if isinstance(right, ast.Reference):
            return claims.EqualsLayout(self._on_axes(layout, right))
        return claims.EqualsFormula(scope.value(right))
