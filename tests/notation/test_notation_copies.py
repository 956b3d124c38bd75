"""Notations that say that an element lies in several slots: einops, Triton, CuTe's threads.

Held against plain integers: what einops' package makes of a tensor, sums of bases without carry,
and steps times strides. Triton itself is asked in `test_oracle_triton.py`, pycute in
`test_oracle_cute.py`.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod
from random import Random

import numpy as np
import pytest
from notation_texts import assert_read_or_refused, mangled
from thread_values import holders, steps, tv_text

import layoutdsl
from layoutdsl import Layout, LayoutError

SEEDS = range(120)
Shape = tuple[int, ...]


def read(notation: str, text: str) -> Layout:
    return layoutdsl.from_notation(notation, text)


def assert_printed_back(layout: Layout, notation: str) -> None:
    text = layoutdsl.to_notation(layout, notation)
    again = layoutdsl.parse(f'layout Again{head_of(layout)} = {notation} "{text}"')["Again"]
    assert layoutdsl.diff(layout, again).same, (str(layout), text)


def head_of(layout: Layout) -> str:
    said = str(layout)
    return said[said.index("(") : said.index(" = ")]


# Triton.


def bases(random: Random) -> dict[str, list[list[int]]]:
    """Bases of a tensor of powers of two: each step of it, some sums, and some that are 0."""
    rank = random.randint(1, 3)
    bits = [random.randint(0 if rank > 1 else 1, 3) for _ in range(rank)]
    if not sum(bits):
        bits[0] = 1
    steps = [
        [1 << b if at == d else 0 for at in range(rank)]
        for d in range(rank)
        for b in range(bits[d])
    ]
    for _ in range(random.choice((0, 0, 0, 2))):
        one, other = random.choice(range(len(steps))), random.choice(range(len(steps)))
        if one != other:
            steps[one] = [a ^ b for a, b in zip(steps[one], steps[other], strict=True)]
    for _ in range(random.choice((0, 1, 1, 2))):
        chosen = random.choice((None, None, random.choice(steps)))
        steps.append([0] * rank if chosen is None else list(chosen))
    random.shuffle(steps)
    found: dict[str, list[list[int]]] = {"register": [], "lane": [], "warp": [], "block": []}
    for each in steps:
        found[random.choice(("register", "register", "lane", "lane", "warp", "block"))].append(each)
    return found


def text_of(levels: dict[str, list[list[int]]]) -> str:
    return f"#ttg.linear<{{{', '.join(f'{name} = {each}' for name, each in levels.items())}}}>"


def added(levels: dict[str, list[list[int]]]) -> np.ndarray:
    """Which element each slot holds: the bases of its bits, added without carry."""
    vectors = [each for level in levels.values() for each in level]
    rank = len(vectors[0])
    shape = [1 << max(each[d] for each in vectors).bit_length() for d in range(rank)]
    found = []
    for slot in range(1 << len(vectors)):
        index = [0] * rank
        for bit, vector in enumerate(vectors):
            if slot >> bit & 1:
                index = [a ^ b for a, b in zip(index, vector, strict=True)]
        found.append(np.ravel_multi_index(index, shape))
    return np.array(found)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("seed", SEEDS)
def test_slots_hold_what_tritons_bases_add_up_to(seed: int) -> None:
    levels = bases(Random(seed))
    layout = read("triton", text_of(levels))
    wanted = added(levels)
    assert (holders(layout) == wanted).all()
    copies = wanted.size // prod(layout.element_shape({}))
    assert prod(layout.shape_of({})) == wanted.size
    assert (copies > 1) == bool(layout.copies)
    assert layoutdsl.to_notation(layout, "triton") == text_of(levels)
    if seed % 5 == 0:
        assert layoutdsl.prove(layout).status == "proved"
        plain = layoutdsl.parse(str(layout))["triton_" + layout.name[7:]]
        assert_printed_back(plain, "triton")


BLOCKED = "{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}"


@pytest.mark.parametrize(
    ("axes", "text", "meant"),
    [
        # Gluon's, as Triton works them out: tests/oracles/test_oracle_triton.py
        (
            "(m: 64, n: 16)",
            f"#ttg.blocked<{BLOCKED}>",
            "(m: 64, n: 16) = [m/8%4, (m%8, n/4), (m/32, n%4)]",
        ),
        (
            "(m: 16, n: 8)",
            f"#ttg.blocked<{BLOCKED}>",
            "(m: 16, n: 8, w: 2 broadcast, l: 2 broadcast) = [(w, m/8), (m%8, l, n/4), n%4]",
        ),
        (
            "(m: 32)",
            f"#ttg.slice<{{dim = 1, parent = #ttg.blocked<{BLOCKED}>}}>",
            "(m: 32, l: 4 broadcast) = [m/8, (m%8, l), 0]",
        ),
        (
            "(n: 16)",
            f"#triton_gpu.slice<{{dim = 0, parent = #triton_gpu.blocked<{BLOCKED}>}}>",
            "(n: 16, w: 4 broadcast, l: 8 broadcast) = [w, (l, n/4), n%4]",
        ),
        (
            "(a: 4, b: 4)",
            "#ttg.shared_linear<{offset = [[0, 1], [0, 2], [1, 2], [2, 0]]}, alignment = 16>",
            "(a: 4, b: 4) = [a/2, a%2, b/2 ^ a%2, b%2]",
        ),
    ],
)
def test_tritons_layouts(axes: str, text: str, meant: str) -> None:
    layout = layoutdsl.parse(f'layout A{axes} = triton "{text}"')["A"]
    assert layoutdsl.diff(layout, layoutdsl.parse(f"layout B{meant}")["B"]).same


CLUSTER = "CTAsPerCGA = [2, 2], CTASplitNum = [2, 1], CTAOrder = [0, 1]"


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (
            CLUSTER,
            "(m: 128, n: 16, b: 2 broadcast) = [(b, m/64), m/8%4, (m%8, n/4), (m/32%2, n%4)]",
        ),
        (
            "CTAsPerCGA = [2, 2], CTASplitNum = [2, 2], CTAOrder = [1, 0]",
            "(m: 64, n: 32) = [(m/32, n/16), m/8%4, (m%8, n/4%4), n%4]",
        ),
        # A tensor that has not so many parts is held by several blocks.
        (
            "CTAsPerCGA = [4, 1], CTASplitNum = [4, 1], CTAOrder = [0, 1]",
            "(m: 2, n: 16, b: 2 broadcast, w: 4 broadcast, l: 8 broadcast) = "
            "[(b, m), w, (l, n/4), n%4]",
        ),
    ],
)
def test_tritons_blocks_of_a_cluster(said: str, meant: str) -> None:
    """As numbers; the bases that Triton has in their place are those of its oracle."""
    blocked = f"#ttg.blocked<{BLOCKED[:-1]}, {said}}}>"
    axes = meant[: meant.index(" = ")]
    own = ", ".join(each for each in axes[1:-1].split(", ") if "broadcast" not in each)
    layout = layoutdsl.parse(f'layout A({own}) = triton "{blocked}"')["A"]
    assert layoutdsl.diff(layout, layoutdsl.parse(f"layout B{meant}")["B"]).same


@pytest.mark.parametrize(
    ("numbers", "bases"),
    [
        (CLUSTER, [[1, 0], [0, 0]]),
        ("CTAsPerCGA = [2, 4], CTASplitNum = [1, 4], CTAOrder = [1, 0]", [[0, 1], [0, 2], [0, 0]]),
        ("CTAsPerCGA = [1, 1], CTASplitNum = [1, 1], CTAOrder = [0, 1]", []),
    ],
)
def test_either_spelling_of_a_cluster_is_the_same(numbers: str, bases: list[list[int]]) -> None:
    for shape in ("(m: 256, n: 128)", "(m: 2, n: 2)"):
        one, other = (
            layoutdsl.parse(f'layout A{shape} = triton "#ttg.blocked<{BLOCKED[:-1]}, {said}}}>"')
            for said in (numbers, f"CGALayout = {bases}")
        )
        assert replace(one["A"], origin=None) == replace(other["A"], origin=None)


SWIZZLED = "{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}"
TILED = "{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}"
SHARED = [
    ("(m: 16, k: 64)", f"#ttg.swizzled_shared<{SWIZZLED}>", "[m, k/8 ^ m%8, k%8]"),
    ("(m: 16, k: 128)", f"#ttg.nvmma_shared<{TILED}>", "[k/64, m, k%64/8 ^ m%8, k%8]"),
    ("(m: 16, k: 64)", "#ttg.padded_shared<[32:+8] {order = [1, 0], shape = [16, 64]}>",
     "[m, k/32, k%32 : 40]"),
    ("(m: 4, k: 8)", "#ttg.padded_shared<[8:+1] {offset = [[1, 0], [2, 0], [0, 1], [0, 2], "
     "[0, 4]], block = []}>", "[k/2, (k%2, m) : 9]"),
    ("(m: 1, k: 1)", "#ttg.shared_linear<{offset = []}>", "[0]"),
]  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("axes", "text", "meant"), SHARED)
def test_tritons_layouts_of_shared_memory(axes: str, text: str, meant: str) -> None:
    layout = layoutdsl.parse(f'layout A{axes} = triton "{text}"')["A"]
    other = layoutdsl.parse(f"layout B{axes} = {meant} fill any")["B"]
    assert layoutdsl.diff(layout, other).same
    assert_printed_back(replace(layout, origin=None), "triton")


def test_room_in_two_steps() -> None:
    text = "#ttg.padded_shared<[4:+1, 16:+2] {order = [1, 0], shape = [8, 8]}>"
    layout = read("triton", text)
    for m, k in product(range(8), range(8)):
        offset = 8 * m + k
        assert layout.offset((m, k), {}) == offset + offset // 4 + offset // 16 * 2
    assert layoutdsl.to_notation(layout, "triton") == text


TILE, ROWS = f"#ttg.nvmma_shared<{TILED}>", f"#ttg.swizzled_shared<{SWIZZLED}>"
NONE = [
    ("(m: 4, k: 64)", TILE, "L405"),
    ("(m: 64)", TILE, "L407"),
    ("(m, k)", TILE, "L407"),
    ("(m: 8, k: 64)", TILE.replace("128", "48"), "L405"),
    ("(m: 8, k: 64)", TILE.replace("false", "1"), "L405"),
    ("(m: 8, k: 64)", TILE.replace("}", ", fp4Padded = true}"), "L407"),
    ("(m: 8, k: 64)", TILE.replace("}", ", CGALayout = [[0, 1]]}"), "L405"),  # half a tile
    ("(m: 8, k: 64)", ROWS.replace("}", ", CGALayout = [[1]]}"), "L403"),
    ("(m: 8, k: 64)", ROWS.replace("}", ", CTAsPerCGA = [2, 1]}"), "L407"),
    ("(m: 8, k: 64)", ROWS.replace("}", f", {CLUSTER}, CGALayout = []}}"), "L404"),
    (
        "(m: 8, k: 64)",
        ROWS.replace("}", f", {CLUSTER}}}").replace("[2, 1], CTAO", "[4, 1], CTAO"),
        "L405",
    ),
    ("(m: 8, k: 64)", ROWS.replace("}", f", {CLUSTER}}}").replace("[2, 2]", "[6, 2]"), "L405"),
    ("(m: 8, k: 64)", ROWS.replace("}", f", {CLUSTER}}}").replace("[2, 2]", "[2]"), "L403"),
    ("(m: 8, k: 64)", ROWS.replace("}", f", {CLUSTER}}}").replace("[0, 1]", "[0, 0]"), "L405"),
    ("(m: 8)", "#ttg.padded_shared<[2:+1] {order = [0], shape = [8], CGALayout = [[1]]}>", "L407"),
    ("(m: 12, k: 64)", ROWS, "L405"),
    ("(m: 8, k: 64)", ROWS.replace("vec = 8", "vec = 3"), "L405"),
    ("(m: 8, k: 64)", ROWS.replace("[1, 0]", "[1, 1]"), "L405"),
    ("(m: 8, k: 64)", ROWS.replace("[1, 0]", "[true, 0]"), "L405"),
    ("(m: 8)", "#ttg.swizzled_shared<[8:+1] {vec = 8}>", "L401"),
    ("(m: 8)", "#ttg.padded_shared<{order = [0], shape = [8]}>", "L401"),
    ("(m: 8)", "#ttg.padded_shared<[3:+1] {order = [0], shape = [8]}>", "L405"),
    ("(m: 8)", "#ttg.padded_shared<[2:+1, 2:+1] {order = [0], shape = [8]}>", "L405"),
    ("(m: 8)", "#ttg.padded_shared<[2:+1] {order = [0], shape = [7]}>", "L405"),
    ("(m: 8)", "#ttg.padded_shared<[2:+1] {offset = [[1], [2], [4]], block = [[0]]}>", "L407"),
    ("(m: 8)", "#ttg.padded_shared<[2:+1] {offset = [], block = []}>", "L407"),
]


@pytest.mark.parametrize(("axes", "text", "code"), NONE)
def test_layouts_of_shared_memory_that_are_none(axes: str, text: str, code: str) -> None:
    with pytest.raises(LayoutError) as raised:
        layoutdsl.parse(f'layout A{axes} = triton "{text}"')
    assert raised.value.diagnostics[0].code == code


@pytest.mark.parametrize("seed", range(60))
def test_mangled_layouts_of_shared_memory(seed: int) -> None:
    random = Random(seed)
    right = [text for _, text, _ in SHARED]
    text = mangled(random.choice(right), "0123[]{}<>=+:,truefalse ", right, random)
    try:
        layout = layoutdsl.parse(f'layout A(m: 16, k: 64) = triton "{text}"')["A"]
    except LayoutError:
        return
    assert_printed_back(layout, "triton")


# CuTe's threads and values.


def stepped(tile: Shape, modes: list[list[tuple[int, int]]]) -> np.ndarray:
    """The element of each thread and value: its number, the leftmost index of the tile fastest."""
    counts = [prod(extent for extent, _ in mode) for mode in modes]
    found = []
    for slot in product(*map(range, counts)):
        number = 0
        for place, mode in zip(slot, modes, strict=True):
            for extent, stride in mode:
                number += place % extent * stride
                place //= extent  # noqa: PLW2901
        index = np.unravel_index(number, tile, order="F")
        found.append(np.ravel_multi_index(index, tile))
    return np.array(found)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", SEEDS)
def test_threads_hold_what_steps_lead_to(seed: int) -> None:
    tile, modes = steps(Random(seed))
    layout = read("cute_tv", tv_text(tile, modes))
    assert layout.element_shape({}) == tile
    assert (holders(layout) == stepped(tile, modes)).all()
    assert layoutdsl.to_notation(layout, "cute_tv") == tv_text(tile, modes)
    if seed % 5 == 0:
        assert layoutdsl.prove(layout).status == "proved"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("MmaC", "((4,8),(2,2)):((32,1),(16,8)) -> (16,8)"),
        ("MmaA", "((4,8),(2,2,2)):((32,1),(16,8,128)) -> (16,16)"),
        ("MmaB", "((4,8),(2,2)):((2,16),(1,8)) -> (16,8)"),
    ],
)
def test_fragments_are_printed_as_cute_has_them(name: str, text: str) -> None:
    """As in `cute/atom/mma_traits_sm80.hpp`, where B is n by k."""
    layout = layoutdsl.library(name)
    assert layoutdsl.to_notation(layout, "cute_tv") == text
    assert layoutdsl.diff(layout, read("cute_tv", text)).same


# einops.


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("r (go gi) -> r go copy gi, gi=8, copy=4", (3, 16)),
        ("b h s d -> b (h q) s d, q=4", (2, 3, 2, 5)),
        ("n c h w -> n c (h y) (w x), y=2, x=3", (2, 3, 2, 5)),
        ("a -> k a 1, k=3", (7,)),
    ],
)
def test_a_repetition_is_that_of_einops(text: str, shape: Shape) -> None:
    einops = pytest.importorskip("einops")
    layout = read("einops", text)
    pattern, *sizes = text.split(", ")
    given = {name: int(size) for name, size in (each.split("=") for each in sizes)}
    tensor = np.arange(prod(shape)).reshape(shape)
    packed = layoutdsl.compile(layout, "numpy").pack(tensor)
    assert np.array_equal(packed, einops.repeat(tensor, pattern, **given))
    assert_printed_back(layout, "einops")
    library = layoutdsl.library("UpsampleNearest2x")
    assert layoutdsl.to_notation(library, "einops") == "n c h w -> n c (h y) (w x), y=2, x=2"


# What they are called, and what is refused.


def test_copies_are_called_as_they_are_declared() -> None:
    text = "r g -> r x g y, x=2, y=3"
    for axes in (
        "(r, g, x: 2 broadcast, y: 3 broadcast)",
        "(y: 3 broadcast, r, x: 2 broadcast, g)",
    ):
        layout = layoutdsl.parse(f'layout A{axes} = einops "{text}"')["A"]
        assert layout.slots((0, 1), (2, 5)) == (3, 4, 5, 18, 19, 20) or axes.startswith("(y")
    renamed = layoutdsl.parse(f'layout A(r, g, p: 2 broadcast, q: 3 broadcast) = einops "{text}"')[
        "A"
    ]
    assert renamed.copies == ("p", "q")
    assert renamed.slots((0, 1), (2, 5)) == (3, 4, 5, 18, 19, 20)
    told = layoutdsl.parse(f'layout A(r, g) = einops "{text}"')["A"]
    assert told.copies == ("x", "y")


REFUSED = (
    # notation, text, code, part of the message
    ("einops", "r g -> r q g", "L404", "`q` is not on the left side"),
    ("einops", "r g -> r g, q=3", "L404", "`q` is on neither side"),
    ("einops", "r g -> r R g, R=3", "L404", "`R` is no name for an axis of copies here"),
    ("triton", "#ttg.linear<{register = [[0, 1]], lane = [[2, 0]]}>", "L409", "no slot holds some"),
    ("triton", "#ttg.linear<{register = [[0, 1], [1]]}>", "L405", "bases have different ranks"),
    ("triton", "#ttg.linear<{register = [0, 1]}>", "L405", "`register` has to be a list of bases"),
    ("triton", "#ttg.linear<{register = [[-1]]}>", "L405", "`register` has to be a list of bases"),
    ("triton", "#ttg.linear<{}>", "L407", "`linear` does not say its `register`"),
    ("triton", "#ttg.linear<{lane = []}>", "L407", "a text without bases has no shape"),
    ("triton", "#ttg.linear<{lane = [[1]], lane = []}>", "L404", "`lane` is said twice"),
    ("triton", f"#ttg.blocked<{BLOCKED}>", "L407", "follows from the shape of the tensor"),
    ("triton", "#ttg.nvidia_mma<{versionMajor = 2}>", "L407", "`nvidia_mma` is none of linear"),
    ("triton", f"#ttg.linear<{{lane = {[[1 << 31]]}}}>", "L103", "a basis is too large"),
    ("triton", f"#ttg.linear<{{lane = {[[1]] * 31}}}>", "L103", "at most 30 bases"),
    ("triton", "#ttg.linear", "L401", "expected `<`"),
    ("cute_tv", "((4,8),(2,2)):((32,1),(16,8))", "L407", "does not say of which tile"),
    (
        "cute_tv",
        "((4,8),(2,2)):((32,1),(16,8)) -> (16,16)",
        "L409",
        "hold 128 elements, and the tile",
    ),
    ("cute_tv", "(4,2):(1,2) -> (8)", "L409", "lead to elements that others lead to as well"),
    ("cute_tv", "(4,2):(1,8) -> (8)", "L409", "no thread holds element 4 of the tile"),
    ("cute_tv", "(4,2,1):(1,4,0) -> (8)", "L405", "the entries are two"),
    ("cute_tv", "(?,2):(1,4) -> (8)", "L407", "extents and strides are numbers here"),
    ("cute_tv", "(4,2):(1,4) -> (8:1)", "L401", "expected"),
    ("cute_tv", "S<1,0,1> o 0 o (4,2):(1,4) -> (8)", "L407", "nothing before it"),
    ("cute_tv", "(4,-2):(1,4) -> (8)", "L405", "an extent is at least 1"),
)


@pytest.mark.parametrize(("notation", "text", "code", "words"), REFUSED)
def test_what_is_no_such_layout_is_refused(notation: str, text: str, code: str, words: str) -> None:
    with pytest.raises(LayoutError) as refused:
        read(notation, text)
    (found,) = refused.value.diagnostics
    assert (found.code, words in found.message) == (code, True), found.message


def test_axes_and_copies_have_names_of_their_own() -> None:
    for text in (
        'layout A(lane: 2) = triton "#ttg.linear<{register = [[1]], lane = [[0]]}>"',
        'layout A(thr: 4) = cute_tv "(2,4):(0,1) -> (4)"',
    ):
        with pytest.raises(LayoutError, match="is an axis, and copies are counted by that name"):
            layoutdsl.parse(text)


def test_other_copies_than_declared_are_refused() -> None:
    for axes in ("(r, g, c: 3 broadcast)", "(r, g, c: 2 broadcast, d: 2 broadcast)"):
        with pytest.raises(
            LayoutError, match="the text has copies along `x: 2`, the layout others"
        ):
            layoutdsl.parse(f'layout A{axes} = einops "r g -> r x g, x=2"')
    with pytest.raises(LayoutError, match="the text has no copies, the layout others"):
        layoutdsl.parse('layout A(r, g, c: 2 broadcast) = einops "r g -> g r"')


@pytest.mark.parametrize("notation", ["triton", "cute_tv"])
def test_any_text_is_read_or_refused(notation: str) -> None:
    random = Random(notation)
    right = [
        f"#ttg.slice<{{dim = 1, parent = #ttg.blocked<{BLOCKED}>}}>",
        text_of(bases(random)),
        tv_text(*steps(random)),
        "((_4,_8,_2,_2),(2,2,_2)):((32,1,0,256),(16,8,128)) -> (16,32)",
    ]
    letters = "[]{}<>(),:=#->0129 abmrw_"
    for _ in range(150):
        text = mangled(random.choice(right), letters, right, random)
        assert_read_or_refused(notation, text)
