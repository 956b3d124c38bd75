"""Records that something was found with once, and texts that nobody should write."""

from __future__ import annotations

import os
from random import Random
from typing import Any

import pytest
import test_record_fuzz as fuzz
from random_records import faults
from test_record_fuzz import record_of, set_piece, verdict

import layoutdsl
from layoutdsl import LayoutError

__all__ = ["set_piece"]

LONG = 5.0
"""Seconds that a text may take, whatever it is."""

MOVED = {
    "two axes of one extent are in no pieces": "record A(r) = { q(r, x: R) = [r, x] of u8 }",
    "a fixed digit may have the extent of the rows": (
        "record A(r, k) = { q(r, (x: R, k)) = [r, (x, k)] of f16 }"
    ),
    "a buffer that begins later has its first bytes": (
        "record A(r, k) = { q(r, k) = [r, k, 0 : 2] of u8 offset 4\n"
        " d(r, k) = [r, k, 1 : 2] of u8 offset 4 }"
    ),
    "where it begins may depend on the shape": (
        "record A(r, k) = { q(r, k) = [r, k, 0 : 2] of u8 offset 2*R }"
    ),
    "whole elements in two parts are no numbers to be cast": (
        "record A(r) = { q(r, (0 : 2, i: 4)) = [r, 0 : 2, i] of f16\n"
        " q(r, (1 : 2, i: 4)) = [r, 1 : 2, i] }"
    ),
    "nor where they lie apart": (
        "record A(r) = { q(r, (i: 4, 0 : 2)) = [r, 0 : 2, i] of f32\n"
        " q(r, (i: 4, 1 : 2)) = [r, 1 : 2, i] }"
    ),
    "a field of no axes": "record A(r) = { n() = [0] of f16\n q(r) = [r] of u8 offset 2 }",
    "all digits fixed": (
        "record A(r) = { n(0 : 2) = [0 : 2] of f16\n n(1 : 2) = [1 : 2]\n"
        " q(r) = [r] of u8 offset 4 }"
    ),
    "no axes, in two parts": (
        "record A(r) = { n() bits 0..7 = [1 : 2] of u16\n n() bits 8..15 = [0 : 2]\n"
        " q(r) = [r] of u8 offset 2 }"
    ),
    "no axes, in bits of a byte": (
        "record A(r) = { n() bits 0..2 = [3 + bit : 8] of i4\n n() bits 3..3 = [bit : 8]\n"
        " q(r) = [r] of u8 offset 1 }"
    ),
    "signed and narrow, in one part": "record A(r) = { q(r, i: 8) = [r, i] of i2 }",
    "bits side by side are items of no floats": (
        "record A(r) = { q(r) = [r, bit] of f16\n d(r) = [r, bit] of bool offset 16*R }"
    ),
    "rows that are no whole bytes": "record A(r, i: 2) = { q(r, i) = [r, i] of u3 }",
    "a field may be called so": "record A(r) = { self(r) = [r] of u8 }",
    "no axes at all": "record A() = { n() = [0] of f16\n q(i: 3) = [i] of u8 offset 2 }",
    "rows between the blocks": (
        "record A(h, b) = { d(h, (b, 0 : 2, i: 3)) = [h/4, b, h%4, 4 + i : 12, 1 + bit : 8] of u1\n"
        " d(h, (b, 1 : 2, i: 3)) = [h/4, b, h%4, 4 + i : 12, bit : 8]\n"
        " q(h, (b, i: 4)) = [h/4, b, h%4, i : 12] of i8 }"
    ),
}


@pytest.mark.slow
@pytest.mark.sampled(18)
@pytest.mark.parametrize("name", MOVED)
def test_what_was_moved_wrong_once(name: str, set_piece: Any) -> None:
    made, random = record_of(MOVED[name]), Random(1)
    found = verdict(made)
    assert found.status == "proved", found.findings
    module: Any = layoutdsl.compile(made, "numpy")
    symbols = made.frame.symbols
    for piece in (1, 1 << 20):
        set_piece(piece)
        for extents in ((1, 1), (5, 3), (20, 7)):
            values = dict(zip(symbols, extents, strict=False))
            assert not faults(made, values)
            for _ in range(2):
                fuzz.check_at(made, module, values, random)


@pytest.mark.slow
def test_rows_between_blocks_are_dimensions() -> None:
    module: Any = layoutdsl.compile(record_of(MOVED["rows between the blocks"]), "numpy")
    assert module.physical_shape((5, 3)) == (2, 3, 4, 12)


VERDICTS = [
    # A part whose fixed digit is outside its extent holds no element; the whole was proved.
    (
        "record A<P>(r) = { q(r, (0 : P, i: 4)) = [r, i] of u8\n"
        " q(r, (1 : P, i: 4)) = [r, i] offset R*4 }",
        {"P": 1},
        "a bit of `A_1` is of no element at R=1",
    ),
    # Shapes at which a part has none of its own ended in a ValueError.
    (
        "record A(r) = { q(r, x: R - 5) = [r, x] of u8 }",
        {},
        "`q(r, x)` has no element: X is -4 at R=1",
    ),
    (
        "record A(k) = { q(k) = [k] of u8\n d(b: K/4) = [b] of u8 offset K }",
        {},
        "`d(b)` has no element: B is 0 at K=1",
    ),
    (
        "layout X(r) = [r] of u8 where R % 2 == 0\nrecord A(r) = { q(r) = X }",
        {},
        "`q(r)` is not defined: it asks for R%2 == 0 at R=1",
    ),
]


