"""Layouts of GPUs against Triton's linear layouts, which it works out without a GPU.

It needs `pip install triton`. Gluon's layouts are turned into linear ones by Triton, and applied by
Triton to every slot: warp, lane and register, or an offset in shared memory. Our layout has to put
the element there. The default run samples; `pytest -m campaign -k triton_linear -s` says how much
was compared. `PaddedSharedLayout` has no linear layout: its bases are Triton's, its room is added
in plain integers.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from triton_layouts import Drawn, as_text, in_shared, invertible, kinds, padded, too_small

import layoutdsl
from layoutdsl import Layout

pytest.importorskip("triton")
linear = pytest.importorskip("triton._C.libtriton.linear_layout")
ir = pytest.importorskip("triton._C.libtriton.ir")
gluon_ir = pytest.importorskip("triton._C.libtriton.gluon_ir")
gluon = pytest.importorskip("triton.experimental.gluon.language")
amd = pytest.importorskip("triton.experimental.gluon.language.amd")

KINDS = kinds(gluon, amd)
LEVELS = {
    "block": "block_bases",
    "warp": "warp_bases",
    "lane": "lane_bases",
    "register": "reg_bases",
}

FRAGMENTS = [
    # The library's layout, Gluon's, and the shape.
    ("MmaC", gluon.NVMMADistributedLayout([2, 0], [1, 1], [16, 8]), (16, 8)),
    ("WgmmaD", gluon.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16]), (64, 64)),
    ("WgmmaD", gluon.NVMMADistributedLayout([3, 0], [4, 1], [16, 256, 16]), (64, 256)),
    ("MfmaD32x32", amd.AMDMFMALayout(3, [32, 32, 8], False, [1, 1]), (32, 32)),
    ("GmmaKSw128", gluon.NVMMASharedLayout(128, 16), (8, 64)),
    ("GmmaKSw64", gluon.NVMMASharedLayout(64, 16), (8, 32)),
    ("GmmaKSw32", gluon.NVMMASharedLayout(32, 16), (8, 16)),
]
AMPERE = gluon.NVMMADistributedLayout([2, 0], [1, 1], [16, 8])
FRAGMENTS += [
    (name, gluon.DotOperandLayout(index, AMPERE, width), shape)
    for name, index, width, shape in [
        ("MmaA", 0, 2, (16, 16)),
        ("MmaB", 1, 2, (16, 8)),
        ("MmaTf32A", 0, 1, (16, 8)),
        ("MmaTf32B", 1, 1, (8, 8)),
        ("MmaInt8A", 0, 4, (16, 32)),
        ("MmaInt8B", 1, 4, (32, 8)),
    ]
]
FRAGMENTS.append(
    ("MfmaA32x8", gluon.DotOperandLayout(0, FRAGMENTS[3][1], 4), (32, 8)),
)


@pytest.fixture(scope="module")
def context() -> Any:
    """It has to live as long as the builder, which does not hold it."""
    made = ir.context()
    ir.load_dialects(made)
    return made


@pytest.fixture(scope="module")
def builder(context: Any) -> Any:
    return gluon_ir.GluonOpBuilder(context)


def slots(builder: Any, theirs: Any, shape: tuple[int, ...]) -> np.ndarray:
    """The element of every slot, as its number in rows; slots are in our order."""
    made = builder.to_linear_layout(theirs._to_ir(builder), list(shape))
    if hasattr(made, "offset_bases"):
        levels = [("block", made.block_bases), ("offset", made.offset_bases)]
    else:
        levels = [(name, getattr(made, bases)) for name, bases in LEVELS.items()]
    return applied(levels, shape)


def applied(levels: list[tuple[str, list[list[int]]]], shape: tuple[int, ...]) -> np.ndarray:
    """What Triton's `LinearLayout.apply` says, slot by slot, the last level moving fastest."""
    names = [f"d{n}" for n in range(len(shape))]
    layout = linear.LinearLayout.from_bases(levels, names, list(shape), True)
    found = []
    for place in product(*(range(1 << len(bases)) for _, bases in levels)):
        index = layout.apply(dict(zip((name for name, _ in levels), place, strict=True)))
        found.append(np.ravel_multi_index([index[name] for name in names], shape))
    return np.array(found)


