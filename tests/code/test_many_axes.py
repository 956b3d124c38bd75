"""C for tensors of many axes: made where axes stay together, else refused with the limit."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import layoutdsl


def made(count: int, body: str) -> layoutdsl.Layout:
    axes = [f"a{number}" for number in range(count)]
    bodies = {
        "in order": axes,
        "turned": axes[::-1],
        "two groups": [*axes[count // 2 :], *axes[: count // 2]],
        "blocks": [*(f"{each}/4" for each in axes), *(f"{each}%4" for each in axes)],
    }
    line = f"layout A({', '.join(axes)}) = [{', '.join(bodies[body])}]"
    return layoutdsl.parse(line)["A"]


@cache
def text(count: int, body: str) -> str:
    return layoutdsl.generate_c(made(count, body), widths=(4,)).program.text


@pytest.mark.slow
@pytest.mark.parametrize("body", ["in order", "two groups"])
@pytest.mark.parametrize("count", [8, 24, 32, pytest.param(64, marks=pytest.mark.slow)])
def test_axes_that_stay_together_are_one(count: int, body: str) -> None:
    """The work shows in the text, which grows with the number of axes, and not faster."""
    assert len(text(count, body)) < 2 * len(text(8, body)) * count / 8


REFUSED = [
    ("turned", 17, "17 axes move apart from each other, and C has loops for at most 16"),
    ("turned", 24, "24 axes move apart from each other"),
    ("turned", 64, "64 axes move apart from each other"),
    ("blocks", 6, "the extents of 6 axes may end within a block, and C has loops for at most 5"),
    ("blocks", 32, "32 axes move apart from each other"),
]


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("body", "count", "words"), REFUSED)
def test_more_axes_are_refused_with_the_limit(body: str, count: int, words: str) -> None:
    with pytest.raises(layoutdsl.UnvalidatedError, match=f"there is no C for `A`: {words}"):
        layoutdsl.generate_c(made(count, body))


@pytest.mark.parametrize("body", ["in order", "turned"])
def test_numpy_serves_24_axes(body: str) -> None:
    layout = made(24, body)
    module = layoutdsl.compile(layout, "numpy")
    shape = (2, 3, *[1] * 20, 2, 3)
    tensor = np.arange(36).reshape(shape)
    packed = module.pack(tensor)
    assert packed.shape == layout.physical_shape(shape)
    assert np.array_equal(packed, tensor if body == "in order" else tensor.T)
    assert np.array_equal(module.unpack(packed, shape), tensor)
