"""Roles: what each allows an operator to meet, as plans and models that are written show it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("scipy")

from planned_graphs import planned  # noqa: E402
from small_graphs import ENGINES  # noqa: E402

from layoutdsl import parse  # noqa: E402

WISHED = parse(
    """
    layout Wished(n, c, h, w) = [n, h, w, c]
    layout Wished8(n, c, h, w) = [n, c/8, h, w, c%8] fill any
    layout Wished16(n, c, h, w) = [n, c/16, h, w, c%16] fill any
    """
)
LAYOUTS = dict(zip(ENGINES, WISHED.layouts.values(), strict=True))
"""Layouts that outputs are wished in, as the engines have them for convolutions."""
KNOWN: dict[str, Any] = {
    "one": np.array([1]),
    "two": np.array([2]),
    "three": np.array([3]),
    "minus": np.array([-1]),
    "pads": np.array([0, 0, 1, 0, 0, 0, 2, 0]),
    "scales": np.array([1, 1, 2, 2], "f4"),
    "ones": np.ones(20, "f4"),
    "cuts": np.array([16, 4]),
    "column": (20, 1, 1),
    "v2": (12, 20, 1, 1),
    "w16": (16, 4, 1, 1),
    "w24": (24, 4, 1, 1),
}


def around(
    folder: Path, layout: str, operators: str, outputs: str = "y", wished: tuple[str, ...] = ("y",)
) -> Any:
    """The plan of operators behind a convolution that makes ragged channels of 6 by 5."""
    text = "v = Conv(x, w)\n" + operators
    known = {name: each for name, each in KNOWN.items() if f" {name}" in text}
    how = {"outputs": dict.fromkeys(wished, LAYOUTS[layout])}
    known |= {"x": [1, 4, 6, 5], "w": (20, 4, 1, 1)}
    return planned(folder, text, ENGINES[layout], outputs, how, **known)


def moved(found: Any) -> set[str]:
    """Values that are moved from one layout to another; a refill of padding is no move."""
    return {each.value for each in found.figures.left if each.kind != "refill"}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "operators",
    [
        "y = Relu(v)",
        "y = Add(v, v)",
        "y = Mul(v, column)",
        "y = BatchNormalization(v, ones, ones, ones, ones)",
        "y = MaxPool<kernel_shape=[2,2], strides=[2,2]>(v)",
        "y = AveragePool<kernel_shape=[3,3]>(v)",
        "y = GlobalAveragePool(v)",
        "y = ReduceSum<keepdims=1>(v, three)",
        "y = ReduceMax<keepdims=1>(v, two)",
        "y = Concat<axis=2>(v, v)",
        "y = Slice(v, one, three, two)",
        "y = Pad(v, pads)",
        'y = Resize<mode="nearest">(v, , scales)',
        "y = Softmax<axis=2>(v)",
        "y = InstanceNormalization(v, ones, ones)",
        "y = Conv(v, v2)",
    ],
)
def test_what_does_not_care_of_channels_follows_the_convolution(
    layout: str, operators: str, tmp_path: Path
) -> None:
    """From the input, which has to be packed, to an output in that layout nothing moves."""
    found = around(tmp_path, layout, operators)
    assert moved(found) == {"x"}
    assert not found.figures.gaps
    assert not found.theorems.refuted


@pytest.mark.parametrize(
    ("operators", "outputs", "layouts"),
    [
        # whole blocks before the boundary, or none
        ("y = Concat<axis=1>(v, v)", "y", {"NHWC"}),
        ("u = Conv(x, w16)\ny = Concat<axis=1>(u, v)", "y", {"NHWC", "NCHW8c", "NCHW16c"}),
        ("u = Conv(x, w24)\ny = Concat<axis=1>(u, v)", "y", {"NHWC", "NCHW8c"}),
        ("y, z = Split<axis=1>(v, cuts)", "y z", {"NHWC", "NCHW8c", "NCHW16c"}),
        ("y, z = Split<axis=1, num_outputs=2>(v)", "y z", {"NHWC"}),
        # all of the axis at once
        ("y = Softmax<axis=1>(v)", "y", {"NHWC"}),
        ("y = LRN<size=3>(v)", "y", {"NHWC"}),
        # a mean over padding would be of more elements
        ("y = ReduceMean<keepdims=1>(v, one)", "y", {"NHWC"}),
        # sums and maxima know what to fill in
        ("y = ReduceSum<keepdims=1>(v, one)", "y", {"NHWC", "NCHW8c", "NCHW16c"}),
        ("y = ReduceMax<keepdims=1>(v, one)", "y", {"NHWC", "NCHW8c", "NCHW16c"}),
        # what has no rule
        ("y = NonZero(v)", "y", set()),
    ],
)
def test_what_cares_of_channels_takes_some_layouts(
    operators: str, outputs: str, layouts: set[str], tmp_path: Path
) -> None:
    """In others, what the convolution made is unpacked first. Refilled padding is no move."""
    reduced = "Reduce" in operators or "NonZero" in operators
    taken = set[str]()
    for layout in LAYOUTS:
        wished = () if reduced else tuple(outputs.split())
        found = around(tmp_path, layout, operators, outputs, wished)
        taken |= set() if "v" in moved(found) else {layout}
    assert taken == layouts


@pytest.mark.parametrize(
    ("text", "outputs", "said", "tensors"),
    [
        ("y = NonZero(x)", "y", "no rule says", {"x": [2, 3]}),
        (
            "i = Cast<to=7>(k)\ny = ReduceSum(x, i)",
            "y",
            "not known beforehand",
            {"x": [2, 3], "k": [1]},
        ),
        (
            "y, m, v = BatchNormalization<training_mode=1>(x, s, s, s, s)",
            "y m v",
            "more results",
            {"x": [1, 3, 2], "s": (3,)},
        ),
    ],
)
def test_what_fits_no_rule_says_why(
    text: str, outputs: str, said: str, tensors: dict[str, Any], tmp_path: Path
) -> None:
    found = planned(tmp_path, text, ENGINES["NHWC"], outputs, **tensors)
    (gap,) = found.figures.gaps
    assert said in gap.reason


@pytest.mark.parametrize("transposed", [False, True])
def test_rows_of_weights_are_permuted(transposed: bool, tmp_path: Path) -> None:
    """They follow the digits of what is summed: channels come last, and nothing moves."""
    m = np.arange(840, dtype="f4").reshape(120, 7)
    head = "Gemm<transB=1>(u, m)" if transposed else "Gemm(u, m)"
    text = f"v = Conv(x, w)\nu = Flatten(v)\ny = {head}"
    weights: dict[str, Any] = {"w": (4, 4, 1, 1), "m": m.T.copy() if transposed else m}
    found = planned(tmp_path, text, ENGINES["NHWC"], x=[1, 4, 6, 5], **weights)
    assert [each.value for each in found.transforms] == ["x"]
    (after,) = (
        onnx.numpy_helper.to_array(each)
        for each in found.model.graph.initializer
        if each.name.split("@")[0] == "m"
    )
    expected = m.reshape(4, 30, 7).transpose(1, 0, 2).reshape(120, 7)
    assert np.array_equal(after.reshape(120, 7), expected)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("layout", ENGINES)
@pytest.mark.parametrize(
    "text",
    [
        "y = Relu(v)",
        "y = Mul(v, column)",
        "y = BatchNormalization(v, ones, ones, ones, ones)",
        "y = Concat<axis=1>(x, v, v)",
        "y = Concat<axis=1>(even, even, v)",
        "y = Slice(even, start, stop, one)",
        "a = Reshape(v, cut)\nb = Transpose<perm=[0,2,1,3,4]>(a)\ny = Reshape(b, whole)",
        "a = Flatten(v)\ny = Gemm(a, m)",
        "y = DepthToSpace<blocksize=2>(v)",
        "a = GlobalAveragePool(v)\nb = Flatten(a)\ny = Gemm(b, n)",
    ],
)
def test_rules_are_proved(layout: str, text: str, tmp_path: Path) -> None:
    """Most of them for all shapes; what is cut in several places for those of the graph."""
    tensors: dict[str, Any] = {
        "w16": (32, 4, 1, 1),
        "column": (20, 1, 1),
        "ones": np.ones(20, "f4"),
        "one": np.array([1]),
        "start": np.array([16]),
        "stop": np.array([32]),
        "cut": np.array([1, 4, 5, 6, 4]),
        "whole": np.array([1, 20, 6, 4]),
        "m": (480, 7),
        "n": (20, 7),
    }
    text = f"v = Conv(x, w)\neven = Conv(x, w16)\n{text}"
    used = {name: each for name, each in tensors.items() if name in text}
    known = {"x": [1, 4, 6, 4], "w": (20, 4, 1, 1), **used}
    result = planned(tmp_path, text, ENGINES[layout], **known).theorems
    assert result.used > 1
    assert result.everywhere + result.here == result.used
    assert not result.undecided
    assert not result.refuted
    assert result.everywhere >= result.used - 1