@pytest.mark.parametrize(("text", "numbers", "said"), VERDICTS)
def test_what_was_not_refuted_once(text: str, numbers: dict[str, int], said: str) -> None:
    found = verdict(record_of(text).with_parameters(**numbers))
    (example,) = {each.example for each in found.findings if hasattr(each, "example")}
    shape = " ".join(f"{name}={value}" for name, value in example.shape)
    assert f"{example.sentence} at {shape}" == said


GAPS = [
    "record A(r) = { q(r) = [r] of u8\n s(r) = [r] of u8 offset R + 4 }",
    "record A(r, k) = { q(r, k) = [r, k] of u8\n s(r) = [r] of u8 offset roundup(R*K, 64) }",
    "record A(r, k) = { q(r, k) = [r, k] of u8\n s(r) = [r] of u16 offset ceil(R*K/2) }",
    "record A(r, k) = { q(r, k) = [r, k] of u8\n s(r) = [r] of u8 offset 2*R*K + R }",
]


@pytest.mark.parametrize("text", GAPS)
def test_there_may_be_room_between_regions(text: str) -> None:
    """What begins later than it has to was undecided, so that nothing could be aligned."""
    assert verdict(record_of(text)).status == "proved"


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "text",
    [
        "record A(r) = { q(r) = [r] of u8\n s(r) = [r] of u8 offset R - 1 }",
        "record A(r, k) = { q(r, k) = [r, k] of u8\n s(r) = [r] of u8 offset R*K/64*64 }",
        "record A(r, k) = { q(r, k) = [r, k] of u8\n s(r) = [r] of u16 offset R*K/2 }",
    ],
)
def test_regions_may_not_begin_too_early(text: str) -> None:
    assert verdict(record_of(text)).status == "refuted"


EQUAL = [
    ("[i, w] of u8", "H % 8 == 0", "H % 3 == 0", "proved"),
    # Of the extents of one range others are made, and not of those of the other.
    ("[i, w : W + H] of u8", "H % 8 == 0", "H == 6", "undecided"),
    ("[i, w : W + H] of u8", "H % 8 == 0", "W >= 1", "undecided"),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("body", "one", "other", "status"), EQUAL)
def test_records_of_other_ranges_are_compared(body: str, one: str, other: str, status: str) -> None:
    head = "(h, w) = { m(i: H/2, w) ="
    text = f"record A{head} {body} }} where {one}\nrecord B{head} {body} }} where {other}"
    claims = layoutdsl.prove(layoutdsl.parse(f"{text}\nprove A == B")).checked
    assert [each.status for each in claims if "==" in each.claim.text] == [status]


def lines(*parts: str) -> str:
    return "\n".join(["record A(r) = {", *parts, "}"])


