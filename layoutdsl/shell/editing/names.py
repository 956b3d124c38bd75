"""The names of a text: what each stands for, where it is said first, where else it stands.

The extent of an axis is its name in capitals, so both are one name here; claims and layouts that
are named after others speak of the axes of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from layoutdsl.language.syntax import ast
from layoutdsl.language.syntax.walk import applications_in, names_in, of_places
from layoutdsl.language.texts.source import Span

Kind: TypeAlias = Literal[
    "layout", "table", "record", "axis", "extent", "parameter", "slot", "field", "name"
]


@dataclass(frozen=True, slots=True)
class Symbol:
    """What a name stands for.

    Attributes:
        kind: of what.
        scope: the declaration or claim in which it does; empty for what a text declares.
        name: as it is declared.
    """

    kind: Kind
    scope: str
    name: str


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A place where a symbol stands.

    Attributes:
        symbol: which.
        span: of the name.
        defines: whether it is declared here.
        capital: whether it stands as the extent of the axis that it is.
    """

    symbol: Symbol
    span: Span
    defines: bool = False
    capital: bool = False


Env: TypeAlias = dict[str, tuple[Symbol, bool]]
"""What a name stands for in some place, and whether as an extent."""

_Headed = ast.LayoutDecl | ast.TableDecl | ast.RecordDecl
_KINDS: Mapping[type, Kind] = {
    ast.LayoutDecl: "layout",
    ast.TableDecl: "table",
    ast.RecordDecl: "record",
}


def occurrences(file: ast.File) -> tuple[Occurrence, ...]:
    """Return every name of a text whose meaning is known, in its order."""
    found = list(_Names(file).found())
    return tuple(sorted(found, key=lambda each: (each.span.start, each.span.end)))


