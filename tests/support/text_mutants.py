"""Wrong modules, made systematically from right ones: one small change each.

Every integer one more, one less, or of another type, every exception of the other kind, every name
for a like one, every statement left out or exchanged with the next, every operator for another,
every condition dropped or turned, arguments exchanged.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass

OPERATORS: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Add, ast.FloorDiv),
    ast.FloorDiv: (ast.Mult, ast.Mod),
    ast.Mod: (ast.FloorDiv, ast.Add),
    ast.BitXor: (ast.BitAnd, ast.Add),
    ast.BitAnd: (ast.BitXor,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq, ast.LtE),
    ast.NotEq: (ast.Eq, ast.Lt),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
}


Change = Callable[[ast.AST], None]


@dataclass(frozen=True)
class Mutant:
    """One change of one function of a module; its text is made when it is asked for."""

    what: str
    module: tuple[str, ...]
    function: ast.FunctionDef
    number: int
    change: Change

    @property
    def text(self) -> str | None:
        """The module with the change; ``None`` where nothing changes, or a block would be empty."""
        changed = copy.deepcopy(self.function)
        self.change(_node(changed, self.number))
        if not all(_blocks(changed)):
            return None
        body = ast.unparse(ast.fix_missing_locations(changed))
        if body == ast.unparse(self.function):
            return None
        before, past = self.function.lineno - 1, self.function.end_lineno
        return "\n".join((*self.module[:before], body, *self.module[past:]))


def mutants(text: str) -> Iterator[Mutant]:
    """Every mutant of the functions of a module; types and docstrings stay as they are."""
    lines = tuple(text.split("\n"))
    for function in ast.parse(text).body:
        if isinstance(function, ast.FunctionDef):
            kept, names = set(_types(function)), _names(function)
            for number, node in enumerate(ast.walk(function)):
                for what, change in _changes(node, names) if node not in kept else ():
                    yield Mutant(f"{function.name}: {what}", lines, function, number, change)


def _types(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """The nodes of types and of the docstring."""
    arguments = (each.annotation for each in ast.walk(function) if isinstance(each, ast.arg))
    for each in (function.body[0], function.returns, *arguments):
        if each is not None:
            yield from ast.walk(each)


def _node(tree: ast.AST, number: int) -> ast.AST:
    return next(node for place, node in enumerate(ast.walk(tree)) if place == number)


def _names(function: ast.FunctionDef) -> list[str]:
    inside = (node for each in function.body for node in ast.walk(each))
    found = {node.id for node in inside if isinstance(node, ast.Name)}
    return sorted(found - {"np", "object", "slice"})


def _blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.If | ast.For):
            yield node.body


def _changes(node: ast.AST, names: list[str]) -> Iterator[tuple[str, Change]]:
    yield from _of_values(node, names)
    yield from _of_operators(node)
    yield from _of_conditions(node)
    yield from _of_order(node)


def _of_values(node: ast.AST, names: list[str]) -> Iterator[tuple[str, Change]]:
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            others = (
                value + 1,
                value - 1,
                float(value),
                *([bool(value)] if value in (0, 1) else []),
            )
            for other in others:
                yield f"{value} -> {other}", _setting("value", other)
        case ast.Raise(exc=ast.Call(func=ast.Name(id=name))):
            other = "TypeError" if name == "ValueError" else "ValueError"
            yield f"raise {name} -> {other}", _raising(other)
        case ast.Call(func=ast.Name(id="_item"), args=[made, *_]):
            for what in (0, 1):
                if ast.unparse(made) != str(what):
                    yield f"_item({ast.unparse(made)}) -> {what}", _item_of(what)
        case ast.Name(id=name, ctx=ast.Load()):
            for other in names:
                if other != name and _alike(name, other):
                    yield f"{name} -> {other}", _setting("id", other)
        case ast.Slice():
            yield "slice without start", _setting("lower", None)
            yield "slice without end", _setting("upper", None)


def _of_operators(node: ast.AST) -> Iterator[tuple[str, Change]]:
    match node:
        case ast.BinOp() | ast.BoolOp():
            for operator in OPERATORS.get(type(node.op), ()):
                yield f"{ast.unparse(node)}: {operator.__name__}", _setting("op", operator())
            if isinstance(node, ast.BinOp):
                yield f"{ast.unparse(node)}: sides", _swap_sides
        case ast.UnaryOp():
            yield f"{ast.unparse(node)}: without", _without_operator
        case ast.Compare(ops=[first]):
            for operator in OPERATORS.get(type(first), ()):
                yield f"{ast.unparse(node)}: {operator.__name__}", _setting("ops", [operator()])


def _of_conditions(node: ast.AST) -> Iterator[tuple[str, Change]]:
    match node:
        case ast.IfExp():
            yield f"{ast.unparse(node)}: exchanged", _exchange
            yield f"{ast.unparse(node)}: first", _setting("test", ast.Constant(True))
            yield f"{ast.unparse(node)}: second", _setting("test", ast.Constant(False))
        case ast.If():
            yield f"if {ast.unparse(node.test)}: turned", _turn
            yield f"if {ast.unparse(node.test)}: always", _setting("test", ast.Constant(True))


def _of_order(node: ast.AST) -> Iterator[tuple[str, Change]]:
    for kind in ("elts", "args", "values"):
        parts = getattr(node, kind, None)
        if isinstance(parts, list):
            for place in range(len(parts) - 1):
                yield f"{kind} {place} and {place + 1} exchanged", _swapped(kind, place)
    for kind in ("body", "orelse"):
        block = getattr(node, kind, None)
        if isinstance(block, list):
            for place, statement in enumerate(block):
                said = ast.unparse(statement).split("\n")[0]
                yield f"without `{said}`", _removed(kind, place)
                if place + 1 < len(block):
                    yield f"`{said}` after the next", _swapped(kind, place)


def _alike(name: str, other: str) -> bool:
    """Both are functions of the module, or neither is."""
    return name.startswith("_") == other.startswith("_")


def _setting(field: str, value: object) -> Change:
    return lambda node: setattr(node, field, value)


def _raising(name: str) -> Change:
    return lambda node: setattr(node.exc.func, "id", name)  # type: ignore[attr-defined]


def _item_of(number: int) -> Change:
    return lambda node: node.args.__setitem__(0, ast.Constant(number))  # type: ignore[attr-defined]


def _swapped(kind: str, place: int) -> Change:
    def change(node: ast.AST) -> None:
        parts = getattr(node, kind)
        parts[place], parts[place + 1] = parts[place + 1], parts[place]

    return change


def _removed(kind: str, place: int) -> Change:
    def change(node: ast.AST) -> None:
        del getattr(node, kind)[place]

    return change


def _swap_sides(node: ast.AST) -> None:
    node.left, node.right = node.right, node.left  # type: ignore[attr-defined]


def _exchange(node: ast.AST) -> None:
    node.body, node.orelse = node.orelse, node.body  # type: ignore[attr-defined]


def _turn(node: ast.AST) -> None:
    node.test = ast.UnaryOp(ast.Not(), node.test)  # type: ignore[attr-defined]


def _without_operator(node: ast.AST) -> None:
    """``-x`` becomes ``+x``, ``not x`` becomes ``not not x``."""
    if isinstance(node.op, ast.Not):  # type: ignore[attr-defined]
        node.operand = ast.UnaryOp(ast.Not(), node.operand)  # type: ignore[attr-defined]
    else:
        node.op = ast.UAdd()  # type: ignore[attr-defined]