BIG = 10**17
REFUSED = {
    f"record A(r) = {{ q(r, k: {10 * BIG}) = [r, k] of u8 }}": "L103",
    lines(*(f"q{i}(r) = [r, {i} : 65] of u8" for i in range(65))): "L103",
    "record A(r) = { q(r) bits 5..2 = [r] of u8 }": "L204",
    "record A(r) = { q(r) bits 0..8 = [r] of u8 }": "L204",
    "record A(r) = { q(r) bits 0..8 = [r] of u16 }": "L204",
    f"record A(r) = {{ q(r) bits 0..{BIG} = [r] of u8 }}": "L204",
    "record A(r) = { q(r, 2 : 2) = [r] of u8 }": "L204",
    "record A(r) = { q(r, 0 : 0) = [r] of u8 }": "L204",
    "record A(r) = { q(r, x: 0) = [r, x] of u8 }": "L204",
    "record A(r) = { q(r, x: R/0) = [r, x] of u8 }": "L205",
    "record A(r) = { q(r, x: r) = [r, x] of u8 }": "L204",
    "record A(r) = { q(r, x: 4, y: x) = [r, x, y] of u8 }": "L201",
    "layout D(i, j) = [i, j] of u8 where j <= i\nrecord A(i, j) = { q(i, j) = D }": "L208",
    'record A(n, c) = { q(n, c) = onednn "ab" of u8 }': "L208",
    "layout P(r, k) = [r, bit, k] of u4\nrecord A(r, k) = { q(r, k) bits 0..1 = P }": "L208",
    "layout P(r) = [r] of u4\nlayout Q(r) = [r] of u8\n"
    "record A(r) = { q(r, 0 : 2) = P\n q(r, 1 : 2) = Q offset R }": "L208",
    "layout P(r, k) = [r, k] of u4\nrecord A(r) = { q(r) = P }": "L303",
    "record A(r) = { q(r) = Nowhere }": "L201",
    "record A(r) = { q(r) = A }": "L201",
    "table T(r)[i: R] = (r = i)\nrecord A(r) = { q(r) = T }": "L201",
    "layout A(r) = [r]\nrecord A(r) = { q(r) = [r] of u8 }": "L203",
    "record A(r) = { q(r) = [r] of u8 }\nrecord A(r) = { q(r) = [r] of u8 }": "L203",
    "record A(r, r) = { q(r) = [r] of u8 }": "L203",
    "record A(r) = { q(r, r) = [r] of u8 }": "L203",
    "record A<R>(r) = { q(r) = [r] of u8 }": "L203",
    "record A<B>(k) = { q(b: K/32) = [b] of u8 }": "L203",
    "record A(r) = { q(r, bit: 4) = [r, bit] of u8 }": "L203",
    "record A(bit) = { q(bit) = [bit] of u8 }": "L203",
    "record A(r) = { q(r) = [r] }": "L208",
    "record A(r) = { }": "L101",
    "record A(r) = {{ q(r) = [r] of u8 }}": "L101",
    "record A(r) = { q(r) = [r] of u8": "L101",
    "record A(r) = { q(r) = [r] of u8, p(r) = [r] of u8 }": "L101",
    f"record A(r) = {{ q(r) = [{'(' * 400}r{')' * 400}] of u8 }}": "L104",
    f"record A(r) = {{ q(x: {'(' * 400}R{')' * 400}) = [x] of u8 }}": "L104",
    f"record A(r) = {{ q(x: {'+'.join('R' * 400)}) = [x] of u8 }}": "L104",
    "record A(r) = { q(((r, 0 : 2), 0 : 2)) = [r] of u8 }": "L101",
    f"record A(r) = {{ q({', '.join(f'x{i}: 2' for i in range(70))}) = [r] of u8 }}": "L103",
    "record A(r) = { q(r) = [r] of u8 offset 0 - 4 }": "L208",
    "record A(r) = { q(r) = [r] of u8 offset r }": "L204",
    "record A(r) = { q(r) = [r] of u8 offset bit }": "L201",
    "record A(r) = { q(r) = [r] of u8 } where r < 4": "L204",
    "record A(r) = { q(r) = [r] of u8 where R % 2 == 0 }": "L208",
    "record A(r) = { q(r) = [r] of u8 } fill 3": "L208",
    "record A(r) = { q(r) = [r] } of u8": "L208",
    "record A(r) = { Q(r) = [r] of u8 }": "L204",
    "record A(r) = { q(r) = [r] of u8 }\nprove A fits int32": "L304",
}


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text[-60:])
def test_hostile_texts_are_refused_at_their_place(text: str) -> None:
    start = processor()
    with pytest.raises(LayoutError) as refused:
        layoutdsl.parse(text)
    assert next(each.code for each in refused.value.diagnostics) == REFUSED[text]
    assert processor() - start < LONG


TAKEN = {
    f"record A(r) = {{ q(r, k: {BIG}) = [r, k] of u8 }}": "proved",
    f"record A(r) = {{ q(r, {BIG - 1} : {BIG}) = [r] of u8 }}": "undecided",
    "record A(r) = { q(r, 0 : 4000000000) = [r] of u8 }": "undecided",
    "record A() = { q(0 : 9999, 0 : 9999, 0 : 9999) = [0] of u8 }": "undecided",
    f"record A(r) = {{ q(({'0 : 2, ' * 40}r)) = [r] of u8 }}": "undecided",
    f"record A() = {{ q({', '.join(f'x{i}: 2' for i in range(16))}) = [0] of u1 }}": "refuted",
    lines(*(f"q{i}(r) = [r] of u8 offset {i}*R" for i in range(64))): "proved",
    lines(*(f"q{i}(r) = [r, {i} : 20] of u8" for i in range(20))): "proved",
    f"record A(r) = {{ q(r) = [r] of u8\n p(r) = [r] of u8 offset {BIG} }}": "undecided",
    "record A(r) = { q(r) = [r] of u8 } where R < 1": "undecided",
    "record A(r) = { q(r) = [r, bit : 4] of u8 }": "refuted",
    f"record A(r) = {{ q(r) = [r, bit : {BIG}] of u8 }}": "proved",
    'layout F(n, c, h, w) = onednn "aBcd16b" of u8\n'
    "record A(n, c, h, w) = { q(n, c, h, w) = F }": "proved",
    "layout P(r, k) = [r, bit, k] of u4\nrecord A(r, k) = { q(r, k) = P }": "proved",
    "layout X<P>(r) = [r/P, r%P] of u4\nrecord A(r) = { q(r) = X<4> }": "proved",
    f"record A(r) = {{ q(x: {'+'.join('R' * 99)}) = [x] of u8 }}": "proved",
}


def processor() -> float:
    """Seconds of this process and of those that it waited for, whoever else is at work."""
    return sum(os.times()[:4])


@pytest.mark.sampled(10)
@pytest.mark.parametrize("text", TAKEN, ids=lambda text: text[:60])
def test_hostile_texts_are_judged_soon(text: str) -> None:
    start = processor()
    found = verdict(record_of(text))
    assert found.status == TAKEN[text], found.findings
    assert processor() - start < LONG
