"""The frame of an emitted module: imports, constants, the support it carries, its own functions.

The support is not read but compared: `SUPPORT_HASH` is that of the text whose meaning stands in
`calls`. What else stands at the top level of a module has no place there. Trusted.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from layoutdsl.code.validate.calls import BUILTINS, COPIES, ROWS, SUPPORT
from layoutdsl.code.validate.reading import assigned
from layoutdsl.code.validate.values import Meaningless
from layoutdsl.language.integers.parsing import PARSING

SUPPORT_HASH = "23d8b9a3393ed4221c0b2d7b04035ae28d25f517ff3f06246b9ddd92b3e2a443"
"""The SHA-256 of the support: its functions and what it names, as they follow each other."""
ROWS_HASH = "fb0b36ab7097fceb21d98b72c798a768a427d4e64a44cda02a69f599edfc5ff1"
"""The same of what those carry beside that move runs or rows."""
COPIES_HASH = "1a8e6cb0c92abdc1b3367d3d92cf3707f988af003a30764540ff773cb806042d"
"""The same of what those carry beside whose elements have copies."""

_IMPORTS = (
    "from __future__ import annotations",
    "from functools import lru_cache",
    "from math import gcd, prod",
    "from time import perf_counter",
    "import numpy as np",
    "from numpy.typing import NDArray",
)
_NAMED = (
    "_Array",
    "_Number",
    "_Part",
    "_Slots",
    "_Region",
    "_Loop",
    "_Cuts",
    "_How",
    "_Way",
    "_ALONE",
)
_ALIASES = (
    "_Crossed = tuple[slice, tuple[int, ...], tuple[slice, ...], tuple[slice, ...]]",
    "_Passage = tuple[tuple[slice, ...], tuple[int, ...], _Slots, _Slots]",
)
_CARRIED = (*SUPPORT, *ROWS, *COPIES)
NO_FILL = "`fill` is missing: it is the quantised zero of the tensor"
"""Message of the only `TypeError` that a module raises itself; others are `ValueError`."""
_CONSTANTS = ("SOURCE", "TARGET", "CERTIFICATE", "FALLBACK", "VALIDATED")


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands in a module beside what every module carries.

    Attributes:
        functions: its own, by name.
        constants: what its head says, by name.
        has_rows: it carries what moves runs and rows.
        has_copies: it carries what makes a tensor one with its copies.
    """

    functions: Mapping[str, ast.FunctionDef]
    constants: Mapping[str, object]
    has_rows: bool
    has_copies: bool


def sealed(text: str) -> str:
    """Return the text of a module but for what it says of its own validation."""
    unsaid = ("VALIDATED = ", "# Nobody has shown that ")
    return "\n".join(line for line in text.split("\n") if not line.startswith(unsaid))


def framed(text: str) -> Frame:
    """Return what stands in a module.

    Most functions are the same in every module, so each piece between two empty lines is parsed
    once. Pieces that are Python each by itself mean the same one after the other: no string,
    bracket or block is open where one ends. Where a piece is none, the whole text is one.

    Raises:
        Meaningless: the text is no Python, or its frame is another.
    """
    pieces = text.split("\n\n\n")
    try:
        with PARSING:
            try:
                trees = [(_tree if len(each) <= MOST_KEPT else ast.parse)(each) for each in pieces]
            except (SyntaxError, ValueError, RecursionError):
                pieces, trees = [text], [ast.parse(text)]
    except (SyntaxError, ValueError, RecursionError) as error:
        raise Meaningless(f"the text is no Python: {error}") from None
    top = _Top()
    for piece, tree in zip(pieces, trees, strict=True):
        top.lines = piece.split("\n")
        for statement in tree.body:
            top.read(statement)
    return top.frame()


_tree = lru_cache(maxsize=256)(ast.parse)
"""The tree of a text of Python; nobody may change it."""

MOST_KEPT = 1 << 13
"""Characters of a piece whose tree is kept; what every module carries is below."""


