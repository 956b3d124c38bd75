"""Boxes of CUDA's tensor maps and orders of onnxruntime: texts, faults, drawn ones.

Drawn boxes are held against arithmetic on addresses, and against Triton's text of the same tile;
onnxruntime itself is asked in `test_oracle_onnxruntime.py`.
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

BYTES = {"UINT8": 1, "BFLOAT16": 2, "FLOAT16": 2, "INT32": 4, "FLOAT32": 4, "FLOAT64": 8}
MASKS = {
    "NONE": (0, 3),
    "32B": (0x10, 3),
    "64B": (0x30, 3),
    "128B": (0x70, 3),
    "128B_ATOM_32B": (0x60, 2),
    "128B_ATOM_64B": (0x40, 1),
}
"""Bits of an address that are exclusive-ored with others, and how far above those are.

PTX ISA, swizzling modes.
"""
PATTERNS = {
    "128B": "01234567 10325476 23016745 32107654 45670123 54761032 67452301 76543210",
    "128B_ATOM_32B": "01234567 23016745 45670123 67452301",
    "128B_ATOM_64B": "01234567 45670123",
}
"""What lies where in each row of 128 bytes, in chunks of 16 (PTX ISA 5.5.7), until it repeats."""

BOXES = [
    ("FLOAT16, boxDim={64, 8}, SWIZZLE_128B", "(c1: 8, c0: 64) = [c1, c0/8 ^ c1, c0%8]"),
    ("FLOAT32, boxDim={32, 9}, SWIZZLE_128B_ATOM_32B", "(c1: 9, c0: 32) = [c1, c0/8 ^ c1%4, c0%8]"),
    (
        "UINT8, boxDim={128, 6}, SWIZZLE_128B_ATOM_64B",
        "(c1: 6, c0: 128) = [c1, c0/64 ^ c1%2, c0%64]",
    ),
    ("FLOAT32, boxDim={4, 3}, SWIZZLE_NONE", "(c1: 3, c0: 4) = [c1, c0]"),
    ("UINT8, boxDim={16}, SWIZZLE_NONE", "(c0: 16) = [c0]"),
]
ORDERS = [
    ("NCHWc, B=8", "(n, c, h, w) = [n, c/8, h, w, c%8]"),
    ("OIHWBiBo, B=16", "(o, i, h, w) = [o/16, i/16, h, w, i%16, o%16]"),
    ("OIHWBo, B=16", "(o, i, h, w) = [o/16, i, h, w, o%16]"),
]
REFUSED = [
    ("tensormap", "FLOAT16, boxDim={65, 8}, SWIZZLE_128B", "L405", 1),
    ("tensormap", "FLOAT16, boxDim={128, 8}, SWIZZLE_128B", "L405", 1),
    ("tensormap", "FLOAT16, boxDim={32, 8}, SWIZZLE_128B", "L407", 1),
    ("tensormap", "FLOAT16, boxDim={64, 257}", "L405", 22),
    ("tensormap", "FLOAT16, boxDim={8, 1, 1, 1, 1, 1}", "L405", 10),
    ("tensormap", "FLOAT16, boxDim={64, 0}", "L405", 22),
    ("tensormap", "FLOAT16, boxDim={64; 8}", "L401", 10),
    ("tensormap", "FLOAT16, SWIZZLE_128B", "L401", 1),
    ("tensormap", "boxDim={64, 8}", "L401", 1),
    ("tensormap", "FLOAT16, FLOAT32, boxDim={64, 8}", "L404", 10),
    ("tensormap", "FLOAT17, boxDim={64, 8}", "L404", 1),
    ("tensormap", "CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B, boxDim={64, 8}", "L407", 1),
    ("tensormap", "FLOAT16, boxDim={64, 8}, SWIZZLE_256B", "L404", 26),
    ("tensormap", "FLOAT16, boxDim={64, 8}, SWIZZLE_128B_ATOM_32B_FLIP_8B", "L407", 26),
    ("tensormap", "FLOAT16, boxDim={64, 8}, SWIZZLE_64B_ATOM_32B", "L404", 26),
    ("tensormap", "FLOAT16, boxDim={32, 8}, SWIZZLE_128B_ATOM_64B", "L407", 1),
    ("tensormap", "FLOAT16, boxDim={64, 8}, INTERLEAVE_16B", "L407", 26),
    ("tensormap", "FLOAT16, boxDim={64, 8},", "L401", 24),
    ("tensormap", f"FLOAT16, boxDim={{{'9' * 30}}}", "L103", 18),
    ("tensormap", "", "L401", 1),
    ("onnxruntime", "NCHWc", "L401", 1),
    ("onnxruntime", "NCHWd, B=8", "L404", 1),
    ("onnxruntime", "NCHWc, B=1", "L405", 10),
    ("onnxruntime", "NCHWc B=8", "L401", 1),
    ("onnxruntime", f"NCHWc, B={'9' * 30}", "L103", 10),
    ("onnxruntime", f"OIHWBiBo, B={10**12}", "L405", 13),
    ("onnxruntime", "", "L404", 1),
]
UNWRITTEN = [
    ("tensormap", "(a: 8, b: 64) = [a, b]", "does not say a type"),
    ("tensormap", "(a: 8, b: 64) = [a, b] of u4", "does not say a type"),
    ("tensormap", "(a, b: 64) = [a, b] of f16", "whose extents are numbers"),
    ("tensormap", "(a: 8, b: 300) = [a, b] of f16", "at most 256 elements"),
    ("tensormap", "(a: 8, b: 9) = [a, b] of f16", "in rows of 16 bytes"),
    ("tensormap", "(a: 8, b: 64) = [b, a] of f16", "no box row by row"),
    ("tensormap", "(a: 8, b: 64) = [a, b/8 ^ a/2, b%8] of f16", "no box row by row"),
    ("tensormap", "(a: 8, b: 64) = [a, b] of f16 offset 8", "starts at the offset"),
    ("onnxruntime", "(n, c, h, w) = [n, c/16, h, w, c%16] fill any", "no particular value"),
    ("onnxruntime", "(n, c, h, w) = [n, h, w, c]", "no common size"),
    ("onnxruntime", "(o, i, h, w) = [o/8, i/8, h, w, o%8, i%8]", "none of onnxruntime's"),
    ("onnxruntime", "(o, i, h, w) = [o/8, i/4, h, w, i%4, o%8]", "no common size"),
]  # fmt: skip


def read(notation: str, text: str) -> Layout:
    return layoutdsl.from_notation(notation, text)


def unread(layout: Layout) -> Layout:
    """The same layout as one of ours, which says nothing of the text that it was read from."""
    return replace(layout, origin=None)


@pytest.mark.parametrize(
    ("notation", "text", "meant"),
    [*(("tensormap", *each) for each in BOXES), *(("onnxruntime", *each) for each in ORDERS)],
)
def test_texts(notation: str, text: str, meant: str) -> None:
    layout = read(notation, text)
    assert layoutdsl.diff(layout, layoutdsl.parse(f"layout Meant{meant}")["Meant"]).same
    assert layoutdsl.to_notation(unread(layout), notation) == text


def test_enumerators_are_written_out_or_not() -> None:
    prefix = "CU_TENSOR_MAP_"
    written = f"{prefix}DATA_TYPE_FLOAT16, boxDim={{64, 8}}, {prefix}INTERLEAVE_NONE, "
    layout = read("tensormap", f"{written}{prefix}SWIZZLE_128B")
    short = read("tensormap", "FLOAT16, boxDim={64, 8}, SWIZZLE_128B")
    assert replace(layout, name=short.name) == short
    assert layout.element is not None
    assert layout.element.name == "f16"


@pytest.mark.parametrize(("notation", "text", "code", "column"), REFUSED)
def test_faults_point_into_the_text(notation: str, text: str, code: str, column: int) -> None:
    assert refusal(read, notation, text) == (code, column)


@pytest.mark.parametrize(("notation", "text", "words"), UNWRITTEN)
def test_what_cannot_be_written(notation: str, text: str, words: str) -> None:
    layout = layoutdsl.parse(f"layout L{text}")["L"]
    with pytest.raises(ValueError, match=words):
        layoutdsl.to_notation(layout, notation)


def drawn(random: Random) -> tuple[str, str, str, list[int]]:
    """A type, a swizzle and a box: the text, and its extents from the slowest axis on."""
    kind, swizzle = random.choice([*BYTES]), random.choice([*MASKS])
    width = int(swizzle.split("B")[0]) if MASKS[swizzle][0] else 16 * random.randint(1, 4)
    extents = [random.randint(1, 9) for _ in range(random.choice((0, 1, 1, 2, 3)))]
    if len(extents) > 2:
        extents[0] = min(extents[0], 3)
    extents.append(width // BYTES[kind])
    box = ", ".join(map(str, reversed(extents)))
    return f"{kind}, boxDim={{{box}}}, SWIZZLE_{swizzle}", kind, swizzle, extents


@pytest.mark.sampled(60)
@pytest.mark.parametrize("seed", range(100))
def test_drawn_boxes(seed: int) -> None:
    text, kind, swizzle, extents = drawn(Random(seed))
    layout = read("tensormap", text)
    printed = layoutdsl.to_notation(unread(layout), "tensormap")
    # A swizzle that no row is long enough to see is none.
    again = read("tensormap", printed)
    assert layout.size({}) == again.size({}) == prod(extents)
    mask, above = MASKS[swizzle]
    for place, index in enumerate(product(*map(range, extents))):
        address = place * BYTES[kind]
        slot = (address ^ (address >> above) & mask) // BYTES[kind]
        assert layout.offset(index, {}) == again.offset(index, {}) == slot


@pytest.mark.parametrize("swizzle", PATTERNS)
def test_patterns_are_those_of_the_document(swizzle: str) -> None:
    layout = read("tensormap", f"UINT8, boxDim={{128, 16}}, SWIZZLE_{swizzle}")
    pattern = PATTERNS[swizzle].split()
    for row, place, byte in product(range(16), range(8), range(16)):
        held = int(pattern[row % len(pattern)][place])
        assert layout.offset((row, held * 16 + byte), {}) == row * 128 + place * 16 + byte


@pytest.mark.parametrize(("swizzle", "rows"), [(32, 8), (64, 16), (128, 64), (128, 256)])
def test_tiles_are_those_of_triton(swizzle: int, rows: int) -> None:
    columns = swizzle // 2
    box = read("tensormap", f"FLOAT16, boxDim={{{columns}, {rows}}}, SWIZZLE_{swizzle}B")
    said = f"swizzlingByteWidth = {swizzle}, transposed = false, elementBitWidth = 16"
    text = f'layout T(c1: {rows}, c0: {columns}) = triton "#ttg.nvmma_shared<{{{said}}}>"'
    assert layoutdsl.diff(box, layoutdsl.parse(text)["T"]).same


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(100))
def test_mangled_texts_are_read_or_refused(seed: int) -> None:
    random = Random(seed)
    boxes, orders = [text for text, *_ in BOXES], [text for text, _ in ORDERS]
    text = mangled(random.choice(boxes), "0123{},=FLOAT16 ", boxes, random)
    assert_read_or_refused("tensormap", text)
    assert_read_or_refused(
        "onnxruntime", mangled(random.choice(orders), "NCHWciB=, 18", orders, random)
    )
