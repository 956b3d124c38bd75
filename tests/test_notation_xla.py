"""XLA's layouts: offsets of the tiled-layout page, printing, faults, and random tiles."""

from __future__ import annotations

import json
from contextlib import suppress
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from texts import HERE

import layoutdsl
from layoutdsl import LayoutError
from layoutdsl.notation.notation import Unwritable, read_text, write

WORKED = [
    (each["spec"], each["shape"], each["index"], each["offset"], each["physical_elements"])
    for each in json.loads((HERE / "facts/notation_values.json").read_text())
    if each["notation"] == "xla"
] + [
    # OpenXLA, "Tiled layout": element (2,3) of F32[3,5] with tiles of 2x2 lies at 17.
    ("f32[3,5]{1,0:T(2,2)}", [3, 5], [2, 3], 17, 24),
    # language.md, "Worked values".
    ("{1,0:T(8,128)(2,1)}", [16, 256], [9, 129], 3075, 4096),
]
SAME = [
    "{0,1}",
    "{1,0:T(8,128)}",
    "{1,0:T(8,128)(2,1)}",
    "{1,0:T(8,128)(4,1)}",
    "f32[3,5]{1,0:T(2,2)}",
    "f32[4,8]{1,0:T(2,4)(2,1)}",
    "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}",
    "bf16[16,<=256]{1,0:T(8,128)(2,1)S(1)}",
    "s4[10]{0:T(8)L(1024)E(4)}",
    "{2,1,0:T(8,128)L(1024)}",
    "pred[3,<=5]{1,0}",
    "f32[]",
    "minor_to_major: [0, 1] padded_dimensions: [3, 5] padding_value: ZERO_PAD",
]
REFUSED = [
    ("{", "L401", 2),
    ("f32[3,5]{1,0:D(D,C)}", "L401", 14),
    ("{1,0:T(8,-1)}", "L401", 10),
    ("{1,1}", "L404", 4),
    ("{2,0}", "L404", 2),
    ("f32[3]{1,0}", "L403", 1),
    ("{1,0:T(2,2,2)}", "L403", 1),
    ("{1,0:T(0,2)}", "L405", 8),
    ("f32[0,5]{1,0}", "L405", 5),
    ("{1,0:T(4,*)}", "L405", 1),
    ("{1,0:T(99999999999999999999)}", "L103", 8),
    ("minor_to_major: [0] padding_value: LOWEST_PAD", "L407", 36),
]


@pytest.mark.parametrize(("text", "shape", "index", "offset", "size"), WORKED)
def test_worked_values(text, shape, index, offset, size):
    layout = layoutdsl.from_notation("xla", text)
    assert layout.offset(index, shape) == offset
    assert layout.size(shape) == size


def test_the_worked_example_of_the_padding_section():
    text = "minor_to_major: [0, 1] padded_dimensions: [3, 5] padding_value: ZERO_PAD"
    layout = layoutdsl.from_notation("xla", text)
    held = [layout.decode(slot, (2, 3)) for slot in range(layout.size((2, 3)))]
    letters = ["0" if each is None else "abcdef"[3 * each[0] + each[1]] for each in held]
    assert " ".join(letters) == "a d 0 b e 0 c f 0 0 0 0 0 0 0"


@pytest.mark.parametrize("text", SAME)
def test_what_was_read_prints_back(text):
    found = read_text("xla", text)
    assert write("xla", found.layout, found.notes) == text


@pytest.mark.parametrize(("text", "code", "column"), REFUSED)
def test_faults_point_into_the_text(text, code, column):
    with pytest.raises(LayoutError) as raised:
        layoutdsl.from_notation("xla", text)
    (found,) = raised.value.diagnostics
    span = found.primary.span
    assert (found.code, span.source.place(span.start)[1]) == (code, column)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("XlaTile8x128", "{1,0:T(8,128)}"),
        ("XlaTile8x128x2", "{1,0:T(8,128)(2,1)}"),
        ("XlaColumnMajor", "{0,1}"),
    ],
)
def test_layouts_of_the_library_print(name, text):
    assert layoutdsl.to_notation(layoutdsl.library(name), "xla") == text


@pytest.mark.parametrize(
    ("name", "reason"),
    [("NCHW16c", "padding holds 0"), ("NCHWc<8>", "padding holds 0")],
)
def test_what_xla_cannot_say_is_said(name, reason):
    with pytest.raises(Unwritable, match=reason):
        layoutdsl.to_notation(layoutdsl.library(name), "xla")


def _tiled_offset(index: list[int], shape: list[int], tiles: list[list[int]]) -> tuple[int, int]:
    """The page's own formula: quotients and remainders, tile after tile. Returns offset, size."""
    e, d = list(index), list(shape)
    for tile in tiles:
        count = len(d) - len(tile)
        quotients = [a // t for a, t in zip(e[count:], tile, strict=True)]
        remainders = [a % t for a, t in zip(e[count:], tile, strict=True)]
        covers = [-(-a // t) for a, t in zip(d[count:], tile, strict=True)]
        e, d = [*e[:count], *quotients, *remainders], [*d[:count], *covers, *tile]
    offset = 0
    for a, extent in zip(e, d, strict=True):
        offset = offset * extent + a
    return offset, prod(d)


@settings(max_examples=50, deadline=None)
@given(some.data())
def test_random_tiles_follow_the_formula_and_print_back(data):
    rank = data.draw(some.integers(1, 4))
    shape = [data.draw(some.integers(1, 7)) for _ in range(rank)]
    order = data.draw(some.permutations(range(rank)))
    tiles: list[list[int]] = []
    dimensions = rank
    for _ in range(data.draw(some.integers(0, 3))):
        length = data.draw(some.integers(1, min(dimensions, 3)))
        tiles.append([data.draw(some.sampled_from([1, 2, 3, 4])) for _ in range(length)])
        dimensions += length
    written = "".join(f"({','.join(map(str, tile))})" for tile in tiles)
    minor = ",".join(map(str, order))
    text = f"f32[{','.join(map(str, shape))}]{{{minor}{':T' if tiles else ''}{written}}}"
    layout = layoutdsl.from_notation("xla", text)
    major = order[::-1]
    for _ in range(8):
        index = [data.draw(some.integers(0, extent - 1)) for extent in shape]
        there = [index[axis] for axis in major]
        offset, size = _tiled_offset(there, [shape[axis] for axis in major], tiles)
        assert layout.offset(index, shape) == offset
        assert layout.size(shape) == size
    try:
        again = layoutdsl.from_notation("xla", layoutdsl.to_notation(layout, "xla"))
    except Unwritable:
        return
    slots = range(layout.size(shape))
    assert [layout.decode(n, shape) for n in slots] == [again.decode(n, shape) for n in slots]


@settings(max_examples=200, deadline=None)
@given(some.text("f32[]{}(),:TLES0123456789*<= minor_to_major", max_size=40))
def test_no_text_breaks_the_reader(text):
    with suppress(LayoutError):
        assert layoutdsl.from_notation("xla", text).coordinates
