"""oneDNN's tags against libdnnl itself: sizes, and memory with its zeros after a reorder.

It needs `pip install layoutdsl[oracles]`, and is left out without. The default run samples;
`pytest -m campaign -k onednn -s` reorders into every tag in three element types, and says how much
was compared.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from math import prod

import numpy as np
import pytest
from onednn_library import (
    ALPHABET,
    F32,
    NUMPY,
    S8,
    U8,
    Library,
    RefusedError,
    aliases,
    shared_library,
)

import layoutdsl
from layoutdsl import Layout

FOUND = shared_library()
if FOUND is None:
    pytest.skip("libdnnl is not installed", allow_module_level=True)
LIBRARY = Library(FOUND)
TAGS = LIBRARY.tags()
ALIASES = aliases()
MISPRINTED = {"gIOhw2i8o16i2o", "gIOdhw2i8o16i2o", "OhwI24o", "OhwI32o", "gOhwI24o", "gOhwI32o"}
MOST_ELEMENTS = 20_000


def read(tag: str) -> Layout:
    return layoutdsl.from_notation("onednn", tag)


def ragged(tag: str, rng: random.Random) -> tuple[int, ...]:
    """A shape around the blocks of a tag, as large as a test can take."""
    names = sorted(set(re.findall("[a-l]", tag.lower())))
    blocks = dict.fromkeys(names, 1)
    for size, letter in re.findall(r"(\d+)([a-l])", tag):
        blocks[letter] *= int(size)
    free = 4 if len(names) < 6 else 2
    while True:
        shape = [_extent(blocks[name], free, rng) for name in names]
        padded = (-(-n // b) * b for n, b in zip(shape, blocks.values(), strict=True))
        if prod(padded) <= max(MOST_ELEMENTS, 2 * prod(blocks.values())):
            return tuple(shape)


def _extent(block: int, free: int, rng: random.Random) -> int:
    if block == 1:
        return rng.randint(1, free)
    return rng.choice([1, block - 1, block, block + 1, rng.randint(1, 2 * block)])


def ours(layout: Layout, tensor: np.ndarray) -> np.ndarray:
    """The buffer by the definition of the language, `Layout.offset_at`, over all indices."""
    values = layout.bind(tensor.shape)
    names = [axis.name for axis in layout.axes]
    buffer = np.zeros(layout.size(tensor.shape), tensor.dtype)
    where = layout.offset_at({**values, **dict(zip(names, np.indices(tensor.shape), strict=True))})
    buffer[where] = tensor
    return buffer


def compare(cases: Iterable[tuple[str, int | str, int]], seed: int) -> int:
    """Reorder into each tag; return how many buffers were equal, byte by byte."""
    rng, draw = random.Random(seed), np.random.default_rng(seed)
    equal = 0
    for tag, called, kind in cases:
        shape = ragged(tag, rng)
        tensor = draw.integers(-99 if kind == S8 else 1, 100, shape).astype(NUMPY[kind])
        packed = LIBRARY.pack(tensor, kind, called)
        expected = ours(read(tag), tensor)
        assert np.array_equal(packed, expected), (tag, shape, NUMPY[kind].__name__)
        equal += 1
    return equal


def any_tag(rng: random.Random) -> str:
    """A tag that follows the rule, whether or not the library has a number for it."""
    letters = list(ALPHABET[: rng.randint(1, 6)])
    rng.shuffle(letters)
    blocks = [(rng.randint(2, 9), rng.choice(letters)) for _ in range(rng.randint(0, 4))]
    cut = {letter for _, letter in blocks}
    head = "".join(each.upper() if each in cut else each for each in letters)
    return head + "".join(f"{size}{letter}" for size, letter in blocks)


def test_the_library_has_its_tags() -> None:
    assert len(TAGS) >= 760
    assert TAGS["aBcd16b"] != TAGS["abcd"]


@pytest.mark.slow
def test_every_tag_is_read_printed_back_and_takes_the_bytes_that_the_library_says() -> None:
    rng = random.Random(1)
    for tag, number in TAGS.items():
        layout, shape = read(tag), ragged(tag, rng)
        assert layoutdsl.to_notation(layout, "onednn") == tag
        descriptor = LIBRARY.descriptor(shape, F32, number)
        assert descriptor.size == 4 * layout.size(shape), (tag, shape)
        LIBRARY.free(descriptor)


@pytest.mark.slow
@pytest.mark.skipif(not ALIASES, reason="the headers of oneDNN are not installed")
def test_every_name_stands_for_the_tag_of_the_header() -> None:
    for name, tag in ALIASES.items():
        layout, plain = read(name), read(tag)
        letters = ", ".join(ALPHABET[: layout.rank])
        module = layoutdsl.parse(f'layout Renamed({letters}) = onednn "{name}"')
        assert module["Renamed"].coordinates == plain.coordinates, (name, tag)
        printed = layoutdsl.to_notation(layout, "onednn")
        assert (printed == name) is (name not in MISPRINTED)
        assert read(printed).coordinates == layout.coordinates
    assert len(ALIASES) >= 714


@pytest.mark.slow
def test_a_sample_of_reorders() -> None:
    sample = random.Random(2).sample(sorted(TAGS), 120)
    cases = [(tag, TAGS[tag], (U8, S8, F32)[k % 3]) for k, tag in enumerate(sample)]
    assert compare(cases, 3) == 120


@pytest.mark.slow
def test_a_sample_of_tags_that_have_no_number() -> None:
    rng = random.Random(4)
    cases = [(tag, tag, U8) for tag in (any_tag(rng) for _ in range(200))]
    assert compare(cases, 5) == 200


def test_the_oracle_can_refute() -> None:
    tensor = np.arange(1, 2 * 20 + 1, dtype=np.uint8).reshape(2, 20)
    assert not np.array_equal(LIBRARY.pack(tensor, U8, "aB16b"), ours(read("Ba16b"), tensor))
    with pytest.raises(RefusedError):
        LIBRARY.descriptor((2, 20), U8, "abc")


@pytest.mark.campaign
def test_reorders_into_every_tag() -> None:
    cases = [(tag, number, kind) for tag, number in TAGS.items() for kind in (U8, S8, F32)]
    compared = compare(cases, 6)
    print(f"libdnnl: {compared} reorders into {len(TAGS)} tags, all equal")
    assert compared >= 3 * 760


@pytest.mark.campaign
def test_reorders_into_tags_that_have_no_number() -> None:
    rng = random.Random(7)
    compared = compare([(tag, tag, U8) for tag in (any_tag(rng) for _ in range(2000))], 8)
    print(f"libdnnl: {compared} reorders into tags of the rule, all equal")
    assert compared == 2000
