"""Qualcomm HTP's memory layouts: the page's listings, a transcription of the rule, and refusals."""

from __future__ import annotations

from itertools import product
from math import prod

import pytest
from cli_shell import Shell, shell
from hypothesis import given
from hypothesis import strategies as st
from texts import LIBRARY, refusal

import layoutdsl
from layoutdsl import Layout, LayoutError

__all__ = ["shell"]

CROUTON = "<4, 0,0, 1,0, 2,0, 3,0, 1,8, 2,8, 3,32>"
WEIGHTS = "<4, 3,0, 2,0, 0,0, 1,0, 2,8, 3,32, 2,4>"


def htp(text: str) -> Layout:
    return layoutdsl.from_notation("htp", text)


def by_hand(pairs, shape, index):
    """Offset and size by the page's own reading, pairs from right to left."""
    left, extents = list(index), list(shape)
    offset, slots = 0, 1
    for dimension, size in reversed(pairs):
        if size:
            offset += left[dimension] % size * slots
            left[dimension] //= size
            extents[dimension] = -(-extents[dimension] // size)
            slots *= size
        else:
            offset += left[dimension] * slots
            slots *= extents[dimension]
    return offset, slots


# The names of the document: its table, and its samples of croutons.
TYPES = (
    "R4FlatMemoryLayout",
    "R4NCHWMemoryLayout",
    "R4Depth32MemoryLayout",
    "R4CroutonLayout",
    "R4Crouton4x1Layout",
    "R4Crouton2x2Layout",
    "R4Crouton2Layout",
    "ChannelMajorCrouton",
    "SpatialXYMajor",
    "SpatialXMajor",
)

# The listings of the page, read as sets: the box between two corners, both included, and the slots
# that it fills. Where padding is listed, the shape is the padded one.
#
# Misprints: "Flat Layout" has (0,0,0,1) where (0,1,0,1) follows (0,1,0,0). "Crouton Layout" has
# (0,0,0,30), (0,0,0,31) where (0,0,1,30), (0,0,1,31) follow (0,0,1,29). Its (0,0,16,0) ...
# (0,0,23,63) is a set that spreads over two chunks. The last rows leave out what lies between
# (0,8,23,63) and (0,15,0,0), and (1,8,23,63) and (1,15,0,0): all of 8 to 15, and of 0 to 15.
FLAT, SMALL, LARGE = (2, 3, 5, 30), (1, 8, 8, 32), (2, 16, 24, 64)
LISTED = [
    ("FlatMemoryLayout<4>", FLAT, (0, 0, 0, 0), (0, 0, 0, 29), range(30)),
    ("FlatMemoryLayout<4>", FLAT, (0, 0, 1, 0), (0, 0, 1, 29), range(30, 60)),
    ("FlatMemoryLayout<4>", FLAT, (0, 0, 4, 0), (0, 0, 4, 29), range(120, 150)),
    ("FlatMemoryLayout<4>", FLAT, (0, 1, 0, 0), (0, 1, 0, 29), range(150, 180)),
    ("FlatMemoryLayout<4>", FLAT, (0, 1, 1, 0), (0, 1, 1, 29), range(180, 210)),
    ("FlatMemoryLayout<4>", FLAT, (0, 2, 1, 0), (0, 2, 1, 29), range(330, 360)),
    ("FlatMemoryLayout<4>", FLAT, (0, 2, 4, 0), (0, 2, 4, 29), range(420, 450)),
    ("FlatMemoryLayout<4>", FLAT, (1, 0, 0, 0), (1, 0, 0, 29), range(450, 480)),
    ("FlatMemoryLayout<4>", FLAT, (1, 2, 4, 0), (1, 2, 4, 29), range(870, 900)),
    (CROUTON, SMALL, (0, 0, 0, 0), (0, 0, 0, 31), range(32)),
    (CROUTON, SMALL, (0, 0, 1, 0), (0, 0, 1, 31), range(32, 64)),
    (CROUTON, SMALL, (0, 0, 4, 0), (0, 0, 4, 31), range(128, 160)),
    (CROUTON, SMALL, (0, 0, 5, 0), (0, 0, 7, 31), range(160, 256)),
    (CROUTON, SMALL, (0, 1, 0, 0), (0, 1, 0, 31), range(256, 288)),
    (CROUTON, SMALL, (0, 1, 1, 0), (0, 1, 1, 31), range(288, 320)),
    (CROUTON, SMALL, (0, 2, 1, 0), (0, 2, 1, 31), range(544, 576)),
    (CROUTON, SMALL, (0, 2, 4, 0), (0, 2, 4, 31), range(640, 672)),
    (CROUTON, SMALL, (0, 3, 0, 0), (0, 7, 7, 31), range(768, 2048)),
    (CROUTON, LARGE, (0, 0, 0, 0), (0, 0, 0, 31), range(32)),
    (CROUTON, LARGE, (0, 0, 7, 0), (0, 0, 7, 31), range(224, 256)),
    (CROUTON, LARGE, (0, 1, 0, 0), (0, 1, 7, 31), range(256, 512)),
    (CROUTON, LARGE, (0, 7, 7, 0), (0, 7, 7, 31), range(2016, 2048)),
    (CROUTON, LARGE, (0, 0, 0, 32), (0, 0, 0, 63), range(2048, 2080)),
    (CROUTON, LARGE, (0, 1, 0, 32), (0, 1, 7, 63), range(2304, 2560)),
    (CROUTON, LARGE, (0, 7, 7, 32), (0, 7, 7, 63), range(4064, 4096)),
    (CROUTON, LARGE, (0, 0, 8, 0), (0, 0, 15, 31), range(4096, 4352)),
    (CROUTON, LARGE, (0, 1, 8, 0), (0, 1, 15, 31), range(4352, 4608)),
    (CROUTON, LARGE, (0, 7, 8, 0), (0, 7, 15, 31), range(5888, 6144)),
    (CROUTON, LARGE, (0, 0, 8, 32), (0, 0, 15, 63), range(6144, 6400)),
    (CROUTON, LARGE, (0, 7, 8, 32), (0, 7, 15, 63), range(7936, 8192)),
    (
        CROUTON,
        LARGE,
        (0, 0, 16, 0),
        (0, 0, 23, 63),
        [*range(8192, 8448), *range(10240, 10496)],
    ),
    (CROUTON, LARGE, (0, 7, 16, 32), (0, 7, 23, 63), range(12032, 12288)),
    (CROUTON, LARGE, (0, 8, 0, 0), (0, 15, 23, 63), range(12288, 24576)),
    (CROUTON, LARGE, (1, 0, 0, 0), (1, 15, 23, 63), range(24576, 49152)),
    (WEIGHTS, (3, 3, 32, 32), (0, 0, 0, 0), (0, 0, 3, 0), range(4)),
    (WEIGHTS, (3, 3, 32, 32), (0, 0, 0, 1), (0, 0, 3, 1), range(4, 8)),
    (WEIGHTS, (3, 3, 32, 32), (0, 0, 0, 2), (0, 0, 3, 31), range(8, 128)),
    (WEIGHTS, (3, 3, 32, 32), (0, 0, 4, 0), (0, 0, 7, 0), range(128, 132)),
    (WEIGHTS, (3, 3, 32, 32), (0, 0, 4, 1), (0, 0, 7, 1), range(132, 136)),
    (WEIGHTS, (3, 3, 32, 32), (0, 0, 4, 2), (0, 0, 7, 31), range(136, 256)),
    (WEIGHTS, (3, 3, 32, 32), (0, 0, 8, 0), (0, 0, 31, 31), range(256, 1024)),
    (WEIGHTS, (3, 3, 32, 32), (0, 1, 0, 0), (0, 1, 31, 31), range(1024, 2048)),
    (WEIGHTS, (3, 3, 32, 32), (0, 2, 0, 0), (0, 2, 31, 31), range(2048, 3072)),
    (WEIGHTS, (3, 3, 32, 32), (1, 0, 0, 0), (1, 0, 31, 31), range(3072, 4096)),
    (WEIGHTS, (3, 3, 32, 64), (0, 0, 0, 0), (2, 2, 31, 31), range(9216)),
    (WEIGHTS, (3, 3, 32, 64), (0, 0, 0, 32), (2, 2, 31, 63), range(9216, 18432)),
    (WEIGHTS, (3, 3, 64, 96), (0, 0, 0, 0), (2, 2, 31, 31), range(9216)),
    (WEIGHTS, (3, 3, 64, 96), (0, 0, 32, 0), (2, 2, 63, 31), range(9216, 18432)),
    (WEIGHTS, (3, 3, 64, 96), (0, 0, 0, 32), (2, 2, 31, 63), range(18432, 27648)),
    (WEIGHTS, (3, 3, 64, 96), (0, 0, 32, 32), (2, 2, 63, 63), range(27648, 36864)),
    (WEIGHTS, (3, 3, 64, 96), (0, 0, 0, 64), (2, 2, 31, 95), range(36864, 46080)),
    (WEIGHTS, (3, 3, 64, 96), (0, 0, 32, 64), (2, 2, 63, 95), range(46080, 55296)),
]


@pytest.mark.sampled(48)
@pytest.mark.parametrize(("text", "shape", "low", "high", "slots"), LISTED)
def test_the_listings_of_the_page(text, shape, low, high, slots):
    layout = htp(text)
    values = layout.bind(shape)
    names = [axis.name for axis in layout.axes]
    box = product(*(range(a, b + 1) for a, b in zip(low, high, strict=True)))
    found = [layout.offset_at({**values, **dict(zip(names, index, strict=True))}) for index in box]
    assert sorted(found) == list(slots)


@pytest.mark.parametrize(
    ("text", "shape", "padded"),
    [
        (CROUTON, (1, 3, 5, 30), (1, 8, 8, 32)),
        (CROUTON, (2, 9, 20, 50), (2, 16, 24, 64)),
        (WEIGHTS, (3, 3, 32, 50), (3, 3, 32, 64)),
    ],
)
def test_shapes_are_padded_as_the_page_says(text, shape, padded):
    assert htp(text).size(shape) == prod(padded)


def test_a_chunk_is_what_has_a_size():
    assert htp(CROUTON).chunk((0, 0, 16, 32), (2, 9, 20, 50)) == (5, 0)
    assert htp("<4, 0,0, 1,0, 2,0, 3,0>").chunk_rank is None


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", TYPES)
def test_names_are_the_layouts_of_the_library(name):
    layout, known = htp(name), LIBRARY[name]
    assert (layout.chunk_rank, layout.fill) == (known.chunk_rank, known.fill)
    for shape in ((1, 9, 5, 33), (2, 3, 9, 4)):
        assert layout.size(shape) == known.size(shape)
        for index in product(*map(range, shape)):
            assert layout.offset(index, shape) == known.offset(index, shape)


def test_names_that_the_page_gives_pairs_are_proved_equal_to_them():
    module = layoutdsl.parse(
        f'layout A(b, h, w, d) = htp "{CROUTON}"\nlayout B(h, w, i, o) = htp "{WEIGHTS}"\n'
        'prove A == R4CroutonLayout\nprove A == htp "R4CroutonLayout"\nprove B == HtpConvWeights\n'
        'prove HtpNCHW == htp "<4, 0,0, 3,0, 1,0, 2,0>"'
    )
    assert layoutdsl.prove(module).status == "proved"


@pytest.mark.parametrize(
    ("text", "fill"),
    [("R4Crouton2Layout", 31), (CROUTON, 31), ("R4Depth32MemoryLayout", 0), (WEIGHTS, 0)],
)
def test_padding_of_croutons_holds_31_by_name_or_by_pairs(text: str, fill: int) -> None:
    assert htp(text).clauses == ((f"fill {fill}",) if fill else ())


def test_the_samples_of_the_page_are_read_as_they_are_printed():
    sample = """ChunkedMemoryLayout<
        /* RANK */ 4,
        /* Least Major: Batch Dim, all the rest */ 0,0,
        /* Next least major: height, all the rest */ 1,0,
        /* Next least major: width, all the rest */ 2,0,
        /* Next least major: depth, all the rest */ 3,0,
        /* 8 high */ 1,4,
        /* 2 wide */ 2,2,
        /* 32 channels deep */ 3,32,
        /* 4 cols */ 2,4> SpatialXMajor;"""
    assert htp(sample).coordinates == htp("SpatialXMajor").coordinates


# A text, and what is printed: pairs, unless the name is kept as a note.
PRINTED = [
    ("FlatMemoryLayout<4>", "FlatMemoryLayout<4>"),
    ("<2,0,0,1,0>", "FlatMemoryLayout<2>"),
    ("<2, 1,0, 0,0, 0,1>", "ChunkedMemoryLayout<2, 1,0, 0,0>"),
    (CROUTON, f"ChunkedMemoryLayout{CROUTON}"),
    (f"ChunkedMemoryLayout{WEIGHTS}", f"ChunkedMemoryLayout{WEIGHTS}"),
    *((name, name) for name in TYPES),
]


@pytest.mark.parametrize(("text", "printed"), PRINTED)
def test_what_was_read_prints_back(text: str, printed: str, shell: Shell) -> None:
    assert shell("translate", f"htp:{text}", "--to", "htp").out == f"{printed}\n"
    layout = htp(text)
    plain = layoutdsl.to_notation(layout, "htp")
    assert htp(plain).coordinates == layout.coordinates


@st.composite
def pairs_of_a_layout(draw):
    rank = draw(st.integers(1, 4))
    order = draw(st.permutations(range(rank)))
    sizes = st.tuples(st.integers(0, rank - 1), st.integers(2, 5))
    return (*((k, 0) for k in order), *draw(st.lists(sizes, max_size=4)))


@pytest.mark.slow
@given(pairs_of_a_layout(), st.lists(st.integers(1, 7), min_size=4, max_size=4))
def test_pairs_mean_what_the_rule_says(pairs, extents):
    rank = sum(size == 0 for _, size in pairs)
    text = f"<{rank}, {', '.join(f'{k},{size}' for k, size in pairs)}>"
    layout, shape = htp(text), tuple(extents[:rank])
    for index in product(*map(range, shape)):
        found = layout.offset(index, shape), layout.size(shape)
        assert found == by_hand(pairs, shape, index)
    flat = layoutdsl.to_notation(layout, "htp").replace("FlatMemoryLayout", "")
    assert flat in (f"ChunkedMemoryLayout{text}", f"<{rank}>")


REFUSED = [
    ("", "L401", 1),
    ("R4Crouton", "L401", 1),
    ("<4, 0,0, 1,0, 2,0, 3>", "L401", 21),
    ("<2, 0,0, 1,-8>", "L401", 12),
    ("<2, 0,0, 1,0> /*", "L401", 15),
    ("<4>", "L404", 2),
    ("<2, 0,0>", "L404", 2),
    ("<2, 0,0, 2,0>", "L404", 10),
    ("<2, 0,0, 1,0, 0,0>", "L404", 15),
    ("<2, 0,0, 1,8, 1,0>", "L405", 15),
    ("<0>", "L405", 2),
    ("<1, 0,0, 0,9999999999, 0,9999999999>", "L405", 24),
    ("FlatMemoryLayout<65>", "L103", 18),
    ("<1, 0,0" + ", 0,2" * 64 + ">", "L103", 1),
    ("<1, 0,0, 0," + "9" * 19 + ">", "L103", 12),
    ("R" * 101, "L103", 1),
]


@pytest.mark.parametrize(("text", "code", "column"), REFUSED)
def test_faults_point_into_the_text(text, code, column):
    assert refusal(htp, text) == (code, column)


@pytest.mark.slow
@given(st.text(st.sampled_from("0123456789,,, <>/*R4FlatMemoryLayout;-?\n"), max_size=30))
def test_any_text_is_read_and_printed_or_refused(text):
    codes = set()
    try:
        layout = htp(text)
        printed = layoutdsl.to_notation(layout, "htp")
        assert htp(printed).coordinates == layout.coordinates
    except LayoutError as error:
        codes = {each.code for each in error.diagnostics}
    assert codes <= {"L401", "L404", "L405"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[b, h/8, w/8, d/32; h%8, w%8, d%32]", "padding holds 0, that of this type 31"),
        ("[b, h/4, w, d; h%4] fill 31", "padding holds 31, that of this type 0"),
        ("[b, h/8, w/8; d/32, h%8, w%8, d%32] fill 31", "chunks are not its blocks"),
        ("[b, h, w, d/2, d%2/1; d%1]", "chunks are not its blocks"),
        ("[b, h%4, h/4, w, d]", "a block stands before"),
        ("[b, h, w, d] offset 3", "starts at the offset"),
        ("[b, h, w, d] where D <= 9", "defined only where"),
    ],
)
def test_what_no_type_can_say_is_said(text, reason):
    layout = layoutdsl.parse(f"layout Demo(b, h, w, d) = {text}")["Demo"]
    with pytest.raises(ValueError, match=reason):
        layoutdsl.to_notation(layout, "htp")


def test_a_layout_without_chunks_is_cut_into_them():
    text = layoutdsl.to_notation(layoutdsl.library("NCHW16c"), "htp")
    assert text == "ChunkedMemoryLayout<4, 0,0, 1,0, 2,0, 3,0, 1,16>"