class _Names:
    def __init__(self, file: ast.File) -> None:
        self._file = file
        self._headed: dict[str, _Headed] = {}
        for each in file.declarations:
            if isinstance(each, _Headed):
                self._headed.setdefault(each.name.text, each)

    def found(self) -> Iterator[Occurrence]:
        for number, each in enumerate(self._file.declarations):
            match each:
                case ast.LayoutDecl():
                    yield from self._head(each, each.axes or ())
                    yield from self._layout(each.body, each.clauses, self._env(each))
                case ast.TableDecl():
                    yield from self._table(each)
                case ast.RecordDecl():
                    yield from self._record(each)
                case ast.RuleDecl():
                    yield from self._rule(each, f"#{number}")
                case ast.GroupDecl():
                    yield from self._group(each)
                case ast.ClaimDecl():
                    yield from self._claim(each, f"#{number}")
                case _:
                    for reference in _references(each):
                        yield from self._reference(reference, {})

    def _root(self, name: str) -> _Headed | None:
        """The declaration whose axes a name has, through those that are named after others."""
        for _ in range(len(self._headed) + 1):
            found = self._headed.get(name)
            if not isinstance(found, ast.LayoutDecl) or found.axes is not None:
                return found
            match found.body:
                case ast.Reference(inner) | ast.Application(inner=ast.Reference(inner)):
                    name = inner.text
                case ast.Application(indices=(ast.Place(ast.Name(text)),)):
                    name = text
                case _:
                    return found
        return None

    def _env(self, declaration: _Headed) -> Env:
        found: Env = {}
        root = self._root(declaration.name.text)
        if root is not None:
            found |= _axes_env(root.axes or (), root.name.text)
        if isinstance(declaration, ast.TableDecl):
            for slot in declaration.slots:
                symbol = Symbol("slot", declaration.name.text, slot.name.text)
                found[slot.name.text] = symbol, False
        for each in declaration.parameters:
            found[each.text] = Symbol("parameter", declaration.name.text, each.text), False
        return found

    def _head(self, declaration: _Headed, axes: tuple[ast.AxisDecl, ...]) -> Iterator[Occurrence]:
        name, scope = declaration.name, declaration.name.text
        yield Occurrence(Symbol(_KINDS[type(declaration)], "", name.text), name.span, defines=True)
        for each in declaration.parameters:
            yield Occurrence(Symbol("parameter", scope, each.text), each.span, defines=True)
        yield from _axes(axes, scope, self._env(declaration))

    def _layout(
        self,
        body: ast.Body,
        clauses: tuple[ast.Clause, ...],
        env: Env,
    ) -> Iterator[Occurrence]:
        match body:
            case ast.Coordinates(places):
                yield from _used(of_places(places), env)
                yield from self._applied(of_places(places), env)
            case ast.Reference():
                yield from self._reference(body, env)
            case ast.Application():
                yield from _used((body,), env)
                yield from self._applied((body,), env)
        for clause in clauses:
            match clause:
                case ast.OffsetClause(value):
                    yield from _used((value,), env)
                case ast.WhereClause():
                    yield from _asked(clause, env)
                case ast.ElementClause(interface=ast.InterfaceWords(per=ast.Name() as per)):
                    yield from _used((per,), env)

    def _reference(self, reference: ast.Reference, env: Env) -> Iterator[Occurrence]:
        name = reference.name
        declared = self._headed.get(name.text)
        kind: Kind = "layout" if declared is None else _KINDS[type(declared)]
        yield Occurrence(Symbol(kind, "", name.text), name.span)
        yield from _used(reference.arguments, env)

    def _applied(self, expressions: Iterable[ast.Expression], env: Env) -> Iterator[Occurrence]:
        """The layouts that expressions apply, and those that they are composed with."""
        for each in (found for one in expressions for found in applications_in(one)):
            named = [each.layout.name]
            match each:
                case ast.Application(inner=ast.Reference(inner)):
                    named.append(inner)
                case ast.Application(indices=(ast.Place(ast.Name(text) as name),)):
                    named += [name] if text not in env else []
            for name in named:
                yield from self._reference(ast.Reference(name, (), name.span), env)

    def _table(self, table: ast.TableDecl) -> Iterator[Occurrence]:
        env = self._env(table)
        yield from self._head(table, table.axes)
        for slot in table.slots:
            symbol = Symbol("slot", table.name.text, slot.name.text)
            yield Occurrence(symbol, slot.name.span, defines=True)
            yield from _used((slot.extent,), env)
        for entry in table.entries:
            yield from _used((entry.axis, entry.value), env)
        if table.where is not None:
            yield from _asked(table.where, env)

    def _record(self, record: ast.RecordDecl) -> Iterator[Occurrence]:
        env = self._env(record)
        yield from self._head(record, record.axes)
        fields = set[str]()
        for number, part in enumerate(record.parts):
            field = Symbol("field", record.name.text, part.name.text)
            yield Occurrence(field, part.name.span, defines=part.name.text not in fields)
            fields.add(part.name.text)
            scope = f"{record.name.text}/{number}"
            inner = env | _picked_env(part, scope, env)
            for digit in (digit for pick in part.picks for digit in pick):
                if isinstance(digit.value, ast.Name) and digit.value.text in inner:
                    symbol, _ = inner[digit.value.text]
                    own = symbol.scope == scope
                    yield Occurrence(symbol, digit.value.span, defines=own)
                if digit.extent is not None:
                    yield from _used((digit.extent,), env)
            yield from self._layout(part.body, part.clauses, inner)
        yield from self._layout(ast.Coordinates((), None, record.span), record.clauses, env)

    def _rule(self, rule: ast.RuleDecl, scope: str) -> Iterator[Occurrence]:
        env = _axes_env(rule.axes or (), scope)
        yield from _axes(rule.axes or (), scope, env)
        if rule.body is not None:
            yield from self._layout(rule.body, rule.clauses, env)
        if rule.stored is not None:
            yield from self._reference(rule.stored.layout, env)

    def _group(self, group: ast.GroupDecl) -> Iterator[Occurrence]:
        yield from self._reference(group.record, {})
        for each in group.sources:
            symbol = Symbol("field", group.record.name.text, each.field.text)
            yield Occurrence(symbol, each.field.span)

    def _claim(self, claim: ast.ClaimDecl, scope: str) -> Iterator[Occurrence]:
        env: Env = {}
        declared = self._headed.get(claim.subject.name.text)
        if declared is not None:
            env |= self._env(declared)
        yield from self._reference(claim.subject, env)
        if claim.part is not None:
            field = Symbol("field", claim.subject.name.text, claim.part.name.text)
            yield Occurrence(field, claim.part.name.span)
            for each in claim.part.axes:
                symbol = Symbol("name", scope, each.text)
                env[each.text] = symbol, False
                env[each.text.upper()] = symbol, True
                yield Occurrence(symbol, each.span, defines=True)
        yield from self._said(claim.predicate, scope, env)
        if claim.where is not None:
            yield from _asked(claim.where, env)

    def _said(self, predicate: ast.Predicate, scope: str, env: Env) -> Iterator[Occurrence]:
        """What a claim says of its layout; the names that it gives are added to the others."""
        match predicate:
            case ast.Equals(right, names):
                for said in names:
                    symbol = Symbol("name", scope, said.name.text)
                    env[said.name.text] = symbol, False
                    yield Occurrence(symbol, said.name.span, defines=True)
                yield from _used((said.value for said in names), env)
                if isinstance(right, ast.Name) and right.text not in env:
                    right = ast.Reference(right, (), right.span)
                if isinstance(right, ast.Coordinates | ast.Reference | ast.Application):
                    yield from self._layout(right, (), env)
                elif not isinstance(right, ast.Foreign):
                    yield from _used((right,), env)
            case ast.Keeps(places) | ast.Aligns(places):
                yield from _used(of_places(places), env)
            case ast.Reads(thread=thread, index=index):
                symbol = Symbol("name", scope, thread.text)
                yield Occurrence(symbol, thread.span, defines=True)
                yield from _used((each.axis for each in index), env)
                env[thread.text] = symbol, False
                yield from _used((each.value for each in index), env)
            case ast.Inverts(layout):
                yield from self._reference(layout, env)


