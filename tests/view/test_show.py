"""`view/` against the meaning: every number that it prints follows from `Layout.offset`."""

from __future__ import annotations

import itertools
import re
from math import prod

import pytest
from cli_shell import DEMO

from layoutdsl import Layout, library, library_module, parse
from layoutdsl.language.declaration import declaration
from layoutdsl.view.ansi import COLOURS, PLAIN, grid_text
from layoutdsl.view.grid import grid
from layoutdsl.view.places import where
from layoutdsl.view.slots import at
from layoutdsl.view.words import held_text, placement_text

MODULE = parse(
    DEMO
    + """
layout Cut(n, h, w) = [(n, h)/4, w/2, ((n, h)%4, w%2 : 4)]
layout Overlapping(n, c) = [n, c%4]
refute Overlapping
"""
)
SHAPES = [
    ("NCHW16c", (1, 18, 1, 2)),
    ("Manual", (2, 9, 1, 2)),
    ("Gaps", (2, 3, 4)),
    ("Swizzled", (5, 4)),
    ("Cut", (2, 3, 3)),
    ("Overlapping", (2, 9)),
]


def shaped(test: object) -> object:
    return pytest.mark.parametrize(("name", "shape"), SHAPES)(test)  # type: ignore[arg-type]


@pytest.mark.sampled(2, slow=1)
@pytest.mark.parametrize(
    "layout",
    [*library_module().layouts.values(), *MODULE.layouts.values()],
    ids=lambda each: each.name,
)
def test_a_declaration_means_the_layout(layout: Layout) -> None:
    again = parse(declaration(layout) + (f" refute {layout.name}" * (layout.name == "Overlapping")))
    assert again[layout.name] == layout


@shaped
def test_the_amounts_add_up_to_the_offset(name: str, shape: tuple[int, ...]) -> None:
    layout = MODULE[name]
    for index in itertools.product(*map(range, shape)):
        found = where(layout, index, shape)
        assert found.offset == layout.offset(index, shape)
        assert found.start + sum(term.amount for term in found.terms) == found.offset
        assert tuple(value for _, value in found.index) == index


@pytest.mark.sampled(4, slow=3)
@shaped
def test_every_slot_is_explained(name: str, shape: tuple[int, ...]) -> None:
    layout = MODULE[name]
    for slot in range(layout.size(shape)):
        found = at(layout, slot, shape)
        decoded = layout.decode(slot, shape)
        if decoded is not None:
            assert found.holds == "element"
            assert tuple(value for _, value in found.elements[0]) == decoded
            assert not found.reasons
        elif layout.is_padding(slot, shape):
            assert found.holds == "padding"
            assert found.reasons
        else:
            assert found.holds == "before"
        if found.holds != "before":
            start = layout.size(shape) - prod(layout.box(shape))
            assert start + sum(term.amount for term in found.terms) == slot


@pytest.mark.sampled(2, slow=1)
@shaped
def test_every_slot_has_its_cell(name: str, shape: tuple[int, ...]) -> None:
    layout = MODULE[name]
    found = grid(layout, shape, width=60, most_rows=10_000)
    assert len(found.rows) == found.rows_in_all
    slot = found.start
    for row in found.rows:
        assert row.offset == slot
        for cell in row.cells:
            assert (cell.kind == "padding") == layout.is_padding(slot, shape)
            assert (cell.kind == "shared") == (len(list(layout.holders(slot, shape))) > 1)
            slot += 1
    assert slot == layout.size(shape)


def test_a_placement_in_words() -> None:
    found = where(library("NCHW16c"), (1, 17, 2, 3), (2, 20, 3, 4))
    assert placement_text(found) == (
        "`NCHW16c` at shape N=2 C=20 H=3 W=4\n"
        "(n=1, c=17, h=2, w=3) -> offset 753\n"
        "\n"
        "  coordinate      value  extent  stride  amount\n"
        "  n                   1       2     384     384\n"
        "  c/16        17/16 = 1       2     192     192\n"
        "  h                   2       3      64     128\n"
        "  w                   3       4      16      48\n"
        "  c%16        17%16 = 1      16       1       1\n"
        "  sum                                       753"
    )


def test_a_placement_with_an_offset() -> None:
    assert placement_text(where(MODULE["Gaps"], (1, 2, 3), (2, 3, 4))) == (
        "`Gaps` at shape N=2 H=3 W=4\n"
        "(n=1, h=2, w=3) -> offset 36\n"
        "\n"
        "  coordinate        value  extent  stride  amount\n"
        "  offset                                        3\n"
        "  (n, h) : 70  (1, 2) = 5      70       6      30\n"
        "  w : 6                 3       6       1       3\n"
        "  sum                                          36"
    )


