"""Compiled code where something is ragged: one axis, two, or all, between bytes out of bounds.

Each axis in turn, and all together, ends just before, at, and just after the end of a block; every
element width is tried, and some with vectors of 16 bytes. Numpy's module says what is right.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from codegen_cases import layout_of, module_of
from native_cases import LAYOUTS, WIDTHS, fenced, fixed_extent, modules, needs_compiler
from test_native_meaning import values

from layoutdsl import Layout

pytestmark = needs_compiler

FILL, LEAD = 9, 8

# A layout, and along each axis the extent at which its blocks are whole.
RAGGED = (
    ("layout Crouton(b, h, w, d) = [b, h/8, w/8, d/32, h%8, w%8, d%32] fill 31", (2, 8, 8, 32)),
    (
        "layout Crouton2x2(b, h, w, d) = [b, h/8, w/8, d/32, h%8/2, w%8/2, d%32, h%2, w%2] fill 31",
        (1, 8, 8, 32),
    ),
    ("layout Depth32(b, h, w, d) = [b, h, d/32, w/4, w%4, d%32]", (1, 2, 8, 64)),
    ("layout Depth32(b, h, w, d) = [b, h, d/32, w/4, w%4, d%32]", (1, 2, 8, 160)),
    ("layout Weights(h, w, i, o) = [o/32, i/32, h, w, i%32/4, o%32, i%4]", (1, 2, 32, 64)),
    ("layout OIhw(o, i, h: 3, w: 3) = [o/16, i/16, h, w, i%16/4, o%16, i%4]", (32, 32, 3, 3)),
    ("layout Back(o, i, k: 5) = [o/32, i/16, k, i%16/2, o%32, i%2] fill 3", (64, 32, 5)),
    ("layout Mace(n, h, w, c) = [(n, h), (c/4, w), c%4]", (1, 2, 16, 16)),
    ("layout Ninths(n, c: 19, h: 37) = [n, h, c]", (3, 19, 37)),
    ("layout NCHW16c(n, c, h, w) = [n, c/16, h, w, c%16]", (1, 32, 1, 64)),
)


def shapes(layout: Layout, whole: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Whole blocks; every axis alone a little more or less; all of them; and one element."""
    fixed = [fixed_extent(axis) is not None for axis in layout.axes]
    yield whole
    for away in (-2, -1, 1):
        for number in range(len(whole)):
            if not fixed[number]:
                yield tuple(max(1, e + away * (k == number)) for k, e in enumerate(whole))
        yield tuple(e if still else max(1, e + away) for e, still in zip(whole, fixed, strict=True))
    yield tuple(e if still else 1 for e, still in zip(whole, fixed, strict=True))
    yield tuple(e if still else e // 2 + 1 for e, still in zip(whole, fixed, strict=True))


EVERY = [(number, dtype) for number in range(len(RAGGED)) for dtype in WIDTHS]


@pytest.mark.slow
@pytest.mark.sampled(30)
@pytest.mark.parametrize(
    ("number", "dtype"), [EVERY[k] for k in range(len(EVERY)) if (k + k // 4) % 2]
)
def test_every_way_to_be_ragged(number: int, dtype: str) -> None:
    edges_are_right(number, dtype)


@pytest.mark.campaign
@pytest.mark.parametrize(("number", "dtype"), EVERY)
def test_every_way_to_be_ragged_at_every_width(number: int, dtype: str) -> None:
    edges_are_right(number, dtype)


def edges_are_right(number: int, dtype: str) -> None:
    text, whole = RAGGED[number]
    layout, plain = layout_of(text), module_of(text)
    ends = list(shapes(layout, whole))
    for vector in (64, 16) if (number + WIDTHS.index(dtype)) % 4 == 0 else (64,):
        module = modules(text, vector)
        for turn, shape in enumerate(ends):
            box, at_end = layout.physical_shape(shape), turn % 2 == 0
            tensor = values(shape, dtype)
            want, noise = plain.pack(tensor, fill=FILL), plain.pack(tensor, fill=250)
            with fenced(shape, dtype, at_end) as given, fenced(box, dtype, at_end) as buffer:
                given[...] = tensor
                buffer[...] = LEAD
                module.pack(given, buffer, FILL)
                assert np.array_equal(buffer, want), (shape, vector)
                buffer[...] = noise
                given[...] = 5
                module.unpack(buffer, shape, given)
                assert np.array_equal(given, tensor), (shape, vector)


@pytest.mark.slow
def test_streams_of_boxes_with_a_block_of_their_own() -> None:
    text = LAYOUTS[9]
    plain, module = module_of(text), modules(text)
    shape = (1000, 1000, 3, 3)
    tensor = np.arange(9_000_000, dtype="u4").astype("u2").reshape(shape)
    want = plain.pack(tensor)
    assert want.nbytes >= 16 << 20
    assert np.array_equal(module.pack(tensor), want)
    assert np.array_equal(module.unpack(want, shape), tensor)
