"""TVM, MLIR and einops: what is read is what their packages do, prints back, or is refused."""

from __future__ import annotations

from contextlib import suppress
from itertools import product
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest
from cli_shell import Shell, shell
from hypothesis import given, settings
from hypothesis import strategies as some
from texts import refusal

import layoutdsl
from layoutdsl import LayoutError

__all__ = ["shell"]

SAME = {
    "tvm": [
        "NCHW",
        "NHWC",
        "NCHW16c",
        "OIHW[4o4i]",
        "NCHW16c4n",
        "lambda n, h, w, c: [n, h // 8, w // 8, c // 32, h % 8, w % 8, c % 32]",
        "lambda i, j: [(i + j) % 4, IndexMap.AXIS_SEPARATOR, j // 2]",
        "8cNC",
        "lambda i, j: [i * 8 + j ^ 3]",
        "lambda: []",
    ],
    "mlir": [
        "outer_dims_perm=[1, 0] inner_dims_pos=[0, 1] inner_tiles=[8, 32]",
        "outer_dims_perm=[0, 1] inner_dims_pos=[1] inner_tiles=[16] padding_value(-3)",
        "%packed = linalg.pack %source outer_dims_perm=[1, 0] inner_dims_pos=[0, 1] "
        "inner_tiles=[8, 32] into %target : tensor<128x256xf32> -> tensor<8x16x8x32xf32>",
        "%packed = linalg.pack %source padding_value(%pad : i8) outer_dims_perm=[0, 1] "
        "inner_dims_pos=[0] inner_tiles=[8] into %target : tensor<127x?xi8> -> tensor<16x?x8xi8>",
        "affine_map<(d0, d1) -> (d0 floordiv 8, d1 floordiv 4, d0 mod 8, d1 mod 4)>",
        "affine_map<(d0, d1)[s0] -> (d0 * s0 + d1)>",
        "strided<[64, 1], offset: 3>",
        "memref<4x8xf32, strided<[16, 1], offset: 2>>",
        "memref<4x?xf32>",
        "memref<?x?xi8, strided<[16, 1]>>",
        "memref<f32>",
    ],
    "einops": [
        "n c h w -> n h w c",
        "n (c1 c0) h w -> n c1 h w c0, c0=16",
        "a b -> (b a)",
        "(a2 a1 a0) b -> a0 b (a2 a1), a1=2, a0=3",
        "a 1 -> 1 a, a=5",
    ],
}
LINE = "%0 = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [8, 32]"
REFUSED = [
    ("tvm", "NcHW", "L404", 2),
    ("tvm", "NNC", "L404", 2),
    ("tvm", "NCHW16C", "L404", 5),
    ("tvm", "NCHW16x", "L404", 5),
    ("tvm", "NCHW0c", "L405", 5),
    ("tvm", "4c", "L404", 1),
    ("tvm", "NCHW4", "L401", 6),
    ("tvm", "lambda i, i: [i]", "L404", 11),
    ("tvm", "lambda i: [j]", "L404", 12),
    ("tvm", "lambda i: [i // 0]", "L405", 17),
    ("tvm", "lambda i: [i >> 99]", "L405", 17),
    ("tvm", "lambda i: [os.system(i, i)]", "L404", 12),
    ("tvm", f"lambda i: [{'(' * 60}i{')' * 60}]", "L104", 61),
    ("mlir", "inner_dims_pos=[0,0] inner_tiles=[8,4]", "L404", 19),
    ("mlir", "inner_dims_pos=[2] inner_tiles=[8,4]", "L405", 20),
    ("mlir", f"{LINE} into %d : tensor<127x256xf32> -> tensor<16x8x8x32xf32>", "L407", 60),
    ("mlir", f"{LINE} into %d : tensor<128x256xf32> -> tensor<16x8x8x16xf32>", "L405", 100),
    ("mlir", f"{LINE} into %d : tensor<128x256xf32> -> tensor<16x8x256xf32>", "L405", 100),
    ("mlir", f"{LINE} into %d : tensor<128x256xf32> -> tensor<16x8x8x32xf16>", "L405", 100),
    ("mlir", f"{LINE} into %d : tensor<0x256xf32> -> tensor<0x8x8x32xf32>", "L405", 77),
    ("mlir", f"{LINE} into %d : tensor<128xf32> -> tensor<16x8x8x32xf32>", "L404", 42),
    ("mlir", LINE, "L401", 66),
    ("mlir", "outer_dims_perm=[0,2] inner_dims_pos=[] inner_tiles=[]", "L404", 20),
    ("mlir", "inner_dims_pos=[0] inner_tiles=[0]", "L405", 33),
    ("mlir", "padding_value(0.5)", "L405", 1),
    ("mlir", "affine_map<(d0) -> (d0 mod 0)>", "L405", 28),
    ("mlir", "affine_map<(d0) -> (d1)>", "L404", 21),
    ("mlir", "strided<[-1]>", "L405", 10),
    ("mlir", "strided<[?, 1]>", "L407", 10),
    ("mlir", "strided<[3, 2]>", "L406", 1),
    ("mlir", "memref<4x8xf32, strided<[1, 1]>>", "L406", 17),
    ("mlir", "memref<0x8xf32>", "L405", 8),
    ("einops", "a b -> a", "L404", 1),
    ("einops", "a -> a b", "L404", 8),
    ("einops", "a a -> a", "L404", 3),
    ("einops", "(a b) -> b a", "L404", 4),
    ("einops", "(a b) -> b a, a=2", "L404", 4),
    ("einops", "a 2 -> a", "L404", 3),
    ("einops", "a -> a, b=2", "L404", 9),
    ("einops", "a -> a, a=0", "L405", 11),
    ("einops", "(a (b c)) -> a b c", "L401", 4),
]


