"""`view/` against the meaning: every number that it prints follows from `Layout.offset`."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable
from math import prod

import pytest
from cli_shell import DEMO, Shell, shell

from layoutdsl import Layout, library, library_module, parse

__all__ = ["shell"]

TEXT = (
    DEMO
    + """
layout Cut(n, h, w) = [(n, h)/4, w/2, ((n, h)%4, w%2 : 4)]
layout Overlapping(n, c) = [n, c%4]
refute Overlapping
"""
)
MODULE = parse(TEXT)
SHAPES = [
    ("NCHW16c", (1, 18, 1, 2)),
    ("Manual", (2, 9, 1, 2)),
    ("Gaps", (2, 3, 4)),
    ("Swizzled", (5, 4)),
    ("Cut", (2, 3, 3)),
    ("Overlapping", (2, 9)),
]


def told(shell: Shell, verb: str, name: str, *words: str) -> str:
    """What a verb prints of a layout of the module, or else of the library."""
    target, text = (f"-:{name}", TEXT.encode()) if name in MODULE else (name, b"")
    done = shell(verb, target, *words, stdin=text)
    assert done.code == 0, done.err
    return done.out.removesuffix("\n")


def numbers(each: Iterable[int]) -> str:
    return ",".join(map(str, each))


def shaped(test: object) -> object:
    return pytest.mark.parametrize(("name", "shape"), SHAPES)(test)  # type: ignore[arg-type]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "layout",
    [*library_module().layouts.values(), *MODULE.layouts.values()],
    ids=lambda each: each.name,
)
def test_a_declaration_means_the_layout(layout: Layout) -> None:
    again = parse(str(layout) + (f" refute {layout.name}" * (layout.name == "Overlapping")))
    assert again[layout.name] == layout


@pytest.mark.slow
@shaped
def test_the_amounts_add_up_to_the_offset(name: str, shape: tuple[int, ...], shell: Shell) -> None:
    layout = MODULE[name]
    for index in itertools.product(*map(range, shape)):
        words = ["--shape", numbers(shape), "--index", numbers(index), "--json"]
        found = json.loads(told(shell, "where", name, *words))
        assert found["offset"] == layout.offset(index, shape)
        amounts = sum(term["amount"] for term in found["coordinates"])
        assert found["start"] + amounts == found["offset"]
        assert tuple(found["index"].values()) == index


@pytest.mark.slow
@pytest.mark.sampled(4)
@shaped
def test_every_slot_is_explained(name: str, shape: tuple[int, ...], shell: Shell) -> None:
    layout = MODULE[name]
    for slot in range(layout.size(shape)):
        words = ["--shape", numbers(shape), str(slot), "--json"]
        found = json.loads(told(shell, "at", name, *words))
        decoded = layout.decode(slot, shape)
        if decoded is not None:
            assert found["holds"] == "element"
            assert tuple(found["index"].values()) == decoded
            assert not found["reasons"]
        elif layout.is_padding(slot, shape):
            assert found["holds"] == "padding"
            assert found["reasons"]
        else:
            assert found["holds"] == "before"
        if found["holds"] != "before":
            start = layout.size(shape) - prod(layout.box(shape))
            assert start + sum(term["amount"] for term in found["coordinates"]) == slot


@pytest.mark.sampled(2)
@shaped
def test_every_slot_has_its_cell(
    name: str, shape: tuple[int, ...], shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row of padding alone may be left out, where it says so."""
    monkeypatch.setenv("COLUMNS", "60")
    layout, cells = MODULE[name], dict[int, str]()
    text = told(shell, "show", name, "--shape", numbers(shape), "--rows", "4096")
    rows = [line.partition(" | ") for line in text.splitlines() if " | " in line]
    for head, _, row in rows[1:]:
        first = int(head.split()[0])
        cells.update(enumerate(row.split(), first))
    slots = range(layout.size(shape))
    assert cells.keys() <= set(slots)
    for slot in slots:
        padding = layout.is_padding(slot, shape)
        held = padding or layout.decode(slot, shape) is None
        assert (cells.get(slot, ".") == ".") == held, slot
    shared = any(len(list(layout.holders(slot, shape))) > 1 for slot in slots)
    assert ("several elements want the same slot" in text) == shared
    left_out = len(slots) - len(cells)
    assert ("rows of padding" in text) or left_out == layout.size(shape) - prod(layout.box(shape))


