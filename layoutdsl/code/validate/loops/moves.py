"""The moves of a nest in C: tables of offsets, and calls of kernels. Trusted.

A kernel is its contract, `tree.Move`; what it takes for granted beside that is asked of
`code.loops.kernels`. A function for a part of such moves is named after kernel, bytes of a unit,
rows and columns.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

from layoutdsl.code.loops import tree
from layoutdsl.code.loops.kernels import in_bytes, suits
from layoutdsl.code.validate.loops.numbers import Scope, divided
from layoutdsl.code.validate.loops.parsing import Body, C
from layoutdsl.code.validate.terms import Meaningless
from layoutdsl.language.integers.bounds import ZERO
from layoutdsl.language.integers.expr import Add, Constant, Expr, Mul

KERNELS = frozenset(
    ("tile", "grid", "zip", "unzip", "weave", "unweave", "gather", "shuffle", "plain")
)
_OFFSET = 8
"""Bytes of an offset in a table."""
_MOST_ARRAY = 1 << 18
"""Bytes of an array, which stacks have; in so many, kernels count in 32 bits."""
_EDGE = re.compile(r"([a-z]+)_([1-9][0-9]*)_([1-9][0-9]*)_([1-9][0-9]*)_(?:edge|here)")


@dataclass(frozen=True, slots=True)
class _Kernel:
    """A kernel, and the bytes of a unit, rows and columns that it is called for."""

    name: str
    unit: int
    rows: int
    columns: int


@dataclass(frozen=True, slots=True)
class Moves:
    """The moves of one function.

    Attributes:
        width: bytes of an element.
        tables: by name, in elements.
    """

    width: int
    tables: dict[str, tree.Table] = field(default_factory=dict)

    def read_tables(self, body: Body, scope: Scope) -> tuple[Body, Scope]:
        """Note the tables that a function starts with; returns the rest of it, and their names.

        Raises:
            Meaningless: one has a form that is not known.
        """
        while body and body[0][0] == "array":
            match body[0]:
                case ("array", "int64_t", str() as name, int() as count, ("list", 0)):
                    scope = scope.named(name)
                    body = self._table(name, count, body[1:], scope)
                case _:
                    raise Meaningless("a table of another form")
        return body, scope

    def _table(self, name: str, count: int, body: Body, scope: Scope) -> Body:
        """Each step continues the table so far, once more for each further digit."""
        steps, below = list[tree.Step](), 1
        last: Expr = ZERO
        while (found := _step(body, name, below)) is not None:
            radix, value = found[0], scope.number(found[1])
            steps.append(tree.Step(radix, divided(value, self.width)))
            last = Add(last, Mul(Constant(radix), value))
            below, body = below * radix, body[1:]
        if below != count:
            raise Meaningless("a table of another length")
        expect_room(count * _OFFSET)
        scope.spoken[last] = None
        self.tables[name] = tuple(steps)
        return body

    def place(self, term: C, scope: Scope, buffers: frozenset[str]) -> tree.Place:
        """Return where an address is.

        Raises:
            Meaningless: it is none, or lies between two elements.
        """
        match term:
            case ("+", str() as buffer, offset) if buffer in buffers:
                known = {"s": tree.SOURCE, "d": tree.TARGET}.get(buffer, buffer)
                return tree.Place(known, divided(scope.number(offset), self.width))
        raise Meaningless("an address of another form")

    def move(self, call: tuple[Any, ...], scope: Scope, buffers: frozenset[str]) -> tree.Move:
        """Return what the call of a kernel does, or of a function for a part of its moves.

        Raises:
            Meaningless: it has another form, or is not as the kernel asks for.
        """
        given: tuple[Expr, ...] | None = None
        match call:
            case (_, str() as edge, to, at, ro, co, "rest", *counts) if len(counts) == 4:
                kernel = _edged(edge)
                given = tuple(map(scope.number, counts))
            case (_, name, int() as e, int() as r, int() as c, to, at, ro, co, 0 | "stream"):
                kernel = _Kernel(name, e, r, c)
            case _:
                raise Meaningless("a call of another form")
        if kernel.name not in KERNELS or kernel.unit % self.width:
            raise Meaningless("a kernel that is not known")
        if ro not in self.tables or co not in self.tables:
            raise Meaningless("a table that is not known")
        target, source = (self.place(each, scope, buffers) for each in (to, at))
        rows, columns = self.tables[ro], self.tables[co]
        tables = in_bytes(rows, self.width), in_bytes(columns, self.width)
        if not suits(kernel.name, kernel.unit, kernel.rows, kernel.columns, *tables):
            raise Meaningless("a kernel is asked for what it does not do")
        move = tree.Move(target, source, kernel.unit // self.width, rows, columns)
        return move if given is None else replace(move, edge=self._edge(kernel, given))

    def _edge(self, kernel: _Kernel, given: tuple[Expr, ...]) -> tree.Edge:
        e, rows, columns = kernel.unit, kernel.rows, kernel.columns
        read, along, columns_written, down = given

        def count(value: Expr, most: int, per: int) -> Expr | None:
            return None if value == Constant(most) else divided(value, per)

        return tree.Edge(
            count(read, rows, 1),
            count(along, columns * e, self.width),
            count(columns_written, columns, 1),
            count(down, rows * e, self.width),
        )


def expect_room(size: int) -> None:
    """Say whether a stack has room for an array of so many bytes.

    Raises:
        Meaningless: it may have none.
    """
    if size > _MOST_ARRAY:
        raise Meaningless(f"an array of {size} bytes")


def _step(body: Body, name: str, below: int) -> tuple[int, C] | None:
    """Radix and stride of the next step of a table, if there is one."""
    match body:
        case (("do", ("call", "steps", table, first, int() as radix, stride)), *_) if (
            table == name and first == below and radix > 0
        ):
            return radix, stride
    return None


def _edged(name: str) -> _Kernel:
    found = _EDGE.fullmatch(name)
    if found is None:
        raise Meaningless(f"`{name}` is not known")
    kernel, *sizes = found.groups()
    return _Kernel(kernel, *map(int, sizes))
