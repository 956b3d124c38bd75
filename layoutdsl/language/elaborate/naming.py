"""Names for parts of a formula: ``with cb = c/16, Cb = ceil(C/16)`` after ``==``.

A name stands for its expression, and may be used in those that follow it and in what stands before
``with``. As names are put in place, a short text could say a formula of any size; so what it comes
to is measured before anything is built.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from layoutdsl.language.elaborate.scope import Scope
from layoutdsl.language.syntax import ast
from layoutdsl.language.syntax.walk import names_in, of_places, operands
from layoutdsl.language.texts.faults import fault

LARGEST = 4000
"""Names, numbers and operators in a formula, once every name is put in place."""

DEEPEST = 150
"""Levels of operators in it."""


@dataclass(frozen=True, slots=True)
class Extension:
    """How large and how deep an expression is, once every name is put in place."""

    nodes: int = 1
    depth: int = 1


Written = ast.Body | ast.Expression


def with_names(scope: Scope, right: Written, names: tuple[ast.Definition, ...]) -> Scope:
    """Return the scope in which the right side of an equation is read.

    Args:
        scope: of the layout that the claim speaks of.
        right: what stands before ``with``.
        names: what stands after it.

    Raises:
        Fault: a name is taken, is not known yet or is not used, or the formula is too large.
    """
    known: dict[str, Extension] = {}
    later = {each.name.text: each.name for each in reversed(names)}
    for each in names:
        name = each.name
        if name.text in known or name.text in scope.axes or name.text in scope.symbols:
            message = f"the name `{name.text}` is taken"
            raise fault("L203", message, name.span, help="choose another name")
        _refuse_later(each.value, scope, later, name)
        found = _measured(each.value, known)
        _refuse_large(found, each.value)
        value = scope.value(each.value)
        scope = replace(scope, symbols={**scope.symbols, name.text: value})
        known[name.text] = found
        del later[name.text]
    _refuse_unused(right, scope, names)
    for written in _expressions(right):
        _refuse_large(_measured(written, known), written)
    return scope


def _refuse_later(
    value: ast.Expression, scope: Scope, later: dict[str, ast.Name], own: ast.Name
) -> None:
    for used in names_in(value):
        if used.text in later and used.text not in {**scope.axes, **scope.symbols}:
            itself = used.text == own.text
            message = f"`{used.text}` is not known yet"
            hint = (
                "a name cannot stand for itself" if itself else f"write `{used.text} = ...` first"
            )
            raise fault("L201", message, used.span, help=hint)


def _refuse_unused(right: Written, scope: Scope, names: tuple[ast.Definition, ...]) -> None:
    used = {name.text for written in _expressions(right) for name in names_in(written)}
    if not used <= {*scope.axes, *scope.symbols}:
        return  # a name that is not known is the fault to report: it may be this one, misspelt
    used |= {name.text for each in names for name in names_in(each.value)}
    for each in names:
        if each.name.text not in used:
            message = f"the name `{each.name.text}` is not used"
            raise fault("L305", message, each.name.span)


def _refuse_large(found: Extension, written: ast.Expression) -> None:
    words = "with every name put in place"
    if found.nodes > LARGEST:
        message = f"the formula has more than {LARGEST} names, numbers and operators"
        raise fault("L103", message, written.span, words=words)
    if found.depth > DEEPEST:
        message = f"the formula is nested more than {DEEPEST} operators deep"
        raise fault("L104", message, written.span, words=words)


def _measured(expression: ast.Expression, known: dict[str, Extension]) -> Extension:
    if isinstance(expression, ast.Name):
        return known.get(expression.text, Extension())
    parts = [_measured(each, known) for each in operands(expression)]
    nodes = sum(each.nodes for each in parts)
    return Extension(1 + nodes, 1 + max((each.depth for each in parts), default=0))


def _expressions(right: Written) -> tuple[ast.Expression, ...]:
    match right:
        case ast.Reference() | ast.Foreign():
            return ()
        case ast.Coordinates(places):
            return of_places(places)
        case _:
            return (right,)