def test_chunks_and_addresses_in_words() -> None:
    assert held_text(at(MODULE["Crouton"], 669, (1, 3, 5, 30))) == (
        "`Crouton` at shape B=1 H=3 W=5 D=30\n"
        "offset 669 -> (b=0, h=2, w=4, d=29)\n"
        "\n"
        "  coordinate           value  extent  stride\n"
        "  b             669/2048 = 0       1    2048\n"
        "  h/8         669/2048%1 = 0       1    2048\n"
        "  w/8         669/2048%1 = 0       1    2048\n"
        "  d/32        669/2048%1 = 0       1    2048\n"
        "  h%8          669/256%8 = 2       8     256\n"
        "  w%8           669/32%8 = 4       8      32\n"
        "  d%32           669%32 = 29      32       1\n"
        "\n"
        "  b = 0\n"
        "  h = h/8*8 + h%8 = 0*8 + 2 = 2\n"
        "  w = w/8*8 + w%8 = 0*8 + 4 = 4\n"
        "  d = d/32*32 + d%32 = 0*32 + 29 = 29\n"
        "\n"
        "  chunk 0, place 669 in it\n"
        "  address: byte 334, bit 4, for elements of u4"
    )


@pytest.mark.parametrize(
    ("name", "shape", "slot", "line"),
    [
        (
            "NCHW16c",
            (2, 20, 3, 4),
            757,
            "offset 757 is padding, filled with 0: c = 21 is not below C = 20",
        ),
        (
            "Gaps",
            (2, 3, 4),
            300,
            "offset 300 is padding, filled with 0: `(n, h)` = 49 is not below N*H = 6; "
            "n = 16 is not below N = 2",
        ),
        ("Gaps", (2, 3, 4), 2, "offset 2 lies before the first element"),
        (
            "Cut",
            (2, 3, 4),
            3,
            "offset 3 is padding, filled with 0: `w%2` = 3 is not below 2",
        ),
        ("Swizzled", (2, 4), 7, "offset 7 -> (h=1, w=2)"),
        ("Overlapping", (2, 9), 2, "offset 2 -> (n=0, c=2)"),
    ],
)
def test_what_a_slot_holds(name: str, shape: tuple[int, ...], slot: int, line: str) -> None:
    assert held_text(at(MODULE[name], slot, shape)).splitlines()[1] == line


def test_an_overlap_names_the_other_elements() -> None:
    lines = held_text(at(MODULE["Overlapping"], 2, (2, 9))).splitlines()
    assert lines[2] == "  = note: (n=0, c=6) lies here too"


def test_a_slot_outside_the_buffer() -> None:
    with pytest.raises(ValueError, match="slot 768 is outside the buffer of 768 elements"):
        at(MODULE["NCHW16c"], 768, (2, 20, 3, 4))


BLOCKED = """\
`NCHW4c` at shape N=1 C=6 H=2 W=3: 48 slots, 36 elements

offset  c/4  h |   0   1   2   3   4   5   6   7   8   9  10  11
     0    0  0 | 0,0 1,0 2,0 3,0 0,1 1,1 2,1 3,1 0,2 1,2 2,2 3,2
    12    0  1 | 0,0 1,0 2,0 3,0 0,1 1,1 2,1 3,1 0,2 1,2 2,2 3,2
    24    1  0 | 4,0 5,0   .   . 4,1 5,1   .   . 4,2 5,2   .   .
    36    1  1 | 4,0 5,0   .   . 4,1 5,1   .   . 4,2 5,2   .   .

cells: c, w
columns: w, c%4
. is padding"""

CUT_SHORT = """\
`Gaps` at shape N=2 H=3 W=4: 420 slots, 24 elements

offset  (n, h) : 70 | 0 1 2 3 4 5
     3            0 | 0 1 2 3 . .
     9            1 | 0 1 2 3 . .

cells: w
columns: w : 6
. is padding
3 slots before the first
left out: 68 of 70 rows"""

SHARED = """\
`Overlapping` at shape N=1 C=6: 4 slots, 6 elements

offset | 0 1 2 3
     0 | 0 1 2 3

cells: c
columns: c%4
several elements want the same slot"""

WRAPPED = """\
`Long` at shape C=20: 20 slots, 20 elements

offset       c |  0  1  2  3  4  5  6  7
     0    0..7 |  0  1  2  3  4  5  6  7
     8   8..15 |  8  9 10 11 12 13 14 15
    16  16..19 | 16 17 18 19

cells: c
columns: c"""

