"""Emitted Python, statement by statement: a small interpreter over terms. Trusted.

Conditions on extents are handled in three ways: `if condition: raise` is a refusal; in a body that
only puts members into lists the condition becomes theirs; elsewhere the text is read once for each
outcome. What is not understood is refused by `Meaningless`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from layoutdsl.code.validate.calls import Calls
from layoutdsl.code.validate.expressions import Names
from layoutdsl.code.validate.values import Listing, Meaningless, Span, Tuple
from layoutdsl.proof.kernel.checker import Term

MOST_CALLS = 12


class Fork(Exception):  # noqa: N818  the text has to be read for both outcomes
    """A condition on extents that is not decided yet."""

    def __init__(self, condition: Term) -> None:
        super().__init__(condition)
        self.condition = condition


class Raised(Exception):  # noqa: N818  what the text does
    """The text raises an exception, whatever the shape."""


@dataclass(frozen=True, slots=True)
class Returned:
    """A function ended with a value."""

    value: object


class Reader(Calls):
    """Reads the functions of a module, statement by statement."""

    def call(self, name: str, *arguments: object) -> object:
        """Return what a function of the module returns; its arguments are given by position."""
        function = self.functions.get(name)
        if function is None:
            raise Meaningless(f"there is no function `{name}`")
        parameters = [each.arg for each in function.args.args]
        given = function.args
        others = (given.posonlyargs, given.kwonlyargs, given.vararg, given.kwarg)
        if len(parameters) != len(arguments) or any(others):
            raise Meaningless(f"`{name}` takes other arguments")
        self._depth += 1
        if self._depth > MOST_CALLS:
            raise Meaningless("functions call each other without end")
        outside, self.meaning.origin = self.meaning.origin, name
        done = (len(self.meaning.stores), self.blocks)
        result = self._run(function.body, dict(zip(parameters, arguments, strict=True)))
        self._depth, self.meaning.origin = self._depth - 1, outside
        value = result.value if isinstance(result, Returned) else None
        if function.decorator_list:
            if done != (len(self.meaning.stores), self.blocks):
                raise Meaningless(f"`{name}` is remembered, and does more than return a value")
            for each in arguments:
                _refuse_unlike(name, each)
            _close(name, value)
        return value

    # Statements.

    def _run(self, body: Sequence[ast.stmt], names: Names) -> Returned | None:
        for statement in body:
            result = self._statement(statement, names)
            if result is not None:
                return result
        return None

    def _statement(self, statement: ast.stmt, names: Names) -> Returned | None:
        match statement:
            case ast.Expr(value=ast.Constant(value=str())):
                return None
            case ast.Expr(value=ast.Call() as call):
                if self._call(call, names) is not None:
                    raise Meaningless(f"nothing becomes of `{ast.unparse(call)}`")
                return None
            case ast.Assign(targets=[target], value=value):
                self._assign(target, self._value(value, names), names)
                return None
            case ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as value):
                self._assign(target, self._value(value, names), names)
                return None
            case ast.If():
                return self._if(statement, names)
            case ast.For(target=target, iter=iterated, body=body, orelse=[]):
                listing = self._value(iterated, names)
                if not isinstance(listing, Listing):
                    raise Meaningless(f"`{ast.unparse(iterated)}` is no list")
                self._for(target, listing, body, names)
                return None
            case ast.Return(value=ast.expr() as value):
                return Returned(self._value(value, names))
            case ast.Raise():
                if self.meaning.guards or self.meaning.active or self.meaning.stores:
                    raise Meaningless("an exception after something was written, or in a loop")
                raise Raised
        raise Meaningless(f"`{ast.unparse(statement)}`")

    def _for(
        self, target: ast.expr, listing: Listing, body: Sequence[ast.stmt], names: Names
    ) -> None:
        """What the body assigns has no value before it, as an earlier round, nor after it."""
        for name in assigned([target, *body]):
            names.pop(name, None)
        for value in self.meaning.looped(listing):
            inner = dict(names)
            self._assign(target, value, inner)
            if self._run(body, inner) is not None:
                raise Meaningless("a loop returns")

    def _assign(self, target: ast.expr, value: object, names: Names) -> None:
        match target:
            case ast.Name(id=name):
                names[name] = value
            case ast.Tuple(elts=targets) if isinstance(value, Tuple):
                if len(targets) != len(value.items):
                    raise Meaningless(f"`{ast.unparse(target)}` names too many or too few")
                for each, item in zip(targets, value.items, strict=True):
                    self._assign(each, item, names)
            case ast.Subscript(value=array, slice=ast.Constant(value=place)) if place is ...:
                self.meaning.store(self._array(array, names), value)
            case ast.Subscript():
                self.meaning.store(self._array(target, names), value)
            case _:
                raise Meaningless(f"`{ast.unparse(target)}` is assigned")

    def _if(self, statement: ast.If, names: Names) -> Returned | None:
        condition = self._condition(statement.test, names)
        if isinstance(condition, bool):
            return self._run(statement.body if condition else statement.orelse, names)
        if not statement.orelse and all(isinstance(each, ast.Raise) for each in statement.body):
            if self.meaning.guards or self.meaning.active:
                raise Meaningless("a refusal stands in a loop or under a condition")
            self.refusals.append(condition)
            return None
        if not statement.orelse and _fills_a_list(statement.body):
            outside, self.meaning.guards = self.meaning.guards, (*self.meaning.guards, condition)
            self._run(statement.body, dict(names))
            self.meaning.guards = outside
            for name in assigned(statement.body):
                names.pop(name, None)
            return None
        if self.meaning.guards or self.meaning.active:
            raise Meaningless("a condition stands in a loop or under a condition")
        turned, positive = _positive(condition)
        if positive not in self.decisions:
            raise Fork(positive)
        taken = self.decisions[positive] != turned
        return self._run(statement.body if taken else statement.orelse, names)


def _refuse_unlike(name: str, value: object) -> None:
    """What a function is remembered by are tuples of integers: those that are equal are alike."""
    if not isinstance(value, Tuple) or not all(
        isinstance(each, int | str | tuple) and not isinstance(each, bool) for each in value.items
    ):
        raise Meaningless(f"`{name}` is remembered by something else than a shape")


def _close(name: str, value: object) -> None:
    """What is remembered is returned again: lists in it grow no more, and it holds no memory."""
    match value:
        case Tuple(items):
            for each in items:
                _close(name, each)
        case Listing():
            value.closed = True
            for member in value.members:
                _close(name, member.value)
        case Span() | int() | str() | tuple() | None:
            return
        case _:
            raise Meaningless(f"`{name}` is remembered, and returns more than integers")


def assigned(body: Sequence[ast.AST]) -> set[str]:
    """The names that statements give values to."""
    return set[str]().union(*map(_stored, body))


@lru_cache(maxsize=512)
def _stored(statement: ast.AST) -> frozenset[str]:
    """The names that one gives values to; loops and branches ask it of the same ones each time."""
    names = set[str]()
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return frozenset(names)


def _fills_a_list(body: Sequence[ast.stmt]) -> bool:
    """Whether statements put something into lists, and do nothing else but give names to it."""
    grows = 0
    for statement in body:
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="append"))):
                grows += 1
            case ast.Assign(targets=[ast.Name()]):
                continue
            case _:
                return False
    return grows > 0


def _positive(condition: Term) -> tuple[bool, Term]:
    """A condition without `not` in front, and whether there was one."""
    match condition:
        case ("not", part):
            turned, positive = _positive(part)
            return not turned, positive
    return False, condition
