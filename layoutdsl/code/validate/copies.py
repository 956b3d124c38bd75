"""A module of a layout that holds copies of its elements: two modules in one text.

Functions called `all_...` and `_all_...` are those of the layout with all of its copies, which are
elements to it; the others are those of the tensor in its first copies. Each half is read by itself,
as what it says would be in a module of its own. `pack` and `_whole`, by which the halves meet, are
not read but compared. Trusted.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from copy import deepcopy

from layoutdsl.code.validate.calls import BUILTINS, COPIES, ROWS, SUPPORT
from layoutdsl.code.validate.values import Meaningless
from layoutdsl.language.integers.expr import Constant
from layoutdsl.language.integers.parsing import PARSING
from layoutdsl.language.meaning.model import Layout

Functions = Mapping[str, ast.FunctionDef]


def halves(layout: Layout, functions: Functions) -> tuple[Functions, Functions]:
    """Return the functions of all copies, by their usual names, and those of the first.

    Raises:
        Meaningless: what joins them is not what it always is, or one half calls the other.
    """
    rest = dict(functions)
    names = {name: _plain_name(name) for name in rest if _plain_name(name) != name}
    taken = {*SUPPORT, *ROWS, *COPIES, *BUILTINS}
    if len({*names.values()}) < len(names) or not taken.isdisjoint(names.values()):
        raise Meaningless("a function of all copies hides another")
    every = {names[name]: _renamed(rest.pop(name), names) for name in names}
    if "pack" not in every:
        raise Meaningless("there is no function `all_pack`")
    given = {"_whole": "shape: object", "pack": ast.unparse(every["pack"].args)}
    for name, wanted in _joints(layout).items():
        function = rest.pop(name, None)
        if function is None or function.decorator_list:
            raise Meaningless(f"`{name}` differs")
        said, *body = function.body
        found = ast.unparse(function.args), [*map(ast.unparse, body)]
        if not _is_text(said) or found != (given[name], wanted):
            raise Meaningless(f"`{name}` differs")
    return every, rest


def moves_rows(functions: Functions) -> bool:
    """Return whether functions move runs or rows."""
    return any(not _spoken(each).isdisjoint(ROWS) for each in functions.values())


def _joints(layout: Layout) -> dict[str, list[str]]:
    """What `_whole` and `pack` do, line by line."""
    own, names = layout.element_axes, [axis.name for axis in layout.axes]
    whole = []
    for axis in layout.axes:
        if axis.name not in layout.copies:
            whole.append(f"extents[{own.index(axis)}]")
        elif isinstance(axis.extent, Constant):
            whole.append(str(axis.extent.value))
        else:
            whole.append(f"extents[{[each.extent for each in own].index(axis.extent)}]")
    with PARSING:
        axes, extents = (
            ast.unparse(ast.parse(f"({''.join(f'{each}, ' for each in some)})"))
            for some in (map(names.index, layout.copies), whole)
        )
    return {
        "_whole": [
            f"extents = _integers(shape, {len(own)}, 'shape')",
            f"return {extents}",
        ],
        "pack": [
            "tensor = _array(src, 'src')",
            f"tensor = _spread(tensor, _whole(tensor.shape), {axes})",
            "return all_pack(tensor, out, fill, threads, copy)",
        ],
    }


def _plain_name(name: str) -> str:
    if name.startswith("_all_"):
        return name.removeprefix("_all")
    return name.removeprefix("all_")


def _renamed(function: ast.FunctionDef, names: Mapping[str, str]) -> ast.FunctionDef:
    found = deepcopy(function)
    found.name = names[found.name]
    for node in ast.walk(found):
        if isinstance(node, ast.arg) and node.arg in (*names, *names.values()):
            raise Meaningless("an argument hides a function")
        if isinstance(node, ast.Name) and node.id in names:
            node.id = names[node.id]
        elif isinstance(node, ast.Name) and node.id in names.values():
            raise Meaningless("functions of all copies and of the first call each other")
    return found


def _spoken(function: ast.FunctionDef) -> set[str]:
    return {each.id for each in ast.walk(function) if isinstance(each, ast.Name)}


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
