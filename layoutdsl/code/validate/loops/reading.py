"""The functions of one move, read back from C: the tree that the text says. Trusted.

What is read is what is proved of, so neither the planner is believed nor whoever wrote the text. A
statement that has not exactly a known form is refused, and so is a name that is given twice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from layoutdsl.code.loops import tree
from layoutdsl.code.validate.loops.moves import KERNELS, Moves, expect_room
from layoutdsl.code.validate.loops.numbers import Scope, divided
from layoutdsl.code.validate.loops.parsing import Body, C, Function, parsed, without_notes
from layoutdsl.code.validate.loops.parts import check_large, check_part, check_whole
from layoutdsl.code.validate.loops.statement import Branch
from layoutdsl.code.validate.loops.turns import pieces, stepped
from layoutdsl.code.validate.terms import Meaningless
from layoutdsl.language.integers.expr import Expr
from layoutdsl.language.meaning.model import Layout

_WALK = (
    "const uint8_t * s, uint8_t * d, const int64_t * shape, const uint8_t * rest, int64_t first,"
    " int64_t past, int stream"
)
_PART = (
    "const void * restrict src, void * restrict dst, const int64_t * shape, const void * fill,"
    " int64_t first, int64_t past"
)
_GIVEN = frozenset(("s", "d", "shape", "rest", "first", "past", "stream", "large", "u", "k"))
_OTHERS = frozenset(
    ("least", "steps", "filled", "run", "memcpy", "fetched", "streamed", "fill", "src", "dst")
)
_WIDTHS = (1, 2, 4, 8, 16)
_RESERVED = _GIVEN | _OTHERS | KERNELS | {tree.SOURCE, tree.TARGET}


@dataclass(frozen=True, slots=True)
class Read:
    """What a text says.

    Attributes:
        branches: the nests, each for shapes of its own; together for all shapes.
        counts: below what each index stays.
        spoken: all numbers that are worked out.
        guard: what has to be below 2^62, or nothing is done.
    """

    branches: tuple[Branch, ...]
    counts: dict[str, Expr]
    spoken: tuple[Expr, ...]
    guard: Expr


def read(text: str, name: str, layout: Layout, width: int, *, fills: bool) -> Read:
    """Return what the functions of one move say.

    Args:
        text: the functions ``NAME_walk``, ``NAME_units``, ``NAME_part`` and ``NAME``.
        name: of the function that moves everything.
        layout: gives the shape.
        width: bytes of an element.
        fills: callers give a fill: the target is a buffer.

    Raises:
        Meaningless: the text has a form that is not known.
    """
    if width not in _WIDTHS:
        raise Meaningless(f"elements of {width} bytes")
    functions = parsed(without_notes(text).replace("INLINED ", "static inline "))
    scope = Scope({}, _RESERVED.union(functions))
    if list(functions) != [f"{name}_walk", f"{name}_units", f"{name}_part", name]:
        raise Meaningless("the functions are others than those of a move")
    walk, units, part, whole = functions.values()
    body = _bare(walk, f"static inline void {name}_walk({_WALK})")
    body, inner = _unpacked(body, scope, layout)
    asks = False
    match body:
        case (("let", "const int", "large", large), *rest):
            check_large(large, inner)
            body, asks = tuple(rest), True
    nest = _Nest(Moves(width), asks)
    body, inner = nest.moves.read_tables(body, inner)
    counted = _bare(units, f"int64_t {name}_units(const int64_t * shape)")
    counted, counting = _unpacked(counted, scope, layout)
    most, counted = _guard(counted, counting, 1)
    found = tuple(pieces(body, inner, counted, counting, nest.node))
    done, inner = _unpacked(_bare(part, f"int {name}_part({_PART})"), scope, layout)
    asked, done = _guard(done, inner, 3)
    if asked != most:
        raise Meaningless("pieces are counted where they are not done")
    check_part(done, name, inner, width)
    check_whole(whole, name, fills=fills)
    return Read(found, scope.counts, tuple(scope.spoken), most)


def _bare(function: Function, head: str) -> Body:
    """The statements of a function, without those that name what it may not need."""
    if function.head != head:
        raise Meaningless(f"a function of another form: {function.head}")
    given = {each.split()[-1] for each in head.partition("(")[2].rstrip(")").split(",")}
    match function.body:
        case (("do", ("list", *names)), *rest):
            if any(each[:2] != ("cast", "void") or each[2] not in given for each in names):
                raise Meaningless("something is done before the nest")
            return tuple(rest)
    return function.body


def _guard(body: Body, scope: Scope, told: int) -> tuple[Expr, Body]:
    """What is below 2^62, or so much is returned; and the statements after that."""
    match body:
        case (("if", ("!", ("<", most, ("real", limit))), (("return", value),), ()), *rest) if (
            limit == 2**62 and value == told
        ):
            return scope.real(most), tuple(rest)
    raise Meaningless("it is not asked first whether numbers fit")


def _unpacked(body: Body, scope: Scope, layout: Layout) -> tuple[Body, Scope]:
    """The statements after the extents of a shape are named."""
    while body:
        match body[0]:
            case ("let", "const int64_t", str() as name, ("[]", "shape", int() as number)) if (
                number < len(layout.element_axes)
            ):
                scope = scope.given(name, layout.element_axes[number].extent)
                body = body[1:]
            case _:
                break
    return body, scope


@dataclass(frozen=True, slots=True)
class _Nest:
    """Statements as nodes.

    Attributes:
        moves: the moves of the function.
        asks: it says whether what it moves is worth being asked for ahead.
        buffers: what may be read or written.
    """

    moves: Moves
    asks: bool
    buffers: frozenset[str] = frozenset(("s", "d"))

    def node(self, body: Body, scope: Scope) -> tree.Node:
        """Return what statements do, one after the other; all that follows scratch is over it."""
        match body:
            case (("array", "uint8_t", name, int() as size, None), *rest):
                return self._scratch(name, size, tuple(rest), scope)
        parts = [part for each in body if (part := self._statement(each, scope)) is not tree.EMPTY]
        return parts[0] if len(parts) == 1 else tree.Seq(tuple(parts))

    def _statement(self, statement: tuple[Any, ...], scope: Scope) -> tree.Node:
        match statement:
            case ("if", ("&&", first, second), then, other):
                return self._statement(("if", first, (("if", second, then, other),), other), scope)
            case ("if", test, then, other):
                condition = scope.condition(test)
                return tree.If(condition, self.node(then, scope), self.node(other, scope))
            case ("for", ("let", "int64_t", name, 0), ("<", own, count), ("p++", again), body) if (
                name == own == again
            ):
                most = scope.number(count)
                inner, index = scope.walked(name, most)
                return tree.For(index, most, self.node(body, inner))
            case (
                "for",
                ("let", "int64_t", name, 0),
                ("<", own, extent),
                (
                    "+=",
                    again,
                    int() as step,
                ),
                body,
            ) if name == own == again:
                return self._slide((name, extent, step), body, scope)
            case ("block", (("array", *_), *_) as inner):
                return self.node(inner, scope)
            case ("do", ("call", *_) as call):
                return self._call(call, scope)
        raise Meaningless(f"a statement of another form: {statement[0]}")

    def _slide(self, head: tuple[str, C, int], body: Body, scope: Scope) -> tree.Node:
        inner, (index, most, step), rest = stepped(head, body, scope)
        return tree.Slide(index, most, step, self.node(rest, inner))

    def _scratch(self, name: str, size: int, body: Body, scope: Scope) -> tree.Node:
        """A buffer of so many bytes; filled, where that comes first."""
        if size % self.moves.width:
            raise Meaningless("scratch of another size")
        expect_room(size)
        inside = replace(self, buffers=self.buffers | {name})
        inner, filled = scope.named(name), False
        if body and body[0] == ("do", ("call", "filled", name, "rest", size)):
            body, filled = body[1:], True
        return tree.Scratch(name, size // self.moves.width, filled, inside.node(body, inner))

    def _call(self, call: tuple[Any, ...], scope: Scope) -> tree.Node:
        def count(term: C) -> Expr:
            return divided(scope.number(term), self.moves.width)

        def place(term: C) -> tree.Place:
            return self.moves.place(term, scope, self.buffers)

        match call:
            case ("call", "fetched", "large", at, table, int() as rows, int(), on) if (
                self.asks
                and table in self.moves.tables
                and rows <= tree.length(self.moves.tables[table])
            ):
                place(at), scope.number(on)
                return tree.EMPTY  # it neither reads nor writes
            case ("call", "filled", target, "rest", many):
                return tree.Fill(place(target), count(many))
            case ("call", "run", target, source, many, 0 | "stream"):
                return tree.Run(place(target), place(source), count(many))
            case ("call", "memcpy", target, source, int() as many):
                return tree.Run(place(target), place(source), count(many))
        return self.moves.move(call, scope, self.buffers)
