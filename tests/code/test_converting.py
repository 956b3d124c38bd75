"""From one buffer to another by generated numpy code, against the definition of both layouts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from codegen_cases import layout_of
from converting_cases import BY_NAME, OTHER, PAIRS, THROUGH, Pair, assert_converts
from test_numpy_module import REFUSED_THREADS

import layoutdsl


def conversion(pair: Pair) -> Any:
    layouts = map(layout_of, pair.texts)
    return layoutdsl.convert(*layouts, compiled="numpy", validate=False, unproved=True)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_converts_what_the_layouts_mean(pair: Pair) -> None:
    found = conversion(pair)
    assert found.fallback is None
    assert_converts(found, pair.layouts, pair.shapes)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("pair", THROUGH, ids=lambda pair: pair.name)
def test_layouts_without_common_digits_meet_in_the_tensor(pair: Pair) -> None:
    assert conversion(pair).fallback


@pytest.mark.parametrize("name", ["NCHW16c-NHWC", "NHWC-NCHW16c", "NCHW8c-Crouton"])
def test_threads_convert_what_one_converts(name: str) -> None:
    pair, shape = BY_NAME[name], (2, 50, 91, 93)
    convert = conversion(pair)
    buffer = np.random.default_rng(5).random(pair.layouts[0].physical_shape(shape), "f4")
    want = convert(buffer, shape, fill=OTHER)
    for threads in (2, 3):
        out = np.full_like(want, -1)
        assert convert(buffer, shape, out, OTHER, threads) is out
        assert np.array_equal(out, want)
    for threads, error in REFUSED_THREADS:
        out = np.full_like(want, -1)
        with pytest.raises(error, match="`threads` is"):
            convert(buffer, shape, out, OTHER, threads)
        assert (out == -1).all()
