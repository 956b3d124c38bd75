"""Placings: canonical digits, views of them, and layouts read as them, against plain integers.

Every plan, proof and weight is said in placings, so their laws are tested by themselves.
"""

from __future__ import annotations

import random
from itertools import product
from math import prod

import numpy as np
import pytest

from layoutdsl import library, parse
from layoutdsl.graphs.placings.packing import packed, padding_of, unpacked
from layoutdsl.graphs.placings.placing import (
    Digit,
    Placing,
    as_written,
    canonical,
    inverse,
    transposed,
)
from layoutdsl.graphs.placings.reading import layout_of, placed, slot
from layoutdsl.graphs.placings.reshaping import reshaped

LAYOUTS = parse(
    """
    layout Pairs(n, c, h, w) = [n, (h, w), c]
    layout Cut(n, c, h, w) = [(h, w)/4, n, c, (h, w)%4]
    layout Twice(n, c, h, w) = [n, c/16, h/2, w, h%2, c/4%4, c%4]
    layout Padded(n, c, h, w) = [n, c/8 : 5, h, w, c%8]
    """
)


def drawn_placing(draw: random.Random, shape: tuple[int, ...]) -> Placing:
    """Digits of each axis, cut anywhere, the last block ragged or not, in any order."""
    digits: list[Digit] = []
    for axis, extent in enumerate(shape):
        divisor = 1
        while divisor < extent or (extent == 1 and draw.random() < 0.1):
            left = -(-extent // divisor)
            size = draw.choice([left, draw.randint(2, max(2, left)), 4])
            digits.append(Digit(axis, divisor, size))
            divisor *= size
    draw.shuffle(digits)
    return Placing(shape, canonical(digits))


@pytest.mark.parametrize(
    ("digits", "expected"),
    [
        ([(0, 1, 1), (1, 1, 3)], [(1, 1, 3)]),
        ([(1, 16, 2), (1, 1, 16)], [(1, 1, 32)]),
        ([(1, 16, 2), (2, 1, 1), (1, 1, 16)], [(1, 1, 32)]),
        ([(1, 1, 16), (1, 16, 2)], [(1, 1, 16), (1, 16, 2)]),
        ([(1, 8, 2), (1, 4, 2), (1, 1, 4)], [(1, 1, 16)]),
        ([], []),
    ],
)
def test_neighbours_that_are_one_run_are_one_digit(
    digits: list[tuple[int, int, int]], expected: list[tuple[int, int, int]]
) -> None:
    assert canonical(Digit(*each) for each in digits) == tuple(Digit(*each) for each in expected)


def test_layouts_that_are_the_same_memory_are_one_placing() -> None:
    nchw, nhwc, blocked = (library(each) for each in ("NCHW", "NHWC", "NCHW16c"))
    assert placed(nchw, (2, 20, 1, 1)) == placed(nhwc, (2, 20, 1, 1))
    assert placed(nhwc, (2, 16, 3, 4)) == placed(blocked, (2, 16, 3, 4))
    assert placed(nhwc, (2, 20, 3, 4)) != placed(blocked, (2, 20, 3, 4))


def test_one_ragged_block_is_padded_though_no_digit_stands_above_it() -> None:
    found = placed(library("NCHW16c"), (1, 12, 3, 3))
    assert isinstance(found, Placing)
    assert found.digits[-1] == Digit(1, 1, 16)
    assert found.padded_axes == (1,)
    assert found.slots == 9 * 16


@pytest.mark.parametrize(
    ("name", "shape", "said"),
    [
        ("NHWC", (2, 3, 4), "4 axes"),
        ("Padded", (1, 48, 2, 2), "do not follow"),
        ("Cut", (1, 2, 3, 3), "unaligned place"),
    ],
)
def test_what_is_no_placing_says_why(name: str, shape: tuple[int, ...], said: str) -> None:
    layout = LAYOUTS[name] if name in LAYOUTS else library(name)
    found = placed(layout, shape)
    assert isinstance(found, str)
    assert said in found


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", ["NCHW", "NHWC", "NCHW16c", "NCHWc<8>", *LAYOUTS])
def test_a_layout_and_its_placing_put_elements_into_the_same_slots(name: str) -> None:
    draw = random.Random(name)
    layout = LAYOUTS[name] if name in LAYOUTS else library(name)
    read = 0
    for _ in range(40):
        shape = tuple(draw.choice([1, 2, 3, 4, 12, 16, 20]) for _ in range(4))
        found = placed(layout, shape)
        if isinstance(found, str):
            continue
        read += 1
        array = np.arange(1, prod(shape) + 1).reshape(shape)
        buffer = packed(array, found, 0).reshape(-1)
        for _ in range(8):
            index = tuple(draw.randrange(extent) for extent in shape)
            expected = layout.offset(index, shape)
            assert slot(found, index) == expected == layout_of(found).offset(index, shape)
            assert buffer[expected] == array[index]
        assert buffer.size == layout.size(shape)
        assert np.array_equal(unpacked(buffer, found), array)
        assert int(padding_of(found).sum()) == found.slots - prod(shape)
    assert read > 5


def test_views_keep_the_memory() -> None:
    """Renamed by a view, the buffer is what the view of the array packs to."""
    draw = random.Random(7)
    renamed = 0
    for _ in range(400):
        shape = tuple(draw.choice([1, 2, 3, 4, 6]) for _ in range(draw.randint(1, 4)))
        placing = drawn_placing(draw, shape)
        array = np.arange(1, prod(shape) + 1).reshape(shape)
        order = tuple(draw.sample(range(len(shape)), len(shape)))
        turned = transposed(placing, order)
        buffer = packed(array, placing, 0).reshape(-1)
        assert np.array_equal(buffer, packed(array.transpose(order), turned, 0).reshape(-1))
        assert transposed(turned, inverse(order)) == placing
        other = draw.choice(list(shapes_of(prod(shape))))
        found = reshaped(placing, other)
        if found is not None:
            renamed += 1
            assert np.array_equal(buffer, packed(array.reshape(other), found, 0).reshape(-1))
            assert reshaped(found, shape) == placing
    assert renamed > 100


def shapes_of(elements: int) -> list[tuple[int, ...]]:
    """Some shapes of so many elements, with axes of one element too."""
    small = [k for k in range(1, elements + 1) if elements % k == 0]
    return [
        (elements,),
        *((k, elements // k) for k in small),
        *((1, k, elements // k) for k in small),
    ]


@pytest.mark.parametrize(
    ("shape", "digits", "after", "expected"),
    [
        # rows of the weights are permuted after NHWC, and nothing moves
        ((2, 3, 4, 5), "n h w c", (2, 60), "[d0%2, d1%20, d1/20%3]"),
        # a shuffle of channels, cut and put together
        ((1, 6, 2, 2), "n h w c", (2, 3, 2, 2), "[d2%2, d3%2, d0%2, d1%3]"),
        # blocks of 4 are no rows of 6
        ((1, 12, 2, 2), "n c/4 h w c%4", (2, 6, 2, 2), None),
        # padding in an axis that is put together with others
        ((1, 10, 2, 2), "n c/4 h w c%4", (40,), None),
        # padding in an axis that stays
        ((1, 10, 2, 2), "n c/4 h w c%4", (10, 4), "[d0/4%3, d1%4, d0%4]"),
    ],
)
def test_reshapes(
    shape: tuple[int, ...], digits: str, after: tuple[int, ...], expected: str | None
) -> None:
    text = f"layout L(n, c, h, w) = [{', '.join(digits.split())}]"
    placing = placed(parse(text)["L"], shape)
    assert isinstance(placing, Placing)
    found = reshaped(placing, after)
    assert (None if found is None else str(found)) == expected


def test_every_placing_of_a_small_shape_is_told_from_every_other() -> None:
    """Equal digits are equal memory, other digits are other memory: one form for each."""
    shape = (2, 4)
    seen: dict[tuple[int, ...], Placing] = {}
    parts = [[Digit(0, 1, 2)], [Digit(1, 1, 4)], [Digit(1, 2, 2), Digit(1, 1, 2)]]
    for cut in (parts[1], parts[2]):
        digits = [*parts[0], *cut]
        for order in product(range(len(digits)), repeat=len(digits)):
            if len(set(order)) < len(order):
                continue
            placing = Placing(shape, canonical(digits[k] for k in order))
            memory = tuple(packed(np.arange(8).reshape(shape), placing, 0).reshape(-1))
            assert seen.setdefault(memory, placing) == placing
    assert as_written(shape) in seen.values()
