"""The frame of a module: its functions, and those statements in them that layouts differ in.

Whatever the reader does not read as a formula or a view is equal to a text of `frame`. Trusted.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from layoutdsl.code.validate.arrays import frame
from layoutdsl.code.validate.arrays.codecs import parted
from layoutdsl.code.validate.terms import Meaningless
from layoutdsl.language.integers.parsing import PARSING
from layoutdsl.language.meaning.model import Layout

_IMPORTS = (
    "import math",
    "import operator",
    "from collections.abc import Iterator, Sequence",
    "from typing import Any, TypeAlias",
    "import numpy as np",
    "from numpy.typing import ArrayLike, NDArray",
    "Array: TypeAlias = NDArray[Any]",
)
_CODEC_IMPORTS = (
    *_IMPORTS[:2],
    "from collections.abc import Callable, Iterator, Sequence",
    "from math import prod",
    *_IMPORTS[3:],
)
"""The imports of a module that also has functions of words or of codes."""
MOST_CUTS = 8
"""Digits that an axis is cut into at most, with one to spare."""


@dataclass(frozen=True, slots=True)
class Kind:
    """The names in modules of one kind.

    Attributes:
        constants: texts that a module has.
        read: functions that are read line by line.
        movers: functions of which one says where elements lie, with their arguments and results.
    """

    constants: tuple[str, ...]
    read: frozenset[str]
    movers: Mapping[str, tuple[str, tuple[str, ...]]]

    @property
    def public(self) -> frozenset[str]:
        """Functions that every module has, whether or not others call them."""
        return self.read | {"_target"}


VERBS = Kind(
    ("SOURCE", "CERTIFICATE", "VALIDATED", "FALLBACK"),
    frozenset({"physical_shape", "offset", "pack", "unpack"}),
    {
        "_views": ("tensor: Array, buffer: Array", (frame.VIEWS,)),
        "_runs": ("tensor: Array, buffer: Array", (frame.RUNS,)),
        "_slots": (f"shape: {frame.INTEGERS}", (frame.OFFSETS, frame.OFFSET)),
        "_first_slots": (f"shape: {frame.INTEGERS}", (frame.OFFSETS, frame.OFFSET)),
    },
)
"""Modules that pack and unpack."""
CONVERSIONS = Kind(
    ("SOURCE", "TARGET", "VALIDATED"),
    frozenset({"physical_shapes", "convert"}),
    {"_views": (f"source: Array, target: Array, shape: {frame.INTEGERS}", (frame.VIEWS,))},
)
"""Modules that turn one buffer into another."""
_HELPERS = frozenset({"_put", "_grids", "_grid", "_held", "_item", "_refuse_values"})


@dataclass(frozen=True, slots=True)
class Function:
    """A function without its docstring.

    Attributes:
        arguments: with their types and defaults, as text.
        result: its type, as text.
        body: the statements.
    """

    arguments: str
    result: str
    body: tuple[ast.stmt, ...]

    @property
    def names(self) -> list[str]:
        """The names of the arguments."""
        (found,) = ast.parse(f"def f({self.arguments}): ...").body
        assert isinstance(found, ast.FunctionDef)
        return [each.arg for each in found.args.args]


@dataclass(frozen=True, slots=True)
class Module:
    """The constants and the functions of a module.

    Attributes:
        kind: the names that it may have.
        constants: texts and tuples of its head, by name.
        functions: those that move elements, by name.
        codecs: the statements behind them, of words and of codes.
    """

    kind: Kind
    constants: Mapping[str, object]
    functions: Mapping[str, Function]
    codecs: tuple[ast.stmt, ...] = ()

    def __getitem__(self, name: str) -> Function:
        if name not in self.functions:
            raise Meaningless(f"there is no `{name}`")
        return self.functions[name]


@dataclass(frozen=True, slots=True)
class Verbs:
    """The statements of `pack` and `unpack` that layouts differ in.

    Attributes:
        fills: fill slots.
        first: of a layout with copies, the places of the first ones in a view of slots.
    """

    fills: tuple[ast.stmt, ...]
    first: ast.expr | None


def parsed(text: str, kind: Kind = VERBS) -> Module:
    """Return what stands in a module.

    Args:
        text: of the module.
        kind: what it has to have.

    Raises:
        Meaningless: the text is no Python, or has more than functions and texts.
    """
    if any("coding" in line for line in text.splitlines()[:2]):
        raise Meaningless("the text says how it is encoded")
    try:
        with PARSING:
            first, *rest = ast.parse(text).body or [ast.Pass()]
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Meaningless(f"the text is no Python: {error}") from None
    constants, found, imports = dict[str, object](), dict[str, Function](), list[str]()
    if not _is_text(first):
        raise Meaningless("a module begins with a docstring")
    rest, codecs = parted(rest)
    if codecs and kind is not VERBS:
        raise Meaningless("there are words or codes in a module that has none")
    for each in rest:
        match each:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=value)) if (
                name in kind.constants and name not in constants
            ):
                constants[name] = value
            case ast.FunctionDef(name=name, decorator_list=[], body=[said, *inner]) if (
                name not in found
                and _is_text(said)
                and inner
                and not getattr(each, "type_params", ())
            ):
                found[name] = _function(each, inner)
            case ast.Import() | ast.ImportFrom() | ast.AnnAssign() if not found:
                imports.append(ast.unparse(each))
            case _:
                raise Meaningless(f"something else than a function, line {each.lineno}")
    if tuple(imports) != (_CODEC_IMPORTS if codecs else _IMPORTS):
        raise Meaningless("other modules are imported")
    _check_names(found, kind)
    if isinstance(constants.get("FALLBACK"), str) != ("_slots" in found):
        raise Meaningless("FALLBACK does not say how elements are moved")
    return Module(kind, constants, found, tuple(codecs))


def _check_names(functions: Mapping[str, Function], kind: Kind) -> None:
    """Refuse functions that nobody knows, and the lack of one that is called."""
    spoken = {name for each in functions.values() for name in _names(each.body)}
    known = _HELPERS | kind.public | kind.movers.keys()
    for name in (spoken | kind.public) - functions.keys():
        if name in known or name.startswith("_cut"):
            raise Meaningless(f"there is no `{name}`")
    for name in functions:
        if name not in kind.public and name not in spoken:
            raise Meaningless(f"`{name}` is not called")
    if len((kind.movers.keys() & functions.keys()) - {"_first_slots"}) != 1:
        raise Meaningless("elements are moved in several ways, or in none")


def _names(body: Sequence[ast.stmt]) -> Iterator[str]:
    nodes = (node for each in body for node in ast.walk(each))
    return (node.id for node in nodes if isinstance(node, ast.Name))


def _is_text(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def verbs(module: Module, layout: Layout) -> Verbs:
    """Return what `pack` and `unpack` do, once all else is what it has to be.

    Raises:
        Meaningless: something is another text.
    """
    _check_helpers(module, layout)
    for fills in (("FILLS",), ()):
        ways = [frame.view_moves(fills, puts=puts) for puts in (False, True)]
        if layout.copies:
            ways = [frame.copied_moves(fills, "FIRST")]
        if "_slots" in module.functions:
            ways = [frame.gather_moves(fills, copied=bool(layout.copies))]
        if "_runs" in module.functions:
            ways = [frame.run_moves(fills)]
        for moves in ways:
            wanted = functions(frame.verbs(layout, moves))
            holes = dict[str, tuple[ast.AST, ...]]()
            if all(_is(module[name], wanted[name], holes) for name in ("pack", "unpack")):
                first = holes.get("FIRST", (None,))[0]
                return Verbs(_statements(holes), first if isinstance(first, ast.expr) else None)
    raise Meaningless("`pack` or `unpack` takes, checks or moves its arguments otherwise")


def conversion_fills(module: Module, target: Layout) -> tuple[ast.stmt, ...]:
    """Return the statements of `convert` that fill slots, once all else is what it has to be.

    Args:
        module: a conversion.
        target: the layout that is written.

    Raises:
        Meaningless: something is another text.
    """
    _check_helpers(module, target)
    for fills in (("FILLS",), ()):
        for puts in (False, True):
            wanted = functions(frame.conversion(target, fills, puts=puts))
            holes = dict[str, tuple[ast.AST, ...]]()
            if _is(module["convert"], wanted["convert"], holes):
                return _statements(holes)
    raise Meaningless("`convert` takes, checks or moves its arguments otherwise")


def _statements(holes: Mapping[str, tuple[ast.AST, ...]]) -> tuple[ast.stmt, ...]:
    return tuple(each for each in holes.get("FILLS", ()) if isinstance(each, ast.stmt))


def _check_helpers(module: Module, layout: Layout) -> None:
    """Refuse helpers that are other functions, or are not there."""
    element = layout.element
    lines = [
        *frame.target_function(element),
        *frame.ITEM,
        *frame.PUT,
        *frame.GRIDS,
        *frame.GRID,
        *frame.HELD,
    ]
    if element is not None:
        lines += frame.values_function(element)
    for depth in range(1, MOST_CUTS):
        lines += frame.cut(depth)
    known = functions(lines)
    kind = module.kind
    for name, found in module.functions.items():
        if name in kind.movers:
            arguments, results = kind.movers[name]
            if found.arguments != arguments or found.result not in results:
                raise Meaningless(f"`{name}` takes or returns something else")
        elif name not in kind.read and (name not in known or not _is(found, known[name], {})):
            raise Meaningless(f"`{name}` is another function")


def functions(lines: Sequence[str]) -> dict[str, Function]:
    """Return functions by their names."""
    found = dict[str, Function]()
    for each in ast.parse("\n".join(lines)).body:
        assert isinstance(each, ast.FunctionDef)
        found[each.name] = _function(each, each.body[1:])
    return found


def _function(node: ast.FunctionDef, body: Sequence[ast.stmt]) -> Function:
    result = "" if node.returns is None else ast.unparse(node.returns)
    return Function(ast.unparse(node.args), result, tuple(body))


def _is(found: Function, wanted: Function, holes: dict[str, tuple[ast.AST, ...]]) -> bool:
    """Whether a function is another, but for its holes; these are noted."""
    plain = found.arguments == wanted.arguments and found.result == wanted.result
    return plain and _matches(list(found.body), list(wanted.body), holes)


def _matches(found: object, wanted: object, holes: dict[str, tuple[ast.AST, ...]]) -> bool:
    match wanted:
        case ast.Name(id="FIRST") if isinstance(found, ast.expr):
            holes["FIRST"] = (found,)
            return True
        case list():
            return isinstance(found, list) and _all_match(found, wanted, holes)
        case ast.AST():
            return type(found) is type(wanted) and all(
                _matches(getattr(found, field, None), getattr(wanted, field, None), holes)
                for field in wanted._fields
            )
    return type(found) is type(wanted) and found == wanted


def _all_match(
    found: list[ast.AST], wanted: list[ast.AST], holes: dict[str, tuple[ast.AST, ...]]
) -> bool:
    for at, each in enumerate(wanted):
        match each:
            case ast.Expr(value=ast.Name(id="FILLS")):
                past = len(found) - (len(wanted) - at - 1)
                if past <= at:
                    return False
                holes["FILLS"] = tuple(found[at:past])
                found, wanted = [*found[:at], *found[past:]], [*wanted[:at], *wanted[at + 1 :]]
                break
    return len(found) == len(wanted) and all(
        _matches(one, other, holes) for one, other in zip(found, wanted, strict=True)
    )
