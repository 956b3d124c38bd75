"""oneDNN's tags: read, printed back, and refused with a place in the tag."""

from __future__ import annotations

import pytest

import layoutdsl
from layoutdsl import LayoutError
from layoutdsl.notation.notation import Unwritable

# Tag, shape, index, offset: worked by hand from the rule of the Developer Guide.
OFFSETS = [
    ("aBcd16b", (2, 20, 3, 4), (1, 17, 2, 3), 753),
    ("nChw16c", (2, 20, 3, 4), (1, 17, 2, 3), 753),
    ("abcd", (2, 3, 4, 5), (1, 2, 3, 4), 119),
    ("acdb", (2, 3, 4, 5), (1, 2, 3, 4), 1 * 60 + 3 * 15 + 4 * 3 + 2),
    ("OIhw4i16o4i", (20, 20, 1, 1), (17, 6, 0, 0), 2 * 256 + 64 + 1 * 4 + 2),
]
PRINTED = ["abcd", "acdb", "aBcd16b", "ABcd4b16a4b", "aBCde8b16c2b", "Ab16a", "ba"]
REFUSED = [
    ("any", "L407", 1),
    ("aBcd16", "L401", 7),
    ("abcd16b", "L404", 2),
    ("aBcd", "L404", 2),
    ("aacd", "L404", 2),
    ("aBcd16b4e", "L404", 8),
    ("aBcd1b", "L405", 5),
    ("a?", "L401", 2),
]


@pytest.mark.parametrize(("tag", "shape", "index", "offset"), OFFSETS)
def test_offsets_are_those_of_the_rule(tag, shape, index, offset):
    assert layoutdsl.from_notation("onednn", tag).offset(index, shape) == offset


@pytest.mark.parametrize("tag", PRINTED)
def test_what_was_read_prints_back(tag):
    assert layoutdsl.to_notation(layoutdsl.from_notation("onednn", tag), "onednn") == tag


@pytest.mark.parametrize(("tag", "code", "column"), REFUSED)
def test_faults_point_into_the_tag(tag, code, column):
    with pytest.raises(LayoutError) as raised:
        layoutdsl.from_notation("onednn", tag)
    (found,) = raised.value.diagnostics
    span = found.primary.span
    assert (found.code, span.source.place(span.start)[1]) == (code, column)


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
    with pytest.raises(Unwritable, match=reason):
        layoutdsl.to_notation(layoutdsl.library(name), "onednn")