def assert_places(layout: Layout, shape: tuple[int, ...], theirs: np.ndarray) -> int:
    """Every slot holds the element that Triton says."""
    index = np.unravel_index(theirs, shape)
    named = dict(zip((axis.name for axis in layout.axes), index, strict=True))
    ours = layout.offset_at({**layout.bind(shape), **named})
    assert layout.size(shape) == theirs.size, (layout, shape)
    assert np.array_equal(ours, np.arange(theirs.size)), (layout, shape)
    return int(theirs.size)


def read(text: str) -> Layout:
    return layoutdsl.parse(f"layout Drawn{text}")["Drawn"]


@pytest.mark.parametrize(("name", "theirs", "shape"), FRAGMENTS)
def test_the_library_has_tritons_fragments(
    name: str, theirs: Any, shape: tuple[int, ...], builder: Any
) -> None:
    assert_places(layoutdsl.library(name), shape, slots(builder, theirs, shape))


def compare(builder: Any, count: int, seed: int) -> None:
    """Layouts by their parameters, at a shape; some are packed by what we generate too."""
    random, found, compared, packed = Random(seed), Counter[str](), 0, 0
    for kind, draw in KINDS.items():
        for number in range(count):
            drawn: Drawn = draw(random)
            theirs = slots(builder, drawn.theirs, drawn.shape)
            layout = read(drawn.ours)
            compared += assert_places(layout, drawn.shape, theirs)
            found[kind] += 1
            if number % 8 == 0:
                module = layoutdsl.compile(layout, target="numpy")
                tensor = np.arange(theirs.size).reshape(drawn.shape)
                assert np.array_equal(module.pack(tensor).reshape(-1), theirs), drawn
                packed += 1
    print(f"triton: {dict(found)}, {compared} slots; {packed} packed by generated code")
    assert set(found.values()) == {count}
    assert packed > 0


def compare_linear(count: int, seed: int) -> None:
    """Any linear layout: ours is written from Triton's inverse, and read by its own one."""
    random, compared, compiled = Random(seed), 0, 0
    for number in range(count):
        bases, shape = invertible(random)
        levels = [("offset", bases)]
        theirs = applied(levels, shape)
        layout = linear.LinearLayout.from_bases(levels, ["a", "b"], list(shape), True)
        images = {name: [v for (v,) in moved] for name, moved in layout.invert().bases}
        ours = read(as_text(shape, images))
        compared += assert_places(ours, shape, theirs)
        if number % 8 == 0:
            tensor = np.arange(theirs.size).reshape(shape)
            module = layoutdsl.compile(ours, target="numpy")
            assert np.array_equal(module.pack(tensor).reshape(-1), theirs), ours
            assert np.array_equal(module.unpack(module.pack(tensor), shape), tensor), ours
            compiled += 1
    print(f"triton: {count} linear layouts, {compared} slots; {compiled} by generated code")
    assert compared > count


def holders(layout: Layout) -> np.ndarray:
    """The element of every slot, as its number in rows; every slot of ours holds one."""
    own, found = layout.element_shape({}), np.full(layout.size(layout.shape_of({})), -1)
    names = [axis.name for axis in layout.axes]
    for place in product(*map(range, layout.shape_of({}))):
        here = dict(zip(names, place, strict=True))
        slot = layout.offset_at(here)
        assert found[slot] == -1
        index = tuple(here[axis.name] for axis in layout.element_axes)
        found[slot] = np.ravel_multi_index(index, own)
    return found


def compare_copies(builder: Any, count: int, seed: int) -> None:
    """Blocked layouts of tensors that are too small for them, and their slices, as we read them."""
    random, copies = Random(seed), 0
    for _ in range(count):
        drawn = too_small(gluon, random)
        theirs = slots(builder, drawn.theirs, drawn.shape)
        layout = read(drawn.ours)
        assert layout.element_shape({}) == drawn.shape
        assert np.array_equal(holders(layout), theirs), drawn
        if theirs.size <= 1 << 14:
            text = layoutdsl.to_notation(layout, "triton")
            head = drawn.ours[: drawn.ours.index(" = ")]
            assert np.array_equal(holders(read(f'{head} = triton "{text}"')), theirs), text
        copies += bool(layout.copies)
    print(f"triton: {count} layouts from their attributes, {copies} of them with copies")
    assert copies > count // 2


