"""The frame of an emitted module: imports, constants, the support it carries, its own functions.

The support is not read but compared: `SUPPORT_HASH` is that of the text whose meaning stands in
`calls`. What else stands at the top level of a module has no place there. Trusted.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from layoutdsl.validate.calls import BUILTINS, REFUSALS, ROWS, SUPPORT
from layoutdsl.validate.reading import assigned
from layoutdsl.validate.values import Meaningless

SUPPORT_HASH = "e53d22aa6ee58e2132f22825abd9dc695f7b58648d2119cc3b7738a612c5bed2"
"""The SHA-256 of the support: its functions and what it names, as they follow each other."""
ROWS_HASH = "fb0b36ab7097fceb21d98b72c798a768a427d4e64a44cda02a69f599edfc5ff1"
"""The same of what those carry beside that move runs or rows."""

_IMPORTS = (
    "from __future__ import annotations",
    "from functools import lru_cache",
    "from math import gcd, prod",
    "import numpy as np",
    "from numpy.typing import NDArray",
)
_NAMED = ("_Array", "_Number", "_Part", "_Slots", "_Region", "_Loop", "_Cuts", "_Way", "_ALONE")
_ALIASES = (
    "_Crossed = tuple[slice, tuple[int, ...], tuple[slice, ...], tuple[slice, ...]]",
    "_Passage = tuple[tuple[slice, ...], tuple[int, ...], _Slots, _Slots]",
)
_CONSTANTS = ("SOURCE", "TARGET", "CERTIFICATE", "FALLBACK", "VALIDATED")


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands in a module beside what every module carries.

    Attributes:
        functions: its own, by name.
        constants: what its head says, by name.
        has_rows: it carries what moves runs and rows.
    """

    functions: Mapping[str, ast.FunctionDef]
    constants: Mapping[str, object]
    has_rows: bool


def sealed(text: str) -> str:
    """Return the text of a module but for what it says of its own validation."""
    unsaid = ("VALIDATED = ", "# Nobody has shown that ")
    return "\n".join(line for line in text.split("\n") if not line.startswith(unsaid))


def framed(text: str) -> Frame:
    """Return what stands in a module.

    Raises:
        Meaningless: the text is no Python, or its frame is another.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise Meaningless(f"the text is no Python: {error}") from None
    top = _Top(text.split("\n"))
    for statement in tree.body:
        top.read(statement)
    return top.frame()


@dataclass
class _Top:
    """What stands at the top of a module, as far as it was read."""

    lines: list[str]
    imports: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    constants: dict[str, object] = field(default_factory=dict)
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    support: list[str] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)
    spoken: set[str] = field(default_factory=set)

    def read(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Expr(value=ast.Constant(value=str())):
                return
            case ast.Import() | ast.ImportFrom():
                self.imports.append(ast.unparse(statement))
                return
            case ast.Assign(targets=[ast.Name(id=name)]) if name in _NAMED:
                self.support.append(_lines(self.lines, statement))
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=value)) if (
                name in _CONSTANTS
            ):
                self.constants[name] = value
            case ast.Assign(targets=[ast.Name(id=name)]) if ast.unparse(statement) in _ALIASES:
                pass
            case ast.Assign(targets=[ast.Name(id="_Offsets" as name)]):
                self.rows.append(_lines(self.lines, statement))
            case ast.FunctionDef(name=name) if name in SUPPORT or name in ROWS:
                carried = self.support if name in SUPPORT else self.rows
                carried.append(_lines(self.lines, statement))
                self.spoken |= _names(statement)
            case ast.FunctionDef(name=name):
                self.functions[name] = _plain(statement)
            case _:
                raise Meaningless(f"`{ast.unparse(statement)}` stands at the top of the module")
        self.names.append(name)

    def frame(self) -> Frame:
        known = (*self.names, *BUILTINS)
        if tuple(self.imports) != _IMPORTS or len({*known}) < len(known):
            raise Meaningless("imports differ, or a name is defined twice")
        if _hash(self.support) != SUPPORT_HASH or (self.rows and _hash(self.rows) != ROWS_HASH):
            raise Meaningless("the functions that every module carries differ")
        if not self.spoken.isdisjoint(self.functions):
            hidden = "a name is hidden that the functions speak of that every module carries"
            raise Meaningless(hidden)
        return Frame(self.functions, self.constants, bool(self.rows))


def _hash(texts: list[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


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
