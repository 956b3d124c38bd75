"""Pictures made larger on onnxruntime's blocks: its own operator, where that reads the same."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
pytest.importorskip("scipy")

from onnx_runs import channels_in_a_block, run  # noqa: E402
from propagate_fuzz import NEAREST, READ  # noqa: E402
from small_graphs import proto  # noqa: E402

from layoutdsl import propagate  # noqa: E402

needs_blocks = pytest.mark.skipif(
    channels_in_a_block() is None, reason="onnxruntime has no blocks here"
)

WAYS = [
    *(("nearest", *each) for each in product(READ, NEAREST)),
    *(("linear", each, "floor") for each in READ),
]
KERNELS = {
    ("nearest", "asymmetric", "floor"),
    ("nearest", "half_pixel", "round_prefer_floor"),
    ("nearest", "half_pixel", "round_prefer_ceil"),
    *(("linear", each, "floor") for each in ("asymmetric", "half_pixel", "align_corners")),
}


def drawn(chance: random.Random, said: str) -> tuple[Any, tuple[int, int], bool]:
    """A model, the height and width that it takes, and whether these grow by whole numbers."""
    own = (chance.randint(1, 9), chance.randint(2, 9))
    factors = [chance.choice((1, 2, 2, 3, 4, 5, 7, 1.5, 2.25)) for _ in own]
    sizes = [int(extent * factor) for extent, factor in zip(own, factors, strict=True)]
    by_sizes = chance.random() < 0.4
    how = ", sizes" if by_sizes else "scales"
    model = proto(
        f"v = Conv(x, w)\nu = Resize<{said}>(v, , {how})\ny = Conv(u, k)",
        x=[2, 3, *own],
        w=(20, 3, 1, 1),
        k=(20, 20, 1, 1),
        scales=np.array([1, 1, *factors], "f4"),
        sizes=np.array([2, 20, *sizes]),
    )
    divides = all(new % old == 0 for new, old in zip(sizes, own, strict=True))
    return model, own, divides and (by_sizes or all(each == int(each) for each in factors))


@pytest.mark.slow
@needs_blocks
@pytest.mark.parametrize(("mode", "read", "nearest"), WAYS)
def test_drawn_pictures_grow_as_onnxruntime_has_them(
    mode: str, read: str, nearest: str, tmp_path: Path
) -> None:
    """Ragged channels, factors for each axis that are whole or not, said as such or as sizes."""
    chance, place = random.Random(f"{mode} {read} {nearest}"), tmp_path / "model.onnx"
    said = f'coordinate_transformation_mode="{read}", mode="{mode}", nearest_mode="{nearest}"'
    for _ in range(6):
        model, own, whole = drawn(chance, said)
        onnx.save(model, place)
        found = propagate(place, "onnxruntime", emit="onnxruntime")
        assert found.verified is not None
        assert (found.status, found.verified.faults) == ("done", ())
        operators = {node.op_type for node in found.model.graph.node}
        assert ("Upsample" in operators) == (whole and (mode, read, nearest) in KERNELS)
        x = np.random.default_rng(0).standard_normal((2, 3, *own)).astype("f4")
        (ours,), (theirs,) = run(found.model, {"x": x}), run(model, {"x": x})
        np.testing.assert_allclose(ours, theirs, 1e-4, 1e-5)
