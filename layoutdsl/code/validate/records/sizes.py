"""How large a buffer is, how much memory lies in between, and which rows stand by themselves."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from math import prod
from typing import Any

from layoutdsl.code.validate.loops.numbers import Scope
from layoutdsl.code.validate.loops.parsing import Body, C
from layoutdsl.code.validate.records.bits import address, equal
from layoutdsl.code.validate.records.sides import Side
from layoutdsl.code.validate.terms import Meaningless
from layoutdsl.language.integers.bounds import product, simplify
from layoutdsl.language.integers.conditions import Condition
from layoutdsl.language.integers.expr import (
    Add,
    Constant,
    Expr,
    Extent,
    FloorDiv,
    Index,
    Mul,
    extents,
    indices,
    substitute,
)
from layoutdsl.language.meaning.model import ZERO
from layoutdsl.language.meaning.record import Record

Statement = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Whole:
    """A record, its parts, and along which extent rows are apart.

    Attributes:
        record: what the functions are of.
        sides: its parts.
        stem: what the names of its functions begin with.
        along: the extent, or none where all goes at once.
        piece: about how many bytes of the buffer go at a time.
    """

    record: Record
    sides: tuple[Side, ...]
    stem: str
    along: str | None
    piece: int


def expect(condition: bool, otherwise: str) -> None:
    """Raise what is missing, where a condition does not hold."""
    if not condition:
        raise Meaningless(otherwise)


def extents_of(record: Record, body: Body) -> tuple[Scope, Body]:
    """Return the names of extents that a function begins with, and its other statements."""
    numbers: dict[str, Expr] = {}
    left = list(body)
    while left:
        match left[0]:
            case ("let", "const int64_t", str(name), ("[]", "shape", int(k))) if (
                name not in numbers and k < len(record.frame.symbols)
            ):
                numbers[name] = Extent(record.frame.symbols[k])
            case ("do", ("list", ("cast", "void", "shape"))):
                pass
            case _:
                break
        left.pop(0)
    return Scope(numbers=numbers), tuple(left)


def expect_bytes(whole: Whole, body: Body) -> None:
    """Check the function that says how many bytes a buffer has; -1 where there is none such."""
    record = whole.record
    scope, body = extents_of(record, body)
    ends: dict[str, tuple[Expr, Expr]] = {}
    tested, over, even, most = set[Any](), set[str](), set[Any](), set[str]()
    wanted = {("extent", Extent(name)) for name in record.frame.symbols}
    wanted |= {_said(each) for each in record.where}
    statements, begun = list(body), False
    expect(statements[-2:] == [_UNEVEN, ("return", ("/", "end", 8))], "the size is another")
    for each in statements[:-2]:
        match each:
            case ("if", ("<", str(name), 1), (("return", ("-", 1)),), ()) if name in scope.numbers:
                tested.add(("extent", scope.numbers[name]))
            case ("if", ("!", test), (("return", ("-", 1)),), ()):
                tested.add(_said(scope.condition(test)))
            case ("let", "int64_t", "end", 0):
                expect(not begun, "`end` is given twice")
                expect(tested == wanted, "the range is another")
                begun = True
            case ("let", "const int64_t", str(name), ("+", start, size)) if begun and name not in {
                "end",
                *ends,
                *scope.numbers,
            }:
                ends[name] = _bounded(scope, start), _bounded(scope, size)
            case ("if", (">=", str(name), "TOO_LARGE"), (("return", ("-", 1)),), ()) if (
                name in ends
            ):
                over.add(name)
            case ("if", ("!=", ("%", start, 8), 0), (("return", ("-", 1)),), ()):
                even.add(address(_bounded(scope, start)))
            case ("if", (">", str(name), "end"), (("do", ("=", "end", again)),), ()) if (
                again == name and name in over
            ):
                most.add(name)
            case _:
                raise Meaningless("the size is worked out in another form")
    expect(begun and tested == wanted, "the range is another")
    expect(set(ends) == over == most, "the size is another")
    expect(even == {address(start) for start, _ in ends.values()}, "a region may begin in a byte")
    found = {(address(start), address(size)) for start, size in ends.values()}
    laid = {
        (address(each.start), address(product(tuple(e.extent for e in each.coordinates))))
        for each in record.laid
    }
    expect(found == laid, "the size is another")


_UNEVEN = ("if", ("!=", ("%", "end", 8), 0), (("return", ("-", 1)),), ())


def _said(condition: Condition) -> tuple[Any, ...]:
    return address(condition.left), condition.operator, address(condition.right)


def _bounded(scope: Scope, term: C) -> Expr:
    """A sum or product that is exact, or else too large."""
    match term:
        case ("call", "times", left, right):
            return Mul(_bounded(scope, left), _bounded(scope, right))
        case ("+", left, right) if "times" in _words(left) | _words(right):
            return Add(_bounded(scope, left), _bounded(scope, right))
    return scope.number(term)


def _words(term: C) -> frozenset[str]:
    """All names in a term."""
    if isinstance(term, tuple):
        return frozenset[str]().union(*map(_words, term))
    return frozenset((term,)) if isinstance(term, str) else frozenset()


def expect_rows(record: Record, along: str) -> Expr:
    """Return the bytes of a row, where rows along an extent know nothing of one another.

    Raises:
        Meaningless: they do, or a row is no whole bytes.
    """
    ranged = {name for c in record.where for side in (c.left, c.right) for name in extents(side)}
    expect(along not in ranged and along not in record.parameters, "the range speaks of rows")
    for each in record.fields:
        own, *others = each.extents or (None,)
        expect(own == Extent(along), "a field has no rows")
        expect(not any(along in extents(e) for e in others if e), "a row speaks of all rows")
    for part, layout in zip(record.parts, record.laid, strict=True):
        first, *rest = layout.coordinates
        (digit, *more), *_ = part.picks
        expect(not more and bool(digit.name), "a field has no rows")
        expect(equal(first.value, Index(digit.name)), "rows are no outermost blocks")
        expect(equal(first.extent, Extent(along)) and layout.start == ZERO, "rows are no blocks")
        spoken = [e for c in rest for e in (c.value, c.extent)]
        spoken += [d.extent for picks in part.picks[1:] for d in picks]
        apart = not any(along in extents(e) or digit.name in indices(e) for e in spoken)
        expect(apart, "a row speaks of all rows")
    row = product(tuple(each.extent for each in record.laid[0].coordinates[1:]))
    numbers = [
        each.extent.value
        for each in record.laid[0].coordinates[1:]
        if isinstance(each.extent, Constant)
    ]
    expect(prod(numbers) % 8 == 0, "a row is no whole bytes")
    return simplify(FloorDiv(row, Constant(8)))


def begun_by(whole: Whole, body: Body, failing: Any) -> tuple[Scope, list[Statement]]:
    """Return what a function begins with: extents, and the bytes of the buffer."""
    scope, body = extents_of(whole.record, body)
    head = [
        ("let", "const int64_t", "bytes", ("call", f"{whole.stem}_bytes", "shape")),
        ("if", ("<", "bytes", 0), (("return", failing),), ()),
    ]
    expect(list(body[:2]) == head, "the size of the buffer is not asked for")
    expect(len(body) > 4, "a function ends too soon")
    return scope, list(body[2:])


def pieces(whole: Whole, scope: Scope, statements: list[Statement]) -> Scope:
    """Return the bytes of a row, and how many rows go at a time: in all functions as many."""
    assert whole.along is not None
    row = expect_rows(whole.record, whole.along)
    step = ("+", ("/", whole.piece, ("+", "each", 1)), 1)
    match statements[:2]:
        case [
            ("let", "const int64_t", "each", ("/", "bytes", str(rows))),
            ("let", "const int64_t", "step", counted),
        ] if scope.numbers.get(rows) == Extent(whole.along) and counted == step:
            del statements[:2]
            return Scope(numbers={**scope.numbers, "each": row, "step": Extent(".step")})
    raise Meaningless("rows are counted otherwise")


def expect_scratch(whole: Whole, body: Body) -> None:
    """Check the function that says how much memory lies in between: enough for every part."""
    scope, statements = begun_by(whole, body, ("-", 1))
    along = whole.along
    if along is not None:
        scope = pieces(whole, scope, statements)
        match statements.pop(0) if statements else ():
            case ("let", "const int64_t", "rows", ("?", ("<", str(n), "step"), again, "step")):
                all_rows = scope.numbers.get(n) == Extent(along) and n == again
                expect(all_rows, "rows are counted otherwise")
            case _:
                raise Meaningless("rows are counted otherwise")
        scope = Scope(numbers={**scope.numbers, "rows": Extent(".rows")})
    expect(statements[:1] == [("let", "int64_t", "most", 1)], "memory is counted otherwise")
    expect(statements[-1:] == [("return", "most")], "memory is counted otherwise")
    found, names = set[Any](), {"most", "bytes", *scope.numbers}
    for one, two in zip_longest(statements[1:-1:2], statements[2:-1:2]):
        match one, two:
            case (
                ("let", "const int64_t", str(name), need),
                ("if", (">", first, "most"), (("do", ("=", "most", second)),), ()),
            ) if name == first == second:
                expect(name not in names, f"`{name}` is given twice")
                names.add(name)
                found.add(address(scope.number(need)))
            case _:
                raise Meaningless("memory is counted otherwise")
    for side in whole.sides:
        expect(address(_memory(side, along)) in found, "there is too little memory")


def _memory(side: Side, along: str | None) -> Expr:
    """The bytes that a part needs: its items, and the elements that they come from."""
    count: Expr = side.size
    if not side.is_direct:
        count = Add(count, product(tuple(side.shape)))
    need = Mul(count, Constant(side.width))
    return need if along is None else substitute(need, {along: Extent(".rows")})
