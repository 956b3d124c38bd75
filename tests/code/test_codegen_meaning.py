"""Generated `pack`, `unpack`, `offset` and `physical_shape` against the meaning, slot by slot."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from codegen_cases import CASES, Case, layout_of, module_of, tensor_of
from expected_buffers import POISON, expected


@pytest.mark.sampled(48)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_packs_as_the_layout_means(case: Case) -> None:
    layout, module = layout_of(case.text), module_of(case.text)
    assert hasattr(module, "_offsets") == case.gathers
    fill = getattr(layout.fill, "value", 6)
    for shape in case.shapes:
        tensor = tensor_of(shape)
        want = expected(layout, tensor, fill, POISON)
        assert module.physical_shape(shape) == want.shape
        out = np.full(want.shape, POISON, tensor.dtype)
        assert module.pack(tensor, out, fill) is out
        assert np.array_equal(out, want), shape
        fresh = module.pack(tensor, fill=fill)
        assert np.array_equal(fresh, expected(layout, tensor, fill, fill)), shape


@pytest.mark.sampled(24)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_unpacks_what_it_packed_and_reads_no_padding(case: Case) -> None:
    layout, module = layout_of(case.text), module_of(case.text)
    for shape in case.shapes:
        tensor = tensor_of(shape)
        buffer = expected(layout, tensor, POISON, POISON)
        assert np.array_equal(module.unpack(buffer, shape), tensor), shape
        assert np.array_equal(module.unpack(buffer.reshape(-1), list(shape)), tensor), shape
        out = np.full(shape, POISON, tensor.dtype)
        assert module.unpack(buffer, shape, out) is out
        assert np.array_equal(out, tensor), shape


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_offset_is_the_meaning(case: Case) -> None:
    layout, module = layout_of(case.text), module_of(case.text)
    for shape in case.shapes[:8]:
        for index in product(*map(range, shape)):
            assert module.offset(index, shape) == layout.offset(index, shape)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_element_is_moved_once(case: Case) -> None:
    layout, views = layout_of(case.text), module_of(case.text).module
    if not hasattr(views, "_views"):
        pytest.skip("elements are written one by one, or run by run")
    for shape in case.shapes:
        times = np.zeros(views.physical_shape(shape), "u1")
        for _, slots in views._views(np.empty(shape), times):
            slots[...] += 1
        held = np.zeros(times.size, "u1")
        for index in np.ndindex(*shape):
            held[layout.offset(index, shape)] = 1
        assert np.array_equal(times.reshape(-1), held), shape


def test_a_gather_in_several_pieces() -> None:
    module, shape = module_of("layout Xor(i, j) = [i, (j/8)^(i%8), j%8] fill 9"), (300, 637)
    tensor = np.arange(300 * 637).reshape(shape)
    packed = module.pack(tensor)
    i, j = np.indices(shape)
    assert packed.shape == (300, 80, 8)
    assert np.array_equal(packed[i, (j // 8) ^ (i % 8), j % 8], tensor)
    assert (packed == 9).sum() == packed.size - tensor.size + 1
    assert np.array_equal(module.unpack(packed, shape), tensor)


def random_layout(seed: int) -> tuple[str, list[tuple[int, ...]]]:
    """A layout of shuffled digits of up to three axes, some with larger declared extents."""
    random = np.random.default_rng(seed)
    digits: list[str] = []
    for axis in "abc"[: random.integers(1, 4)]:
        blocks = [int(random.integers(2, 5)) for _ in range(random.integers(0, 3))]
        above = 1
        for block in blocks:
            cut = f"/{above}" if above > 1 else ""
            declared = f" : {block + 1}" if random.random() < 0.2 else ""
            digits.append(f"{axis}{cut}%{block}{declared}")
            above *= block
        digits.append(f"{axis}/{above}" if above > 1 else axis)
    random.shuffle(digits)
    if len(digits) > 2 and random.random() < 0.5:
        first = int(random.integers(0, len(digits) - 1))
        digits[first : first + 2] = [f"({digits[first]}, {digits[first + 1]})"]
    axes = sorted({each for digit in digits for each in digit if each in "abc"})
    start = f" offset {random.integers(1, 4)}" if random.random() < 0.2 else ""
    text = f"layout Random({', '.join(axes)}) = [{', '.join(digits)}]{start} fill 7"
    return text, [tuple(int(e) for e in random.integers(1, 14, len(axes))) for _ in range(4)]


@pytest.mark.sampled(20)
@pytest.mark.parametrize("seed", range(60))
def test_random_digit_chains(seed: int) -> None:
    text, shapes = random_layout(seed)
    layout, module = layout_of(text), module_of(text)
    assert module.FALLBACK is None, text
    for shape in shapes:
        tensor = tensor_of(shape)
        want = expected(layout, tensor, 7, POISON)
        out = np.full(want.shape, POISON, tensor.dtype)
        assert np.array_equal(module.pack(tensor, out), want), (text, shape)
        assert np.array_equal(module.unpack(want, shape), tensor), (text, shape)
