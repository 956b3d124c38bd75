"""The expressions inside what was written, and the names that they use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from layoutdsl.language.syntax import ast


def names_in(expression: ast.Expression) -> Iterator[ast.Name]:
    """Yield every name of an expression, from left to right."""
    left = [expression]
    while left:
        each = left.pop()
        if isinstance(each, ast.Name):
            yield each
        left += reversed(operands(each))


def applications_in(expression: ast.Expression) -> Iterator[ast.Application]:
    """Yield every application of an expression, from the outside in."""
    if isinstance(expression, ast.Application):
        yield expression
    for each in operands(expression):
        yield from applications_in(each)


def is_alone(declaration: ast.Declaration) -> bool:
    """Return whether a layout has its coordinates in its own text, and names no other layout."""
    if not isinstance(declaration, ast.LayoutDecl):
        return False
    if not isinstance(declaration.body, ast.Coordinates):
        return isinstance(declaration.body, ast.Foreign)
    expressions = of_places(declaration.body.places)
    return not any(found for each in expressions for found in applications_in(each))


def operands(expression: ast.Expression) -> tuple[ast.Expression, ...]:
    """Return the operands of an expression; those of a tuple with their declared extents."""
    match expression:
        case ast.Number() | ast.Name():
            return ()
        case ast.Operation(_, left, right):
            return left, right
        case ast.Negation(operand):
            return (operand,)
        case ast.Call(_, arguments):
            return arguments
        case ast.Tuple(places):
            return of_places(places)
        case ast.Application(layout, indices, inner):
            more = () if inner is None else inner.arguments
            return (*layout.arguments, *of_places(indices), *more)


def of_places(places: tuple[ast.Place, ...]) -> tuple[ast.Expression, ...]:
    """Return the values and the declared extents of coordinates."""
    return tuple(
        each for place in places for each in (place.value, place.extent) if each is not None
    )


def nested(places: Iterable[ast.Place]) -> Iterator[ast.Place]:
    """Yield coordinates, and after each one those of the tuples in it."""
    for place in places:
        yield place
        yield from _in_tuples(place.value)


def _in_tuples(expression: ast.Expression) -> Iterator[ast.Place]:
    if isinstance(expression, ast.Tuple):
        yield from nested(expression.parts)
        return
    for each in operands(expression):
        yield from _in_tuples(each)


def expressions_of(
    declaration: ast.LayoutDecl | ast.TableDecl | ast.PartDecl,
) -> Iterator[ast.Expression]:
    """Yield the expressions of a declaration: its body, slots, clauses and arguments."""
    match declaration:
        case ast.LayoutDecl(body=body, clauses=clauses) | ast.PartDecl(body=body, clauses=clauses):
            match body:
                case ast.Coordinates(places):
                    yield from of_places(places)
                case ast.Reference(_, arguments):
                    yield from arguments
                case ast.Application():
                    yield body
            for clause in clauses:
                match clause:
                    case ast.OffsetClause(value):
                        yield value
                    case ast.WhereClause():
                        yield from _of_where(clause)
        case ast.TableDecl(slots=slots, entries=entries, where=where):
            yield from (each.extent for each in slots)
            yield from (each.value for each in entries)
            if where is not None:
                yield from _of_where(where)


def _of_where(clause: ast.WhereClause) -> Iterator[ast.Expression]:
    for condition in clause.conditions:
        match condition:
            case ast.Within(value, low, high):
                yield from (value, low, high)
            case ast.Comparison(operands):
                yield from operands
