"""XLA's layouts: offsets of the tiled-layout page, printing, faults, and random tiles."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from cli_shell import Shell, shell
from hypothesis import given, settings
from hypothesis import strategies as some
from texts import HERE, refusal

import layoutdsl
from layoutdsl import LayoutError

__all__ = ["shell"]

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
    "minor_to_major: [1, 0] padded_dimensions: [3, 5]",
    "f32[2,1]{1,0}",
    "f32[1,2]{1,0:T(1,128)}",
    "f32[]{:T(128)}",
    "f32[]{:S(6)}",
    "{:T(128)}",
    "{1,0:T(2,2,2)}",
    "pred[3]{0:T(512)(128)(4,1)S(1)}",
    "f32[5]{0:T()}",
    "f32[1024,256]{1,0:T(8,128)S(1)SC(0:512)}",
    "f32[<=1024,256]{1,0:SC(1:100,200)}",
    "s32[<=8]{0:T(8)M(1024)}",
    "u4[<=8]{0:E(4)M(16)}",
    "f32[?,128]{1,0:T(8,128)}",
    "f32[3,5]{1,0:T(2,2)L(4)#(u32)*(u8)E(32)S(3)}",
    "b(f32[3,5]{1,0:T(2,2)})",
]
SPELLED = [
    ("f32[3,5]", "f32[3,5]{1,0}"),
    ("f32[]{}", "f32[]"),
    ("f32[3,5]{1,0:}", "f32[3,5]{1,0}"),
    ("f32[3,5]{1,0:D(D,D)T(2,2)}", "f32[3,5]{1,0:T(2,2)}"),
    ("f32[3]{0:E(0)S(0)L(1)M(0)}", "f32[3]{0}"),
    ("f32[3]{0:S(1)E(32)T(2)}", "f32[3]{0:T(2)E(32)S(1)}"),
    (" f32 [ 3 ,\n/*index=5*/ 5 ] { 1 , 0 : T ( 2 , 2 ) } ", "f32[3,5]{1,0:T(2,2)}"),
    ("minor_to_major: [0, 1]", "{0,1}"),
    ("minor_to_major: 0 padding_value: INVALID_PAD", "{0}"),
]
REFUSED = [
    ("{", "L401", 1),
    ("f32[3,5]{1,0:D(D,C)}", "L409", 18),
    ("f32[3,5]{1,0:D(D)}", "L403", 14),
    ("f32[3]{0:P(s32[3]{0})}", "L409", 10),
    ("(f32[3]{0}, s32[])", "L409", 1),
    ("()", "L409", 1),
    ("token[]", "L409", 1),
    ("opaque[]", "L409", 1),
    ("f33[3]", "L404", 1),
    ("F32[3]", "L404", 1),
    ("f8[3]", "L404", 1),
    ("f32[3]{0:#(u33)}", "L404", 12),
    ("f32[3]{0:T(2)T(2)}", "L404", 14),
    ("f32[3]{0:E(4)E(4)}", "L404", 14),
    ("f32[3]{0:L(0)}", "L405", 12),
    ("f32[-3]", "L401", 5),
    ("f32[<=?]", "L401", 7),
    ("f32[3,]", "L401", 7),
    ("f32[3,5]{1,0:SC(2:1)}", "L404", 1),
    ("f32[3,5]{1,0:SC(0:3)}", "L405", 1),
    ("f32[3,5]{1,0:SC(1:1,2)}", "L409", 1),
    ("f32[3,5]{1,0:SC(0:1)}", "L409", 1),
    ("f32[?,5]{1,0:SC(0:1)}", "L407", 1),
    ("{0:M(1024)}", "L407", 1),
    ("c128[3]{0:M(8)}", "L405", 1),
    ("f32[4]{0:SC(0:2)M(8)}", "L407", 1),
    ("{1,0:T(8,-1)}", "L401", 10),
    ("{1,1}", "L404", 4),
    ("{2,0}", "L404", 2),
    ("f32[3]{1,0}", "L403", 1),
    ("{1,0:T(0,2)}", "L405", 8),
    ("f32[0,5]{1,0}", "L405", 5),
    ("{1,0:T(4,*)}", "L405", 7),
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
def test_what_was_read_prints_back(text: str, shell: Shell) -> None:
    assert shell("translate", f"xla:{text}", "--to", "xla").out == f"{text}\n"


@pytest.mark.parametrize(("text", "printed"), SPELLED)
def test_other_spellings_print_as_xla_prints_them(text, printed):
    layout = layoutdsl.from_notation("xla", text)
    assert layoutdsl.to_notation(layout, "xla") == printed


@pytest.mark.parametrize(
    ("text", "element"),
    [
        ("s4[10]{0}", "i8"),
        ("s4[10]{0:E(4)}", "i4"),
        ("pred[10]{0}", "u8"),
        ("f8e4m3fn[10]{0}", "f8"),
        ("f32[10]{0:E(64)}", None),
        ("f4e2m1fn[10]{0:E(4)}", "f4"),
        ("c64[10]{0}", None),
        ("{0:E(4)}", None),
    ],
)
def test_an_element_is_as_wide_as_it_is_in_memory(text, element):
    found = layoutdsl.from_notation("xla", text).element
    assert (found and found.name) == element


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("f32[]{:T(128)}", "[0 : 128]"),
        ("f32[2,100]{1,0:T(8,128)}", "[y%8, x%128]"),
        ("f32[1024,256]{1,0:T(8,128)SC(0:512)}", "[y/512; y%512/8, x/128, y%8, x%128]"),
        ("s32[<=8]{0:M(1024)}", "[x : 8]"),
        ("{1,0:T(2,2,2)}", "[y/2, x/2, 0 : 2, y%2, x%2]"),
    ],
)
def test_what_it_means(text, shown):
    layout = layoutdsl.from_notation("xla", text)
    assert f" = {shown}" in layoutdsl.translate(layout, "layout").text


def test_metadata_lies_before_the_first_element():
    layout = layoutdsl.from_notation("xla", "s32[<=8]{0:M(1024)}")
    assert layout.offset((2,), (5,)) == 256 + 2
    assert layout.size((5,)) == 256 + 8


def test_a_split_says_which_memory_an_element_lies_in():
    layout = layoutdsl.from_notation("xla", "f32[1000,256]{1,0:T(8,128)SC(0:512)}")
    assert layout.chunk((511, 1), (1000, 256)) == (0, 63 * 2048 + 7 * 128 + 1)
    assert layout.chunk((512, 0), (1000, 256)) == (1, 0)


DECLARED = """
layout Braces(y: 2, x: 1) = xla "{1,0:S(1)}"
layout Typed(y: 2, x: 1) = xla "{1,0:S(1)}" of f32
layout Retyped = Shape of bf16
layout Shape(y, x) = xla "s32[2,1]{1,0:T(1,128)S(1)}"
layout Unpadded = Column fill 0
layout Column(y, x) = xla "f32[2,1]{1,0}"
"""


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("Braces", "{1,0:S(1)}"),
        ("Typed", "f32[2,1]{1,0:S(1)}"),
        ("Retyped", "bf16[2,1]{1,0:T(1,128)S(1)}"),
        ("Unpadded", "f32[2,1]{0,1}"),
    ],
)
def test_what_is_known_besides_the_text_is_printed_with_it(name, printed):
    layout = layoutdsl.parse(DECLARED)[name]
    assert layoutdsl.to_notation(layout, "xla") == printed


@pytest.mark.parametrize(("text", "code", "column"), REFUSED)
def test_faults_point_into_the_text(text, code, column):
    assert refusal(layoutdsl.from_notation, "xla", text) == (code, column)


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
    with pytest.raises(ValueError, match=reason):
        layoutdsl.to_notation(layoutdsl.library(name), "xla")


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(some.text("f32[]{}(),:TLESCDMPb0123456789*#<=?/ minor_to_major", max_size=40))
def test_no_text_breaks_the_reader(text):
    with suppress(LayoutError):
        assert layoutdsl.from_notation("xla", text).coordinates