@pytest.mark.parametrize(
    ("notation", "text"), [(name, text) for name, texts in SAME.items() for text in texts]
)
def test_what_was_read_prints_back(notation: str, text: str, shell: Shell) -> None:
    assert shell("translate", f"{notation}:{text}", "--to", notation).out == f"{text}\n"


@pytest.mark.parametrize(("notation", "text", "code", "column"), REFUSED)
def test_faults_point_into_the_text(notation, text, code, column):
    assert refusal(layoutdsl.from_notation, notation, text) == (code, column)


def test_a_ragged_tile_without_a_padding_value_is_undefined():
    text = 'layout L(y: 20, x) = mlir "inner_dims_pos=[0] inner_tiles=[8]{}"'
    with pytest.raises(LayoutError, match="a tile of 8 does not divide 20"):
        layoutdsl.parse(text.format(""))
    layout = layoutdsl.parse(text.format(" padding_value(7)").replace("(y: 20, x)", "(y: 20)"))["L"]
    assert layout.physical_shape((20,)) == (3, 8)


@pytest.mark.parametrize(
    ("name", "notation", "reason"),
    [
        ("R4CroutonLayout", "tvm", "padding holds 31"),
        ("NCHW16c", "einops", "divide their axes"),
        ("XlaPaddedExample", "mlir", "declared extent `5`"),
        ("R4Crouton4x1Layout", "mlir", "cut twice"),
    ],
)
def test_what_cannot_be_said_is_said(name, notation, reason):
    with pytest.raises(ValueError, match=reason):
        layoutdsl.to_notation(layoutdsl.library(name), notation)


TAGS = ["NCHW16c", "NHWC", "NCHW4c", "NCHW16c4n", "OIHW16i16o", "OIHW[4o4i]", "OIHW4o"]


@pytest.mark.slow
def test_tags_are_those_of_tvm(record_property):
    package = pytest.importorskip("tvm.s_tir")
    random, compared = Random(1), 0
    for tag in TAGS:
        source = "".join(letter for letter in tag.partition("[")[0] if letter.isupper())
        theirs = package.sbijective_layout(source, tag)
        ours = layoutdsl.from_notation("tvm", tag)
        for _ in range(6):
            shape = [random.randint(1, 40) for _ in source]
            assert tuple(map(int, theirs.forward_shape(shape))) == ours.physical_shape(shape)
            index = [random.randrange(extent) for extent in shape]
            assert tuple(map(int, theirs.forward_index(index))) == ours.place(index, shape)
            compared += 1
    record_property("compared", compared)
    assert compared == 6 * len(TAGS)


