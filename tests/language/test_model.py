"""The meaning in plain integers: shapes, offsets, places, and from the slot back to the index."""

from __future__ import annotations

from itertools import product
from math import prod
from time import process_time
from typing import Any

import pytest
from texts import EVERY, LIBRARY, coordinates, edge_shapes, layout

from layoutdsl import Layout

NCHW16C = LIBRARY["NCHW16c"]
CUT = layout("layout Cut<k>(c, h) = [c/k, h, c%k]")
SQUARE = layout("layout Square(i: N, j: N) = [i, j]")
FIXED = layout("layout Fixed(c, k: 4) = [c, k]")
EVEN = layout("layout Even(n, c) = [n, c/4, c%4] where C % 4 == 0, N in 1..64")

BOUND = [
    # layout, shape as it is given, the extents that follow
    (NCHW16C, (2, 20, 3, 4), {"N": 2, "C": 20, "H": 3, "W": 4}),
    (NCHW16C, {"N": 2, "C": 20, "H": 3, "W": 4}, {"N": 2, "C": 20, "H": 3, "W": 4}),
    (NCHW16C, {"n": 2, "c": 20, "H": 3, "w": 4}, {"N": 2, "C": 20, "H": 3, "W": 4}),
    (CUT, (7, 3, 4), {"C": 7, "H": 3, "k": 4}),
    (CUT, {"C": 7, "H": 3, "k": 4}, {"C": 7, "H": 3, "k": 4}),
    (SQUARE, (3, 3), {"N": 3}),
    (SQUARE, {"N": 3}, {"N": 3}),
    (SQUARE, {"i": 3}, {"N": 3}),
    (FIXED, (7, 4), {"C": 7}),
    (FIXED, {"C": 7}, {"C": 7}),
    (FIXED, {"c": 7, "k": 4}, {"C": 7}),
    (EVEN, (64, 8), {"N": 64, "C": 8}),
]


@pytest.mark.parametrize(("given", "shape", "extents"), BOUND)
def test_bind(given: Layout, shape: Any, extents: dict[str, int]) -> None:
    assert extents == given.bind(shape)


REFUSED = [
    (NCHW16C, (2, 20, 3), "layout `NCHW16c` has extents (N, C, H, W); 3 were given"),
    (NCHW16C, (2, 20, 3, 0), "extent `W` of layout `NCHW16c` is 0, must be >= 1"),
    (NCHW16C, (2, 20, -3, 1), "extent `H` of layout `NCHW16c` is -3, must be >= 1"),
    (NCHW16C, {"N": 1, "C": 1, "H": 1}, "extent `W` of layout `NCHW16c` is not given"),
    (
        NCHW16C,
        {"N": 1, "C": 1, "H": 1, "W": 1, "D": 1},
        "layout `NCHW16c` has no extent `D`; it has `N`, `C`, `H`, `W`",
    ),
    (CUT, (7, 3), "layout `Cut` has extents (C, H) and parameters (k); 2 were given"),
    (CUT, (7, 3, 0), "parameter `k` of layout `Cut` is 0, must be >= 1"),
    (CUT, {"C": 7, "H": 3}, "parameter `k` of layout `Cut` is not given"),
    (SQUARE, (3, 4), "extent `N` of layout `Square` is 3 and 4 at once"),
    (SQUARE, {"i": 3, "j": 4}, "extent `N` of layout `Square` is 3 and 4 at once"),
    (FIXED, (7, 3), "axis `k` of layout `Fixed` has 4 elements"),
    (EVEN, (1, 6), "layout `Even` is defined where C%4 == 0, not at N=1 C=6"),
    (EVEN, (65, 8), "layout `Even` is defined where N <= 64, not at N=65 C=8"),
]