JOINED = """\
`Weights` at shape I=6 O=8: 64 slots, 48 elements

offset  i/4     o |   0   1   2   3   4   5   6   7
     0    0  0..1 | 0,0 1,0 2,0 3,0 0,1 1,1 2,1 3,1
     8    0  2..3 | 0,2 1,2 2,2 3,2 0,3 1,3 2,3 3,3
    16    0  4..5 | 0,4 1,4 2,4 3,4 0,5 1,5 2,5 3,5
    24    0  6..7 | 0,6 1,6 2,6 3,6 0,7 1,7 2,7 3,7
    32    1  0..1 | 4,0 5,0   .   . 4,1 5,1   .   .
    40    1  2..3 | 4,2 5,2   .   . 4,3 5,3   .   .
    48    1  4..5 | 4,4 5,4   .   . 4,5 5,5   .   .
    56    1  6..7 | 4,6 5,6   .   . 4,7 5,7   .   .

cells: i, o
columns: o, i%4
. is padding"""

CHUNKS = """\
`Tile` at shape H=9 W=2: 32 slots, 18 elements

offset  h/8  h%8 | 0 1
     0    0    0 | 0 1
     2    0    1 | 0 1
     4    0    2 | 0 1
     6    0    3 | 0 1
     8    0    4 | 0 1
    10    0    5 | 0 1
    12    0    6 | 0 1
    14    0    7 | 0 1

    16    1    0 | 0 1
... 7 rows of padding

cells: w
columns: w%2
. is padding"""

ALONE = """\
`Long` at shape C=1: 1 slot, 1 element

offset | 0
     0 | *

* is an element"""


@pytest.mark.parametrize(
    ("layout", "shape", "rows", "expected"),
    [
        (library("NCHW4c"), (1, 6, 2, 3), 48, BLOCKED),
        (MODULE["Gaps"], (2, 3, 4), 2, CUT_SHORT),
        (MODULE["Overlapping"], (1, 6), 48, SHARED),
        (parse("layout Long(c) = [c]")["Long"], (20,), 48, WRAPPED),
        (parse("layout Long(c) = [c]")["Long"], (1,), 48, ALONE),
        (parse("layout Weights(i, o) = [i/4, o, i%4]")["Weights"], (6, 8), 48, JOINED),
        (parse("layout Tile(h, w) = [h/8, w/2; h%8, w%2]")["Tile"], (9, 2), 48, CHUNKS),
    ],
)
def test_a_plain_grid(layout: Layout, shape: tuple[int, ...], rows: int, expected: str) -> None:
    width = {"Long": 40, "Weights": 52, "Tile": 22}.get(layout.name, 100)
    assert grid_text(grid(layout, shape, width=width, most_rows=rows), PLAIN) == expected


def test_a_coloured_grid_differs_in_its_colours_only() -> None:
    found = grid(library("NCHW4c"), (1, 6, 2, 3), width=100, most_rows=48)
    coloured = grid_text(found, COLOURS)
    bare = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert bare == BLOCKED + "\ncolours:  c/4=0   c/4=1 "
    assert "\x1b[38;5;16;48;5;153m 0,0 1,0 2,0 3,0" in coloured
    assert "\x1b[38;5;16;48;5;223m 4,0 5,0\x1b[0m\x1b[38;5;244m   .   .\x1b[0m" in coloured


@pytest.mark.slow
def test_the_colours_are_those_of_the_blocks_that_are_shown() -> None:
    one = grid_text(grid(library("NCHW4c"), (1, 3, 2, 3), width=100, most_rows=48), COLOURS)
    assert re.sub(r"\x1b\[[0-9;]*m", "", one).endswith("\ncolours:  h=0   h=1 ")
    weights = grid_text(
        grid(library("HtpConvWeights"), (1, 1, 8, 8), width=100, most_rows=64), COLOURS
    )
    assert re.sub(r"\x1b\[[0-9;]*m", "", weights).splitlines()[-1] == (
        "colours:  i%32/4=0   i%32/4=1 "
    )


@pytest.mark.sampled(6, slow=5)
@pytest.mark.parametrize("width", [20, 30, 40, 60, 80, 100, 200])
def test_rows_keep_to_the_width(width: int) -> None:
    for name, shape in (("NCHW16c", (2, 20, 3, 4)), ("Crouton", (1, 9, 9, 40))):
        found = grid(MODULE[name], shape, width=width, most_rows=9)
        lines = grid_text(found, PLAIN).splitlines()[2:11]
        longest = max(map(len, lines))
        assert longest <= width or max(len(row.cells) for row in found.rows) == 1


def test_a_huge_shape_is_shown_at_once() -> None:
    found = grid(library("NCHW16c"), (10**9, 96, 512, 512), width=100, most_rows=4)
    assert [row.offset for row in found.rows] == [0, 16, 32, 48]
    assert found.rows_in_all == 10**9 * 6 * 512 * 512
