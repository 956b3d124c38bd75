"""oneDNN's tags: read, printed back, and refused with a place in the tag."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from texts import refusal

import layoutdsl
from layoutdsl import LayoutError

# Tag, shape, index, offset: worked by hand from the rule of the Developer Guide.
OFFSETS = [
    ("aBcd16b", (2, 20, 3, 4), (1, 17, 2, 3), 753),
    ("nChw16c", (2, 20, 3, 4), (1, 17, 2, 3), 753),
    ("abcd", (2, 3, 4, 5), (1, 2, 3, 4), 119),
    ("acdb", (2, 3, 4, 5), (1, 2, 3, 4), 1 * 60 + 3 * 15 + 4 * 3 + 2),
    ("ntc", (2, 3, 4), (1, 2, 3), 2 * 8 + 1 * 4 + 3),
    ("ldgoi", (2, 1, 3, 4, 5), (1, 0, 2, 3, 4), 60 + (3 * 5 + 4) * 3 + 2),
    ("OhwI32o", (33, 2, 1, 1), (32, 1, 0, 0), 64 + 32),
    ("OIhw4i16o4i", (20, 20, 1, 1), (17, 6, 0, 0), 2 * 256 + 64 + 1 * 4 + 2),
]
PRINTED = [
    "nChw16c",
    "OIhw4i16o4i",
    "gOdhwi16o",
    "ldigo",
    "tnc",
    "ntc",
    "cn",
    "x",
    "abcd",
    "acdb",
    "aBcd16b",
    "ABcd4b16a4b",
    "aBCde8b16c2b",
    "Ab16a",
    "ba",
]

# Names whose letters say another order, or another cut, than the library gives them.
MENDED = [("gIOhw2i8o16i2o", "gOIhw2i8o16i2o"), ("gOhwI24o", "gOhwi24o")]
REFUSED = [
    ("any", "L407", 1),
    ("aBcd16", "L401", 7),
    ("abcd16b", "L404", 2),
    ("aBcd", "L404", 2),
    ("aacd", "L404", 2),
    ("aBcd16b4e", "L404", 8),
    ("aBcd1b", "L405", 5),
    ("a?", "L401", 2),
    ("", "L401", 1),
    ("nChw16c\n", "L401", 8),
    ("16b", "L401", 1),
    ("abce", "L404", 1),
    ("nchz", "L404", 4),
    ("abcdefghijklm", "L404", 13),
    ("aB16B", "L404", 3),
    ("aB" + "9" * 19 + "b", "L103", 3),
    ("aB" + "2b" * 63, "L103", 1),
    ("aB9999999999b9999999999b", "L405", 14),
]


@pytest.mark.parametrize(("tag", "shape", "index", "offset"), OFFSETS)
def test_offsets_are_those_of_the_rule(tag, shape, index, offset):
    assert layoutdsl.from_notation("onednn", tag).offset(index, shape) == offset


@pytest.mark.parametrize("tag", PRINTED)
def test_what_was_read_prints_back(tag):
    assert layoutdsl.to_notation(layoutdsl.from_notation("onednn", tag), "onednn") == tag


@pytest.mark.parametrize(("tag", "code", "column"), REFUSED)
def test_faults_point_into_the_tag(tag, code, column):
    assert refusal(layoutdsl.from_notation, "onednn", tag) == (code, column)


def test_a_tag_in_a_text_and_in_a_claim():
    module = layoutdsl.parse(
        'layout A(n, c, h, w) = onednn "aBcd16b"\n'
        'prove NCHW16c == onednn "nChw16c"\nprove A == NCHW16c'
    )
    assert layoutdsl.prove(module).status == "proved"


@pytest.mark.parametrize(
    ("name", "reason"),
    [("R4CroutonLayout", "padding holds 31"), ("XlaPaddedExample", "defined only where")],
)
def test_what_a_tag_cannot_say_is_said(name, reason):
    with pytest.raises(ValueError, match=reason):
        layoutdsl.to_notation(layoutdsl.library(name), "onednn")


@pytest.mark.parametrize(("tag", "mended"), MENDED)
def test_a_misprinted_name_means_what_the_library_makes_of_it(tag, mended):
    layout = layoutdsl.from_notation("onednn", tag)
    assert layout.coordinates == layoutdsl.from_notation("onednn", mended).coordinates
    assert layoutdsl.to_notation(layout, "onednn") == mended


def test_letters_that_would_be_a_misprinted_name_are_not_printed():
    text = "layout A(g, o, i, h, w) = [g, i/32, o/16, h, w, i/16%2, o/2%8, i%16, o%2]"
    printed = layoutdsl.to_notation(layoutdsl.parse(text)["A"], "onednn")
    assert printed == "aCBde2c8b16c2b"


@pytest.mark.parametrize(
    ("axes", "body", "reason"),
    [
        ("c", "c%4, c/4", "a block stands before"),
        ("c", "c/8, c%4, c/4%2", "do not stand in their order"),
        ("c, d", "c, d : 8", "declared extent"),
        ("c", "c/K, c%K", "not a number"),
        ("c: 8", "c%8", "no rest above it"),
        ("c, d", "c^d%4, d", "not a digit"),
    ],
)
def test_what_is_no_tag_is_refused(axes, body, reason):
    name = "Demo<K>" if "K" in body else "Demo"
    layout = layoutdsl.parse(f"layout {name}({axes}) = [{body}]")["Demo"]
    with pytest.raises(ValueError, match=reason):
        layoutdsl.to_notation(layout, "onednn")


def test_an_axis_of_one_element_needs_no_coordinate():
    layout = layoutdsl.parse("layout A(a: 1, b, c: 1, d) = [d, b]")["A"]
    printed = layoutdsl.to_notation(layout, "onednn")
    assert printed == "acdb"


@given(st.text(st.sampled_from("aAbBcCnNhHwWoOiI0123456789 ?x\n"), max_size=12))
def test_any_text_is_read_and_printed_or_refused(tag):
    codes = set()
    try:
        layout = layoutdsl.from_notation("onednn", tag)
        printed = layoutdsl.to_notation(layout, "onednn")
        assert layoutdsl.from_notation("onednn", printed).coordinates == layout.coordinates
    except LayoutError as error:
        codes = {each.code for each in error.diagnostics}
    assert codes <= {"L401", "L404", "L405"}
