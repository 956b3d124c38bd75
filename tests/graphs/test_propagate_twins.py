"""Rules that are wrong: what comes of them is run, found wrong, and never written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from small_graphs import proto

from layoutdsl import load_engine, propagate

pytest.importorskip("onnxruntime")

RIGHT = "layout NCHW16c(n, c, h, w) = [n, c/16, h, w, c%16]\nprefer Conv = {}\n"

TWINS = [
    # an axis that is looked at as a whole is said to go straight through
    ("y = Softmax<axis=1>(v)", "rule Softmax(x[..]) -> [..]", ("NHWC", "NCHW16c")),
    ("y = CumSum(v, one)", "rule CumSum(x[..], axis) -> [..]", ("NHWC", "NCHW16c")),
    # a maximum that padding of 0 takes part in
    (
        "y = ReduceMax<keepdims=1>(v, ones)",
        "rule ReduceMax(x[..], axes?) -> [..] with axes: sum, keepdims = 1: keep",
        ("NCHW16c",),
    ),
    (
        "y = ReduceMax<keepdims=1>(v, ones)",
        "rule ReduceMax(x[..], axes?) -> [..] with axes: min, keepdims = 1: keep",
        ("NCHW16c",),
    ),
    (
        "y = ReduceProd<keepdims=1>(v, ones)",
        "rule ReduceProd(x[..], axes?) -> [..] with axes: sum, keepdims = 1: keep",
        ("NCHW16c",),
    ),
    # windows that are said to be of one element
    (
        "y = MaxPool<kernel_shape=[3,1], pads=[1,0,1,0]>(v)",
        "rule MaxPool(x[..]) -> [..]",
        ("NHWC", "NCHW16c"),
    ),
    ("y = LRN<size=3>(v)", "rule LRN(x[..]) -> [..]", ("NHWC",)),
    # a tail that need not be the tail
    (
        "y = LayerNormalization<axis=-1>(v, five)",
        "rule LayerNormalization(x[..], scale, bias?) -> [..]",
        ("NHWC",),
    ),
    # normalised over what lies last, which is another axis by then
    ("y = LpNormalization<axis=1>(v)", "rule LpNormalization(x[..]) -> [..]", ("NHWC",)),
]


def model(text: str, place: Path) -> Path:
    """A convolution with ragged channels, all of them negative, and an operator behind it."""
    import onnx

    known = {"one": np.array(1), "ones": np.array([1]), "five": (5,)}
    used = {name: each for name, each in known.items() if f" {name})" in text}
    weights = {"w": np.ones((20, 4, 1, 1), "f4") / 64, "b": np.linspace(-4, -3, 20, dtype="f4")}
    onnx.save(proto(f"v = Conv(x, w, b)\n{text}", x=[1, 4, 6, 5], **weights, **used), place)
    return place


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("text", "rule", "layout"),
    [(text, rule, layout) for text, rule, layouts in TWINS for layout in layouts],
)
def test_a_wrong_rule_is_found_wrong(text: str, rule: str, layout: str, tmp_path: Path) -> None:
    place = model(text, tmp_path / "model.onnx")
    engine = load_engine(RIGHT.format(layout) + rule + "\n", "wrong")
    wrong = propagate(place, engine, outputs={"y": layout} if "keepdims" not in text else None)
    assert wrong.plan.variants[-1].how != "written"
    assert wrong.status == "refuted"
    with pytest.raises(ValueError, match="wrong"):
        wrong.write(tmp_path / "out.onnx")
    assert not (tmp_path / "out.onnx").exists()


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("y = Concat<axis=1>(v, v)", "rule Concat(x[..]*) -> [..]"),
        ("y = Slice(v, two, four, ones)", "rule Slice(x[..], starts, ends, axes?) -> [..]"),
        (
            "y = Slice(v, two, four, ones)",
            "rule Slice(x[n: cut, c, s..], starts, ends, axes?) -> [n, c, s..]",
        ),
        ("y = Pad(v, pads)", "rule Pad(x[..], pads, value?) -> [..]"),
        ("y = Pad(v, pads)", "rule Pad(x[..], pads, value?) -> [..] with pads: whole"),
        ("y = Resize(v, , scales)", "rule Resize(x[..], roi?, scales?) -> [..]"),
        ("y = Gather<axis=1>(v, two)", "rule Gather(x[..], indices) -> [..]"),
        ("y = ReduceSum(v, ones)", "rule ReduceSum(x[..], axes?) -> [..]"),
        ("y = GlobalMaxPool(v)", "rule GlobalMaxPool(x[..]) -> [..]"),
        ("y = MaxPool<kernel_shape=[2,2]>(v)", "rule MaxPool(x[..]) -> [..]"),
        ("y = MatMul(v, m)", "rule MatMul(x[.., m, k: sum], w[.., n, k: sum]) -> [.., n, m]"),
        ("y = Softmax(v)", "rule Softmax(x[..]) -> [..] with axes: whole"),
        ("y = Softmax(v)", "rule Softmax(x[..]) -> [..] with axis = 7: whole"),
        ("y = Transpose<perm=[0,2,1,3]>(v)", "rule Transpose(x[..]) -> [..]"),
    ],
)
def test_a_wrong_rule_fits_no_node(text: str, rule: str, tmp_path: Path) -> None:
    """Extents tell most of what is wrong: axes that are one have one extent.

    The rule of ONNX is taken then, as if the text had none.
    """
    import onnx

    known = {
        "two": np.array([2]),
        "four": np.array([4]),
        "ones": np.array([1]),
        "pads": np.array([0, 1, 1, 0, 0, 0, 0, 0]),
        "scales": np.array([1, 1, 2, 2], "f4"),
        "m": (5, 7),
    }
    used = {name: each for name, each in known.items() if f" {name}" in text}
    weights = {"w": (20, 4, 1, 1), **used}
    onnx.save(proto(f"v = Conv(x, w)\n{text}", x=[1, 4, 6, 5], **weights), tmp_path / "model.onnx")
    place, right = tmp_path / "model.onnx", RIGHT.format("NHWC")
    found = propagate(place, load_engine(f"{right}{rule}\n", "twin"))
    assert found.status == "done"
    assert found.model.graph == propagate(place, load_engine(right), verify="off").model.graph
