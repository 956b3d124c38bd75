"""Tree -> meaning for layouts: what is declared, what is named after others, what clauses add."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import replace

from layoutdsl.language.digits.network import NotDigits, network
from layoutdsl.language.elaborate.application import Applications
from layoutdsl.language.elaborate.axes import axes_of, on_axes_of, refuse_copies_in
from layoutdsl.language.elaborate.doubts import (
    doubts_of_conditions,
    doubts_of_coordinates,
    idle_parameters,
)
from layoutdsl.language.elaborate.elements import (
    bits_of,
    check_fill,
    fill_of,
    quantised_fill,
    read_as,
    rounded_fill,
    with_element,
)
from layoutdsl.language.elaborate.rules import (
    arguments_of,
    gap,
    no_layout,
    scope_of,
    silent,
    start_of,
    unused,
    with_parameters,
    wrong_count,
)
from layoutdsl.language.elaborate.scope import Scope
from layoutdsl.language.elaborate.table import Tables
from layoutdsl.language.integers.expr import Constant, Expr, Extent, extents
from layoutdsl.language.meaning.elements import BIT_AXIS
from layoutdsl.language.meaning.model import Axis, Layout
from layoutdsl.language.syntax import ast
from layoutdsl.language.syntax.printer import print_body
from layoutdsl.language.texts.faults import Fault, fault
from layoutdsl.language.texts.source import Diagnostic, Label, Span
from layoutdsl.notation.foreign import foreign, symbols_of

MOST_ALIASES = 32
"""How many layouts may be named after one another in a row."""

_CLAUSE_WORDS = {
    ast.FillClause: "fill",
    ast.ElementClause: "of",
    ast.OffsetClause: "offset",
    ast.WhereClause: "where",
}


class Layouts:
    """The layouts that a text may name.

    Args:
        declared: those of the text; they come first.
        known: those of the library.
        tables: those of the text and the library, for a message where one of them is named.
        refuted: layouts that a claim says are wrong: their gaps are not reported.
        report: takes each fault of a layout, once.

    Attributes:
        doubts: warnings about the layouts of the text that have been read, by their names.
    """

    def __init__(
        self,
        declared: Mapping[str, ast.LayoutDecl],
        known: Mapping[str, Layout],
        tables: Tables,
        refuted: Container[str],
        report: Callable[[Fault], None],
    ) -> None:
        self._declared, self._known = declared, known
        self._tables, self._refuted, self._report = tables, refuted, report
        self._layouts: dict[str, Layout | None] = {}
        self._open: dict[str, Fault] = {}
        self.doubts: dict[str, tuple[Diagnostic, ...]] = {}
        self._under_way: list[str] = []

    def plain(self) -> dict[str, Layout]:
        """Return the layouts of the text that have no fault, their parameters left open."""
        found = {name: self._plain(name) for name in self._declared}
        return {name: layout for name, layout in found.items() if layout is not None}

    def on_axes(self, layout: Layout, reference: ast.Reference) -> Layout:
        """Return the layout that a reference names, on the axes of another.

        Raises:
            Fault: nothing of that name fits; or a silent one, whose cause is reported already.
        """
        return on_axes_of(layout, self._named(reference), reference.span)

    def on_axes_of_slots(self, frame: Layout, reference: ast.Reference) -> Layout:
        """Return the layout that a reference names, on the axes of a table.

        A table reads every index off a slot, so axes of copies are like all others to it.

        Raises:
            Fault: as in `on_axes`.
        """
        return on_axes_of(frame, self._named(reference).every_copy, reference.span)

    def _named(self, reference: ast.Reference) -> Layout:
        other = self.referred(reference)
        if other is None:
            raise silent(reference.span)
        return replace(other, name=print_body(reference))

    def referred(
        self, reference: ast.Reference, parameters: Mapping[str, Expr] | None = None
    ) -> Layout | None:
        """Return the layout that a reference names; ``None`` where its faults are reported already.

        Args:
            reference: a name with arguments.
            parameters: what arguments may be said by, where a declaration has parameters.

        Raises:
            Fault: there is no such layout, or the arguments do not fit.
        """
        name = reference.name.text
        values = arguments_of(reference, self._parameters_of(reference.name), parameters or {})
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

    def declares(self, name: str) -> bool:
        """Return whether a layout of the text or the library has that name."""
        return name in self._declared or name in self._known

    def applied_to(
        self, owner: str, reference: ast.Reference, parameters: Mapping[str, Expr]
    ) -> Layout:
        """Return the layout that an application names, without parameters of its own.

        Args:
            owner: the name of the layout that is being elaborated; empty in a claim.
            reference: a name with arguments.
            parameters: the parameters that arguments may name.

        Raises:
            Fault: there is no such layout, or it is `owner`; or a silent one.
        """
        self._refuse_cycle(owner, reference.span, "applied to itself")
        takes = self._parameters_of(reference.name)
        if takes and not reference.arguments:
            raise fault("L210", wrong_count(reference, takes, 0), reference.span)
        self._under_way.append(owner)
        try:
            found = self.referred(reference, parameters)
        finally:
            self._under_way.pop()
        if found is None:
            raise silent(reference.span)
        return found

    def _refuse_cycle(self, name: str, span: Span, words: str) -> None:
        if name in self._under_way:
            raise fault("L208", f"the layout `{name}` is {words}", span)
        if len(self._under_way) >= MOST_ALIASES:
            message = f"more than {MOST_ALIASES} layouts are named after one another"
            raise fault("L104", message, span)

    def unnamed(self, declaration: ast.LayoutDecl) -> Layout:
        """Return a layout that no name of the text stands for.

        Raises:
            Fault: it is none; or a silent one, whose cause is reported already.
        """
        layout = self._layout(declaration, {})
        self._look_for_gaps(declaration, layout)
        told = tuple(self._doubts(declaration, layout))
        if told:
            self.doubts[layout.name] = told
        return layout

    def _plain(self, name: str) -> Layout | None:
        """The layout of that name, its parameters left open; its faults are reported once."""
        if name not in self._layouts:
            self._layouts[name] = None
            declaration = self._declared[name]
            try:
                self._layouts[name] = layout = self._layout(declaration, {})
                self._look_for_gaps(declaration, layout)
                self.doubts[name] = tuple(self._doubts(declaration, layout))
            except Fault as found:
                if declaration.parameters and self._numbers_help(declaration, found):
                    self._open[name] = found
                else:
                    self._report(found)
        return self._layouts[name]

    def _numbers_help(self, declaration: ast.LayoutDecl, found: Fault) -> bool:
        """Return whether a fault goes away where parameters have numbers, as far as trials tell."""
        if not found.needs_numbers:
            return False
        for number in (2, 8):
            values = {each.text: Constant(number) for each in declaration.parameters}
            try:
                self._layout(declaration, values)
            except Fault as again:
                if again.diagnostic.code == found.diagnostic.code:
                    continue
            return True
        return False

    def _layout(self, declaration: ast.LayoutDecl, arguments: Mapping[str, Expr]) -> Layout:
        parameters = {
            each.text: arguments.get(each.text, Extent(each.text))
            for each in declaration.parameters
        }
        if isinstance(declaration.body, ast.Reference):
            return self._alias(declaration, declaration.body, parameters)
        if isinstance(declaration.body, ast.Foreign):
            return self._foreign(declaration, declaration.body, parameters, arguments)
        if isinstance(declaration.body, ast.Application):
            return self._application(declaration, declaration.body, parameters)
        axes = self._axes(declaration, parameters)
        copies = _copies(declaration)
        bit_of = bits_of(declaration, axes, parameters)
        if bit_of is not None:
            axes = (*axes, Axis(BIT_AXIS, Constant(bit_of.bits)))
        scope = scope_of(axes, parameters).within(_conditions(declaration))
        applications = Applications(self, declaration.name.text, parameters)
        placing = replace(scope, applies=applications.offset)
        coordinates = tuple(map(placing.coordinate, declaration.body.places))
        opened = tuple(name for name, value in parameters.items() if isinstance(value, Extent))
        rank = declaration.body.chunk_rank
        name = declaration.name.text
        layout = Layout(
            name,
            axes,
            coordinates,
            rank,
            where=tuple(applications.where),
            domain=tuple(applications.domain),
            parameters=opened,
            bit_of=bit_of,
            copies=copies,
            applied=tuple(applications.indices),
        )
        refuse_copies_in(layout.domain, copies, declaration.body.span)
        return self._with_clauses(layout, declaration, scope)

    def _application(
        self, declaration: ast.LayoutDecl, body: ast.Application, parameters: Mapping[str, Expr]
    ) -> Layout:
        """A layout applied to an index over the declared axes, or composed with another layout."""
        name, copies = declaration.name.text, _copies(declaration)
        opened = tuple(dict.fromkeys(v.name for v in parameters.values() if isinstance(v, Extent)))
        applications = Applications(self, name, parameters)
        if declaration.axes is None:
            found = applications.composed(body)
            scope = scope_of(found.axes, parameters)
        else:
            axes = self._axes(declaration, parameters)
            scope = scope_of(axes, parameters).within(_conditions(declaration))
            frame = Layout(name, axes, (), parameters=opened, copies=copies)
            found = applications.body(body, frame, scope)
            refuse_copies_in(found.domain, copies, body.span)
        layout = replace(found, name=name, parameters=opened)
        return self._with_clauses(layout, declaration, scope)

    def _foreign(
        self,
        declaration: ast.LayoutDecl,
        body: ast.Foreign,
        parameters: Mapping[str, Expr],
        arguments: Mapping[str, Expr],
    ) -> Layout:
        """The layout of a text; what it leaves open are parameters, declared or not."""
        axes = None if declaration.axes is None else self._axes(declaration, parameters)
        found = foreign(body, axes, _copies(declaration))
        values = symbols_of(found, parameters or arguments, body)
        layout = with_parameters(found, values)
        known = parameters or values
        opened = tuple(dict.fromkeys(v.name for v in known.values() if isinstance(v, Extent)))
        layout = replace(layout, name=declaration.name.text, parameters=opened)
        return self._with_clauses(layout, declaration, scope_of(layout.axes, known))

    def _axes(
        self, declaration: ast.LayoutDecl, parameters: Mapping[str, Expr]
    ) -> tuple[Axis, ...]:
        if declaration.axes is None:
            span = declaration.name.span
            hint = f"write `layout {declaration.name.text}(n, c, h, w) = ...`"
            raise fault("L208", "the layout names no axes", span, help=hint)
        return axes_of(declaration.axes, declaration.parameters, parameters)

    def _alias(
        self, declaration: ast.LayoutDecl, body: ast.Reference, parameters: Mapping[str, Expr]
    ) -> Layout:
        takes = self._parameters_of(body.name)
        if declaration.axes is not None:
            span = declaration.name.span
            hint = f"write `layout {declaration.name.text} = {body.name.text}`"
            raise fault("L208", "a layout named after another takes its axes", span, help=hint)
        self._refuse_cycle(declaration.name.text, body.span, "named after itself")
        if takes and not body.arguments:
            raise fault("L210", wrong_count(body, takes, 0), body.span)
        self._under_way.append(declaration.name.text)
        try:
            other = self.referred(body, parameters)
        finally:
            self._under_way.pop()
        if other is None:
            raise silent(body.span)
        opened = tuple(dict.fromkeys(v.name for v in parameters.values() if isinstance(v, Extent)))
        layout = replace(other, name=declaration.name.text, parameters=opened)
        return self._with_clauses(layout, declaration, scope_of(other.axes, parameters))

    def _parameters_of(self, name: ast.Name) -> list[str]:
        if name.text in self._tables:
            message = f"`{name.text}` is a table, and a layout is named here"
            raise fault("L201", message, name.span)
        if name.text in self._declared:
            declaration = self._declared[name.text]
            if isinstance(declaration.body, ast.Foreign) and not declaration.parameters:
                layout = self._plain(name.text)
                return [] if layout is None else list(layout.parameters)
            return [each.text for each in declaration.parameters]
        if name.text in self._known:
            return list(self._known[name.text].parameters)
        raise no_layout(name, self._declared, self._known)

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
                case ast.ElementClause():
                    layout = read_as(with_element(layout, clause.name), clause)
                case ast.OffsetClause(value):
                    layout = replace(layout, start=start_of(scope, value))
                case ast.WhereClause():
                    shapes, indices = scope.restrictions(clause)
                    refuse_copies_in(indices, layout.copies, clause.span)
                    where, domain = (*layout.where, *shapes), (*layout.domain, *indices)
                    layout = replace(layout, where=where, domain=domain)
        if ast.FillClause not in seen:
            layout = quantised_fill(layout)
        said = seen.get(ast.FillClause) or seen.get(ast.ElementClause)
        check_fill(layout, said)
        return rounded_fill(layout, said)

    def _doubts(self, declaration: ast.LayoutDecl, layout: Layout) -> Iterator[Diagnostic]:
        yield from idle_parameters(declaration, layout)
        if layout.name in self._refuted:
            return
        if isinstance(declaration.body, ast.Coordinates):
            yield from doubts_of_coordinates(layout, declaration.body)
        yield from doubts_of_conditions(layout, declaration.clauses)

    def _look_for_gaps(self, declaration: ast.LayoutDecl, layout: Layout) -> None:
        """Report digits that can tell no large extent apart, unless a claim refutes the layout."""
        body = declaration.body
        if layout.name in self._refuted or not isinstance(body, ast.Coordinates):
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
            self._report(unused(found, declaration))
        elif all(wire < len(body.places) for wire in found.wires):
            self._report(gap(found, body, layout))


def _copies(declaration: ast.LayoutDecl) -> tuple[str, ...]:
    """The axes along which an element is held again and again."""
    return tuple(a.name.text for a in declaration.axes or () if a.broadcast is not None)


def _conditions(declaration: ast.LayoutDecl) -> Iterator[ast.Comparison | ast.Within]:
    for clause in declaration.clauses:
        if isinstance(clause, ast.WhereClause):
            yield from clause.conditions
