"""From one layout straight to another, against unpacking and packing by numpy."""

from __future__ import annotations

import numpy as np
import pytest
from codegen_cases import layout_of, module_of
from native_cases import modules, needs_compiler

from layoutdsl.api import compile, compile_conversion  # noqa: A004
from layoutdsl.codegen.native.conversion import Conversion

pytestmark = needs_compiler

PAIRS = (
    ("layout A(n, c, h, w) = [n, c/16, h, w, c%16]", "layout B(n, c, h, w) = [n, h, w, c]"),
    ("layout A(n, c, h, w) = [n, c/16, h, w, c%16]", "layout B(i, j, k, l) = [i, j/4, k, l, j%4]"),
    ("layout A(n, c, h, w) = [n, c/8, h, w, c%8]", "layout B(n, c, h, w) = [n, c/32, h, w, c%32]"),
    (
        "layout A(b, h, w, d) = [b, h/8, w/8, d/32, h%8, w%8, d%32]",
        "layout B(b, h, w, d) = [b, h/8, w/8, d/32, h%8/2, w%8/2, d%32, h%2, w%2] fill 31",
    ),
    (
        "layout A(b, h, w, d) = [b, h, d/32, w/4, w%4, d%32]",
        "layout B(b, h, w, d) = [b, h/8, w/8, d/32, h%8, w%8/4, d%32, w%4]",
    ),
    (
        "layout A(n, c, w) = [n, c/4, w : 60, c%4]",
        "layout B(n, c, w) = [w : 70, n, c/8, c%8] offset 3",
    ),
    ("layout A(n, c) = [n, c/8, c%8]", "layout B(n, c) = [n, c/12, c%12]"),
)


@pytest.mark.parametrize("number", range(len(PAIRS)))
def test_converts_as_through_the_tensor(number: int) -> None:
    first, second = PAIRS[number]
    source, target = module_of(first), module_of(second)
    conversion = Conversion(modules(first), modules(second))
    assert (conversion.direct is not None) == ("12" in second)
    random = np.random.default_rng(number)
    for turn in range(12):
        dtype = ("u1", "u2", "u4", "u8")[(number + turn % 2) % 4]
        shape = tuple(int(each) for each in random.integers(1, 50, layout_of(first).rank))
        tensor = (np.arange(int(np.prod(shape))) % 199 + 5).astype(dtype).reshape(shape)
        buffer = source.pack(tensor, fill=201)
        want = target.pack(tensor, fill=9)
        assert np.array_equal(conversion.convert(buffer, shape, fill=9), want), shape
        out = np.full(want.shape, 9, dtype)
        assert conversion.convert(buffer, shape, out, 9, threads=3) is out
        assert np.array_equal(out, want), shape
        plain = target.pack(tensor)
        assert np.array_equal(conversion.convert(buffer, shape), plain)


def test_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    source = layout_of("layout Alone(n, c) = [c/4, n, c%4]")
    target = layout_of("layout Other(n, c) = [c, n]")
    tensor = np.arange(35, dtype="u1").reshape(5, 7)
    monkeypatch.setenv("CC", "no-such-compiler")
    conversion = compile_conversion(source, target)
    with pytest.warns(RuntimeWarning, match="no-such-compiler"):
        found = conversion.convert(compile(source, "numpy").pack(tensor), (5, 7))
    assert np.array_equal(found, tensor.T)


def test_refuses_what_does_not_fit() -> None:
    first, second = PAIRS[0]
    with pytest.raises(ValueError, match="different ranks"):
        Conversion(modules(first), modules("layout C(n) = [n]"))
    with pytest.raises(ValueError, match="different shapes"):
        Conversion(modules(first), modules("layout C(n, c: 3, h, w) = [n, h, w, c]"))
    conversion = Conversion(modules(first), modules(second))
    memory = np.zeros(64, "u1")
    with pytest.raises(ValueError, match="overlaps"):
        conversion.convert(
            memory[:16].reshape(1, 1, 1, 1, 16), (1, 3, 1, 1), memory[2:5].reshape(1, 1, 1, 3)
        )
    with pytest.raises(ValueError, match="`src` has shape"):
        conversion.convert(memory, (1, 3, 1, 1))
