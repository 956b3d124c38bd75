"""A layout is printed as a declaration that is read as an equal layout, clauses included."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
import random_declarations
import random_layouts

import layoutdsl
from layoutdsl import Layout, LayoutError, from_notation, library, parse

DRAWN = 400

CLAUSES = (
    "A(n, c) = [n, c/16, c%16] fill any of f16 where C%4 == 0",
    "A(n, c) = [n, c : roundup(C, 16) + 2] fill 3 offset 5",
    "A(n, c) = [n, c] of u8 as scale_offset per c",
    "A(n, c) = [n, c] of u8 as scale_offset fill 7",
    "A(i: N, j: N) = [i, j] where j <= i",
    "A(i: N, j: N) = [i, j] offset N where N >= 2, j <= i, N % 2 == 0",
    "A(n, c, h: 4) = [n, c, h]",
    "A(n, c, h) = [n, c/4; h, c%4]",
    "A(n, c, r: 3 broadcast) = [n, (c, r)]",
    "A(n, c, r: 3 broadcast) = [n, (c, r)/2, (c, r)%2]",
    "A(n, c, r: 2 broadcast) = [r, n, c] fill any",
    "A(n, c, r: 2 broadcast) = [n, (c, r : 5)]",
    "A(n, k) = [n, k/8, (k%8, bit)] of u3",
    "A() = [0]",
    "A(n) = [n, 0 : 4]",
    "A(n, c) = [n, c ^ n%4 : 8] where C <= 8",
)
WITH_PARAMETERS = (
    ("A<k>(n, c) = [n, c/k, c%k]", {"k": 8}),
    ("A<k>(n, c) = [n, c/k, c%k : k + k]", {"k": 1}),
    ("A<j, k>(n, c) = [n, c/(j*k), c%(j*k)]", {"j": 4, "k": 2}),
    ("A<j, k>(n, c) = [n, c/j, c%j : j*k]", {"j": 4}),
    ("A<k>(n, c) = [n, c] offset k + 3", {"k": 3}),
    ("A<k>(n, c) = [n, c/8, c & (k - 1)]", {"k": 8}),
    ("A<k>(n, c) = [n, c ^ n%(k + 1) : roundup(C, k)]", {"k": 7}),
    ("A<j, k>(n, c) = [n, (c/j, c%j)/k, (c/j, c%j)%k]", {"j": 4, "k": 6}),
    ("A<k>(n, c) = [n, c] where C % (k*2) == 0", {"k": 3}),
    ("A<k>(n, c, r: k broadcast) = [n, (c, r)]", {"k": 4}),
    ("A<k>(n, c, r: k broadcast) = [n, (c, r)/2, (c, r)%2]", {"k": 4}),
)
NOTATIONS = (
    ("onednn", "aBcd16b"),
    ("xla", "f32[3,5]{1,0:T(2,2)}"),
    ("cute", "((4,8),(2,2)):((2,8),(1,64))"),
    ("einops", "n (co ci) h w -> n co h w ci, ci=16"),
    ("tvm", "NCHW16c"),
    ("mlir", "affine_map<(d0, d1) -> (d1, d0)>"),
)


def drawn_declaration(random: Random) -> str | None:
    """A declaration that the language takes, of one of two generators."""
    if random.random() < 0.4:
        line = random_layouts.line(random)
    else:
        line = f"{random_declarations.drawn(random)}\nrefute L"
    try:
        parse(line)
    except LayoutError:
        return None
    return line


def variants(layout: Layout) -> list[Layout]:
    """The layout, and others that are made of it."""
    found = [layout, layout.first_copy, layout.of_codes]
    if layout.parameters:
        found += [layout(**dict.fromkeys(layout.parameters, number)) for number in (1, 4)]
        found += [each.first_copy for each in found[3:]]
    return found


def read_back(layout: Layout) -> Layout:
    """What its printed declaration is read as; a claim of it lets through what it refutes."""
    return parse(f"{layout}\nrefute {layout.name}")[layout.name]


def same_offsets(one: Layout, other: Layout) -> None:
    values = dict.fromkeys(one.symbols, 3)
    try:
        shape = one.shape_of(one.bind(values))
    except ValueError:  # outside of its range
        return
    assert one.physical_shape(values) == other.physical_shape(values)
    for index in list(np.ndindex(*shape))[:200]:
        try:
            expected = one.offset(index, values)
        except ValueError:  # outside of its domain
            continue
        assert other.offset(index, values) == expected


@pytest.mark.parametrize("name", layoutdsl.library_names())
def test_the_library(name: str) -> None:
    for layout in variants(library(name)):
        assert parse(str(layout))[layout.name] == layout


@pytest.mark.parametrize("text", CLAUSES)
def test_every_clause(text: str) -> None:
    for layout in variants(parse(f"layout {text}")["A"]):
        assert read_back(layout) == layout


@pytest.mark.parametrize(("text", "numbers"), WITH_PARAMETERS)
def test_parameters_with_numbers(text: str, numbers: dict[str, int]) -> None:
    module = parse(f"layout {text}")
    layout = module["A"](**numbers)
    for each in variants(layout):
        assert read_back(each) == each
    if not layout.parameters:
        arguments = ", ".join(map(str, numbers.values()))
        assert read_back(module[f"A<{arguments}>"]) == layout


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_random_declarations(seed: int) -> None:
    random = Random(seed)
    seen = 0
    while seen < DRAWN // 4:
        text = drawn_declaration(random)
        if text is None:
            continue
        seen += 1
        (layout,) = parse(text).values()
        for each in variants(layout):
            assert read_back(each) == each, text
            same_offsets(each, read_back(each))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_random_copies(seed: int) -> None:
    """An axis of any layout becomes one of copies."""
    random = Random(seed)
    seen = 0
    while seen < DRAWN // 8:
        layout = random_layouts.drawn(random)
        if len(layout.axes) < 2 or layout.interface is not None:
            continue
        axis = random.choice(layout.axes)
        text = str(layout)
        number = axis.extent.value if hasattr(axis.extent, "value") else None
        if number is None or axis.name.upper() in text:
            continue
        declared = f"{axis.name}: {number}"
        try:
            copied = parse(text.replace(declared, f"{declared} broadcast", 1) + "\nrefute Drawn")[
                "Drawn"
            ]
        except LayoutError:
            continue
        seen += 1
        for each in variants(copied):
            assert read_back(each) == each, text
            same_offsets(each, read_back(each))


@pytest.mark.parametrize(("notation", "text"), NOTATIONS)
def test_layouts_of_other_notations(notation: str, text: str) -> None:
    layout = from_notation(notation, text)
    again = read_back(layout)
    same_offsets(layout, again)
    assert str(again) == str(layout)


def test_layouts_of_arrays() -> None:
    array = np.zeros((4, 6, 5), "f4")
    for each in (array, array.T, array[:, ::2], array[1:, :, :3]):
        layout = Layout.of(each)
        assert read_back(layout) == layout


def test_the_first_copy_of_a_library_layout_is_printed_with_its_gaps() -> None:
    first = library("UpsampleNearest2x").first_copy
    assert str(first) == "layout UpsampleNearest2x(n, c, h, w) = [n, c, (h, 0 : 2), (w, 0 : 2)]"
    again = parse(str(first))[first.name]
    assert again.offset((0, 0, 1, 1), (1, 1, 3, 3)) == first.offset((0, 0, 1, 1), (1, 1, 3, 3))


def test_repr_shows_clauses_of_long_layouts_too() -> None:
    shown = repr(parse(f"layout {CLAUSES[0]}")["A"])
    assert shown == f"<Layout {CLAUSES[0]}>"
    many = ", ".join(f"a{n}" for n in range(12))
    wide = ", ".join(f"{n} : 10{n}" for n in range(20))
    text = f"layout Long({many}) = [{many}, {wide}] fill any where A0%4 == 0"
    layout = parse(text)["Long"]
    shown = repr(layout)
    assert len(shown) <= 220
    assert shown.endswith("... fill any where A0%4 == 0>")
    assert str(layout) == text