def test_a_placement_in_words(shell: Shell) -> None:
    words = ["--shape", "2,20,3,4", "--index", "1,17,2,3"]
    assert told(shell, "where", "NCHW16c", *words) == (
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


def test_a_placement_with_an_offset(shell: Shell) -> None:
    assert told(shell, "where", "Gaps", "--shape", "2,3,4", "--index", "1,2,3") == (
        "`Gaps` at shape N=2 H=3 W=4\n"
        "(n=1, h=2, w=3) -> offset 36\n"
        "\n"
        "  coordinate        value  extent  stride  amount\n"
        "  offset                                        3\n"
        "  (n, h) : 70  (1, 2) = 5      70       6      30\n"
        "  w : 6                 3       6       1       3\n"
        "  sum                                          36"
    )


def test_chunks_and_addresses_in_words(shell: Shell) -> None:
    assert told(shell, "at", "Crouton", "--shape", "1,3,5,30", "669") == (
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
def test_what_a_slot_holds(
    name: str, shape: tuple[int, ...], slot: int, line: str, shell: Shell
) -> None:
    found = told(shell, "at", name, "--shape", numbers(shape), str(slot))
    assert found.splitlines()[1] == line


def test_an_overlap_names_the_other_elements(shell: Shell) -> None:
    lines = told(shell, "at", "Overlapping", "--shape", "2,9", "2").splitlines()
    assert lines[2] == "  = note: (n=0, c=6) lies here too"


def test_a_slot_outside_the_buffer(shell: Shell) -> None:
    done = shell("at", "NCHW16c", "--shape", "2,20,3,4", "768")
    assert done.code == 2
    assert "slot 768 is outside the buffer of 768 elements" in done.err


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
def test_a_plain_grid(
    layout: Layout,
    shape: tuple[int, ...],
    rows: int,
    expected: str,
    shell: Shell,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    width = {"Long": 40, "Weights": 52, "Tile": 22}.get(layout.name, 100)
    monkeypatch.setenv("COLUMNS", str(width))
    words = ["--shape", numbers(shape), "--rows", str(rows)]
    text = f"{layout}{f' refute {layout.name}' * (layout.name == 'Overlapping')}"
    assert shell("show", f"-:{layout.name}", *words, stdin=text.encode()).out == f"{expected}\n"


def test_a_coloured_grid_differs_in_its_colours_only(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("FORCE_COLOR", "1")
    coloured = told(shell, "show", "NCHW4c", "--shape", "1,6,2,3")
    bare = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert bare == BLOCKED + "\ncolours:  c/4=0   c/4=1 "
    assert "\x1b[38;5;16;48;5;153m 0,0 1,0 2,0 3,0" in coloured
    assert "\x1b[38;5;16;48;5;223m 4,0 5,0\x1b[0m\x1b[38;5;244m   .   .\x1b[0m" in coloured


@pytest.mark.slow
def test_the_colours_are_those_of_the_blocks_that_are_shown(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("FORCE_COLOR", "1")
    one = told(shell, "show", "NCHW4c", "--shape", "1,3,2,3")
    assert re.sub(r"\x1b\[[0-9;]*m", "", one).endswith("\ncolours:  h=0   h=1 ")
    weights = told(shell, "show", "HtpConvWeights", "--shape", "1,1,8,8", "--rows", "64")
    assert re.sub(r"\x1b\[[0-9;]*m", "", weights).splitlines()[-1] == (
        "colours:  i%32/4=0   i%32/4=1 "
    )


@pytest.mark.sampled(6)
@pytest.mark.parametrize("width", [20, 30, 40, 60, 80, 100, 200])
def test_rows_keep_to_the_width(width: int, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    for name, shape in (("NCHW16c", (2, 20, 3, 4)), ("Crouton", (1, 9, 9, 40))):
        text = told(shell, "show", name, "--shape", numbers(shape), "--rows", "9")
        lines = text.splitlines()[2:11]
        longest = max(map(len, lines))
        cells = [len(line.partition(" | ")[2].split()) for line in lines[1:]]
        assert longest <= width or max(cells) == 1


def test_a_huge_shape_is_shown_at_once(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    shape = f"{10**9},96,512,512"
    lines = told(shell, "show", "NCHW16c", "--shape", shape, "--rows", "4").splitlines()
    assert [int(line.split()[0]) for line in lines[3:7]] == [0, 16, 32, 48]
    assert f"left out: {10**9 * 6 * 512 * 512 - 4} of {10**9 * 6 * 512 * 512} rows" in lines
