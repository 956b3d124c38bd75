"""The functions of one move in C, carried out in plain integers: what they do to bytes.

Nothing here knows how `layoutdsl.code.validate` reads C: pycparser's tree is followed statement by
statement. Kernels are their contract, memory is told apart byte by byte, and every piece is done by
itself, the last one first, so that two that write one byte are noticed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pycparser import c_ast, c_parser

MOST = 200_000
"""Steps of one call: what takes more does not end."""

_HEAD = "".join(f"typedef int {name};\n" for name in ("int64_t", "uint8_t", "uintptr_t"))
_EDGE = re.compile(r"([a-z]+)_(\d+)_(\d+)_(\d+)_(?:edge|here)")
_KERNELS = ("tile", "grid", "zip", "unzip", "weave", "unweave", "gather", "shuffle", "plain")


class FaultError(Exception):
    """What no function of a move may do."""


@dataclass(frozen=True)
class Pointer:
    """A byte of a block of memory."""

    block: list[Any]
    at: int = 0

    def __add__(self, step: int) -> Pointer:
        return Pointer(self.block, self.at + step)

    def get(self, step: int) -> Any:
        place = self.at + step
        if not 0 <= place < len(self.block) or self.block[place] is None:
            raise FaultError(f"{place} is read")
        return self.block[place]


class _ReturnedError(Exception):
    pass


@dataclass
class Machine:
    """The functions of a text, and which bytes of the target each piece has written.

    Attributes:
        functions: by name.
        written: the piece that has written a byte of the target.
        target: its block.
        piece: which is being done.
    """

    functions: Mapping[str, Any]
    target: list[Any] = field(default_factory=list)
    written: dict[int, int] = field(default_factory=dict)
    piece: int = 0
    steps: int = 0

    def call(self, name: str, given: Sequence[Any]) -> Any:
        """Return what a function does."""
        function = self.functions[name]
        names = [each.name for each in function.decl.type.args.params]
        if len(names) != len(given):
            raise FaultError(f"{name} takes others")
        try:
            own = dict(zip(names, given, strict=True))
            self._body(function.body, [{"STREAM_BYTES": 1 << 23}, own])
        except _ReturnedError as returned:
            return returned.args[0]
        return None

    def _body(self, node: Any, scopes: list[dict[str, Any]]) -> None:
        self.steps += 1
        if self.steps > MOST:
            raise FaultError("it does not end")
        match node:
            case None:
                pass
            case c_ast.Compound():
                inner = [*scopes, {}]
                for each in node.block_items or ():
                    self._body(each, inner)
            case c_ast.Decl():
                scopes[-1][node.name] = self._declared(node, scopes)
            case c_ast.For():
                inner = [*scopes, {}]
                for each in node.init.decls:
                    self._body(each, inner)
                while self._value(node.cond, inner):
                    self._body(node.stmt, [*inner, {}])
                    self._value(node.next, inner)
            case c_ast.If():
                holds = self._value(node.cond, scopes)
                self._body(node.iftrue if holds else node.iffalse, [*scopes, {}])
            case c_ast.Return():
                raise _ReturnedError(self._value(node.expr, scopes))
            case _:
                self._value(node, scopes)

    def _declared(self, node: Any, scopes: list[dict[str, Any]]) -> Any:
        if isinstance(node.type, c_ast.ArrayDecl):
            size = self._value(node.type.dim, scopes)
            if not 0 < size < 1 << 20:
                raise FaultError(f"an array of {size}")
            return Pointer([None if node.init is None else 0] * size)
        return self._value(node.init, scopes)

    def _place(self, node: Any, scopes: list[dict[str, Any]]) -> dict[str, Any]:
        for scope in reversed(scopes):
            if node.name in scope:
                return scope
        raise FaultError(f"{node.name} is nothing")

    def _value(self, node: Any, scopes: list[dict[str, Any]]) -> Any:
        match node:
            case c_ast.Constant():
                return float(node.value) if node.type == "double" else int(node.value)
            case c_ast.ID():
                return self._place(node, scopes)[node.name]
            case c_ast.Cast():
                return self._value(node.expr, scopes)
            case c_ast.ExprList():
                return [self._value(each, scopes) for each in node.exprs]
            case c_ast.TernaryOp():
                holds = self._value(node.cond, scopes)
                return self._value(node.iftrue if holds else node.iffalse, scopes)
            case c_ast.ArrayRef():
                return self._value(node.name, scopes).get(self._value(node.subscript, scopes))
            case c_ast.UnaryOp(op="p++"):
                scope = self._place(node.expr, scopes)
                scope[node.expr.name] += 1
                return None
            case c_ast.UnaryOp():
                value = self._value(node.expr, scopes)
                return -value if node.op == "-" else not value
            case c_ast.Assignment():
                scope = self._place(node.lvalue, scopes)
                value = self._value(node.rvalue, scopes)
                scope[node.lvalue.name] = value + (
                    scope[node.lvalue.name] if node.op == "+=" else 0
                )
                return None
            case c_ast.BinaryOp():
                return self._joined(node, scopes)
            case c_ast.FuncCall():
                given = [self._value(each, scopes) for each in node.args.exprs]
                return self._called(node.name.name, given)
        return None

    def _given(self, node: Any, more: int, scopes: list[dict[str, Any]]) -> None:
        self._place(node, scopes)[node.name] += more

    def _joined(self, node: Any, scopes: list[dict[str, Any]]) -> Any:
        left = self._value(node.left, scopes)
        if node.op == "&&" and not left:
            return False
        right = self._value(node.right, scopes)
        if isinstance(left, Pointer) and node.op == "+":
            return left + right
        if isinstance(left, Pointer) and node.op != "&&":
            raise FaultError("a pointer is no number")
        found = _JOINED[node.op](left, right)
        if isinstance(found, int) and not -(2**63) <= found < 2**63:
            raise FaultError("a number leaves 64 bits")
        return found

    def _called(self, name: str, given: list[Any]) -> Any:
        if name in self.functions:
            return self.call(name, given)
        edge = _EDGE.fullmatch(name)
        if edge is not None:
            to, at, ro, co, rest, *counts = given
            e, rows, columns = map(int, edge.groups()[1:])
            self._move((e, rows, columns), (to, at), (ro, co), rest, counts)
            return None
        if name in _KERNELS:
            e, rows, columns, to, at, ro, co, _ = given
            counts = [rows, columns * e, columns, rows * e]
            self._move((e, rows, columns), (to, at), (ro, co), Pointer([]), counts)
            return None
        match name, given:
            case "least", (left, right):
                return min(left, right)
            case ("run", (to, at, count, _)) | ("memcpy", (to, at, count)):
                self._copied(to, [at.get(k) for k in range(_count(count))])
            case "filled", (to, rest, count):
                self._copied(to, [rest.get(k % 16) for k in range(_count(count))])
            case "steps", (table, below, radix, step):
                for k in range(below, below * radix):
                    table.block[k] = table.block[k - below] + step
            case "fetched", (_, _, table, rows, _, _):
                for row in range(rows):  # what is asked for is not read, but where it lies is
                    table.get(row)
            case "streamed", _:
                pass
            case _:
                raise FaultError(f"{name} is nothing")
        return None

    def _copied(self, to: Pointer, items: Sequence[Any]) -> None:
        for step, item in enumerate(items):
            place = to.at + step
            if not 0 <= place < len(to.block):
                raise FaultError(f"{place} is written")
            if to.block is self.target and self.written.setdefault(place, self.piece) != self.piece:
                raise FaultError(f"{place} is written by two pieces")
            to.block[place] = item

    def _move(
        self,
        sizes: tuple[int, int, int],
        places: tuple[Pointer, Pointer],
        tables: tuple[Pointer, Pointer],
        rest: Pointer,
        counts: Sequence[int],
    ) -> None:
        """The contract of a kernel, and of a part of it."""
        (e, rows, columns), (to, at), (ro, co) = sizes, places, tables
        most = (rows, columns * e, columns, rows * e)
        if any(not 0 <= count <= limit for count, limit in zip(counts, most, strict=True)):
            raise FaultError(f"{counts} of {most}")
        read, along, written, down = counts
        for r in range(rows):
            for k in range(columns * e):
                (c, b) = divmod(k, e)
                here = r < read and k < along
                item = (at + ro.get(r)).get(k) if here else rest.get(k % 16)
                if c < written and r * e + b < down:
                    self._copied(to + (co.get(c) + r * e + b), [item])


def _count(count: int) -> int:
    if not 0 <= count < 1 << 20:
        raise FaultError(f"{count} bytes")
    return count


def _toward_zero(left: int, right: int) -> int:
    if right == 0:
        raise FaultError("division by zero")
    found = abs(left) // abs(right)
    return found if (left < 0) == (right < 0) else -found


_JOINED: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _toward_zero,
    "%": lambda a, b: a - b * _toward_zero(a, b),
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "&&": lambda a, b: bool(a) and bool(b),
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "&": lambda a, b: a & b,
}


def functions(text: str) -> dict[str, Any]:
    """The functions of a text, by name.

    Raises:
        FaultError: it is no C.
    """
    plain = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL).replace("INLINED ", "static ")
    try:
        found = c_parser.CParser().parse(_HEAD + plain)
    except (c_parser.ParseError, AssertionError) as error:
        raise FaultError(str(error)) from None
    return {each.decl.name: each for each in found.ext if isinstance(each, c_ast.FuncDef)}


def targets(
    text: str, name: str, shape: Sequence[int], source: list[Any], size: int, fill: list[Any]
) -> Iterator[list[Any]]:
    """The target after all pieces, the last one first; and after all of them at once.

    Args:
        text: the functions.
        name: of the one that moves everything.
        shape: what they are called with.
        source: bytes; ``None`` may not be read.
        size: bytes of the target, which begins with ``None``.
        fill: bytes of the fill.

    Raises:
        FaultError: they do what none may do.
    """
    known = functions(text)
    extents = Pointer(list(shape))
    machine = Machine(known, target=[None] * size)
    units = machine.call(f"{name}_units", [extents])
    if not isinstance(units, int) or not 0 <= units < 5000:
        raise FaultError(f"{units} pieces")
    for piece in reversed(range(units)):
        machine.piece = piece
        given = [Pointer(source), Pointer(machine.target), extents, Pointer(fill), piece, piece + 1]
        if machine.call(f"{name}_part", given) != 0:
            raise FaultError("it is not done")
    yield machine.target
    machine = Machine(known, target=[None] * size)
    given = [Pointer(source), Pointer(machine.target), extents, Pointer(fill)]
    several = len(known[name].decl.type.args.params)
    if machine.call(name, given[:several]) != 0:
        raise FaultError("it is not done")
    yield machine.target
