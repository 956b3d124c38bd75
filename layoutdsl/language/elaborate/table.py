"""Tree -> meaning for tables: slot coordinates, the index that is read off them, their claims."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace

from layoutdsl.language.elaborate.axes import axes_of
from layoutdsl.language.elaborate.doubts import idle_parameters
from layoutdsl.language.elaborate.rules import arguments_of, refuse_repeats, scope_of, twice
from layoutdsl.language.elaborate.scope import Scope
from layoutdsl.language.integers.expr import Constant, Expr, Extent
from layoutdsl.language.meaning import claims
from layoutdsl.language.meaning.model import Axis
from layoutdsl.language.meaning.table import Slot, Table
from layoutdsl.language.syntax import ast
from layoutdsl.language.texts.faults import Fault, did_you_mean, fault
from layoutdsl.language.texts.source import Diagnostic, Span


class Tables:
    """The tables that a text may name.

    Args:
        declared: those of the text; they come first.
        known: those of the library, which come after every layout.
        layouts: the names of layouts, of the text first, then of the library; neither is read
            through, as the library is read only for what is asked of it.

    Attributes:
        doubts: warnings about the tables of the text that have been read, by their names.
    """

    def __init__(
        self,
        declared: Mapping[str, ast.TableDecl],
        known: Mapping[str, Table],
        layouts: tuple[Container[str], ...],
    ) -> None:
        self.declared = declared
        self._known, self._layouts = known, layouts
        self.doubts: dict[str, tuple[Diagnostic, ...]] = {}

    def __contains__(self, name: str) -> bool:
        if name in self.declared or any(name in each for each in self._layouts):
            return name in self.declared
        return name in self._known

    def plain(self) -> tuple[dict[str, Table], list[Fault]]:
        """Return the tables of the text, their parameters left open, and the faults of others."""
        tables: dict[str, Table] = {}
        faults: list[Fault] = []
        for name, declaration in self.declared.items():
            try:
                tables[name] = table_of(declaration, {})
                self.doubts[name] = tuple(idle_parameters(declaration))
            except Fault as found:
                if not (found.needs_numbers and declaration.parameters):
                    faults.append(found)
        return tables, faults

    def referred(self, reference: ast.Reference) -> Table:
        """Return the table that a reference names.

        Raises:
            Fault: the arguments do not fit, or with them it is no table.
        """
        declaration = self.declared.get(reference.name.text)
        if declaration is None:
            known = self._known[reference.name.text]
            return with_arguments(known, arguments_of(reference, known.parameters, {}, "table"))
        names = [each.text for each in declaration.parameters]
        return table_of(declaration, arguments_of(reference, names, {}, "table"))


def table_of(declaration: ast.TableDecl, arguments: Mapping[str, Expr]) -> Table:
    """Return the table that is declared, with some of its parameters given.

    Raises:
        Fault: the declaration makes no table.
    """
    parameters = {
        each.text: arguments.get(each.text, Extent(each.text)) for each in declaration.parameters
    }
    axes = axes_of(declaration.axes, declaration.parameters)
    scope = scope_of(axes, parameters)
    slots = tuple(_slot(scope, each) for each in declaration.slots)
    _refuse_clashes(declaration)
    body = Scope({each.name: each.extent for each in slots}, scope.symbols, "a slot coordinate")
    opened = dict.fromkeys(v.name for v in parameters.values() if isinstance(v, Extent))
    return Table(
        declaration.name.text,
        axes,
        slots,
        _index(declaration, axes, body),
        scope.conditions(declaration.where),
        tuple(opened),
    )


def _slot(scope: Scope, slot: ast.SlotDecl) -> Slot:
    name = slot.name
    if name.text != name.text.lower() or not name.text[0].isalpha():
        hint = f"write `{name.text.lower().lstrip('_') or 'i'}`"
        message = f"the slot coordinate `{name.text}` is not in lower case"
        raise fault("L204", message, name.span, help=hint)
    extent = scope.extent(slot.extent)
    if isinstance(extent, Constant) and extent.value < 1:
        raise fault("L204", "an extent is at least 1", slot.extent.span)
    return Slot(name.text, extent)


def _refuse_clashes(declaration: ast.TableDecl) -> None:
    """An index is read off a slot, so that one name for both would say nothing."""
    refuse_repeats("slot coordinate", [each.name for each in declaration.slots])
    taken = [*(each.name for each in declaration.axes), *declaration.parameters]
    for slot in declaration.slots:
        for other in taken:
            if other.text == slot.name.text:
                raise twice("name", slot.name, other)


def _index(declaration: ast.TableDecl, axes: tuple[Axis, ...], body: Scope) -> tuple[Expr, ...]:
    refuse_repeats("index", [each.axis for each in declaration.entries])
    known = [axis.name for axis in axes]
    for entry in declaration.entries:
        if entry.axis.text not in known:
            hint = did_you_mean(entry.axis.text, known)
            message = f"the table has no axis `{entry.axis.text}`"
            raise fault("L201", message, entry.axis.span, help=hint)
    found = {each.axis.text: body.value(each.value) for each in declaration.entries}
    for name in known:
        if name not in found:
            message = f"the table gives no index along `{name}`"
            hint = f"add `{name} = ...`"
            raise fault("L211", message, declaration.name.span, help=hint)
    return tuple(found[name] for name in known)


def with_arguments(table: Table, values: Mapping[str, Expr]) -> Table:
    """Give a library table, known only as meaning, its arguments."""
    if not values:
        return table
    opened = [v.name for v in values.values() if isinstance(v, Extent)]
    return replace(table.substituted(values), parameters=tuple(dict.fromkeys(opened)))


def plain_predicate(predicate: ast.Predicate, table: Table, span: Span) -> claims.Sound:
    """Return what a claim without ``inverts`` says of a table: nothing but that it is sound."""
    if isinstance(predicate, ast.Sound):
        return claims.Sound()
    message = f"`{table.name}` is a table: it is proved on its own, or to invert a layout"
    hint = f"write `{table.name} inverts LAYOUT`, and claim the rest of the layout"
    raise fault("L304", message, span, help=hint)
