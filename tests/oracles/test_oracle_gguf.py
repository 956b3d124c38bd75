"""GGUF's blocks against gguf-py, the package of llama.cpp: where the numbers lie, bit by bit.

It needs `pip install gguf`. Where it quantises, its bytes are ours; of every type, those numbers
that we say lie there change when it dequantises, and no others. The default run samples;
`pytest -m campaign -k gguf -s` says how much was compared.
"""

from __future__ import annotations

import re
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pytest
from narrow_numbers import in_bytes, in_numbers
from texts import HERE

import layoutdsl
from layoutdsl import Layout

gguf = pytest.importorskip("gguf")
quants = pytest.importorskip("gguf.quants")

EXTRA = layoutdsl.load(HERE / "layouts/gguf.layout")
LAYOUTS = {
    name: layoutdsl.library(name) for name in layoutdsl.library_names() if name.startswith("Gguf")
} | dict(EXTRA)
SAFE = np.array([n for n in range(0x21, 0x3C) if n % 16], dtype=np.uint8)
"""Bytes for headers: a scale made of them, of whatever width, is neither 0 nor infinite."""

EXACT = {
    # Numbers that stay as they are: what to take from each, what a block must hold, and from where
    # on there are none. The scale is 1 then.
    "Q4_0": (8, (0,), 16),
    "Q4_1": (0, (0, 15), 16),
    "Q5_0": (16, (0,), 32),
    "Q5_1": (0, (0, 31), 32),
    "TQ2_0": (1, (0,), 3),
}


def kind_of(name: str) -> Any:
    """`GgufQ5_0High` speaks of the type Q5_0."""
    plain = re.sub("High$|Signs$", "", name.removeprefix("Gguf"))
    return gguf.GGMLQuantizationType[plain.upper() if plain == "Mxfp4" else plain]


def shape_for(name: str, random: Random) -> tuple[int, int]:
    block, _ = gguf.GGML_QUANT_SIZES[kind_of(name)]
    return random.randint(1, 5), block * random.randint(1, 4)


def bits_of(layout: Layout) -> int:
    assert layout.element is not None
    return layout.element.bits


def offsets_of(layout: Layout, shape: tuple[int, int]) -> np.ndarray:
    r, k = np.indices(shape)
    return np.asarray(layout.offset_at({**layout.bind(shape), "r": r, "k": k}))


def assert_places(layout: Layout, kind: Any, shape: tuple[int, int], random: Random) -> None:
    """Every number is found by those bits of its index for which its place was changed.

    Each slot of an element whose index has bit n gets the complement of what it held. Done for all
    n, that names the element that gguf reads from each slot.
    """
    bits, draw = bits_of(layout), np.random.default_rng(random.getrandbits(32))
    offsets = offsets_of(layout, shape)
    sizes = gguf.quant_shape_to_byte_shape(shape, kind)
    assert layout.size(shape) * bits == 8 * np.prod(sizes), layout.name
    slots = in_numbers(draw.choice(SAFE, np.prod(sizes)), bits)
    slots[offsets] = draw.integers(0, 2**bits, shape, dtype=np.uint8)

    def read(slots: np.ndarray) -> np.ndarray:
        return np.asarray(gguf.dequantize(in_bytes(slots, bits).reshape(sizes), kind))

    before = read(slots)
    assert np.isfinite(before).all()
    index = np.arange(offsets.size).reshape(shape)
    for n in range(int(offsets.size).bit_length()):
        wanted = index >> n & 1 == 1
        changed = slots.copy()
        changed[offsets[wanted]] ^= np.uint8(2**bits - 1)
        assert np.array_equal(read(changed) != before, wanted), (layout.name, shape, n)


def drawn_exactly(plain: str, shape: tuple[int, int], draw: Any) -> tuple[np.ndarray, np.ndarray]:
    """Numbers, and the floats that gguf quantises to just them."""
    block, _ = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[plain]]
    if plain == "Q8_0":
        numbers = draw.integers(-127, 128, shape)
        held = (draw.choice((-127, 127)),)
    elif plain == "MXFP4":
        numbers = draw.choice([n for n in range(16) if n != 8], shape)  # 8 is -0
        held = (7,)
    else:
        less, held, end = EXACT[plain]
        numbers = draw.integers(0, end, shape)
    blocks = numbers.reshape(-1, block)
    for row in blocks:
        row[draw.choice(block, len(held), replace=False)] = held
    if plain == "MXFP4":
        floats = np.array(quants.MXFP4.kvalues)[numbers]
    else:
        floats = numbers - (0 if plain == "Q8_0" else less)
    return numbers, floats.astype(np.float32)


@cache
def module_of(name: str) -> Any:
    return layoutdsl.compile(LAYOUTS[name], target="numpy")


def assert_quantised_alike(name: str, shape: tuple[int, int], random: Random) -> None:
    """The bytes that gguf writes hold our packed numbers, and are unpacked to them."""
    layout, kind = LAYOUTS[name], kind_of(name)
    bits, high = bits_of(layout), name.endswith("High")
    numbers, floats = drawn_exactly(kind.name, shape, np.random.default_rng(random.getrandbits(32)))
    numbers = numbers.astype(np.int8 if bits == 8 else np.uint8)
    if bits < 8:
        numbers = numbers >> 4 if high else numbers & (2**bits - 1)
    theirs = gguf.quantize(floats, kind).reshape(-1)
    theirs = theirs.view(np.int8) if bits == 8 else in_numbers(theirs, bits)
    module = module_of(name)
    packed = module.pack(numbers).reshape(-1)
    offsets = offsets_of(layout, shape)
    assert np.array_equal(packed[offsets], theirs[offsets]), (name, shape)
    box = theirs.reshape(module.physical_shape(shape))
    assert np.array_equal(module.unpack(box, shape), numbers), (name, shape)


QUANTISED = [
    name
    for name in LAYOUTS
    if kind_of(name).name in {*EXACT, "Q8_0", "MXFP4"} and not name.endswith("Signs")
]


def compare(rounds: int, seed: int, quantised: list[str]) -> None:
    random, places, written = Random(seed), 0, 0
    for name in LAYOUTS:
        for _ in range(rounds):
            shape = shape_for(name, random)
            assert_places(LAYOUTS[name], kind_of(name), shape, random)
            places += shape[0] * shape[1]
    for name in quantised:
        for _ in range(rounds):
            shape = shape_for(name, random)
            assert_quantised_alike(name, shape, random)
            written += shape[0] * shape[1]
    print(
        f"gguf: {len(LAYOUTS)} layouts, {rounds} shapes each: "
        f"{places} places read, {written} numbers written by {len(quantised)} of them"
    )
    assert places > 1000 * rounds
    assert written > 100 * rounds


@pytest.mark.slow
def test_a_sample_of_gguf_blocks() -> None:
    compare(1, 1, ["GgufQ4_0", "GgufQ8_0", "GgufQ5_0High"])


def test_gguf_can_refute() -> None:
    """With neighbours in one byte, as one would think, gguf disagrees."""
    text = "layout Wrong(r, k) = [r, k/32, 2 + k%32/2 : 18, k%2] of u4 fill any where K % 32 == 0"
    wrong = layoutdsl.parse(text)["Wrong"]
    with pytest.raises(AssertionError, match="Wrong"):
        assert_places(wrong, kind_of("GgufQ4_0"), (2, 64), Random(2))


@pytest.mark.campaign
def test_gguf_blocks_of_random_shapes() -> None:
    compare(200, 3, QUANTISED)
