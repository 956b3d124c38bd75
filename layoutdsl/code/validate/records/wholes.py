"""The functions that move all fields, read back: which part goes where, for which rows.

They call the functions of the parts for some rows at a time, or for all at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from layoutdsl.code.validate.loops.numbers import Scope
from layoutdsl.code.validate.loops.parsing import Body, C
from layoutdsl.code.validate.records.bits import equal
from layoutdsl.code.validate.records.sizes import Statement, Whole, begun_by, expect, pieces
from layoutdsl.code.validate.terms import Meaningless
from layoutdsl.language.integers.bounds import product
from layoutdsl.language.integers.expr import Constant, Expr, Extent, Index, Mul, substitute
from layoutdsl.language.meaning.record import Field


@dataclass(frozen=True, slots=True)
class _Rows:
    """Of what a part's function is called: which shape, and how far on each array begins."""

    shape: str
    scope: Scope


def expect_moves(whole: Whole, verb: str, body: Body) -> None:
    """Check the function that packs or unpacks all fields."""
    scope, statements = begun_by(whole, body, 2)
    expect(statements.pop() == ("return", 0), "the function does not end with 0")
    if verb == "pack":
        expect(
            statements[:1] == [("do", ("call", "memset", "out", 0, ("cast", "size_t", "bytes")))],
            "the buffer is not cleared",
        )
        del statements[:1]
    fields = whole.record.fields
    buffer = ("uint8_t *", "out") if verb == "pack" else ("const uint8_t *", "src")
    kind = "const uint8_t *" if verb == "pack" else "uint8_t *"
    begun = [("let", buffer[0], "buffer", buffer[1])]
    begun += [("let", kind, f"p_{each.name}", f"f_{each.name}") for each in fields]
    expect(statements[: len(begun)] == begun, "arrays are others")
    del statements[: len(begun)]
    if whole.along is None:
        _expect_calls(whole, verb, statements, _Rows("shape", scope))
        return
    scope = pieces(whole, scope, statements)
    expect(len(statements) == 1, "more than rows is moved")
    inner = _loop(whole, scope, statements[0])
    numbers = {**scope.numbers, "first": Index(".first")}
    _expect_calls(whole, verb, inner, _Rows("some", Scope(numbers=numbers)))


def _loop(whole: Whole, scope: Scope, statement: Statement) -> list[Statement]:
    """The statements for some rows: a loop that takes each row once."""
    symbols = whole.record.frame.symbols
    match statement:
        case (
            "for",
            ("let", "int64_t", "first", 0),
            ("<", "first", str(rows)),
            ("+=", "first", "step"),
            (
                ("let", "const int64_t", "left", ("-", again, "first")),
                ("array", "const int64_t", "some", int(count), ("list", *some)),
                *inner,
            ),
        ) if rows == again and scope.numbers.get(rows) == Extent(whole.along or ""):
            expect(count == len(symbols) == len(some), "a shape of another form")
        case _:
            raise Meaningless("rows are walked otherwise")
    for name, value in zip(symbols, some, strict=True):
        if name == whole.along:
            least = ("?", ("<", "left", "step"), "left", "step")
            expect(value == least, "rows are counted otherwise")
        else:
            expect(isinstance(value, str), "a shape of another form")
            expect(scope.numbers.get(str(value)) == Extent(name), "a shape of another form")
    return list(inner)


def _expect_calls(whole: Whole, verb: str, statements: Sequence[Statement], rows: _Rows) -> None:
    """Each part is moved once, between arrays that begin where its rows do."""
    left = list(statements)
    if verb == "unpack":
        for each in whole.record.fields:
            if len(each.parts) > 1:
                _expect_cleared(whole, each, left.pop(0) if left else (), rows)
    expect(left[:1] == [("let", "int", "failed", None)], "calls of another form")
    del left[:1]
    done = list[int]()
    while len(done) < len(whole.sides):
        match left[:2]:
            case [
                ("do", ("=", "failed", ("call", str(name), field, buffer, shape, "scratch"))),
                ("if", "failed", (("return", "failed"),), ()),
            ] if shape == rows.shape:
                number = _part_number(whole, verb, name)
                part = whole.sides[number].placed.part
                _expect_field(whole, whole.record.field(part.field), field, rows)
                _expect_at(buffer, "buffer", whole, rows)
                done.append(number)
                del left[:2]
            case _:
                raise Meaningless("calls of another form")
    expect(sorted(done) == list(range(len(whole.sides))), "a part is moved twice, and one not")
    wanted = [] if verb == "pack" else [each for each in whole.record.fields if signed_late(each)]
    expect(len(left) == len(wanted), "signs are others")
    for each, statement in zip(wanted, left, strict=True):
        number = whole.record.fields.index(each) + 1
        match statement:
            case ("do", ("call", str(name), at, shape)) if (
                name == f"sign_{number}" and shape == rows.shape
            ):
                _expect_field(whole, each, at, rows)
            case _:
                raise Meaningless("signs are others")


def signed_late(field: Field) -> bool:
    """Whether signs are left to be copied when all parts of a field are there."""
    return len(field.parts) > 1 and field.element.kind == "i" and field.element.bits < 8


def _part_number(whole: Whole, verb: str, name: str) -> int:
    names = [f"{verb}_{number}" for number in range(1, len(whole.sides) + 1)]
    expect(name in names, "calls of another form")
    return names.index(name)


def _expect_cleared(whole: Whole, field: Field, statement: Statement, rows: _Rows) -> None:
    match statement:
        case ("do", ("call", "memset", at, 0, ("cast", "size_t", size))):
            _expect_field(whole, field, at, rows)
        case _:
            raise Meaningless("a field of several parts is not cleared")
    wanted: Expr = Mul(product(field.extents), Constant(field.element.item[1]))
    if whole.along is None:
        expect(equal(rows.scope.number(size), wanted), "less or more than a field is cleared")
        return
    wanted = substitute(wanted, {whole.along: Extent(".some")})
    number = whole.record.frame.symbols.index(whole.along)
    found = _with_some(rows.scope, size, number)
    expect(equal(found, wanted), "less or more than a field is cleared")


def _with_some(scope: Scope, term: C, number: int) -> Expr:
    """A product, one factor of which is the number of rows that are moved."""
    match term:
        case ("[]", "some", int(k)) if k == number:
            return Extent(".some")
        case ("*", left, right):
            return Mul(_with_some(scope, left, number), _with_some(scope, right, number))
    return scope.number(term)


def _expect_field(whole: Whole, field: Field, term: C, rows: _Rows) -> None:
    """That a pointer is where the rows of a field begin."""
    if whole.along is None:
        expect(term == f"p_{field.name}", "a field begins elsewhere")
        return
    row = Mul(product(field.extents[1:]), Constant(field.element.item[1]))
    _expect_on(term, f"p_{field.name}", row, rows)


def _expect_at(term: C, name: str, whole: Whole, rows: _Rows) -> None:
    if whole.along is None:
        expect(term == name, "the buffer begins elsewhere")
        return
    _expect_on(term, name, rows.scope.numbers["each"], rows)


def _expect_on(term: C, name: str, row: Expr, rows: _Rows) -> None:
    match term:
        case ("+", str(found), more) if found == name:
            at = rows.scope.number(more)
            expect(equal(at, Mul(Index(".first"), row)), "rows begin elsewhere")
        case _:
            raise Meaningless("rows begin elsewhere")