def _references(declaration: ast.OperatorDecl) -> tuple[ast.Reference, ...]:
    """The layouts that are named where a text speaks of operators."""
    match declaration:
        case ast.KernelDecl(operands=taken, results=results):
            return (*(each.layout for each in taken), *results)
        case ast.PreferenceDecl(layouts=layouts):
            return layouts
        case _:
            return ()


def _axes_env(axes: Iterable[ast.AxisDecl], scope: str) -> Env:
    found: Env = {}
    for axis in axes:
        symbol = Symbol("axis", scope, axis.name.text)
        found[axis.name.text] = symbol, False
        if axis.extent is None:
            found[axis.name.text.upper()] = symbol, True
        elif isinstance(axis.extent, ast.Name):
            name = axis.extent.text
            found.setdefault(name, (Symbol("extent", scope, name), False))
    return found


def _axes(axes: Iterable[ast.AxisDecl], scope: str, env: Env) -> Iterator[Occurrence]:
    said = set[str]()
    for axis in axes:
        symbol = Symbol("axis", scope, axis.name.text)
        yield Occurrence(symbol, axis.name.span, defines=True)
        if isinstance(axis.extent, ast.Name) and axis.extent.text in env:
            found, capital = env[axis.extent.text]
            defines = found.kind == "extent" and found.name not in said
            said.add(axis.extent.text)
            yield Occurrence(found, axis.extent.span, defines, capital)


def _picked_env(part: ast.PartDecl, scope: str, outer: Env) -> Env:
    """The axes that a part has of its own, digits of axes included."""
    found: Env = {}
    for pick in part.picks:
        for digit in pick:
            if not isinstance(digit.value, ast.Name):
                continue
            name = digit.value.text
            if digit.extent is None and name in outer:
                continue
            symbol = Symbol("axis", scope, name)
            found[name] = symbol, False
            found[name.upper()] = symbol, True
    return found


def _used(expressions: Iterable[ast.Expression], env: Env) -> Iterator[Occurrence]:
    for expression in expressions:
        for name in names_in(expression):
            if name.text in env:
                symbol, capital = env[name.text]
                yield Occurrence(symbol, name.span, capital=capital)


def _asked(clause: ast.WhereClause, env: Env) -> Iterator[Occurrence]:
    for condition in clause.conditions:
        match condition:
            case ast.Within(value, low, high):
                yield from _used((value, low, high), env)
            case ast.Comparison(operands):
                yield from _used(operands, env)
