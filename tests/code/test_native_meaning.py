"""Compiled `pack` and `unpack` against the meaning and against numpy, between guarded bytes."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
import pytest
from codegen_cases import layout_of, module_of
from expected_buffers import expected
from native_cases import LAYOUTS, WIDTHS, fenced, fixed_extent, modules, needs_compiler
from test_codegen_meaning import random_layout

from layoutdsl import Layout

pytestmark = needs_compiler

GUARD = 64
LEAD, FILL = 8, 9

# Extents around the sizes of blocks and vectors; the rest of an axis of fixed extent is its own.
MOST_ELEMENTS = 700
SMALL = {2: (1, 3, 8, 17, 40), 3: (1, 3, 9, 17), 4: (1, 3, 17)}


def shapes_of(layout: Layout) -> list[tuple[int, ...]]:
    """Every product of extents; of four axes all small, and some with one or two larger."""
    extents = [
        SMALL[layout.rank] if (fixed := fixed_extent(axis)) is None else (fixed,)
        for axis in layout.axes
    ]
    every = list(product(*extents))
    return [shape for shape in every if prod(shape) <= MOST_ELEMENTS]


def values(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Values that differ between neighbours along every axis, none of them a guard."""
    count = int(np.prod(shape))
    return (np.arange(count, dtype="u8") * 2654435761 % 199 + 10).astype(dtype).reshape(shape)


def guarded(shape: tuple[int, ...], dtype: str, poison: int) -> tuple[np.ndarray, np.ndarray]:
    """An array of poison inside a longer one of poison."""
    count = int(np.prod(shape))
    whole = np.full(count + 2 * GUARD, poison, dtype)
    return whole, whole[GUARD : GUARD + count].reshape(shape)


@pytest.mark.slow
@pytest.mark.sampled(18)
@pytest.mark.parametrize("number", range(len(LAYOUTS)))
def test_every_small_shape_as_the_layout_means(number: int) -> None:
    text, dtype = LAYOUTS[number], WIDTHS[number % 4]
    layout, module = layout_of(text), modules(text)
    for shape in shapes_of(layout):
        tensor = values(shape, dtype)
        want = expected(layout, tensor, FILL, LEAD)
        whole, out = guarded(want.shape, dtype, LEAD)
        assert module.pack(tensor, out, FILL) is out
        assert np.array_equal(out, want), shape
        assert (whole[:GUARD] == LEAD).all()
        assert (whole[-GUARD:] == LEAD).all()
        padding_of_no_account = expected(layout, tensor, 250, 251)
        whole, back = guarded(shape, dtype, 5)
        assert module.unpack(padding_of_no_account, shape, back) is back
        assert np.array_equal(back, tensor), shape
        assert (whole[:GUARD] == 5).all()
        assert (whole[-GUARD:] == 5).all()


LARGE = {2: (1, 300), 3: (1, 70), 4: (1, 40)}


def against_numpy(text: str, dtype: str, vector: int, count: int) -> None:
    layout, plain, module = layout_of(text), module_of(text), modules(text, vector)
    random = np.random.default_rng(vector + len(text))
    for _ in range(count):
        low, high = LARGE[layout.rank]
        shape = tuple(
            int(random.integers(low, 70 if axis.name == "h" and layout.rank == 2 else high))
            if (fixed := fixed_extent(axis)) is None
            else fixed
            for axis in layout.axes
        )
        tensor = values(shape, dtype)
        want = plain.pack(tensor, fill=FILL)
        assert np.array_equal(module.pack(tensor, fill=FILL), want), (shape, dtype)
        assert np.array_equal(module.unpack(want, shape), tensor), (shape, dtype)
        threads = int(random.integers(2, 6))
        assert np.array_equal(module.pack(tensor, fill=FILL, threads=threads), want), shape
        assert np.array_equal(module.unpack(want, shape, threads=threads), tensor), shape


@pytest.mark.slow
@pytest.mark.sampled(21)
@pytest.mark.parametrize("number", range(len(LAYOUTS)))
def test_larger_shapes_as_numpy_does(number: int) -> None:
    against_numpy(LAYOUTS[number], WIDTHS[number % 4], 64, 6)
    against_numpy(LAYOUTS[number], WIDTHS[(number + 1) % 4], 16, 6)


@pytest.mark.campaign
@pytest.mark.sampled(2)
@pytest.mark.parametrize("text", LAYOUTS)
@pytest.mark.parametrize("vector", [16, 32, 64])
def test_every_width_and_vector_as_numpy_does(text: str, vector: int) -> None:
    for dtype in WIDTHS:
        against_numpy(text, dtype, vector, 40)


FENCED = [LAYOUTS[k] for k in (0, 1, 2, 5, 7, 8, 11)]


@pytest.mark.slow
@pytest.mark.sampled(8)
@pytest.mark.parametrize("number", range(len(FENCED)))
@pytest.mark.parametrize("at_end", [True, False])
def test_no_byte_outside_is_touched(number: int, at_end: bool) -> None:
    """One read or write too far would end the process."""
    text = FENCED[number]
    dtype = WIDTHS[LAYOUTS.index(text) % 4]
    layout, plain, module = layout_of(text), module_of(text), modules(text)
    for shape in [*shapes_of(layout)[-20:], *shapes_of(layout)[::7]]:
        box = layout.physical_shape(shape)
        with fenced(shape, dtype, at_end) as tensor, fenced(box, dtype, at_end) as buffer:
            tensor[...] = values(shape, dtype)
            module.pack(tensor, buffer, FILL)
            assert np.array_equal(buffer, plain.pack(tensor, fill=FILL))
            tensor[...] = 0
            module.unpack(buffer, shape, tensor)
            assert np.array_equal(tensor, values(shape, dtype))


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(3))
def test_random_digit_chains(seed: int) -> None:
    random_chain(seed)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(8, 200))
def test_many_random_digit_chains(seed: int) -> None:
    random_chain(seed)


def random_chain(seed: int) -> None:
    text, shapes = random_layout(seed)
    layout, module = layout_of(text), modules(text)
    dtype = WIDTHS[seed % 4]
    for shape in shapes:
        tensor = values(shape, dtype)
        want = expected(layout, tensor, 7, LEAD)
        out = np.full(want.shape, LEAD, dtype)
        assert np.array_equal(module.pack(tensor, out), want), (text, shape)
        assert np.array_equal(module.unpack(want, shape), tensor), (text, shape)


@pytest.mark.slow
def test_streamed_outputs() -> None:
    """At full size, aligned and not, with a ragged end."""
    text = LAYOUTS[0]
    plain, module = module_of(text), modules(text)
    shape = (1, 70, 258, 257)
    tensor = np.arange(int(np.prod(shape)), dtype="u4").reshape(shape)
    want = plain.pack(tensor)
    assert want.nbytes >= 16 << 20
    raw = np.zeros(want.nbytes + 64, "u1")
    for shift in (-raw.ctypes.data % 64, -raw.ctypes.data % 64 + 4, -raw.ctypes.data % 64 + 16):
        out = raw[shift : shift + want.nbytes].view("u4").reshape(want.shape)
        out[...] = 3
        assert np.array_equal(module.pack(tensor, out), want)
    assert np.array_equal(module.unpack(want, shape), tensor)
