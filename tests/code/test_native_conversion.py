"""From one layout straight to another by compiled C, against the definition of both."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from codegen_cases import Shape, layout_of
from converting_cases import PAIRS, THROUGH, Pair, meant, poisoned
from native_cases import WIDTHS, fenced, needs_compiler

import layoutdsl

pytestmark = needs_compiler

POISON = 201


def native(pair: Pair) -> Any:
    layouts = map(layout_of, (pair.source, pair.target))
    found = layoutdsl.convert(*layouts, compiled="native", unproved=True)
    found = getattr(found, "conversion", found)  # without the check of what is undecided
    assert found.fallback is None
    assert found.native is not None
    return found


def widths(pair: Pair) -> tuple[str, str]:
    """Two of the four widths of elements; all pairs together have each."""
    number = PAIRS.index(pair)
    return WIDTHS[number % 4], WIDTHS[(number + 1) % 4]


@pytest.mark.slow
@pytest.mark.sampled(16)
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_converts_what_the_layouts_mean(pair: Pair) -> None:
    """Two widths in turn; both arrays lie between pages that nobody may touch."""
    conversion = native(pair)
    for number, shape in enumerate(pair.shapes):
        dtype = widths(pair)[number % 2]
        buffer = poisoned(pair.layouts[0], shape, dtype, POISON)
        for at_end in (True, False):
            _fenced(conversion, pair, shape, buffer, at_end)
        fresh = conversion(buffer, shape, fill=9)
        assert np.array_equal(fresh, meant(pair.layouts, shape, buffer, 9, 9)), shape


def _fenced(conversion: Any, pair: Pair, shape: Shape, buffer: np.ndarray, at_end: bool) -> None:
    dtype = str(buffer.dtype)
    want = meant(pair.layouts, shape, buffer, 9, POISON)
    with fenced(buffer.shape, dtype, at_end) as src, fenced(want.shape, dtype, at_end) as out:
        src[...] = buffer
        out[...] = POISON
        assert conversion.native is not None
        assert conversion.native.converted(src, shape, out, 9, 1) is out
        assert np.array_equal(out, want), shape
        assert np.array_equal(src, buffer)


@pytest.mark.slow
@pytest.mark.sampled(24)
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_large_ones_as_numpy_does(pair: Pair) -> None:
    conversion = native(pair)
    random = np.random.default_rng(PAIRS.index(pair))
    for turn in range(4):
        dtype, last = widths(pair)[turn % 2], pair.shapes[-1]
        shape = tuple(int(n * random.integers(1, 5)) for n in last)
        try:
            size = pair.layouts[0].size(shape)
            box = pair.layouts[1].physical_shape(shape)
        except ValueError:  # not a shape of both
            continue
        buffer = random.integers(0, 200, size).astype(dtype)
        buffer = buffer.reshape(pair.layouts[0].physical_shape(shape))
        out = np.full(box, 9, dtype)
        want = conversion.plain.convert(buffer, shape, fill=9)
        assert conversion(buffer, shape, out, 9, threads=3) is out
        assert np.array_equal(out, want), shape
        assert np.array_equal(conversion(buffer.reshape(-1), list(shape), fill=9), want), shape


@pytest.mark.slow
@pytest.mark.sampled(6)
@pytest.mark.parametrize("pair", THROUGH, ids=lambda pair: pair.name)
@pytest.mark.parametrize("compiled", ["native", "numpy"])
def test_through_the_tensor(pair: Pair, compiled: str) -> None:
    layouts = tuple(map(layout_of, (pair.source, pair.target)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # domains are moved by numpy
        conversion = layoutdsl.convert(*layouts, compiled=compiled)  # type: ignore[arg-type]
    assert conversion.fallback
    for shape in pair.shapes:
        buffer = poisoned(pair.layouts[0], shape, "u2", POISON)
        found = conversion(buffer, shape, fill=9, threads=2)
        assert np.array_equal(found, meant(pair.layouts, shape, buffer, 9, 9)), shape


@pytest.mark.slow
@pytest.mark.sampled(12)
@pytest.mark.parametrize("seed", range(12))
def test_blocks_without_common_digits(seed: int) -> None:
    """Boxed where their least common multiple is small, else through the tensor."""
    random = Random(seed)
    one, other = random.choice(((6, 8), (4, 6), (12, 8), (3, 4), (7, 40), (24, 64)))
    outer, inner = random.choice((("b", ""), ("b/2", ", b%2")))
    texts = [f"(a, b) = [a/{each}, {outer}, a%{each}{inner}]" for each in (one, other)]
    layouts = tuple(layout_of(f"layout L{n}{text}") for n, text in enumerate(texts))
    conversion: Any = layoutdsl.convert(*layouts, compiled="native")
    assert conversion.fallback
    assert (conversion.native is None) == ((one, other) == (7, 40))
    for _ in range(4):
        shape = (random.randint(1, 300), random.randint(1, 70))
        buffer = poisoned(layouts[0], shape, "u2", POISON)
        found = conversion(buffer, shape, fill=9)
        assert np.array_equal(found, meant(layouts, shape, buffer, 9, 9)), (texts, shape)


@pytest.mark.slow
def test_rows_without_common_digits() -> None:
    """One formula a row is faster than two moves."""
    source = layout_of("layout One(a, b) = [a, b/6, b%6]")
    target = layout_of("layout Other(a, b) = [b/8, a, b%8]")
    conversion: Any = layoutdsl.convert(source, target, compiled="native")
    assert conversion.fallback
    assert conversion.native is not None


@pytest.mark.slow
def test_what_c_does_not_take_is_left_to_numpy() -> None:
    pair = PAIRS[1]
    conversion, shape = native(pair), (2, 17, 3, 2)
    buffer = poisoned(pair.layouts[0], shape, "u1", POISON)
    want = meant(pair.layouts, shape, buffer, 9, 9)
    assert np.array_equal(conversion(np.asfortranarray(buffer), shape, fill=9), want)
    turned = np.full(want.shape[::-1], POISON, "u1").T
    assert conversion(buffer, shape, turned, 9) is turned
    assert np.array_equal(turned, want)
    wide = buffer.astype("c16")
    assert np.array_equal(conversion(wide, shape, fill=9), want.astype("c16"))
    empty = conversion(buffer[:0], (0, *shape[1:]))
    assert empty.shape == (0, *want.shape[1:])


def test_refuses_what_does_not_fit() -> None:
    conversion = native(PAIRS[0])
    memory = np.zeros(64, "u1")
    source = memory[:16].reshape(1, 1, 1, 1, 16)
    with pytest.raises(ValueError, match="overlaps"):
        conversion(source, (1, 3, 1, 1), memory[2:5].reshape(1, 1, 1, 3))
    with pytest.raises(ValueError, match="`src` has shape"):
        conversion(memory, (1, 3, 1, 1))
    with pytest.raises(ValueError, match="`out` has shape"):
        conversion(source, (1, 3, 1, 1), np.zeros(3, "u1"))
    with pytest.raises(ValueError, match="`out` holds"):
        conversion(source, (1, 3, 1, 1), np.zeros((1, 1, 1, 3), "u2"))
    with pytest.raises(ValueError, match="cannot hold"):
        conversion(source, (1, 3, 1, 1), fill=256)
    with pytest.raises(TypeError, match="not a numpy array"):
        conversion(bytes(16), (1, 3, 1, 1))
    with pytest.raises(ValueError, match="extents, and 4 are needed"):
        conversion(source, (1, 3, 1))
    with pytest.raises(ValueError, match="`threads` is 0"):
        conversion(source, (1, 3, 1, 1), threads=0)
    with pytest.raises(TypeError, match="`threads` is a"):
        conversion(source, (1, 3, 1, 1), threads=1.0)  # type: ignore[arg-type]


def test_a_quantised_zero_has_to_be_given() -> None:
    pair = next(each for each in PAIRS if "fill zero_point" in each.target)
    buffer = poisoned(pair.layouts[0], (4, 4), "u1", POISON)
    with pytest.raises(TypeError, match="`fill` is missing"):
        native(pair)(buffer, (4, 4))


def test_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    source = layout_of("layout Alone(n, c) = [c/4, n, c%4]")
    target = layout_of("layout Other(n, c) = [c, n]")
    tensor = np.arange(35, dtype="u1").reshape(5, 7)
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(layoutdsl.CompilerError, match="no-such-compiler"):
        layoutdsl.convert(source, target, compiled="native")
    conversion: Any = layoutdsl.convert(source, target)
    assert conversion.fallback is None
    assert conversion.native is None
    found = conversion(layoutdsl.compile(source, "numpy").pack(tensor), (5, 7))
    assert np.array_equal(found, tensor.T)


@pytest.mark.slow
def test_a_compiler_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "broken"
    broken.write_text(
        '#!/bin/sh\ncase "$1" in --version) exit 0;; esac\necho it has had enough >&2; exit 3\n'
    )
    broken.chmod(0o755)
    monkeypatch.setenv("CC", str(broken))
    source = layout_of("layout Lone(n, c) = [c/4, n, c%4]")
    target = layout_of("layout Others(n, c) = [c, n]")
    conversion, other = (
        layoutdsl.convert(source, target, compiled=each) for each in ("native", "auto")
    )
    buffer, out = np.arange(40, dtype="u1").reshape(2, 5, 4), np.full((7, 5), 9, "u1")
    for _ in range(2):
        with pytest.raises(layoutdsl.CompilerError, match="had enough"):
            conversion(buffer, (5, 7), out)
    assert np.all(out == 9), "nothing was written"
    found = other(buffer, (5, 7))
    assert np.array_equal(found, other(buffer, (5, 7)))
    assert found.shape == (7, 5)


@pytest.mark.slow
def test_c_says_what_was_proved() -> None:
    layout = layout_of("layout Said(n, c) = [c/4, n, c%4]")
    assert re.search("Validated: [0-9a-f]{64}", layoutdsl.generate_c(layout).program.text)
    assert "Validated: no proof" in layoutdsl.generate_c(layout, validate=False).program.text
    assert "unproved" not in layoutdsl.generate_c(layout).program.text


@pytest.mark.slow
def test_c_of_a_layout_that_is_not_decided_says_what_it_rests_on() -> None:
    """Here 500002 and 500001 have one slot, which no one has shown."""
    layout = layout_of("layout Squares(i) = [i*i % 1000003 : 1000003]")
    made = layoutdsl.generate_c(layout, widths=(4,), unproved=True)
    assert made.checked.status == "undecided"
    assert re.search(
        r"Validated: unproved: [0-9a-f]{64}\.\n   The layout is undecided", made.program.text
    )