@dataclass
class _Top:
    """What stands at the top of a module, as far as it was read; `lines` of the piece at hand."""

    lines: list[str] = field(default_factory=list)
    imports: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    constants: dict[str, object] = field(default_factory=dict)
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    support: list[str] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)
    copies: list[str] = field(default_factory=list)
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
            case ast.Assign(targets=[ast.Name(id=name)]) if name == "_Offsets":
                self._carried(name).append(_lines(self.lines, statement))
            case ast.FunctionDef(name=name) if name in _CARRIED:
                self._carried(name).append(_lines(self.lines, statement))
                self.spoken |= _names(statement)
            case ast.FunctionDef(name=name):
                self.functions[name] = _plain(statement)
            case _:
                raise Meaningless(f"`{ast.unparse(statement)}` stands at the top of the module")
        self.names.append(name)

    def _carried(self, name: str) -> list[str]:
        """The texts of the group that a carried name belongs to."""
        kinds = ((SUPPORT, self.support), (COPIES, self.copies))
        return next((found for names, found in kinds if name in names), self.rows)

    def frame(self) -> Frame:
        known = (*self.names, *BUILTINS)
        if tuple(self.imports) != _IMPORTS or len({*known}) < len(known):
            raise Meaningless("imports differ, or a name is defined twice")
        carried = ((self.rows, ROWS_HASH), (self.copies, COPIES_HASH))
        others = all(_hash(found) == wanted for found, wanted in carried if found)
        if _hash(self.support) != SUPPORT_HASH or not others:
            raise Meaningless("the functions that every module carries differ")
        if not self.spoken.isdisjoint(self.functions):
            hidden = "a name is hidden that the functions speak of that every module carries"
            raise Meaningless(hidden)
        return Frame(self.functions, self.constants, bool(self.rows), bool(self.copies))


def _hash(texts: list[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


@lru_cache(maxsize=256)
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
                keywords=[ast.keyword(arg="maxsize", value=ast.Constant(value=most))],
            )
        ]:
            return type(most) is int
    return False


@lru_cache(maxsize=64)
def _plain(function: ast.FunctionDef) -> ast.FunctionDef:
    """A function that hides nothing, and at most remembers; defaults and exceptions are plain."""
    for default in (*function.args.defaults, *function.args.kw_defaults):
        match default:
            case ast.Constant() | ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
                continue
            case ast.Call(func=ast.Name("float"), args=[ast.Constant("inf" | "-inf" | "nan")]) if (
                not default.keywords
            ):  # Python has no literals of them; no module may give `float` another meaning
                continue
        raise Meaningless(f"`{function.name}` has a default that is computed")
    if function.decorator_list and not remembers(function):
        raise Meaningless(f"`{function.name}` is decorated")
    _refuse_unlike_numbers(function)
    nodes = list(ast.walk(function))
    parameters = {each.arg for each in nodes if isinstance(each, ast.arg)}
    if not {*assigned(function.body), *parameters}.isdisjoint(BUILTINS):
        raise Meaningless(f"`{function.name}` hides a name of Python's")
    for node in nodes:
        match node:
            case ast.Raise(
                exc=ast.Call(
                    func=ast.Name(id=name), args=[ast.Constant(value=str(words))], keywords=[]
                ),
                cause=None,
            ) if name == ("TypeError" if words == NO_FILL else "ValueError"):
                continue
            case ast.Raise():
                raise Meaningless(f"`{ast.unparse(node)}`")
    return function


def _refuse_unlike_numbers(function: ast.FunctionDef) -> None:
    """Refuse numbers that equal an integer and are none: `np.zeros(1.0)` fails, and `1.0 == 1`.

    Whoever reads a function compares its numbers by `==`. `True` is what `copy` is compared with.
    """
    flags = {
        id(node.comparators[0])
        for node in ast.walk(function)
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot)
    }
    defaults = {id(part) for each in function.args.defaults for part in ast.walk(each)}
    for node in ast.walk(function):
        if not isinstance(node, ast.Constant) or id(node) in defaults:
            continue
        value = node.value
        if value is None or value is ... or type(value) in (int, str):
            continue
        if not (value is True and id(node) in flags):
            raise Meaningless(f"`{function.name}` says {value!r} where an integer or text belongs")
