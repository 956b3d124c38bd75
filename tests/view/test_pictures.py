"""Pictures against the meaning: a cell says what `Layout.decode` says, and none is missing."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from dataclasses import replace
from itertools import product
from math import prod
from pathlib import Path
from random import Random
from typing import Any
from xml.etree import ElementTree

import pytest
from cli_shell import Shell, shell
from picture_pages import Page, Read, index_of, read
from random_digits import shapes, with_copies
from random_layouts import drawn, shape_in
from random_records import drawn as drawn_record
from random_records import shapes as record_shapes

import layoutdsl
from layoutdsl import Layout, Record, library, library_record, parse

__all__ = ["shell"]

GOLDEN = Path(__file__).parents[1] / "golden" / "pictures"
NCHW16C = ("NCHW16c", (1, 20, 2, 3))
SVG = "{http://www.w3.org/2000/svg}"


def a_layout(seed: int) -> tuple[Layout, tuple[int, ...]]:
    """A layout that is drawn, one in six with copies, and a shape."""
    random = Random(seed)
    while True:
        if seed % 6 == 0:
            found = with_copies(random)
            shape = next(iter(shapes(random, (found,), 1)), None)
            layout = found.layout
        else:
            layout = drawn(random)
            shape = shape_in(layout, random)
        if shape is not None and layout.size(shape) <= 300 and layout.bit_of is None:
            return layout, shape


def is_told(layout: Layout, shape: tuple[int, ...], page: Page) -> None:
    """Every slot and every element is there once, and says what the meaning says."""
    (_, axes, _) = page.data["fields"][0]
    names = [axis.name for axis in layout.element_axes]
    places = [k for k, axis in enumerate(layout.axes) if axis.name in names]
    start = layout.size(shape) - prod(layout.box(shape))
    told = {cell.numbers[0]: cell for cell in page.buffer}
    first = start if start > 64 and start not in told else min(told, default=0)
    assert sorted(told) == list(range(first, layout.size(shape)))
    for slot, cell in told.items():
        index = layout.decode(slot, shape)
        if index is None:
            assert not cell.keys
            assert cell.kinds & {"p", "b"} == ({"p"} if slot >= start else {"b"})
        else:
            assert index_of(cell.keys[0], axes) == tuple(index[k] for k in places)
            assert not cell.kinds & {"p", "b"}
            shared = len(list(layout.holders(slot, shape))) > 1
            assert ("s" in cell.kinds) == shared == (len(cell.keys) > 1)
    elements = {index_of(cell.keys[0], axes): cell for cell in page.tensor if cell.keys}
    extents = layout.element_shape(layout.bind(shape))
    assert len([cell for cell in page.tensor if cell.keys]) == layout.elements(shape)
    for index in product(*map(range, extents)):
        if index in elements:
            slots = layout.slots(dict(zip(names, index, strict=True)), shape)
            assert tuple(sorted(elements[index].numbers)) == tuple(sorted(slots))


@pytest.mark.sampled(20)
@pytest.mark.parametrize("seed", range(60))
def test_cells_say_what_the_meaning_says(seed: int) -> None:
    layout, shape = a_layout(seed)
    is_told(layout, shape, read(layoutdsl.show(layout, shape).html()))


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("layout A(n, c) = [n, c%4]  refute A", (2, 9)),
        ("layout A(n, h, w) = [(n, h) : 70, w : 6] offset 3", (2, 3, 4)),
        ("layout A(r, k) = [(r + 1)*r/2 + k] where k <= r, R == K", (5, 5)),
        ("layout A() = [0]", ()),
    ],
)
def test_so_do_rare_ones(text: str, shape: tuple[int, ...]) -> None:
    layout = parse(text)["A"]
    is_told(layout, shape, read(layoutdsl.show(layout, shape).html()))


def key_of(page: Page, held: Any) -> int:
    """The number of an element of a field, as a page counts them."""
    fields = {name: (axes, base) for name, axes, base in page.data["fields"]}
    axes, key = fields[held.field]
    return int(
        key
        + sum(
            place * prod(extent for _, extent in axes[k + 1 :])
            for k, place in enumerate(held.index)
        )
    )


def told_of(cell: Read) -> set[tuple[int, int, int]]:
    """Bits of a byte with the numbers of their elements, and which bits of these they are."""
    found = set()
    for run in (cell.attributes.get("data-b") or "").split():
        low, high, key, first = run.split(":")
        for bit in range(int(low), int(high) + 1):
            if key:
                found.add((cell.numbers[0] * 8 + bit, int(key), int(first) + bit - int(low)))
    return found


@pytest.mark.sampled(32)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("most", [1 << 14, 40])
def test_bytes_of_records_say_what_their_bits_hold(seed: int, most: int) -> None:
    record: Record = drawn_record(Random(seed)).record
    for shape in record_shapes(record, Random(seed), 2, 1200):
        page = read(layoutdsl.show(record, shape, most=most).html())
        size = record.size_bits(shape)
        every = [[k] for k in range(-(-size // 8))]
        drawn = [cell.numbers for cell in page.buffer]
        assert drawn == every if most > 1200 else len(drawn) <= max(most, 32)
        assert (drawn[0], drawn[-1]) == (every[0], every[-1])
        for cell in page.buffer:
            meant = {
                (address, key_of(page, held), held.bit)
                for address in range(cell.numbers[0] * 8, min(size, cell.numbers[0] * 8 + 8))
                for held in record.holders(address, shape)
            }
            assert told_of(cell) == meant
            assert set(cell.keys) == {key for _, key, _ in meant}
        bytes_of = defaultdict(set)
        for _, held, address in record.every_bit(record.bind(shape)):
            bytes_of[key_of(page, held)].add(address // 8)
        assert page.tensor
        for cell in page.tensor:
            assert set(cell.numbers) == bytes_of[cell.keys[0]]


@pytest.mark.parametrize("name", ["NCHW16c", "GmmaKSw128", "Q4_0"])
def test_golden_svg(name: str) -> None:
    """`LAYOUTDSL_REWRITE_GOLDEN=1` rewrites them; they are looked at in a browser in review."""
    found = {
        "NCHW16c": lambda: layoutdsl.show(library("NCHW16c"), (1, 20, 2, 3)),
        "GmmaKSw128": lambda: layoutdsl.show(library("GmmaKSw128"), colour="bank", columns=64),
        "Q4_0": lambda: layoutdsl.show(library_record("Q4_0"), (1, 64)),
    }[name]().svg()
    path = GOLDEN / f"{name}.svg"
    if os.environ.get("LAYOUTDSL_REWRITE_GOLDEN") == "1":
        path.write_text(found, "utf-8")
    assert found == path.read_text("utf-8")


def test_an_svg_has_every_slot_and_element_once() -> None:
    layout, shape = library(NCHW16C[0]), NCHW16C[1]
    root = ElementTree.fromstring(layoutdsl.show(layout, shape).svg())
    labels = [each.text for each in root.iter(f"{SVG}text")]
    for index in product(*map(range, shape[1:])):
        assert labels.count(",".join(map(str, index))) == 1
    for slot in map(str, (layout.offset((0, *i), shape) for i in product(*map(range, shape[1:])))):
        assert slot in labels
    assert root.attrib["role"] == "img"
    named = root.attrib["aria-labelledby"].split()
    assert [each.attrib["id"] for each in (root.find(f"{SVG}title"), root.find(f"{SVG}desc"))] == (
        named
    )
    hatched = [e for e in root.iter(f"{SVG}rect") if "url(#" in e.attrib.get("style", "")]
    assert len(hatched) == 72


def test_two_pictures_in_one_page_have_names_of_their_own() -> None:
    one = layoutdsl.show(library("NCHW16c"), (1, 20, 2, 3)).svg()
    other = layoutdsl.show(library("NCHW16c"), (1, 20, 2, 4)).svg()
    ids = [
        {e.attrib["id"] for e in ElementTree.fromstring(t).iter() if "id" in e.attrib}
        for t in (one, other)
    ]
    assert not ids[0] & ids[1]
    assert one == layoutdsl.show(library("NCHW16c"), (1, 20, 2, 3)).svg()


# What is too large.


@pytest.mark.slow
def test_what_is_too_large_is_folded_and_said() -> None:
    layout = library("NCHW16c")
    shape = (1000, 640, 300, 300)
    page = read(layoutdsl.show(layout, shape).html())
    assert "Too large to be drawn whole" in page.text
    assert "rows left out" in page.text
    assert len(page.buffer) + len(page.tensor) < 2000
    (_, axes, _) = page.data["fields"][0]
    for cell in page.buffer:
        assert index_of(cell.keys[0], axes) == layout.decode(cell.numbers[0], shape)
    for cell in page.tensor:
        assert cell.numbers == [layout.offset(index_of(cell.keys[0], axes), shape)]
    assert layout.size(shape) - 1 in {cell.numbers[0] for cell in page.buffer}
    svg = layoutdsl.show(layout, shape).svg()
    assert "rows left out" in svg
    assert "Too large to be drawn whole" in svg


def test_however_large_an_axis_is_its_ends_are_drawn() -> None:
    """The columns that are left out of a table are not counted one by one."""
    layout = layoutdsl.parse("layout A(i, j) = [j, i]")["A"]
    svg = layoutdsl.show(layout, (2, 10**15)).svg()
    assert re.search(rf"j=\d+\.\.{10**15 - 1}, some left out", svg)


@pytest.mark.slow
def test_what_fits_is_not_folded() -> None:
    layout = library("NCHW16c")
    whole = layoutdsl.show(layout, (1, 64, 8, 8))
    assert whole.drawn.folded == ""
    folded = layoutdsl.show(layout, (1, 64, 8, 8), most=4095)
    assert folded.drawn.folded != ""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("most", [1, 2, 7, 1000, 2400, 65536])
def test_folding_keeps_the_ends(most: int) -> None:
    for extents in ((5,), (1, 9), (2, 1000), (3, 20, 40), (1,)):
        axes = "abc"[: len(extents)]
        layout = parse(f"layout A({', '.join(axes)}) = [{', '.join(axes)}]")["A"]
        page = read(layoutdsl.show(layout, extents, most=most).html())
        for side in (page.buffer, page.tensor):
            found = [number for cell in side for number in cell.numbers]
            assert len(set(found)) == len(found)
            assert (min(found), max(found)) == (0, prod(extents) - 1)
            whole = len(found) == prod(extents)
            assert whole if prod(extents) < 10 or most == 65536 else not whole or most > 2000


# Words that are no friends.

WORDS = (
    *(
        "<script>alert(1)</script>",
        "\"'><img src=x onerror=alert(1)>",
        "</style><script>x</script>",
    ),
    *("</svg><script>", "&lt;script&gt;", "]]><x>", "-->", "<!--", "javascript:alert(1)"),
    *(
        "' onmouseover='x",
        '" data-live="',
        "${x}",
        "%(x)s",
        "{x}",
        "\u202e\u2066",
        "a\u2028b",
        "a\tb",
    ),
)
HOSTILE = [f"{one}{other}" for one in WORDS for other in ("", "<b>", "\"'&")][:51]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("word", HOSTILE)
def test_hostile_names_are_text(word: str) -> None:
    layout = library("NCHW4c")
    mine = replace(layout, name=word)
    svg, html = (getattr(layoutdsl.show(mine, (1, 6, 2, 3)), form)() for form in ("svg", "html"))
    root = ElementTree.fromstring(svg)
    assert word.split()[0] in "".join(root.itertext())
    assert {each.tag.removeprefix(SVG) for each in root.iter()} <= (
        {"svg", "title", "desc", "style", "defs", "pattern", "rect", "path", "text"}
    )
    page = read(html)
    assert word in page.text
    assert page.tags.count("script") == 1
    assert "img" not in page.tags
    assert not page.handlers
    assert not page.loads


def test_what_xml_has_not_is_replaced() -> None:
    svg = layoutdsl.show(
        replace(library("NCHW4c"), name="a\x00\x1b[31m\ud800\uffff"), (1, 6, 2, 3)
    ).svg()
    assert "a\ufffd\ufffd[31m\ufffd\ufffd" in "".join(ElementTree.fromstring(svg).itertext())
    svg.encode("utf-8")


def test_so_are_names_of_axes() -> None:
    word = HOSTILE[1]
    layout = Layout("A", (replace(library("NCHW").axes[0], name=word),), ())
    page = read(layoutdsl.show(layout, {"N": 1}).html())
    assert page.data["fields"][0][1] == [[word, 1]]
    assert page.tags.count("script") == 1
    assert not page.handlers


# In Python, and in a notebook.


def test_a_notebook_displays_it() -> None:
    picture = layoutdsl.show(library("NCHW4c"), (1, 6, 2, 3))
    assert repr(picture) == (
        "<Picture `NCHW4c` at shape N=1 C=6 H=2 W=3: 48 slots, 36 elements, 12 of padding>"
    )
    bundle = picture._repr_mimebundle_()
    assert bundle["text/plain"] == repr(picture)
    page = read(bundle["text/html"])
    assert len(page.buffer) == 48
    assert "html" not in page.tags


def test_colours() -> None:
    layout = parse("layout Tile(h, w) = [h/8, w/2; h%8, w%2] of u4")["Tile"]
    for colour, words in (
        ("chunk", "chunk 0"),
        ("h", "h=0"),
        ("block", "h/8=0 w/2=0"),
        ("bank", "bank 0"),
    ):
        found = layoutdsl.show(layout, (9, 5), colour=colour)
        assert found.drawn.colours[0].words == words
    for slot in range(96):
        cell = next(
            cell for line in found.drawn.lines for cell in line.cells if cell.number == slot
        )
        assert cell.kind == "padding" or cell.ground == slot // 8 % 32


def test_a_legend_says_that_it_does_not_name_all_colours() -> None:
    layout = parse("layout Tile(h, w) = [h, w] of u8")["Tile"]
    few = layoutdsl.show(layout, (2, 12), colour="w")
    assert (len(few.drawn.colours), few.drawn.legend[-1]) == (12, "Each colour is one value of w.")
    many = layoutdsl.show(layout, (2, 128), colour="bank").drawn
    assert len(many.colours) == 12
    assert many.legend[-1] == "Each colour is one bank; the first 12 are listed."


def test_elements_outside_of_the_buffer_are_counted() -> None:
    layout = parse("layout Narrow(y, x) = [y, x : 12] offset 2 fill any")["Narrow"]
    found = layoutdsl.show(layout, (2, 14)).drawn
    assert found.counts == (
        "24 slots, 28 elements, 0 of padding, 2 in no slot, 2 slots before the first"
    )
    assert "Offsets outside 2..25 are not in the buffer." in found.legend
    right = layoutdsl.show(layout, (2, 10)).drawn
    assert right.counts == "24 slots, 20 elements, 4 of padding, 2 slots before the first"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"colour": "q"}, "there is no colour by `q`"),
        ({"colour": "chunk"}, "has no chunks"),
        ({"colour": "bank"}, "does not say how wide"),
        ({"columns": 0}, "must be >= 1"),
        ({"most": 1 << 20}, "outside 1..65536"),
        ({"of": "f17"}, "there is no element type `f17`"),
    ],
)
def test_what_cannot_be_drawn(given: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        layoutdsl.show(library("NCHW4c"), (1, 6, 2, 3), **given)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "shape", "axes"),
    [
        ("Q4_0", (2, 64), {"d": ("r", "b"), "q": ("r", "k")}),
        ("NV12", (4, 6), {"y": ("h", "w"), "u": ("i", "j"), "v": ("i", "j")}),
        ("Q4_K", (1, 256), {"scale": ("r", "(s, .., i)"), "q": ("r", "k")}),
    ],
)
def test_axes_of_fields_are_called_as_the_text_calls_them(
    name: str, shape: tuple[int, ...], axes: dict[str, tuple[str, ...]]
) -> None:
    record = library_record(name)
    picture = layoutdsl.show(record, shape)
    found = {each.name: tuple(axis for axis, _ in each.axes) for each in picture.drawn.tensors}
    assert found.items() >= axes.items()
    assert read(picture.html()).data["fields"][0][1][0][0] == next(iter(axes.values()))[0]


def test_axes_of_one_name_or_none_go_by_their_numbers() -> None:
    record = library_record("Q4_0")
    field = record.field("q")
    (part,) = field.parts
    r, k = part.picks

    def called(*picks: Any) -> tuple[str, ...]:
        changed = replace(field, parts=(replace(part, picks=picks),))
        fields = tuple(changed if each is field else each for each in record.fields)
        drawn = layoutdsl.show(replace(record, fields=fields), (1, 32)).drawn
        (axes,) = [each.axes for each in drawn.tensors if each.name == "q"]
        return tuple(name for name, _ in axes)

    fixed = replace(k[0], name="", fixed=1)
    assert called(r, (fixed,)) == ("r", "[1]")
    assert called(r, (fixed, fixed)) == ("r", "[1]")
    assert called(r, (fixed, *k)) == ("r", "(.., k)")
    assert called(k, k) == ("[0]", "[1]")


@pytest.mark.slow
def test_records_that_are_too_large_are_folded() -> None:
    record = library_record("Q4_0")
    picture = layoutdsl.show(record, (4096, 4096))
    page = read(picture.html())
    assert "Too large to be drawn whole: 256 of 9437184 bytes" in picture.html()
    assert [cell.numbers[0] for cell in page.buffer][:240] == list(range(240))
    assert page.buffer[-1].numbers == [9437183]


# In the shell.


@pytest.mark.slow
def test_the_shell_writes_one_small_file(shell: Shell) -> None:
    ended = shell("show", "NCHW16c", "--shape", "1,20,2,3", "--as", "html", "-o", "p.html")
    assert (ended.code, ended.out) == (0, "wrote p.html\n")
    assert Path("p.html").stat().st_size < 60_000
    is_told(library("NCHW16c"), (1, 20, 2, 3), read(Path("p.html").read_text("utf-8")))
    again = shell("show", "NCHW16c", "--shape", "1,20,2,3", "--as", "html")
    assert again.out == Path("p.html").read_text("utf-8")
    assert shell("show", "NCHW4c", "--shape", "1,2,3,4", "--as", "html", "-o", "p.html").code == 0
    svg = shell("show", "NCHW16c", "--shape", "1,20,2,3", "--as", "svg")
    assert svg.out == layoutdsl.show(library("NCHW16c"), (1, 20, 2, 3)).svg()
    few = shell("show", "NCHW16c", "--shape", "1,20,2,3", "--as", "svg", "--most", "64")
    assert few.out == layoutdsl.show(library("NCHW16c"), (1, 20, 2, 3), most=64).svg() != svg.out


@pytest.mark.parametrize(
    ("arguments", "words", "code"),
    [
        ("show NCHW4c --shape 1,6,2,3 --colour w", "--colour is for pictures", 2),
        ("show NCHW4c --shape 1,6,2,3 -o x.svg", "-o is for pictures", 2),
        ("show NCHW4c --shape 1,6,2,3 --all", "--all is for pictures", 2),
        ("show NCHW4c --shape 1,6,2,3 --most 9", "--most is for pictures", 2),
        ("show NCHW4c --shape 1,6,2,3 --as svg --most 9 --all", "leave out one of them", 2),
        ("show NCHW4c --shape 1,6,2,3 --as svg --rows 4", "--rows is for text", 2),
        ("show NCHW4c --shape 1,6,2,3 --as svg --colour q", "there is no colour by `q`", 2),
        ("show NCHW4c --shape 9,9,999,999 --as svg --all", "leave out --all", 2),
        ("show Q4_0 --shape 1,32", "add --as html", 2),
        ("show Q4_0 --shape 1,32 --as svg --colour d", "its colours are those of its fields", 2),
        (
            "show demo.layout:Manual --shape 1,6,2,3 --as svg -o demo.layout",
            "is the spec itself",
            4,
        ),
        (
            "show NCHW4c --shape 1,6,2,3 --as svg -o mine.txt",
            "exists and was not written by layoutdsl",
            4,
        ),
        ("show NCHW4c --shape 1,6,2,3 --as svg -o no/where.svg", "cannot be written", 4),
    ],
)
def test_what_the_shell_refuses(shell: Shell, arguments: str, words: str, code: int) -> None:
    Path("mine.txt").write_text("mine")
    ended = shell(*arguments.split())
    assert (ended.code, ended.out) == (code, "")
    assert words in ended.err
    assert Path("mine.txt").read_text() == "mine"
