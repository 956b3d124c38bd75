"""Tree -> meaning: every rule of the language, each fault with its place.

All faults of a text are collected and raised together. What names and operators mean inside a
layout is in `scope`; what a layout and a claim must satisfy is here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from layoutdsl import claims
from layoutdsl.digits import NotDigits, network
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
from layoutdsl.rules import (
    arguments_of,
    axis_of,
    check_fill,
    element_of,
    fill_of,
    foreign,
    gap,
    on_axes_of,
    refuse_repeats,
    run_of,
    scope_of,
    silent,
    start_of,
    twice,
    with_parameters,
    wrong_count,
)
from layoutdsl.scope import Fault, Scope, did_you_mean, fault
from layoutdsl.source import Diagnostic, Label, LayoutError
from layoutdsl.syntax import ast
from layoutdsl.syntax.printer import print_body, print_declaration

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
    file: ast.File, name: str, known: Mapping[str, Layout] | None = None
) -> claims.Module:
    """Return the layouts and claims of a text.

    Args:
        file: the parsed text.
        name: what to call it.
        known: layouts of the library, which the text may use by name.

    Raises:
        LayoutError: with every fault of the text, in source order.
    """
    return _Elaborator(file, known or {}).module(name)


class _Elaborator:
    """One text: declarations by name, layouts as far as they are known, faults so far."""

    def __init__(self, file: ast.File, known: Mapping[str, Layout]) -> None:
        self._known = known
        self._faults: list[Diagnostic] = []
        self._layouts: dict[str, Layout | None] = {}
        self._open: dict[str, Fault] = {}
        self._under_way: list[str] = []
        self._declared: dict[str, ast.LayoutDecl] = {}
        self._claimed = [each for each in file.declarations if isinstance(each, ast.ClaimDecl)]
        for declaration in file.declarations:
            if isinstance(declaration, ast.LayoutDecl):
                name = declaration.name
                first = self._declared.setdefault(name.text, declaration)
                if first is not declaration:
                    self._report(twice("layout", name, first.name))
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
        found = [self._claim(each) for each in self._claimed]
        if self._faults:
            raise LayoutError(tuple(dict.fromkeys(self._faults)))
        layouts = {each: layout for each, layout in self._layouts.items() if layout is not None}
        ordered = {each: layouts[each] for each in self._declared if each in layouts}
        texts = {each: print_declaration(self._declared[each]) for each in ordered}
        return claims.Module(name, ordered, tuple(each for each in found if each), texts)

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
        seen: dict[str, ast.Name] = {each.text: each for each in declaration.parameters}
        parameters = dict(seen)
        refuse_repeats("parameter", declaration.parameters)
        axes: list[Axis] = []
        for axis in declaration.axes:
            if axis.name.text in seen:
                raise twice("axis", axis.name, seen[axis.name.text])
            seen[axis.name.text] = axis.name
            axes.append(axis_of(axis))
            match axes[-1].extent:
                case Extent(name) if name in parameters:
                    raise twice("extent", ast.Name(name, axis.name.span), parameters[name])
        return tuple(axes)

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

    def _parameters_of(self, name: ast.Name) -> list[str]:
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
                    conditions = (*layout.where, *scope.conditions(clause))
                    layout = replace(layout, where=conditions)
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
        if ranged or any(isinstance(axis.extent, Constant) for axis in layout.axes):
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
            case ast.Fits(name):
                if name.text not in claims.INTEGER_TYPES:
                    hint = did_you_mean(name.text, claims.INTEGER_TYPES)
                    message = f"there is no integer type `{name.text}`"
                    raise fault("L301", message, name.span, help=hint)
                return claims.Fits(claims.INTEGER_TYPES[name.text])
            case ast.Keeps(places):
                return claims.Keeps(run_of(scope, places))
            case ast.Aligns(places, number, element):
                if number.value < 1:
                    raise fault("L301", "alignment is to 1 byte or more", number.span)
                return claims.Aligns(run_of(scope, places), number.value, element_of(element))
            case ast.Equals(right):
                return self._equality(right, layout, scope)

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
            other = self._referred(right, {})
            if other is None:
                raise silent(right.span)
            named = replace(other, name=print_body(right))
            return claims.EqualsLayout(on_axes_of(layout, named, right.span))
        return claims.EqualsFormula(scope.value(right))
