"""Grids of Zarr, OpenVINO's names of formats, orders of cuBLASLt: texts, faults, drawn ones.

Drawn texts are held against plain integers and printed back. zarr itself is asked in
`test_oracle_zarr.py`.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod
from random import Random

import pytest
from notation_texts import assert_read_or_refused, mangled
from texts import refusal

import layoutdsl
from layoutdsl import Layout

GRIDS = [
    # The text, what it means, and what is printed.
    ("shape=(10, 7), chunks=(4, 3), order=F, fill_value=-1",
     "(a: 10, b: 7) = [a/4, b/3; b%3, a%4] fill -1", None),
    ("chunks=(4,)", "(a) = [a/4; a%4]", "chunks=(4,), fill_value=0"),
    ("fill_value=3, chunk_shape=[2, 4]", "(a, b) = [a/2, b/4; a%2, b%4] fill 3",
     "chunks=(2, 4), fill_value=3"),
    ("chunks=(2, 3, 4), order=(2, 0, 1)", "(a, b, c) = [a/2, b/3, c/4; c%4, a%2, b%3]",
     "chunks=(2, 3, 4), order=(2, 0, 1), fill_value=0"),
    ("chunks=(1, 4), order='F'", "(a, b) = [a, b/4; b%4]", "chunks=(1, 4), fill_value=0"),
]  # fmt: skip
FORMATS = [
    ("bfyx", "(b, f, y, x) = [b, f, y, x]"),
    ("yxfb", "(b, f, y, x) = [y, x, f, b]"),
    ("bfwzyx", "(b, f, w, z, y, x) = [b, f, w, z, y, x]"),
    ("b_fs_yx_fsv16", "(b, f, y, x) = [b, f/16, y, x, f%16]"),
    ("fs_b_yx_fsv32", "(b, f, y, x) = [f/32, b, y, x, f%32]"),
    ("b_fs_zyx_fsv32", "(b, f, z, y, x) = [b, f/32, z, y, x, f%32]"),
    ("bs_fs_yx_bsv16_fsv16", "(b, f, y, x) = [b/16, f/16, y, x, b%16, f%16]"),
    ("bs_fs_fsv8_bsv8", "(b, f) = [b/8, f/8, f%8, b%8]"),
    ("oiyx", "(o, i, y, x) = [o, i, y, x]"),
    ("os_iyx_osv16", "(o, i, y, x) = [o/16, i, y, x, o%16]"),
    ("o_is_yx_isv16", "(o, i, y, x) = [o, i/16, y, x, i%16]"),
    ("os_is_yx_isv16_osv16", "(o, i, y, x) = [o/16, i/16, y, x, i%16, o%16]"),
    ("os_is_yx_isa8_osv8_isv4", "(o, i, y, x) = [o/8, i/32, y, x, i%32/4, o%8, i%4]"),
    ("g_os_is_yx_isv16_osv16", "(g, o, i, y, x) = [g, o/16, i/16, y, x, i%16, o%16]"),
    ("gs_oiyx_gsv16", "(g, o, i, y, x) = [g/16, o, i, y, x, g%16]"),
]
REFUSED = [
    ("zarr", "shape=(3,)", "L401", 1),
    ("zarr", "chunks=(4, 3), shards=(8, 6)", "L407", 16),
    ("zarr", "shape=(3,), chunks=(4, 3)", "L405", 1),
    ("zarr", "chunks=(4, 0)", "L405", 12),
    ("zarr", "chunks=(4, 3), chunks=(4, 3)", "L404", 16),
    ("zarr", "chunks=(4, 3), order=(0, 0)", "L405", 22),
    ("zarr", "chunks=(4, 3), order=X", "L401", 22),
    ("zarr", f"chunks=({'9' * 30},)", "L103", 9),
    ("zarr", "chunks=(999999999999, 999999999999)", "L405", 23),
    ("zarr", f"chunks=({'1, ' * 40}1)", "L103", 1),
    ("cublaslt", "CUBLASLT_ORDER_COL16", "L404", 1),
    ("cublaslt", "", "L404", 1),
    ("openvino", "b_fs_yx", "L404", 3),
    ("openvino", "b_f_yx_fsv16", "L404", 3),
    ("openvino", "b_fs_fsv16_yx", "L404", 12),
    ("openvino", "bfbx", "L404", 3),
    ("openvino", "bo", "L404", 1),
    ("openvino", "b_fs_yx_fsv1", "L405", 9),
    ("openvino", "b_fs_yx_osv16", "L404", 3),
    ("openvino", "image_2d_rgba", "L401", 7),
    ("openvino", "", "L401", 1),
    ("openvino", "b__f", "L401", 1),
    ("openvino", f"b_fs_fsv{'9' * 30}", "L103", 9),
]
UNWRITTEN = [
    ("zarr", "(a, b) = [a/2, b; a%2] fill any", "its padding holds none"),
    ("zarr", "(a, b) = [a/2, b, a%2]", "no chunks that may lie anywhere"),
    ("zarr", "(a, b) = [b, a/2; a%2]", "not counted in the order of the axes"),
    ("zarr", "(a, b) = [a/4, b; a%4/2, a%2]", "cut twice"),
    ("zarr", "(a, b: 4) = [a/4, b; a%4]", "some extents are numbers"),
    ("cublaslt", "(m, n) = [n/16, m, n%16] fill any", "none of the orders"),
    ("cublaslt", "(m, n) = [n/32, m, n%32]", "its padding holds 0"),
    ("cublaslt", "(m, n, k) = [m, n, k]", "a matrix has 2 axes"),
    ("openvino", "(n, c, h, w) = [n, c/16, h, w, c%16]", "its padding holds 0"),
    ("openvino", "(n, c, w) = [n, c, w]", "has no letters"),
    ("openvino", "(b, f) = [b, f/8, f%8/4, f%4/2, f%2] fill any", "more than two blocks"),
]  # fmt: skip


def read(notation: str, text: str) -> Layout:
    return layoutdsl.from_notation(notation, text)


def same(layout: Layout, meant: str) -> bool:
    other = layoutdsl.parse(f"layout Meant{meant}")["Meant"]
    pairs = zip(layout.axes, other.axes, strict=True)
    return layoutdsl.diff(layout, other, axes={a.name: b.name for a, b in pairs}).same


@pytest.mark.parametrize(("text", "meant", "printed"), GRIDS)
def test_grids(text: str, meant: str, printed: str | None) -> None:
    layout = read("zarr", text)
    assert same(layout, meant)
    assert layout.chunk_rank == layout.rank
    assert layoutdsl.to_notation(replace(layout, origin=None), "zarr") == (printed or text)


@pytest.mark.parametrize(("text", "meant"), FORMATS)
def test_formats(text: str, meant: str) -> None:
    layout = read("openvino", text)
    assert same(layout, f"{meant} fill any")
    assert layoutdsl.to_notation(replace(layout, origin=None), "openvino") == text


@pytest.mark.parametrize(("notation", "text", "code", "column"), REFUSED)
def test_faults_point_into_the_text(notation: str, text: str, code: str, column: int) -> None:
    assert refusal(read, notation, text) == (code, column)


@pytest.mark.parametrize(("notation", "text", "words"), UNWRITTEN)
def test_what_cannot_be_written(notation: str, text: str, words: str) -> None:
    layout = layoutdsl.parse(f"layout L{text}")["L"]
    with pytest.raises(ValueError, match=words):
        layoutdsl.to_notation(layout, notation)


def slot_of(order: str, row: int, column: int, rows: int) -> int:
    """cuBLAS Library, `cublasLtOrder_t`: tiles of 32 columns, and what it says of one."""
    group, col = divmod(column, 32)
    match order:
        case "COL32":
            return (group * rows + row) * 32 + col
        case "COL32_2R_4R4":
            whole, line = divmod(row, 32)
            within = ((line % 8 // 2 * 4 + line // 8) * 2 + line % 2) * 32 + col
            return (group * -(-rows // 32) + whole) * 1024 + within
    whole, line = divmod(row, 8)
    tile = (line % 2 * 4 + col // 8) * 32 + (col % 8 // 4 * 4 + line // 2) * 4 + col % 4
    return (group * -(-rows // 8) + whole) * 256 + tile


@pytest.mark.sampled(4)
@pytest.mark.parametrize("order", ["COL32", "COL4_4R2_8C", "COL32_2R_4R4"])
@pytest.mark.parametrize("shape", [(1, 33), (9, 40), (33, 64), (70, 5)])
def test_orders_of_cublaslt(order: str, shape: tuple[int, int]) -> None:
    layout = read("cublaslt", order)
    text = layoutdsl.to_notation(replace(layout, origin=None), "cublaslt")
    assert text == f"CUBLASLT_ORDER_{order}"
    assert replace(read("cublaslt", text), name=layout.name) == layout
    for row, column in product(range(shape[0]), range(shape[1])):
        assert layout.offset((row, column), shape) == slot_of(order, row, column, shape[0])


def test_rows_and_columns() -> None:
    assert same(read("cublaslt", "COL"), "(m, n) = [n, m] fill any")
    assert same(read("cublaslt", "ROW"), "(m, n) = [m, n] fill any")


def drawn_grid(random: Random) -> tuple[str, list[int], list[int], list[int]]:
    rank = random.randint(1, 4)
    chunk = [random.choice((1, 2, 3, 5, 8)) for _ in range(rank)]
    shape = [random.randint(1, 9 if rank < 3 else 5) for _ in range(rank)]
    order = random.sample(range(rank), rank)
    text = f"shape={tuple(shape)}, chunks={tuple(chunk)}, order={tuple(order)}, fill_value=7"
    return text, shape, chunk, order


@pytest.mark.parametrize("seed", range(60))
def test_drawn_grids(seed: int) -> None:
    text, shape, chunk, order = drawn_grid(Random(seed))
    layout = read("zarr", text)
    printed = layoutdsl.to_notation(replace(layout, origin=None), "zarr")
    again = read("zarr", printed)
    counts = [-(-extent // size) for extent, size in zip(shape, chunk, strict=True)]
    assert layout.size({}) == again.size({}) == prod(counts) * prod(chunk)
    for index in product(*map(range, shape)):
        slot = 0
        for place, size, count in zip(index, chunk, counts, strict=True):
            slot = slot * count + place // size
        for axis in order:
            slot = slot * chunk[axis] + index[axis] % chunk[axis]
        assert layout.offset(index, {}) == again.offset(index, {}) == slot


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(60))
def test_drawn_formats(seed: int) -> None:
    random = Random(seed)
    letters = random.choice(("bf", "bfyx", "bfzyx", "oiyx", "goiyx"))
    cut = {a: [random.choice((2, 4, 8))] * random.choice((0, 0, 1, 1, 2)) for a in letters}
    order = random.sample(letters, len(letters))
    blocks = [axis for axis in letters for _ in cut[axis]]
    random.shuffle(blocks)
    outer = [f"{axis}s" if cut[axis] else axis for axis in order]
    inner = [f"{a}s{'av'[a not in blocks[n + 1 :]]}{cut[a][0]}" for n, a in enumerate(blocks)]
    layout = read("openvino", "_".join([*outer, *inner]))
    again = read("openvino", layoutdsl.to_notation(replace(layout, origin=None), "openvino"))
    shape = [random.randint(1, 5) for _ in letters]
    for index in product(*map(range, shape)):
        place, left = dict(zip(letters, index, strict=True)), []
        for axis in reversed(blocks):
            left.append((place[axis] % cut[axis][0], cut[axis][0]))
            place[axis] //= cut[axis][0]
        extents = dict(zip(letters, shape, strict=True))
        slot = 0
        for axis in order:
            slot = slot * -(-extents[axis] // prod(cut[axis])) + place[axis]
        for digit, size in reversed(left):
            slot = slot * size + digit
        assert layout.offset(index, shape) == again.offset(index, shape) == slot


@pytest.mark.parametrize("seed", range(100))
def test_mangled_texts_are_read_or_refused(seed: int) -> None:
    random = Random(seed)
    grids, formats = [text for text, *_ in GRIDS], [text for text, _ in FORMATS]
    text = mangled(random.choice(grids), "0123()[],=-CFshape ", grids, random)
    assert_read_or_refused("zarr", text)
    text = mangled(random.choice(formats), "bfyxoigsva_0123 ", formats, random)
    assert_read_or_refused("openvino", text)
