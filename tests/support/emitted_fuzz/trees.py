"""Texts of one layout, taken apart and put together again with something changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from layoutdsl.language.syntax import ast
from layoutdsl.language.syntax.parser import parse
from layoutdsl.language.syntax.printer import print_declaration, print_expression
from layoutdsl.language.texts.source import Source

NOTHING = Source("", "")


@lru_cache(maxsize=256)
def tree(text: str) -> ast.LayoutDecl:
    """The only layout of a text, whose body is a list of coordinates."""
    (found,) = parse(Source("", text)).declarations
    assert isinstance(found, ast.LayoutDecl)
    return found


def text_of(layout: ast.LayoutDecl) -> str:
    return print_declaration(layout)


def places_of(layout: ast.LayoutDecl) -> tuple[ast.Place, ...]:
    assert isinstance(layout.body, ast.Coordinates)
    return layout.body.places


def place_of(text: str) -> ast.Place:
    """A coordinate from its text."""
    return places_of(tree(f"layout L() = [{text}]"))[0]


def condition_of(text: str) -> ast.Comparison | ast.Within:
    (clause,) = tree(f"layout L() = [0] where {text}").clauses
    assert isinstance(clause, ast.WhereClause)
    return clause.conditions[0]


def number(value: int) -> ast.Number:
    return ast.Number(value, place_of("0").span)


def with_places(layout: ast.LayoutDecl, places: tuple[ast.Place, ...]) -> ast.LayoutDecl:
    """The same layout with other coordinates; chunks only where there are as many as before."""
    assert isinstance(layout.body, ast.Coordinates)
    same = len(places) == len(layout.body.places)
    rank = layout.body.chunk_rank if same else None
    return replace(layout, body=replace(layout.body, places=places, chunk_rank=rank))


def with_condition(layout: ast.LayoutDecl, text: str) -> ast.LayoutDecl:
    """The same layout with one condition more."""
    wheres = [each for each in layout.clauses if isinstance(each, ast.WhereClause)]
    others = tuple(each for each in layout.clauses if not isinstance(each, ast.WhereClause))
    conditions = (*(wheres[0].conditions if wheres else ()), condition_of(text))
    return replace(layout, clauses=(*others, ast.WhereClause(conditions, layout.span)))


def with_clause(layout: ast.LayoutDecl, text: str) -> ast.LayoutDecl:
    """The same layout with a clause, in place of one of its kind."""
    (clause,) = tree(f"layout L() = [0] {text}").clauses
    others = tuple(each for each in layout.clauses if type(each) is not type(clause))
    return replace(layout, clauses=(*others, clause))


# Everything that is smaller by one step, the largest steps first.


def smaller(expression: ast.Expression) -> Iterator[ast.Expression]:
    """An expression with one part of it made simpler."""
    match expression:
        case ast.Number(value):
            steps = (0, 1, 2, 3, 7, value // 1000, value // 2, value - 1)
            for each in dict.fromkeys(steps):
                if 0 <= each < value:
                    yield ast.Number(each, expression.span)
        case ast.Name():
            yield number(0)
            yield number(1)
        case ast.Negation(operand):
            yield operand
            yield from (replace(expression, operand=each) for each in smaller(operand))
        case ast.Call(_, arguments):
            yield from arguments
            for k, argument in enumerate(arguments):
                for each in smaller(argument):
                    given = (*arguments[:k], each, *arguments[k + 1 :])
                    yield replace(expression, arguments=given)
        case ast.Operation(_, left, right):
            yield left
            yield right
            yield from (replace(expression, left=each) for each in smaller(left))
            yield from (replace(expression, right=each) for each in smaller(right))
        case ast.Tuple(parts):
            yield from (part.value for part in parts)
            if len(parts) > 1 or parts[0].extent is not None:
                yield from (replace(expression, parts=each) for each in smaller_places(parts))


def smaller_places(places: tuple[ast.Place, ...]) -> Iterator[tuple[ast.Place, ...]]:
    """Coordinates with one left out, or with one made simpler."""
    if len(places) > 1:
        yield from ((*places[:k], *places[k + 1 :]) for k in range(len(places)))
    for k, place in enumerate(places):
        for each in _smaller_place(place):
            yield (*places[:k], each, *places[k + 1 :])


def _smaller_place(place: ast.Place) -> Iterator[ast.Place]:
    if place.extent is not None:
        yield replace(place, extent=None)
    yield from (replace(place, value=each) for each in smaller(place.value))
    if place.extent is not None:
        yield from (replace(place, extent=each) for each in smaller(place.extent))


def smaller_layouts(layout: ast.LayoutDecl) -> Iterator[ast.LayoutDecl]:
    """A layout of the same axes that is simpler in one place."""
    for k in range(len(layout.clauses)):
        yield replace(layout, clauses=(*layout.clauses[:k], *layout.clauses[k + 1 :]))
    assert isinstance(layout.body, ast.Coordinates)
    if layout.body.chunk_rank is not None:
        yield replace(layout, body=replace(layout.body, chunk_rank=None))
    yield from (with_places(layout, each) for each in smaller_places(layout.body.places))
    for k, clause in enumerate(layout.clauses):
        for each in _smaller_clause(clause):
            yield replace(layout, clauses=(*layout.clauses[:k], each, *layout.clauses[k + 1 :]))
    axes = layout.axes or ()
    for k, axis in enumerate(axes):
        if axis.extent is not None:
            open_ = replace(axis, extent=None)
            yield replace(layout, axes=(*axes[:k], open_, *axes[k + 1 :]))


def _smaller_clause(clause: ast.Clause) -> Iterator[ast.Clause]:
    match clause:
        case ast.OffsetClause(value):
            yield from (replace(clause, value=each) for each in smaller(value))
        case ast.WhereClause(conditions):
            if len(conditions) > 1:
                for k in range(len(conditions)):
                    kept = (*conditions[:k], *conditions[k + 1 :])
                    yield replace(clause, conditions=kept)
            for k, condition in enumerate(conditions):
                if isinstance(condition, ast.Comparison):
                    for each in _smaller_comparison(condition):
                        kept = (*conditions[:k], each, *conditions[k + 1 :])
                        yield replace(clause, conditions=kept)


def _smaller_comparison(condition: ast.Comparison) -> Iterator[ast.Comparison]:
    sides = condition.operands
    for k, side in enumerate(sides):
        for each in smaller(side):
            yield replace(condition, operands=(*sides[:k], each, *sides[k + 1 :]))


def without_axis(layout: ast.LayoutDecl, place: int) -> ast.LayoutDecl:
    """The layout of one axis less: its index is 0, and its extent 1."""
    axes = layout.axes or ()
    axis = axes[place]
    instead = {axis.name.text: 0}
    if axis.extent is None:
        instead[axis.name.text.upper()] = 1
    made = replace(layout, axes=(*axes[:place], *axes[place + 1 :]))
    kept = [each for each in places_of(made) if _bare(each) != axis.name.text]
    made = with_places(made, tuple(_put_place(each, instead) for each in kept or places_of(made)))
    return replace(made, clauses=tuple(_put_clause(each, instead) for each in made.clauses))


def with_copies(layout: ast.LayoutDecl, place: int, copies: int) -> ast.LayoutDecl:
    """The layout with an axis that counts copies: as many as told, or as its extent says."""
    axes = list(layout.axes or ())
    name, extent = axes[place].name, axes[place].extent
    marked = ast.Name("broadcast", name.span)
    axes[place] = ast.AxisDecl(name, extent or ast.Number(copies, name.span), marked)
    made = replace(layout, axes=tuple(axes))
    if extent is not None:
        return made
    instead = {name.text.upper(): copies}
    made = with_places(made, tuple(_put_place(each, instead) for each in places_of(made)))
    return replace(made, clauses=tuple(_put_clause(each, instead) for each in made.clauses))


def _bare(place: ast.Place) -> str:
    return print_expression(place.value)


def _put_place(place: ast.Place, numbers: dict[str, int]) -> ast.Place:
    extent = None if place.extent is None else _put(place.extent, numbers)
    return replace(place, value=_put(place.value, numbers), extent=extent)


def _put(expression: ast.Expression, numbers: dict[str, int]) -> ast.Expression:
    match expression:
        case ast.Name(text) if text in numbers:
            return number(numbers[text])
        case ast.Negation(operand):
            return replace(expression, operand=_put(operand, numbers))
        case ast.Call(_, arguments):
            given = tuple(_put(each, numbers) for each in arguments)
            return replace(expression, arguments=given)
        case ast.Operation(_, left, right):
            return replace(expression, left=_put(left, numbers), right=_put(right, numbers))
        case ast.Tuple(parts):
            return replace(expression, parts=tuple(_put_place(each, numbers) for each in parts))
        case _:
            return expression


def _put_clause(clause: ast.Clause, numbers: dict[str, int]) -> ast.Clause:
    match clause:
        case ast.OffsetClause(value):
            return replace(clause, value=_put(value, numbers))
        case ast.WhereClause(conditions):
            return replace(clause, conditions=tuple(_put_condition(c, numbers) for c in conditions))
        case _:
            return clause


def _put_condition(
    condition: ast.Comparison | ast.Within, numbers: dict[str, int]
) -> ast.Comparison | ast.Within:
    if isinstance(condition, ast.Comparison):
        sides = tuple(_put(each, numbers) for each in condition.operands)
        return replace(condition, operands=sides)
    return replace(
        condition,
        value=_put(condition.value, numbers),
        low=_put(condition.low, numbers),
        high=_put(condition.high, numbers),
    )
