"""Index functions in MLIR: affine maps where there are any, and functions of the dialect `arith`.

What is divided is not negative, as is proved of every text, so `divui` and `remui` are floor
quotients. A slot is read to the end, whatever guards say: nothing of that is undefined, and what
comes out with `false` says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import assert_never

from layoutdsl.code.functions.affine import NotAffine, affine
from layoutdsl.code.functions.machine import Backward, Functions
from layoutdsl.code.functions.text import BUFFER, DOMAIN, HELD, Known, Language, remarks
from layoutdsl.language.digits.inverse import Inverse
from layoutdsl.language.digits.steps import SLOT
from layoutdsl.language.integers.expr import (
    Add,
    BitAnd,
    BitOr,
    BitXor,
    CeilDiv,
    Constant,
    Expr,
    Extent,
    FloorDiv,
    Index,
    Max,
    Min,
    MixedRadix,
    Mod,
    Mul,
    Sub,
    substitute,
)
from layoutdsl.language.meaning.model import Condition
from layoutdsl.language.meaning.offsets import offset_expr, physical_exprs, size_expr

TYPES = {"int32": "i32", "int64": "i64"}

_OPERATIONS: Mapping[type[Expr], str] = {
    Add: "addi",
    Sub: "subi",
    Mul: "muli",
    FloorDiv: "divui",
    Mod: "remui",
    BitAnd: "andi",
    BitOr: "ori",
    BitXor: "xori",
    Min: "minsi",
    Max: "maxsi",
}
_COMPARISONS = {"<": "slt", "<=": "sle", "==": "eq", "!=": "ne", ">": "sgt", ">=": "sge"}


def write(functions: Functions, known: Known) -> str:
    """Return a text that `mlir-opt` reads as a module."""
    return "\n".join([*_maps(functions, known), *_functions(functions, known)])


def _maps(said: Functions, known: Known) -> Iterable[str]:
    layout = said.layout
    written = TYPES[known.integers.name]
    yield from (f"// {line}".rstrip() for line in remarks(said, known, written))
    yield ""
    dimensions = {axis: f"d{number}" for number, axis in enumerate(said.axes)}
    symbols = {name: f"s{number}" for number, name in enumerate(layout.symbols)}
    meant = {**dimensions, **symbols}
    if meant:
        yield f"// {', '.join(f'{short} = {name}' for name, short in meant.items())}"
    yield _map(f"{layout.name}_offset", dimensions, symbols, [offset_expr(layout)])
    yield f"// {BUFFER}"
    yield _map(f"{layout.name}_size", {}, symbols, [size_expr(layout)])
    yield _map(f"{layout.name}_physical_shape", {}, symbols, [*physical_exprs(layout)])
    if isinstance(said.backward, Backward):
        yield f"// d0 = {SLOT}: {HELD}, where @{layout.name}_index says that it is an element"
        yield _map(
            f"{layout.name}_index", {SLOT: "d0"}, symbols, _written_out(said.backward.inverse)
        )
    yield ""


def _written_out(inverse: Inverse) -> list[Expr]:
    """The index over the slot alone."""
    values: dict[str, Expr] = {}
    for name, expr in inverse.steps:
        values[name] = substitute(expr, values)
    return [substitute(expr, values) for _, expr in inverse.index]


def _map(name: str, dimensions: dict[str, str], symbols: dict[str, str], exprs: list[Expr]) -> str:
    names = {**dimensions, **symbols}
    over = f"({', '.join(dimensions.values())})"
    over += f"[{', '.join(symbols.values())}]" if symbols else ""
    try:
        return f"#{name} = affine_map<{over} -> ({', '.join(affine(e, names) for e in exprs)})>"
    except NotAffine as reason:
        return f"// no affine map {name}: {reason}"


def _functions(said: Functions, known: Known) -> Iterable[str]:
    type_, layout = TYPES[known.integers.name], said.layout
    given = (*said.axes, *layout.symbols)
    yield from _function(
        layout.name, "offset", given, type_, lambda body: [body.value(said.offset)]
    )
    yield from _function(
        layout.name, "size", layout.symbols, type_, lambda body: [body.value(said.size)]
    )
    yield from _function(
        layout.name, "physical_shape", layout.symbols, type_,
        lambda body: [body.value(each) for each in said.box],
    )  # fmt: skip
    if said.domain:
        yield f"// {DOMAIN}"
        yield from _function(
            layout.name, "has_slot", given, type_, lambda body: [body.all(said.domain)]
        )
    back = said.backward
    if isinstance(back, str):
        yield f"// no closed inverse: {back}"
        return
    yield from _function(
        layout.name, "padded_extents", layout.symbols, type_,
        lambda body: [body.value(each) for each in back.padded],
    )  # fmt: skip
    yield f"// {HELD}: whether it is an element, and the index"
    *rest, _ = _function(
        layout.name, "index", (SLOT, *layout.symbols), type_, lambda body: _read(body, back)
    )
    yield from rest


def _read(body: _Body, back: Backward) -> list[str]:
    conditions = [*back.first]
    for piece in back.pieces:
        for name, expr in piece.steps:
            body.keep(name, expr)
        conditions += piece.guards
    index = [body.keep(name, expr) for name, expr in back.index]
    return [body.all([*conditions, *back.within]), *index]


class _Body:
    """The lines of one function; a value that was worked out is not worked out again."""

    def __init__(self, names: Iterable[str], type_: str) -> None:
        self.lines: list[str] = []
        self._type = type_
        self._names = {name: f"%{name}" for name in names}
        self._known: dict[str, str] = {}

    def keep(self, name: str, expr: Expr) -> str:
        """Work a value out under a name."""
        self._names[name] = self.value(expr)
        return self._names[name]

    def value(self, expr: Expr) -> str:
        """Work a value out; returns what it is called."""
        match expr:
            case Index(name) | Extent(name):
                return self._names[name]
            case Constant(value):
                return self._line(f"arith.constant {value} : {self._type}")
            case CeilDiv() | MixedRadix():
                raise AssertionError("no machine rounds up, or knows tuples")
            case (
                Add()
                | Sub()
                | Mul()
                | FloorDiv()
                | Mod()
                | BitAnd()
                | BitOr()
                | BitXor()
                | Min()
                | Max()
            ):
                left, right = self.value(expr.left), self.value(expr.right)
                return self._line(f"arith.{_OPERATIONS[type(expr)]} {left}, {right} : {self._type}")
            case _:
                assert_never(expr)

    def all(self, conditions: Iterable[Condition]) -> str:
        """Work out whether all conditions hold."""
        found = [self._condition(each) for each in conditions]
        first, *others = found or [self._line("arith.constant true")]
        for each in others:
            first = self._line(f"arith.andi {first}, {each} : i1")
        return first

    def _condition(self, condition: Condition) -> str:
        left, right = self.value(condition.left), self.value(condition.right)
        words = f"arith.cmpi {_COMPARISONS[condition.operator]}, {left}, {right} : {self._type}"
        return self._line(words)

    def _line(self, words: str) -> str:
        if words not in self._known:
            self._known[words] = f"%{len(self._known)}"
            self.lines.append(f"  {self._known[words]} = {words}")
        return self._known[words]


def _function(
    layout: str,
    name: str,
    given: tuple[str, ...],
    type_: str,
    results: Callable[[_Body], list[str]],
) -> list[str]:
    body = _Body(given, type_)
    found = results(body)
    truth = name in ("index", "has_slot")
    types = ["i1" if truth and number == 0 else type_ for number in range(len(found))]
    asked = ", ".join(f"%{each}: {type_}" for each in given)
    returned = types[0] if len(types) == 1 else f"({', '.join(types)})"
    return [
        f"func.func @{layout}_{name}({asked}) -> {returned} {{",
        *body.lines,
        f"  return {', '.join(found)} : {', '.join(types)}" if found else "  return",
        "}",
        "",
    ]


LANGUAGE = Language("mlir", TYPES, write)
