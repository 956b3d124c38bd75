"""Index functions of C, OpenCL and CUDA, compiled, do what the layout means in plain integers."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable
from functools import cache
from math import prod
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest
from cli_shell import Ended, Shell, shell
from functions_built import COMPILERS, Called, built, inverted
from texts import DOMAINS, EVERY, edge_shapes, every_index, layout

from layoutdsl import Layout, formula, library

__all__ = ["shell"]

FORMS = [
    ("c", "int32"),
    ("c", "int64"),
    ("opencl", "uint32"),
    ("opencl", "int64"),
    ("cuda", "uint32"),
    ("cuda", "int32"),
    ("cuda", "uint64"),
]
forms = pytest.mark.parametrize(("language", "integers"), FORMS)
SIGNED_ONLY = {name for name in EVERY if name.startswith(("Gguf", "Q4_0"))} | {"Band"}
"""What a slot of these holds is told by a difference that may be negative."""


def compiler(language: str) -> None:
    if COMPILERS[language][0] is None:
        pytest.skip(f"there is no compiler to take {language} for what it is like")


Libraries: TypeAlias = Callable[[str, str, bool], ctypes.CDLL]
"""Of a language, its integers, and whether of layouts with a domain."""


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Libraries:
    """The functions of all layouts, compiled when they are first asked for."""

    @cache
    def library(language: str, integers: str, domains: bool) -> ctypes.CDLL:
        layouts = DOMAINS if domains else EVERY
        kept = [each for name, each in layouts.items() if signed(integers, name)]
        return built(kept, language, integers, tmp_path_factory.mktemp("functions"))

    return library


def signed(integers: str, name: str) -> bool:
    return integers.startswith("int") or name not in SIGNED_ONLY


@pytest.mark.slow
@forms
@pytest.mark.parametrize("domains", [False, True])
def test_functions_compiled_are_the_meaning(
    libraries: Libraries,
    language: str,
    integers: str,
    domains: bool,
) -> None:
    compiler(language)
    for name, found in (DOMAINS if domains else EVERY).items():
        if not signed(integers, name):
            continue
        called = Called(libraries(language, integers, domains), found)
        for values in edge_shapes(found, most=3_000):
            check(called, values)


def check(called: Called, values: dict[str, int]) -> None:
    """Every index and every slot of a shape, against `Layout`."""
    found = called.layout
    points = {**values, **every_index(found, values)}
    offsets = np.broadcast_to(found.offset_at(points), called.offset(points).shape)
    assert np.array_equal(called.offset(points), offsets), (found.name, values)
    size, *box = called.sizes(values)
    assert (size, tuple(box)) == (found.size(values), found.physical_shape(values))
    shape = found.shape_of(values)
    if found.domain:
        grids = np.indices(shape).reshape(found.rank, -1)
        everywhere = dict(zip((a.name for a in found.axes), grids, strict=True))
        held = [
            found.holds({**values, **dict(zip(everywhere, map(int, each), strict=True))})
            for each in grids.T
        ]
        assert called.has_slot({**values, **everywhere}).tolist() == held
    if not inverted(found):
        return
    padded = called.padded(values)
    assert all(one >= other for one, other in zip(padded, shape, strict=True))
    expected = np.full((size, 1 + found.rank), -1)
    expected[:, 0] = 0
    index = np.stack([points[axis.name] for axis in found.axes], axis=-1)
    expected[offsets, 0] = 1
    expected[offsets, 1:] = index
    read = called.index(values, np.arange(size))
    assert np.array_equal(read, expected), (found.name, values)


@pytest.mark.slow
def test_padded_extents_are_those_of_the_formula(libraries: Libraries) -> None:
    compiler("c")
    seen = 0
    for found in EVERY.values():
        padded = formula(found).padded
        if padded is not None:
            seen += 1
            called = Called(libraries("c", "int64", False), found)
            for values in edge_shapes(found, most=500):
                meant = [
                    int(extent.subs({each: values[each.name] for each in extent.free_symbols}))
                    for _, extent in padded
                ]
                assert called.padded(values) == meant
    assert seen > 100


# As far as 32 bits go: the range, its largest shape, and one that is too large.

CROUTON = library("R4CroutonLayout")
WEIGHTS = layout("layout Plain(r, c) = [r, c]")
PADDED = layout("layout Wide(r, c) = [r, c : roundup(C, 4096)]")
LATE = layout("layout Late(c) = [c/8, c%8] offset 1000")
FUSED = layout("layout Fused(n, c) = [(n, c)/7, (n, c)%7]")
XORED = layout("layout Xored(r, c: 64) = [r, c/8 ^ r%8, c%8]")
FURTHEST = [
    (library("NCHW16c"), "int32", "N == 1, C <= 16, H <= 11585, W <= 11585", (1, 16, 11585, 11585)),
    (library("NCHW16c"), "uint32", "N == 1, C <= 16, H <= 16383, W <= 16384", (1, 9, 16383, 16384)),
    (library("NCHW16c"), "int32", "N <= 2147483, C <= 16, H <= 62, W == 1", (2147483, 3, 62, 1)),
    (CROUTON, "int32", "B <= 31, H <= 1024, W <= 1024, D <= 64", (31, 1019, 1020, 61)),
    (library("NHWC"), "int32", "N == 1, H == 1, W == 1, C <= 2147483647", (1, 1, 1, 2147483647)),
    (WEIGHTS, "int32", "R <= 46340, C <= 46341", (46340, 46341)),
    (WEIGHTS, "uint32", "R <= 65535, C <= 65537", (65535, 65537)),
    (PADDED, "int32", "R <= 524287, C <= 4096", (524287, 1)),
    (LATE, "int32", "C <= 2147482640", (2147482640,)),
    (FUSED, "int32", "N <= 46340, C <= 46340", (46340, 46339)),
    (XORED, "uint32", "R <= 67108863", (67108863, 64)),
]  # fmt: skip


def printed(shell: Shell, found: Layout, language: str, *options: str) -> Ended:
    """Print the index functions of a layout by the command `formula`."""
    Path("printed.layout").write_text(str(found), encoding="utf-8")
    return shell("formula", f"printed.layout:{found.name}", "--as", language, *options)


def corners(found: Layout, values: dict[str, int]) -> dict[str, np.ndarray]:
    """Indices at both ends of each axis, and near the end."""
    ends = [
        sorted({at for at in (0, 1, e // 2, e - 9, e - 8, e - 2, e - 1) if 0 <= at < e})
        for e in found.shape_of(values)
    ]
    grid = np.stack(np.meshgrid(*ends, indexing="ij")).reshape(found.rank, -1)
    return dict(zip((axis.name for axis in found.axes), grid, strict=True))


LANGUAGES_OF = {"int32": ("c", "cuda"), "uint32": ("opencl", "cuda")}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("found", "integers", "where", "shape"),
    FURTHEST,
    ids=lambda value: value.name if isinstance(value, Layout) else str(value),
)
def test_32_bits_as_far_as_they_go(
    found: Layout,
    integers: str,
    where: str,
    shape: tuple[int, ...],
    shell: Shell,
    tmp_path: Path,
) -> None:
    values = found.bind(shape)
    for language in LANGUAGES_OF[integers]:
        compiler(language)
        if language == "c" or integers == "uint32":
            said = json.loads(printed(shell, found, language, "--where", where, "--json").out)
            assert said["integers"] in (integers, "uint32"), said
        called = Called(built([found], language, integers, tmp_path), found)
        points = corners(found, values)
        meant = found.offset_at({**values, **points})
        assert np.array_equal(called.offset({**values, **points}), meant)
        size, *_ = called.sizes(values)
        assert size == found.size(values)
        slots = np.unique(np.concatenate([meant, [size - 1, size - 2, size // 2]]))
        for slot, (element, *index) in zip(slots, called.index(values, slots), strict=True):
            expected = found.decode(int(slot), shape)
            assert (tuple(index) if element else None) == expected


TOO_FAR = [
    (library("NCHW16c"), "c", "N == 1, C <= 16, H <= 11586, W <= 11586"),
    (library("NCHW16c"), "opencl", "N == 1, C <= 16, H <= 16384, W <= 16384"),
    (WEIGHTS, "c", "R <= 46341, C <= 46341"),
    (WEIGHTS, "cuda", "R <= 65536, C <= 65536"),
    (PADDED, "c", "R <= 524288, C <= 4096"),
    (LATE, "c", "C <= 2147482641"),
    (library("NHWC"), "c", "N == 1, H == 1, W == 1, C <= 2147483648"),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("found", "language", "where"), TOO_FAR)
def test_one_step_further_takes_64_bits_and_is_refuted_for_32(
    found: Layout, language: str, where: str, shell: Shell
) -> None:
    wide = printed(shell, found, language, "--where", where)
    assert wide.code == 0
    assert wide.err.startswith("note: 64 bits, as 32 were not proved to be enough: ")
    said = json.loads(printed(shell, found, language, "--where", where, "--json").out)
    assert said["integers"].endswith("64")
    refused = printed(shell, found, language, "--where", where, "--width", "32")
    assert (refused.code, refused.out) == (1, "")
    assert f"32 bits are too narrow for the index functions of `{found.name}`" in refused.err


@pytest.mark.slow
def test_every_library_layout_is_small_enough_to_be_tried() -> None:
    """The test above looks at shapes of every layout, and not of none."""
    for found in (*EVERY.values(), *DOMAINS.values()):
        assert sum(prod(found.shape_of(each)) for each in edge_shapes(found, most=3_000)) > 0


@forms
def test_a_layout_without_axes(language: str, integers: str, tmp_path: Path) -> None:
    """One element: neither an index nor an extent is given, and the inverse writes none."""
    compiler(language)
    made = layout("layout Scalar() = [2 : 5] offset 3")
    called = Called(built([made], language, integers, tmp_path), made)
    assert called.offset({}).tolist() == [5]
    assert called.sizes({}) == [8, 8]
    held = called.index({}, np.arange(8))[:, 0]
    assert held.tolist() == [0, 0, 0, 0, 0, 1, 0, 0]


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("triton", "    return _slot >= 0"),
        ("mlir", "  %0 = arith.constant true"),
        ("mlir", "func.func @Scalar_padded_extents() -> () {\n  return\n}"),
        ("c", "static inline int32_t Scalar_offset(void)"),
        ("c", "static inline bool Scalar_index(int32_t _slot, int32_t *_index)"),
    ],
)
def test_what_is_printed_without_axes(language: str, line: str, shell: Shell) -> None:
    assert f"{line}\n" in printed(shell, layout("layout Scalar() = [0]"), language).out
