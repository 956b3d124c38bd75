"""The frame of an emitted module: imports, constants, the support it carries, its own functions.

The support is not read but compared: `SUPPORT_HASH` is that of the text whose meaning stands in
`calls`. What else stands at the top level of a module has no place there. Trusted.
"""

from __future__ import annotations

import ast
import hashlib

from layoutdsl.validate.calls import BUILTINS, REFUSALS, SUPPORT
from layoutdsl.validate.reading import assigned
from layoutdsl.validate.values import Meaningless

SUPPORT_HASH = "268f2c7e5bccae574bfe3c54c5f907b9f8f5ffa0a5db57ad80146ed9e5c98410"
"""The SHA-256 of the support: its functions and what it names, as they follow each other."""

_IMPORTS = (
    "from __future__ import annotations",
    "from functools import lru_cache",
    "from math import gcd",
    "import numpy as np",
    "from numpy.typing import NDArray",
)
_NAMED = ("_Array", "_Number", "_Part", "_Slots", "_Region", "_Round", "_ALONE")
_ALIASES = (
    "_Crossed = tuple[slice, tuple[int, ...], tuple[slice, ...], tuple[slice, ...]]",
    "_Passage = tuple[tuple[slice, ...], tuple[int, ...], _Slots, _Slots]",
)
_CONSTANTS = ("SOURCE", "TARGET", "CERTIFICATE", "FALLBACK", "VALIDATED")


def framed(text: str) -> dict[str, ast.FunctionDef]:
    """Return the functions that are the module's own, by name.

    Raises:
        Meaningless: the text is no Python, or its frame is another.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise Meaningless(f"the text is no Python: {error}") from None
    names: list[str] = []
    functions: dict[str, ast.FunctionDef] = {}
    support, imports, lines = list[str](), list[str](), text.split("\n")
    spoken = set[str]()
    for statement in tree.body:
        match statement:
            case ast.Expr(value=ast.Constant(value=str())):
                continue
            case ast.Import() | ast.ImportFrom():
                imports.append(ast.unparse(statement))
            case ast.Assign(targets=[ast.Name(id=name)]) if name in _NAMED:
                support.append(_lines(lines, statement))
                names.append(name)
            case ast.Assign(targets=[ast.Name(id=name)]) if _is_known(statement, name):
                names.append(name)
            case ast.FunctionDef(name=name):
                if name in SUPPORT:
                    support.append(_lines(lines, statement))
                    spoken |= _names(statement)
                else:
                    functions[name] = _plain(statement)
                names.append(name)
            case _:
                raise Meaningless(f"`{ast.unparse(statement)}` stands at the top of the module")
    if tuple(imports) != _IMPORTS or len({*names, *BUILTINS}) < len(names) + len(BUILTINS):
        raise Meaningless("imports differ, or a name is defined twice")
    if hashlib.sha256("\n".join(support).encode()).hexdigest() != SUPPORT_HASH:
        raise Meaningless("the functions that every module carries differ")
    if not spoken.isdisjoint(functions):
        raise Meaningless("a name is hidden that the functions speak of that every module carries")
    return functions


def _is_known(statement: ast.Assign, name: str) -> bool:
    """Whether it gives a constant, or a type, a name that it may have."""
    constant = name in _CONSTANTS and isinstance(statement.value, ast.Constant)
    return constant or ast.unparse(statement) in _ALIASES


def _names(statement: ast.stmt) -> set[str]:
    return {each.id for each in ast.walk(statement) if isinstance(each, ast.Name)}


def _lines(lines: list[str], statement: ast.stmt) -> str:
    """The text of a statement, with what decorates it."""
    decorators = getattr(statement, "decorator_list", [])
    first = min([statement.lineno, *(each.lineno for each in decorators)])
    return "\n".join(lines[first - 1 : statement.end_lineno])


def remembers(function: ast.FunctionDef) -> bool:
    """Return whether results are remembered, and nothing else decorates the function."""
    match function.decorator_list:
        case [
            ast.Call(
                func=ast.Name(id="lru_cache"),
                args=[],
                keywords=[ast.keyword(arg="maxsize", value=ast.Constant(value=int()))],
            )
        ]:
            return True
    return False


def _plain(function: ast.FunctionDef) -> ast.FunctionDef:
    """A function that hides nothing, and at most remembers; defaults and exceptions are plain."""
    for default in (*function.args.defaults, *function.args.kw_defaults):
        match default:
            case ast.Constant() | ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
                continue
        raise Meaningless(f"`{function.name}` has a default that is computed")
    if function.decorator_list and not remembers(function):
        raise Meaningless(f"`{function.name}` is decorated")
    parameters = {each.arg for each in ast.walk(function) if isinstance(each, ast.arg)}
    if not {*assigned(function.body), *parameters}.isdisjoint(BUILTINS):
        raise Meaningless(f"`{function.name}` hides a name of Python's")
    for node in ast.walk(function):
        match node:
            case ast.Raise(
                exc=ast.Call(func=ast.Name(id=name), args=[ast.Constant()], keywords=[]), cause=None
            ) if name in REFUSALS:
                continue
            case ast.Raise():
                raise Meaningless(f"`{ast.unparse(node)}`")
    return function