MAPS = [
    ("lambda n, c: [n, c // 16, c % 16]", lambda n, c: [n, c // 16, c % 16]),
    ("lambda i, j: [j, i // 4, i % 4]", lambda i, j: [j, i // 4, i % 4]),
    ("lambda i, j: [i * 8 + j % 8, j // 8]", lambda i, j: [i * 8 + j % 8, j // 8]),
    ("lambda i, j: [i // 8, j // 4, (i % 8) * 4 + j % 4]", None),
]


@pytest.mark.slow
def test_index_maps_are_those_of_tvm():
    package = pytest.importorskip("tvm.tirx")
    for text, function in MAPS[:3]:
        theirs = package.IndexMap.from_func(function)
        ours = layoutdsl.from_notation("tvm", text)
        for index in product(range(20), range(20)):
            assert tuple(map(int, theirs.map_indices(list(index)))) == ours.place(index, (20, 20))


PADDED = [
    (lambda n, c: [n, c // 16, c % 16], "lambda n, c: [n, c // 16, c % 16]", (2, 20)),
    (lambda i, j: [j, i // 4, i % 4], "lambda i, j: [j, i // 4, i % 4]", (7, 3)),
    (
        lambda y, x: [y // 8, x // 4, y % 8, x % 4],
        "lambda y, x: [y // 8, x // 4, y % 8, x % 4]",
        (9, 6),
    ),
    (lambda i: [i // 6, i % 6 // 2, i % 2], "lambda i: [i // 6, i % 6 // 2, i % 2]", (10,)),
]


def test_padding_is_where_the_predicate_of_tvm_holds(record_property):
    package, ir = pytest.importorskip("tvm.tirx"), pytest.importorskip("tvm.ir")
    compared = 0
    for function, text, shape in PADDED:
        theirs = package.IndexMap.from_func(function)
        inverse, predicate = theirs.non_surjective_inverse([ir.Range(0, n) for n in shape])
        words = compile(str(predicate), "the predicate, as TVM prints it", "eval")
        names = [str(each) for each in inverse.initial_indices]
        ours = layoutdsl.from_notation("tvm", text)
        for slot, place in enumerate(product(*map(range, ours.physical_shape(shape)))):
            types = SimpleNamespace(int64=int, int32=int, bool=bool)
            known = {"T": types, **dict(zip(names, place, strict=True))}
            assert bool(eval(words, known)) == ours.is_padding(slot, shape), (text, place)
            compared += 1
    record_property("compared", compared)
    assert compared > 200


def _packed(text: str, shape: tuple[int, ...], **sizes: int) -> tuple[np.ndarray, np.ndarray]:
    einops = pytest.importorskip("einops")
    whole = np.arange(np.prod(shape)).reshape(shape)
    return whole, einops.rearrange(whole, text.partition(",")[0], **sizes)


@pytest.mark.parametrize(
    ("text", "shape", "sizes"),
    [
        ("n (co ci) h w -> n co h w ci, ci=16", (2, 32, 3, 4), {"ci": 16}),
        ("a b c -> (c a) b", (2, 3, 4), {}),
        ("(a b) 1 c -> c (a b), b=2", (6, 1, 5), {"b": 2}),
        ("(a b c) d -> c (d a) b, b=2, c=3", (24, 5), {"b": 2, "c": 3}),
        ("(a b) -> b a, a=2, b=3", (6,), {"a": 2, "b": 3}),
    ],
)
def test_rearrangements_are_those_of_einops(text, shape, sizes):
    whole, packed = _packed(text, shape, **sizes)
    layout = layoutdsl.from_notation("einops", text)
    assert layout.physical_shape(shape) == packed.shape
    flat = packed.ravel()
    for index in product(*map(range, shape)):
        assert flat[layout.offset(index, shape)] == whole[index]
    again = layoutdsl.to_notation(layout, "einops")
    written = {word.split("=")[0].strip(): int(word.split("=")[1]) for word in again.split(",")[1:]}
    assert np.array_equal(_packed(again, shape, **written)[1], packed)


def test_pack_is_that_of_the_documentation():
    """`linalg.pack` by hand: outer dimensions permuted, then tiles in their order."""
    layout = layoutdsl.from_notation(
        "mlir", "outer_dims_perm=[1,0] inner_dims_pos=[0,1] inner_tiles=[8,32] padding_value(0)"
    )
    shape = (20, 50)
    assert layout.physical_shape(shape) == (2, 3, 8, 32)
    for y, x in product(range(20), range(50)):
        assert layout.place((y, x), shape) == (x // 32, y // 8, y % 8, x % 32)


def test_affine_maps_by_hand():
    text = "affine_map<(d0, d1)[s0] -> (d1 ceildiv s0, (d0 + 3) mod 5 * 2)>"
    layout = layoutdsl.from_notation("mlir", text)
    for y, x, s in product(range(7), range(7), (1, 2, 3)):
        assert layout.place((y, x), (7, 7, s)) == (-(-x // s), (y + 3) % 5 * 2)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(
    some.sampled_from(["tvm", "mlir", "einops"]),
    some.text("NCHW16c[]lambda i,j:()//%^&<<-> d0modfloriv?x=_", max_size=40),
)
def test_no_text_breaks_the_readers(notation, text):
    with suppress(LayoutError):
        assert layoutdsl.from_notation(notation, text).coordinates
