"""That the names of a function mean what a reader that copies them into each block takes them for.

Python has one scope for a function. The reader has one for each block, which is the same where a
name is bound in one block alone, and read in it alone, after it is bound. Trusted.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence

from layoutdsl.code.validate.terms import Meaningless

_IMPORTED = ("np", "math", "operator", "Any", "TypeAlias", "ArrayLike", "NDArray", "Array")
_MODULE = ("Iterator", "Sequence", "SOURCE", "TARGET", "CERTIFICATE", "VALIDATED", "FALLBACK")
_TAKEN = frozenset({*dir(builtins), *_IMPORTED, *_MODULE})


def check_names(
    body: Sequence[ast.stmt], arguments: Sequence[str], forbidden: frozenset[str]
) -> None:
    """Refuse a function in which a name may mean another thing than the reader takes it for.

    Args:
        body: its statements.
        arguments: names that are bound before.
        forbidden: names that it must not bind.

    Raises:
        Meaningless: there is such a name.
    """
    _check_block(body, dict.fromkeys(arguments, id(body)), _TAKEN | forbidden)
    names = set().union(*map(_stored, body)) - set(arguments)
    for name in _unbound(body, names, set()):
        raise Meaningless(f"`{name}` is read where it may not be bound")


def _check_block(
    body: Sequence[ast.stmt], bound: dict[str, int], forbidden: frozenset[str]
) -> None:
    """Each name is bound in one block alone; ``bound`` says in which."""
    for statement in body:
        if isinstance(statement, ast.For):
            _bind(statement.target, id(statement.body), bound, forbidden)
            _check_block(statement.body, bound, forbidden)
        elif isinstance(statement, ast.If):
            _check_block(statement.body, bound, forbidden)
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                _bind(target, id(body), bound, forbidden)
        elif not isinstance(statement, ast.Expr | ast.Return | ast.Raise):
            raise Meaningless(f"`{ast.unparse(statement)}` is not known")


def _bind(target: ast.expr, block: int, bound: dict[str, int], forbidden: frozenset[str]) -> None:
    names = target.elts if isinstance(target, ast.Tuple) else [target]
    said = [each.id for each in names if isinstance(each, ast.Name) and each.id != "_"]
    if len(set(said)) < len(said):
        raise Meaningless("a name is bound twice at once")
    for name in said:
        if name in forbidden or name.startswith("__"):
            raise Meaningless(f"`{name}` is bound")
        if bound.setdefault(name, block) != block:
            raise Meaningless(f"`{name}` is bound in two blocks")


def _unbound(body: Sequence[ast.stmt], names: set[str], known: set[str]) -> Iterator[str]:
    """Names that are read before they are bound, or outside the block that binds them."""
    here = set(known)
    for statement in body:
        match statement:
            case ast.For(target=target, iter=iterated, body=inner):
                yield from _unknown(iterated, names, here)
                yield from _unbound(inner, names, here | _stored(target))
            case ast.If(test=test, body=inner):
                yield from _unknown(test, names, here)
                yield from _unbound(inner, names, here)
            case ast.Assign(targets=targets, value=value):
                yield from _unknown(value, names, here)
                for target in targets:
                    yield from _unknown(target, names, here)
                    here |= _stored(target)
            case _:
                yield from _unknown(statement, names, here)


def _unknown(node: ast.AST, names: set[str], known: set[str]) -> Iterator[str]:
    for each in ast.walk(node):
        match each:
            case ast.Name(id=name, ctx=ast.Load()):
                if name == "_" or (name in names and name not in known):
                    yield name


def _stored(target: ast.AST) -> set[str]:
    nodes = ast.walk(target)
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
