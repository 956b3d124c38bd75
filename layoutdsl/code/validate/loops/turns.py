"""The loops of C: those in steps, and those whose turns threads share. Trusted.

Threads share the outermost loops, counted as one: the number of a piece is ``u`` from ``first`` up
to ``past``, and that of each loop a digit of it. From 0 up to ``NAME_units`` they are all turns of
the loops, each once. A piece may be several turns: those from a multiple of so many on, in the last
one to the end of the loop. The last two turns of a loop in steps may overlap, and are in one piece.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from layoutdsl.code.loops import tree
from layoutdsl.code.validate.loops.numbers import Scope
from layoutdsl.code.validate.loops.parsing import Body, C
from layoutdsl.code.validate.loops.statement import Branch
from layoutdsl.code.validate.terms import Meaningless
from layoutdsl.language.integers.bounds import ONE, product
from layoutdsl.language.integers.digit import same
from layoutdsl.language.integers.expr import Add, CeilDiv, Constant, Expr, FloorDiv

Reader = Callable[[Body, Scope], tree.Node]
"""Reads what is done in a turn."""

_PIECES = ("for", ("let", "int64_t", "u", "first"), ("<", "u", "past"), ("p++", "u"))


def stepped(
    head: tuple[str, C, int], body: Body, scope: Scope
) -> tuple[Scope, tuple[str, Expr, int], Body]:
    """Read the body of a loop in steps, the last of which is moved back.

    Args:
        head: where a turn would begin, were it not moved back; the extent; the step.
        body: of the loop.
        scope: around it.

    Returns:
        The scope inside; index, extent and step; what is done then.

    Raises:
        Meaningless: it is no such loop.
    """
    moved, extent, step = head
    match body:
        case (("let", "const int64_t", name, ("call", "least", first, back)), *rest) if (
            first == moved and back == ("-", extent, step) and step > 0
        ):
            most = scope.number(extent)
            scope.spoken[Add(most, Constant(step))] = None
            inner, index = scope.named(moved).walked(name, most)
            return inner, (index, most, step), tuple(rest)
    raise Meaningless("a loop in steps of another form")


def pieces(
    body: Body, scope: Scope, counted: Body, known: Scope, reader: Reader
) -> Iterator[Branch]:
    """Yield the nests of a function, with how many loops of each are shared.

    Args:
        body: its statements.
        scope: what they may speak of.
        counted: the statements of the function that says how many pieces there are.
        known: what those may speak of.
        reader: reads what is done in a turn.

    Raises:
        Meaningless: both do not agree, or have a form that is not known.
    """
    match body, counted:
        case (("if", ("<", "first", "past"), done, ()),), (("return", 1),):
            yield Branch((), (), reader(done, scope))
        case ((*head, done),), (("return", units),) if tuple(head) == _PIECES:
            known.number(units)
            counts = list(_counts(units, _depth(done), known))
            spans = list[int]()
            node = _shared(spans, counts, done, scope, reader)
            yield Branch((), tuple(spans), node)
        case (("if", test, then, other),), (("if", again, first, ()), *rest):
            condition = scope.condition(test)
            if known.condition(again) != condition:
                raise Meaningless("pieces are counted otherwise than they are done")
            for each in pieces(then, scope, first, known, reader):
                yield replace(each, tests=((condition, True), *each.tests))
            for each in pieces(other, scope, tuple(rest), known, reader):
                yield replace(each, tests=((condition, False), *each.tests))
        case _:
            raise Meaningless("pieces of another form")


def _depth(body: Body) -> int:
    """How many loops are shared: those whose piece is a digit of ``u``."""
    match body:
        case (("let", *_), ("let", _, _, ("?", *_)), ("for", _, _, _, (_, *rest))):
            return 1 + _depth(tuple(rest))
        case (("let", *_), *rest):
            return 1 + _depth(tuple(rest))
    return 0


def _counts(units: C, depth: int, known: Scope) -> Iterator[Expr]:
    """The factors of a product, one for each loop."""
    if depth > 1:
        match units:
            case ("*", left, right):
                yield from _counts(left, depth - 1, known)
                yield known.number(right)
                return
        raise Meaningless("pieces are counted otherwise than they are done")
    yield known.number(units)


def _shared(
    spans: list[int], counts: Sequence[Expr], body: Body, scope: Scope, reader: Reader
) -> tree.Node:
    """The loop that comes after those whose spans are known, and what is inside."""
    number = len(spans)
    if number == len(counts):
        return reader(body, scope)
    match body:
        case (
            ("let", "const int64_t", own, piece),
            ("let", "const int64_t", end, past),
            ("for", ("let", "int64_t", moved, ("*", first, int() as span)), test, forth, done),
        ) if first == own and test == ("<", moved, end):
            _check_digit(piece, number, counts, scope)
            extent, many = _end(past, own, span)
            most, found = scope.number(extent), (counts[number], scope.number(many))
            inner = scope.named(own).named(end)
            spans.append(span)
            match forth:
                case ("+=", again, int() as step) if again == moved and step > 0 == span % step:
                    inner, (index, _, _), rest = stepped((moved, extent, step), done, inner)
                    begun = Add(most, Constant(span - step))
                    _check_turns(FloorDiv(begun, Constant(span)), found)
                    return tree.Slide(
                        index, most, step, _shared(spans, counts, rest, inner, reader)
                    )
                case ("p++", again) if again == moved and span > 0:
                    inner, index = inner.walked(moved, most)
                    _check_turns(CeilDiv(most, Constant(span)), found)
                    return tree.For(index, most, _shared(spans, counts, done, inner, reader))
        case (("let", "const int64_t", name, piece), *done):
            _check_digit(piece, number, counts, scope)
            inner, index = scope.walked(name, counts[number])
            spans.append(1)
            node = _shared(spans, counts, tuple(done), inner, reader)
            return tree.For(index, counts[number], node)
    raise Meaningless("a loop that is shared has another form")


def _check_turns(pieces: Expr, found: tuple[Expr, Expr]) -> None:
    """That a loop has so many pieces wherever that is said."""
    if not all(same(each, pieces) for each in found):
        raise Meaningless("a loop has another number of pieces")


def _end(past: C, own: str, whole: int) -> tuple[C, C]:
    """Extent and number of pieces of a loop: the last piece ends where the extent does."""
    match past:
        case ("?", ("==", last, many), extent, after) if last == ("+", own, 1) and after == (
            "*",
            last,
            whole,
        ):
            return extent, many
    raise Meaningless("a piece has another end")


def _check_digit(piece: C, number: int, counts: Sequence[Expr], scope: Scope) -> None:
    """That the number of a loop is its digit of ``u``."""
    match piece:
        case ("%", above, count) if number:
            is_digit = same(scope.number(count), counts[number])
        case above:
            is_digit = number == 0
    below: Expr = ONE
    match above:
        case ("/", "u", step):
            below = scope.number(step)
        case other if other != "u":
            raise Meaningless("a piece of another form")
    if not (is_digit and same(below, product(tuple(counts[number + 1 :])))):
        raise Meaningless("a piece is another digit of its number")
