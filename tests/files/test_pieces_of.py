"""The pieces of a tensor as anybody may move them: in any order, each by itself."""

from __future__ import annotations

import warnings
from collections import Counter
from itertools import product
from math import prod
from random import Random

import numpy as np
import pytest
from random_layouts import drawn, shape_in
from texts import LIBRARY, layout

import layoutdsl
from layoutdsl import Layout

POISON = 0xA5


def by_pieces(found: Layout, tensor: np.ndarray, memory: int, random: Random) -> tuple[bytes, int]:
    """The buffer, packed piece by piece in any order, and how many pieces there were."""
    module = layoutdsl.compile(found, "numpy")
    pieces = list(layoutdsl.pieces_of(found, tensor.shape, memory, itemsize=tensor.itemsize))
    filled = fill_of(found)
    buffer = np.empty(prod(module.physical_shape(tensor.shape)), tensor.dtype)
    buffer.view("u1")[:] = POISON
    times = np.zeros(buffer.shape, int)
    random.shuffle(pieces)
    for each in pieces:
        piece = tensor[(*each.box, ...)]
        packed = module.pack(piece, **filled).reshape(-1)
        assert piece.shape == each.extents
        assert piece.nbytes + packed.nbytes <= memory
        buffer[each.stretch] = packed[-each.slots :]
        times[each.stretch] += 1
    assert (times == 1).all()
    return buffer.tobytes(), len(pieces)


def fill_of(found: Layout) -> dict[str, int]:
    return {"fill": 7} if "fill zero_point" in found.of_codes.clauses else {}


def elements_lie(found: Layout, tensor: np.ndarray, buffer: bytes) -> bool:
    """Whether every element lies at its offset, in plain integers."""
    flat = np.frombuffer(buffer, tensor.dtype)
    indices = product(*map(range, tensor.shape))
    return all(flat[found.offset(each, tensor.shape)] == tensor[each] for each in indices)


def tried(seed: int) -> int:
    """One layout, shape and amount of memory; returns how many pieces there were."""
    random = Random(seed)
    while True:
        found = drawn(random)
        shape = shape_in(found, random)
        if shape is None or (found.element is not None and found.element.name not in ("f32", "u8")):
            continue
        dtype = "f4" if found.element is None or found.element.name == "f32" else "u1"
        tensor = np.arange(1, prod(shape) + 1).astype(dtype).reshape(shape)
        try:
            whole = layoutdsl.compile(found, "numpy").pack(tensor, **fill_of(found)).tobytes()
        except (layoutdsl.RefusedError, layoutdsl.UnprovedError, layoutdsl.UnvalidatedError):
            continue
        memory = random.randint(1, tensor.nbytes + len(whole))
        try:
            buffer, count = by_pieces(found, tensor, memory, random)
        except layoutdsl.TooLargeError as large:
            buffer, count = by_pieces(found, tensor, max(memory + 1, large.needed), random)
        assert buffer == whole, (found, shape, memory)
        assert elements_lie(found, tensor, buffer)
        return count


def tried_in_turn(seeds: range) -> Counter[bool]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # some are slow, or not proved
        return Counter(tried(seed) > 1 for seed in seeds)


@pytest.mark.slow
def test_pieces_in_any_order_are_the_whole() -> None:
    assert tried_in_turn(range(6))[True] >= 1


@pytest.mark.campaign
def test_pieces_of_more_layouts() -> None:
    assert tried_in_turn(range(1000, 1080))[True] >= 20


@pytest.mark.campaign
def test_pieces_of_many_layouts() -> None:
    print(tried_in_turn(range(10_000, 12_000)))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("name", "shape", "memory", "count"),
    [
        ("NCHW16c", (2, 20, 3, 4), 480, 24),
        ("OIhw4i16o4i", (40, 40, 3, 3), 4000, 81),
    ],
)
def test_layouts_of_the_library(name: str, shape: tuple[int, ...], memory: int, count: int) -> None:
    tensor = np.arange(prod(shape), dtype="f4").reshape(shape)
    buffer, found = by_pieces(LIBRARY[name], tensor, memory, Random(1))
    assert found == count
    assert buffer == layoutdsl.compile(LIBRARY[name], "numpy").pack(tensor).tobytes()


def test_a_layout_that_starts_later() -> None:
    """The first piece fills what lies before the layout as well."""
    found = layout("layout A(n, c) = [n, c/4, c%4] offset 3")
    pieces = layoutdsl.pieces_of(found, (3, 6), 17)
    assert [(each.first, each.slots) for each in pieces] == [(0, 11), (11, 8), (19, 8)]
    tensor = np.arange(18, dtype="i4").reshape(3, 6)
    buffer, _ = by_pieces(found, tensor, 68, Random(1))
    assert buffer == layoutdsl.compile(found, "numpy").pack(tensor).tobytes()


REFUSED = [
    ("[n, c/16, c%16]", (3, 40), 10, "the smallest piece takes 32 bytes: `c%16` has the same"),
    ("[n, c/16, c%16]", (3,), 100, r"the shape has 1 extents, and 2 are needed"),
    ("[n, c/16, c%16]", (3, 40), 0, "`memory` is 0, and `itemsize` 1: both are bytes"),
    ("[n, c]", (1 << 11, 1 << 10), 2, "2097152 pieces are too many"),
    ("[n, bit, c/8, c%8] of u4", (3, 40), 100, "`A` places the bits of its elements"),
    ("[n, c%4]", (3, 40), 100, "refuted"),
]


def test_copies_are_refused() -> None:
    with pytest.raises(ValueError, match="`A` holds copies of its elements"):
        layoutdsl.pieces_of(layout("layout A(n, x: 2 broadcast) = [n, x]"), (3,), 100)


@pytest.mark.parametrize(("body", "shape", "memory", "words"), REFUSED)
def test_what_is_refused(body: str, shape: tuple[int, ...], memory: int, words: str) -> None:
    with pytest.raises((ValueError, layoutdsl.RefusedError), match=words):
        layoutdsl.pieces_of(layout(f"layout A(n, c) = {body}"), shape, memory)
