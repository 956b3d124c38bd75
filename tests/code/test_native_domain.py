"""Compiled code of layouts that hold part of a shape: what has no slot is left alone."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from codegen_cases import layout_of, module_of
from native_cases import modules, needs_compiler

import layoutdsl

pytestmark = needs_compiler

LAYOUTS = (
    "layout Upper(i: N, j: N) = [i + j*(j + 1)/2 : N*(N + 1)/2] where i <= j",
    "layout Batch(b, i: N, j: N) = [b/4, i*(i + 1)/2 + j : N*(N + 1)/2, b%4] where j <= i",
    "layout Strict(i: N, j: N) = [i*(i - 1)/2 + j : N*(N - 1)/2] where j < i",
)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("text", LAYOUTS)
def test_moves_the_domain_alone(text: str) -> None:
    layout, plain, compiled = layout_of(text), module_of(text), modules(text)
    for extent in (2, 5, 9):
        shape = (*[3] * (layout.rank - 2), extent, extent)
        tensor = np.arange(int(np.prod(shape)), dtype="u2").reshape(shape) + 7
        buffer = plain.pack(tensor, fill=3)
        assert np.array_equal(compiled.pack(tensor, fill=3), buffer)
        out = np.full(shape, 999, "u2")
        want = plain.unpack(buffer, shape, out.copy())
        assert compiled.unpack(buffer, shape, out) is out
        assert np.array_equal(out, want)
        assert np.any(out == 999)


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("text", LAYOUTS)
def test_numpy_serves_where_a_new_tensor_has_to_be_filled(text: str) -> None:
    layout = layout_of(text)
    shape = (*[3] * (layout.rank - 2), 4, 4)
    tensor = np.ones(shape, "u2")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        found = layoutdsl.compile(layout, "native")
    assert np.array_equal(found.unpack(found.pack(tensor), shape), np.where(_held(layout), 1, 0))


def _held(layout: object) -> np.ndarray:
    rows, columns = np.indices((4, 4))
    tests = {"Upper": rows <= columns, "Batch": columns <= rows, "Strict": columns < rows}
    held = tests[layout.name]  # type: ignore[attr-defined]
    return held if layout.rank == 2 else np.broadcast_to(held, (3, 4, 4))  # type: ignore[attr-defined]
