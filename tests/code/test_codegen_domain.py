"""Generated code for layouts that hold only part of a shape, held against the model."""

from __future__ import annotations

from functools import cache
from types import ModuleType

import numpy as np
import pytest
from domain_masks import held, numbered
from proving import shapes
from texts import DOMAINS

import layoutdsl
from layoutdsl import Layout

BY_ELEMENT = {
    *("BatchInside", "TwoTriangles", "Diagonal", "BatchOfFours", "HalfRows", "Band"),
    *("BandBackwards", "Blocks", "UpperBlocks", "OddPlaces"),
}
"""Layouts whose rows are no runs of the buffer, or begin at no polynomial of the row."""


@cache
def module_of(name: str) -> ModuleType:
    return layoutdsl.generate(DOMAINS[name], validate=False).load()


def packed(layout: Layout, tensor: np.ndarray, poison: int) -> np.ndarray:
    """What the model says the buffer holds; the slots before the first stay poisoned."""
    shape = tensor.shape
    buffer = np.full(layout.size(shape), poison, tensor.dtype)
    for slot in range(layout.size(shape)):
        index = layout.decode(slot, shape)
        if index is not None:
            buffer[slot] = tensor[index]
        elif layout.is_padding(slot, shape):
            buffer[slot] = getattr(layout.fill, "value", poison)
    return buffer


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", DOMAINS)
def test_pack_is_the_meaning(name: str) -> None:
    layout, module = DOMAINS[name], module_of(name)
    for values in shapes(layout, 4, 60):
        shape = layout.shape_of(values)
        tensor = numbered(shape)
        wanted = packed(layout, tensor, -9)
        out = np.full(layout.physical_shape(values), -9, tensor.dtype)
        assert module.pack(tensor, out=out) is out
        assert np.array_equal(out.ravel(), wanted)
        fresh = module.pack(tensor)
        assert fresh.shape == module.physical_shape(shape) == layout.physical_shape(values)
        start = layout.size(values) - int(np.prod(layout.box(values)))
        if "fill any" not in layout.clauses:
            assert np.array_equal(fresh.ravel()[start:], wanted[start:])


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", DOMAINS)
def test_unpack_gives_back_what_has_a_slot(name: str) -> None:
    layout, module = DOMAINS[name], module_of(name)
    for values in shapes(layout, 4, 60):
        shape = layout.shape_of(values)
        tensor, mask = numbered(shape), held(layout, layout.shape_of(values))
        buffer = packed(layout, tensor, -9)
        fill = getattr(layout.fill, "value", 0)
        assert np.array_equal(module.unpack(buffer, shape), np.where(mask, tensor, fill))
        assert np.array_equal(module.unpack(buffer, shape, fill=5), np.where(mask, tensor, 5))
        out = np.full(shape, -7, tensor.dtype)
        assert module.unpack(buffer, shape, out=out) is out
        assert np.array_equal(out, np.where(mask, tensor, -7))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", DOMAINS)
def test_elements_outside_the_domain_are_not_read(name: str) -> None:
    layout, module = DOMAINS[name], module_of(name)
    values = list(shapes(layout, 4, 60))[-1]
    shape = layout.shape_of(values)
    tensor, mask = numbered(shape), held(layout, layout.shape_of(values))
    poisoned = np.where(mask, tensor, -5).astype(tensor.dtype)
    assert np.array_equal(module.pack(tensor, fill=0), module.pack(poisoned, fill=0))


@pytest.mark.parametrize("name", DOMAINS)
def test_offset_is_the_meaning_and_refuses_what_has_none(name: str) -> None:
    layout, module = DOMAINS[name], module_of(name)
    for values in shapes(layout, 3, 90):
        shape = layout.shape_of(values)
        for index in np.ndindex(*shape):
            try:
                wanted = layout.offset(index, values)
            except ValueError:
                with pytest.raises(ValueError, match="holds elements where"):
                    module.offset(index, shape)
            else:
                assert module.offset(index, shape) == wanted


@pytest.mark.parametrize("name", DOMAINS)
def test_the_domain_is_why_elements_are_moved_one_by_one(name: str) -> None:
    module, conditions = module_of(name), ", ".join(map(str, DOMAINS[name].domain))
    reason = f"it holds elements only where {conditions}"
    assert (reason if name in BY_ELEMENT else None) == module.FALLBACK


def test_packed_triangles_are_numpy_s() -> None:
    tensor = numbered((7, 7))
    assert np.array_equal(module_of("Lower").pack(tensor), tensor[np.tril_indices(7)])
    assert np.array_equal(module_of("UpperRows").pack(tensor), tensor[np.triu_indices(7)])
    assert np.array_equal(module_of("Upper").pack(tensor), tensor.T[np.tril_indices(7)])
    assert np.array_equal(module_of("Strict").pack(tensor), tensor[np.tril_indices(7, -1)])
    assert np.array_equal(module_of("Diagonal").pack(tensor), tensor.diagonal())


def test_views_are_read_in_their_places() -> None:
    tensor = numbered((6, 6)).T[::-1]
    lower = module_of("Lower")
    out = np.full(2 * 21, -9, tensor.dtype)
    out[::2] = lower.pack(tensor)
    assert np.array_equal(out[::2], tensor[np.tril_indices(6)])
    back = np.full((6, 6), -9, tensor.dtype)
    lower.unpack(out[::2], (6, 6), out=back)
    assert np.array_equal(np.tril(back), np.tril(tensor))
    assert (back[np.triu_indices(6, 1)] == -9).all()
    with pytest.raises(ValueError, match="C-contiguous"):
        lower.unpack(out[::2], (6, 6), out=back.T)


def test_a_fill_that_does_not_fit_is_refused_before_anything_is_written() -> None:
    lower = module_of("Lower")
    with pytest.raises(ValueError, match="cannot hold"):
        lower.unpack(np.zeros(6, np.int8), (3, 3), fill=300)


def test_large_triangles_are_cut_into_pieces() -> None:
    tensor = numbered((700, 700))
    lower = module_of("Lower")
    buffer = lower.pack(tensor)
    assert np.array_equal(buffer, tensor[np.tril_indices(700)])
    assert np.array_equal(lower.unpack(buffer, (700, 700)), np.tril(tensor))


def test_empty_matrices_have_an_empty_buffer() -> None:
    lower = layoutdsl.compile(DOMAINS["Lower"], "numpy")
    assert lower.pack(np.zeros((0, 0))).shape == (0,)
    assert lower.unpack(np.zeros(0), (0, 0)).shape == (0, 0)
    assert module_of("Strict").pack(np.ones((1, 1))).shape == (0,)