@pytest.mark.parametrize(("given", "shape", "message"), REFUSED)
def test_bind_refuses(given: Layout, shape: Any, message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011  the whole message is compared
        given.bind(shape)
    assert message == str(caught.value)


@pytest.mark.parametrize("shape", [(2.0, 20, 3, 4), ("2", 20, 3, 4), (None, 1, 1, 1)])
def test_bind_takes_integers_only(shape: Any) -> None:
    with pytest.raises(TypeError):
        NCHW16C.bind(shape)


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ((1, 17, 2), "layout `NCHW16c` takes 4 indices, not 3"),
        ((1, 20, 2, 3), "index c=20 is outside 0..19"),
        ((1, -1, 2, 3), "index c=-1 is outside 0..19"),
        ({"n": 1, "c": 1, "h": 1}, "layout `NCHW16c` takes an index over n, c, h, w"),
    ],
)
def test_offset_refuses(index: Any, message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011  the whole message is compared
        NCHW16C.offset(index, (2, 20, 3, 4))
    assert message == str(caught.value)


@pytest.mark.parametrize("slot", [-1, 768])
def test_decode_refuses_what_is_outside_the_buffer(slot: int) -> None:
    with pytest.raises(ValueError, match=f"slot {slot} is outside the buffer of 768 elements"):
        NCHW16C.decode(slot, (2, 20, 3, 4))


PHYSICAL = [
    # text, shape, physical shape, size
    ("layout A(n, c, h, w) = [n, c/16, h, w, c%16]", (2, 20, 3, 4), (2, 2, 3, 4, 16), 768),
    ("layout A(n, h, w, c) = [(n, h), (c/4, w), c%4]", (2, 7, 5, 6), (14, 10, 4), 560),
    ("layout A(y, x) = [x : 5, y : 3]", (2, 3), (5, 3), 15),
    ("layout A(y, x) = [y : Y + 2, x : roundup(X, 8)]", (2, 3), (4, 8), 32),
    ("layout A(y, x) = [y, x] offset 3", (2, 3), (9,), 9),
    ("layout A(y, x) = [y, x] offset Y - 1", (2, 3), (7,), 7),
    ("layout A(y, x) = [y, x] offset Y - 1", (1, 3), (3,), 3),
    ("layout A<k>(c) = [c/k, c%k]", (5, 4), (2, 4), 8),
    ("layout A(c) = [c ^ 3]", (5,), (8,), 8),
    ("layout A(c: 1) = [0]", (1,), (1,), 1),
]


@pytest.mark.parametrize(("text", "shape", "physical", "size"), PHYSICAL)
def test_physical_shape_and_size(
    text: str, shape: tuple[int, ...], physical: tuple[int, ...], size: int
) -> None:
    assert physical == layout(text).physical_shape(shape)
    assert size == layout(text).size(shape)


def test_chunk_is_a_number_and_a_place_within() -> None:
    crouton = LIBRARY["R4CroutonLayout"]
    assert crouton.chunk((1, 7, 11, 23), (2, 9, 20, 50)) == (14, 1911)
    assert LIBRARY["NCHW"].chunk((1, 0, 0, 1), (2, 1, 1, 2)) == (0, 3)
    late = coordinates("c/2; c%2", "c")
    assert late.chunk((3,), (5,)) == (1, 1)


def test_chunk_does_not_count_what_lies_before_the_first_slot() -> None:
    late = layout("layout Late(c) = [c/2; c%2] offset 5")
    assert late.offset((3,), (5,)) == 8
    assert late.chunk((3,), (5,)) == (1, 1)


def test_slots_before_the_first_hold_nothing_and_are_no_padding() -> None:
    late = layout("layout Late(c) = [c/2, c%2] offset 2")
    assert [late.decode(slot, (3,)) for slot in range(6)] == [None, None, (0,), (1,), (2,), None]
    assert [late.is_padding(slot, (3,)) for slot in range(6)] == [False] * 5 + [True]


@pytest.mark.sampled(42)
@pytest.mark.parametrize("name", EVERY)
def test_decode_against_a_table_of_all_slots(name: str) -> None:
    given = EVERY[name]
    shapes = [
        s for s in edge_shapes(given) if prod(given.shape_of(s)) <= 40 and given.size(s) < 300
    ]
    for values in shapes[-4:]:
        table: dict[int, tuple[int, ...]] = {}
        names = [axis.name for axis in given.axes]
        for index in product(*map(range, given.shape_of(values))):
            if given.holds({**values, **dict(zip(names, index, strict=True))}):
                table.setdefault(given.offset(index, values), index)
        size = given.size(values)
        assert [table.get(slot) for slot in range(size)] == [
            given.decode(slot, values) for slot in range(size)
        ]


@pytest.mark.sampled(42)
@pytest.mark.parametrize("name", EVERY)
def test_offsets_of_all_elements_at_once(name: str) -> None:
    given = EVERY[name]
    names = [axis.name for axis in given.axes]
    for values in [s for s in edge_shapes(given) if prod(given.shape_of(s)) <= 300][-3:]:
        found = given.offsets(values)
        assert found.shape == given.shape_of(values)
        for index in product(*map(range, given.shape_of(values))):
            held = given.holds({**values, **dict(zip(names, index, strict=True))})
            assert found[index] == (given.offset(index, values) if held else -1)


def test_offsets_beyond_64_bits_are_exact() -> None:
    far = layout("layout Far(i: 2, j: 3) = [i*1000000007*1000000009*1000000021 + j]")
    assert far.offsets({})[1, 2] == 1000000007 * 1000000009 * 1000000021 + 2
    with pytest.raises(ValueError, match="`Even`"):
        EVEN.offsets((1, 3))


COLLIDING = [
    # body, axes, shape, slot, who lies there
    ("n, c/8, c%4", "n, c", (1, 12), 1, [(0, 1), (0, 5)]),
    ("c/2", "c", (5,), 1, [(2,), (3,)]),
    ("c & 4", "c", (6,), 0, [(0,), (1,), (2,), (3,)]),
    ("min(c, 2)", "c", (5,), 2, [(2,), (3,), (4,)]),
    ("max(c, 2)", "c", (5,), 2, [(0,), (1,), (2,)]),
    ("(c + h)%3", "c, h", (3, 3), 1, [(0, 1), (1, 0), (2, 2)]),
    ("c*2", "c", (3,), 1, []),
    ("c, h : 2", "c, h", (2, 3), 2, [(0, 2), (1, 0)]),
]


@pytest.mark.parametrize(("body", "axes", "shape", "slot", "holders"), COLLIDING)
def test_holders_of_a_slot(
    body: str, axes: str, shape: tuple[int, ...], slot: int, holders: list[tuple[int, ...]]
) -> None:
    given = layout(f"layout Demo({axes}) = [{body}] where {axes.split(', ')[0].upper()} >= 1")
    assert holders == list(given.holders(slot, shape))
    assert given.decode(slot, shape) == (holders[0] if holders else None)


def test_decode_of_a_large_buffer_is_quick() -> None:
    shape = (64, 4096, 1024, 1024)
    index = (63, 4095, 1023, 1000)
    assert NCHW16C.decode(NCHW16C.offset(index, shape), shape) == index


SEARCHED = (
    ("[c/12, h, c/2%6, c%2]", "c, h", (40, 3)),
    ("[c/2%6, h, c%2, c/12]", "c, h", (40, 3)),
    ("[c%4, c/4, h/2, h]", "c, h", (9, 4)),
    ("[h/2, c - h/2 + 3 : 9, c%3]", "c, h", (5, 4)),
    ("[h + c, c/3 : 2, h/2]", "c, h", (9, 5)),
    ("[c/2, h : 2, c%4]", "c, h", (8, 5)),
)


@pytest.mark.parametrize(("body", "axes", "shape"), SEARCHED)
def test_a_slot_holds_what_has_its_offset(body: str, axes: str, shape: tuple[int, ...]) -> None:
    """Of wrong layouts too, whose coordinates leave their extents."""
    given = layout(f"layout A({axes}) = {body} offset 2")
    found: dict[int, list[tuple[int, ...]]] = {}
    for index in product(*map(range, shape)):
        found.setdefault(given.offset(index, shape), []).append(index)
    for slot in range(given.size(shape)):
        assert found.get(slot, []) == list(given.holders(slot, shape))


def test_a_slot_of_a_huge_shape_is_read_off_its_quotients() -> None:
    given = layout("layout A(a, b) = [b, a/2%6, a%2, a/12]")
    shape, index = (36 * 10**14, 10**15), (123456789012345, 10**14 + 7)
    slot = given.offset(index, shape)
    begun = process_time()
    assert list(given.holders(slot, shape)) == [index]
    assert process_time() - begun < 0.1, "a search by halves takes longer"


@pytest.mark.slow
def test_a_search_without_an_end_is_given_up() -> None:
    """Remainders that contradict each other: nothing is dropped before it is a single index."""
    given = layout("layout A(c) = [c%4, c%6]")
    assert list(given.holders(1, (60,))) == []
    with pytest.raises(ValueError, match="what slot 1 holds was not found out"):
        list(given.holders(1, (2 * 10**9,)))
    assert next(given.holders(7, (2 * 10**9,))) == (1,)