def compare_shared(builder: Any, count: int, seed: int) -> None:
    """Attributes of shared memory as we read them; what we print of them is read as the same."""
    random, compared = Random(seed), 0
    for _ in range(count):
        drawn = in_shared(gluon, random)
        layout = read(drawn.ours)
        theirs = slots(builder, drawn.theirs, drawn.shape)
        compared += assert_places(layout, drawn.shape, theirs)
        if theirs.size <= 1 << 12:
            text = layoutdsl.to_notation(replace(layout, origin=None), "triton")
            head = drawn.ours[: drawn.ours.index(" = triton")]
            assert_places(read(f'{head} = triton "{text}"'), drawn.shape, theirs)
    print(f"triton: {count} layouts of shared memory, {compared} slots")


def compare_padded(count: int, seed: int) -> None:
    """Triton's bases of what has room, and then the room, added up in plain integers."""
    random, printed = Random(seed), 0
    for _ in range(count):
        drawn, rooms = padded(gluon, random)
        layout = read(drawn.ours)
        bases = drawn.theirs.offset_bases
        elements = applied([("offset", bases)], drawn.shape) if bases else [0]
        for offset, element in enumerate(elements):
            index = [int(each) for each in np.unravel_index(element, drawn.shape)]
            put = offset + sum(offset // step * more for step, more in rooms)
            assert layout.offset(index, {}) == put, (drawn, index)
        if len(rooms) == 1:
            text = layoutdsl.to_notation(replace(layout, origin=None), "triton")
            head = drawn.ours[: drawn.ours.index(" = triton")]
            assert layoutdsl.diff(layout, read(f'{head} = triton "{text}"')).same
            printed += 1
    print(f"triton: {count} layouts with room, {printed} printed and read again")
    assert printed > count // 3


def test_a_sample_of_layouts_of_shared_memory(builder: Any) -> None:
    compare_shared(builder, 12, 7)
    compare_padded(12, 8)


@pytest.mark.campaign
def test_layouts_of_shared_memory_are_those_of_triton_linear(builder: Any) -> None:
    compare_shared(builder, 600, 9)
    compare_padded(300, 10)


REPLICATED = [
    # The library's layout, Gluon's, and the shape.
    ("MmaRow", gluon.SliceLayout(1, AMPERE), (16,)),
    ("MmaColumn", gluon.SliceLayout(0, AMPERE), (8,)),
    ("WgmmaRow", gluon.SliceLayout(1, FRAGMENTS[1][1]), (64,)),
]
WARPS = gluon.NVMMADistributedLayout([2, 0], [2, 2], [16, 8])
REPLICATED += [
    ("MmaA2x2Warps", gluon.DotOperandLayout(0, WARPS, 2), (32, 16)),
    ("MmaB2x2Warps", gluon.DotOperandLayout(1, WARPS, 2), (16, 16)),
]


@pytest.mark.parametrize(("name", "theirs", "shape"), REPLICATED)
def test_the_library_has_what_triton_replicates(
    name: str, theirs: Any, shape: tuple[int, ...], builder: Any
) -> None:
    layout = layoutdsl.library(name)
    assert layout.copies
    assert np.array_equal(holders(layout), slots(builder, theirs, shape))


def test_a_sample_of_layouts_with_copies(builder: Any) -> None:
    compare_copies(builder, 8, 5)


@pytest.mark.campaign
def test_layouts_with_copies_are_those_of_triton(builder: Any) -> None:
    compare_copies(builder, 300, 6)


def test_a_sample_of_gluons_layouts(builder: Any) -> None:
    compare(builder, 2, 1)


def test_a_sample_of_linear_layouts() -> None:
    compare_linear(10, 2)


def test_triton_can_refute(builder: Any) -> None:
    theirs = slots(builder, gluon.SwizzledSharedLayout(4, 2, 4, [1, 0]), (16, 32))
    wrong = read("(a, b) = [a, b/4 ^ a%4, b%4] where B % 16 == 0")
    with pytest.raises(AssertionError):
        assert_places(wrong, (16, 32), theirs)


@pytest.mark.campaign
def test_gluons_layouts_are_triton_linear_layouts(builder: Any) -> None:
    compare(builder, 80, 3)


@pytest.mark.campaign
def test_any_triton_linear_layout_is_one_of_ours() -> None:
    compare_linear(1000, 4)
