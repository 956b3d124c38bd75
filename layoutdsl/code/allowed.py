"""What emitted Python may say: a list of syntax, names and attributes, and nothing beyond it.

Text that is generated is executed, so it is read first. What is not on the list is a fault of the
generator, never of its user. This module imports nothing of ours.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from operator import itemgetter

from layoutdsl.language.integers.parsing import PARSING


class UnsafeText(RuntimeError):  # noqa: N818 (it says what the text is)
    """The generator emitted something that is not on the list: a fault of ours."""


_NODES: tuple[type[ast.AST], ...] = (
    ast.Module,
    ast.Import,
    ast.ImportFrom,
    ast.alias,
    ast.FunctionDef,
    ast.arguments,
    ast.arg,
    ast.Return,
    ast.Assign,
    ast.Delete,
    ast.AnnAssign,
    ast.For,
    ast.While,
    ast.Break,
    ast.If,
    ast.With,
    ast.withitem,
    ast.Raise,
    ast.Expr,
    ast.Yield,
    ast.BoolOp,
    ast.BinOp,
    ast.UnaryOp,
    ast.IfExp,
    ast.Compare,
    ast.Call,
    ast.keyword,
    ast.Constant,
    ast.JoinedStr,
    ast.FormattedValue,
    ast.Attribute,
    ast.Subscript,
    ast.Slice,
    ast.Starred,
    ast.Name,
    ast.Tuple,
    ast.List,
    ast.Dict,
    ast.ListComp,
    ast.GeneratorExp,
    ast.comprehension,
    ast.expr_context,
    ast.boolop,
    ast.operator,
    ast.unaryop,
    ast.cmpop,
)

# fmt: off
_BUILTINS = frozenset((
    "TypeError", "ValueError", "abs", "all", "bool", "complex", "dict", "divmod", "enumerate",
    "float", "int", "isinstance", "len", "list", "map", "max", "min", "next", "object", "range",
    "slice", "sorted", "str", "tuple", "type", "zip",
))

_ATTRIBUTES = frozenset((
    # of numpy
    "abs", "arange", "array", "asarray", "ascontiguousarray", "broadcast_shapes", "broadcast_to",
    "copysign", "dtype", "empty", "errstate", "finfo", "float64", "floor", "fmod", "generic",
    "int64", "integer", "isfinite", "isnan", "ix_", "maximum", "may_share_memory", "minimum",
    "moveaxis", "ndarray", "ndindex", "nonzero", "packbits", "prod", "rint", "tiny", "uint64",
    "uint8", "unpackbits", "where", "zeros",
    # of arrays and their types
    "__array_interface__", "aligned", "all", "any", "astype", "c_contiguous", "carray", "char",
    "copy", "flags", "hasobject", "item", "itemsize", "kind", "max", "min", "nbytes", "ndim",
    "newbyteorder", "owndata", "ravel", "reshape", "shape", "size", "strides", "tolist",
    "transpose", "view", "writeable",
    # of numbers, lists, types and threads
    "append", "get", "bit_length", "index", "real", "__getitem__", "__name__", "map",
))
# fmt: on

_IMPORTS = frozenset(
    {
        "from __future__ import annotations",
        "from collections.abc import Callable",
        "from concurrent.futures import ThreadPoolExecutor",
        "from functools import lru_cache",
        "from math import gcd, prod",
        "import math",
        "import operator",
        "from collections.abc import Callable, Iterator, Sequence",
        "from collections.abc import Iterator, Sequence",
        "from math import prod",
        "from typing import Any, TypeAlias",
        "from numpy.typing import ArrayLike, NDArray",
        "from time import perf_counter",
        "import numpy as np",
        "from numpy.typing import NDArray",
    }
)

_IMPORTED = frozenset(
    {
        *{"np", "NDArray", "lru_cache", "gcd", "prod", "perf_counter"},
        *{"ThreadPoolExecutor", "Callable", "Iterator", "Sequence"},
        *{"math", "operator", "ArrayLike"},
    }
)
_TYPES = frozenset({"Any", "TypeAlias"})
"""Imported by some, and bound by others."""
RESERVED = _BUILTINS | _IMPORTED
"""Names that no emitted text may bind."""
_REMEMBERS = r"lru_cache\(maxsize=[0-9]+\)"


def refuse_unsafe(text: str) -> None:
    """Return if the text says only what emitted modules may say.

    Most functions are the same in every module, so each piece between two empty lines is looked
    at once. Pieces that are Python each by itself mean the same one after the other: no string,
    bracket or block is open where one ends. Where a piece is none, the whole text is one.

    Raises:
        UnsafeText: naming the line and what is wrong with it.
    """
    try:
        with PARSING:
            try:
                pieces = []
                for each in text.split("\n\n\n"):
                    read = _piece if len(each) <= MOST_KEPT else _piece.__wrapped__
                    pieces.append(read(each))
            except (SyntaxError, ValueError):
                pieces = [_piece(text)]
    except (SyntaxError, ValueError) as error:
        raise UnsafeText(f"emitted text is no Python: {error}") from error
    bound = _IMPORTED.union(_TYPES, *map(itemgetter(1), pieces))
    line = 1
    for nodes, _, lines in pieces:
        for node in nodes:
            fault = _fault(node, bound)
            if fault is not None:
                told = node.lineno + line - 1 if hasattr(node, "lineno") else "?"
                raise UnsafeText(f"emitted line {told}: {fault}")
        line += lines + 2


MOST_KEPT = 1 << 13
"""Characters of a piece that is remembered; what every module carries is below."""


@lru_cache(maxsize=256)
def _piece(text: str) -> tuple[tuple[ast.AST, ...], frozenset[str], int]:
    """Return what a piece says that depends on others or is wrong; what it binds; its lines."""
    names = set[str]()
    open_nodes = list[ast.AST]()
    tree = ast.parse(text)
    defaults = _default_numbers(tree)
    for node in ast.walk(tree):
        if node in defaults:
            continue
        match node:
            case ast.FunctionDef(name=name) | ast.arg(arg=name):
                names.add(name)
            case ast.Name(id=name, ctx=ast.Store()):
                names.add(name)
        if isinstance(node, ast.Name) or _fault(node, _BUILTINS) is not None:
            open_nodes.append(node)
    return tuple(open_nodes), frozenset(names), text.count("\n") + 1


def _default_numbers(tree: ast.Module) -> set[ast.AST]:
    """Return the floats that are defaults of arguments: a fill may be one, and nothing else is."""
    functions = (each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef))
    defaults = (default for each in functions for default in each.args.defaults)
    parts = (part for default in defaults for part in ast.walk(default))
    return {
        part for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, float)
    }


def _fault(node: ast.AST, bound: frozenset[str]) -> str | None:
    if not isinstance(node, _NODES):
        return f"{type(node).__name__} is not allowed"
    match node:
        case ast.Import() | ast.ImportFrom():
            return None if ast.unparse(node) in _IMPORTS else f"`{ast.unparse(node)}`"
        case ast.Attribute(attr=name):
            return None if name in _ATTRIBUTES else f"attribute `{name}`"
        case ast.FunctionDef(name=name, decorator_list=decorators):
            remembers = all(re.fullmatch(_REMEMBERS, ast.unparse(each)) for each in decorators)
            return _name_fault(name) if remembers else "a decorator"
        case ast.arg(arg=name):
            return _name_fault(name)
        case ast.Name(id=name, ctx=ast.Load()):
            return None if name in bound or name in _BUILTINS else f"name `{name}`"
        case ast.Name(id=name):
            return _name_fault(name)
        case ast.Constant(value=value):
            plain = value is None or value is ... or isinstance(value, bool | int | str)
            return None if plain else f"constant {value!r}"
        case ast.FormattedValue(format_spec=spec) if spec is not None:
            return "a format"
    return None


def _name_fault(name: str) -> str | None:
    """A name that is bound hides no builtin, and is no name with a meaning to Python."""
    if name in _BUILTINS or name in _IMPORTED or not name.isascii():
        return f"`{name}` is bound"
    return f"`{name}` is bound" if name.startswith("__") else None
