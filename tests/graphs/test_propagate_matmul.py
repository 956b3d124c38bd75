"""Products of matrices: packed weights as anchors, attention, and what is gathered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_graphs import proto

from layoutdsl import load_engine, propagate

pytest.importorskip("onnxruntime")

PANELS = """
    layout Mat(m, k) = [m, k]
    layout Pnl16(k, n) = [n/16, k, n%16]
    op MatMul(x: Mat, w: Pnl16) -> Mat
    prefer MatMul = Mat
"""
TILES = """
    layout Lhs(m, k) = [m/8, k, m%8]
    layout Rhs(k, n) = [n/16, k, n%16]
    layout Out(m, n) = [m/8, n/16, m%8, n%16]
    layout Vec16(n) = [n/16, n%16]
    op MatMul(x: Lhs, w: Rhs) -> Out
    op Gemm(a: Lhs, b: Rhs, c?: Vec16) -> Out
    prefer MatMul = Lhs
    prefer Gemm = Lhs
"""
TOKENS = """
    layout Act(b, m, k) = [b, m, k/8, k%8]
    layout Rhs(k, n) = [n/16, k, n%16]
    op MatMul(x: Act, w: Rhs) -> Act
    prefer MatMul = Act
"""
ATTENTION = """
    q = MatMul(x, wq)
    k = MatMul(x, wk)
    v = MatMul(x, wv)
    q1 = Reshape(q, heads)
    k1 = Reshape(k, heads)
    v1 = Reshape(v, heads)
    q2 = Transpose<perm=[0,2,1,3]>(q1)
    k2 = Transpose<perm=[0,2,3,1]>(k1)
    v2 = Transpose<perm=[0,2,1,3]>(v1)
    s = MatMul(q2, k2)
    p = Softmax<axis=-1>(s)
    o = MatMul(p, v2)
    o1 = Transpose<perm=[0,2,1,3]>(o)
    o2 = Reshape(o1, together)
    y = MatMul(o2, wo)
"""


def carried(text: str, engine: str, place: Path, **tensors: Any) -> Any:
    """What comes of a model, proved and run node by node."""
    import onnx

    onnx.save(proto(text, **tensors), place / "model.onnx")
    found = propagate(place / "model.onnx", load_engine(engine, "test"))
    assert found.status == "done", found.verified
    assert not found.theorems.refuted
    return found


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("engine", "text", "tensors", "moved"),
    [
        # panels of weights, packed offline: nothing moves at all
        (
            PANELS,
            "a = MatMul(x, w)\nb = Relu(a)\nc = MatMul(b, v)\ny = Add(c, d)",
            {"x": [20, 12], "w": (12, 20), "v": (20, 7), "d": (7,)},
            [],
        ),
        # tiles on both sides: what is made is not what is taken
        (
            TILES,
            "a = MatMul(x, w)\nb = Relu(a)\nc = MatMul(b, v)\ny = Add(c, d)",
            {"x": [20, 12], "w": (12, 20), "v": (20, 7), "d": (7,)},
            ["x", "b", "y"],
        ),
        (
            TILES,
            "a = Gemm(x, w, d)\ny = Relu(a)",
            {"x": [20, 12], "w": (12, 7), "d": (7,)},
            ["x", "y"],
        ),
        # tokens with blocked features, the batch as it is
        (
            TOKENS,
            "a = MatMul(x, w)\nb = Relu(a)\nc = MatMul(b, v)\ny = Add(c, d)",
            {"x": [2, 5, 12], "w": (12, 20), "v": (20, 7), "d": (7,)},
            ["x", "y"],
        ),
        # weights that are data are packed while it runs
        (PANELS, "y = MatMul(x, w)", {"x": [20, 12], "w": [12, 20]}, ["w"]),
    ],
)
def test_products_are_anchors_with_packed_weights(
    engine: str, text: str, tensors: dict[str, Any], moved: list[str], tmp_path: Path
) -> None:
    found = carried(text, engine, tmp_path, **tensors)
    assert [each.value for each in found.transforms] == moved
    assert {each.how for each in found.plan.variants} <= {"anchor", "elementwise", "written"}


def test_attention_moves_what_heads_cut_apart(tmp_path: Path) -> None:
    """Four moves: of queries, keys, values, and of what comes out; no product allows fewer."""
    shapes = {"heads": np.array([2, 6, 4, 4]), "together": np.array([2, 6, 16])}
    weights = dict.fromkeys(("wq", "wk", "wv", "wo"), (16, 16))
    found = carried(ATTENTION, "prefer Conv = NHWC\n", tmp_path, x=[2, 6, 16], **weights, **shapes)
    assert found.figures.proved
    assert len(found.transforms) == 4
    assert not found.figures.gaps


def test_one_head_moves_nothing_but_the_keys(tmp_path: Path) -> None:
    """With one head, views are the memory that products take."""
    shapes = {"heads": np.array([2, 6, 1, 16]), "together": np.array([2, 6, 16])}
    weights = dict.fromkeys(("wq", "wk", "wv", "wo"), (16, 16))
    found = carried(ATTENTION, "prefer Conv = NHWC\n", tmp_path, x=[2, 6, 16], **weights, **shapes)
    assert len(found.transforms) == 1


@pytest.mark.parametrize("axis", [1, 2, 3])
@pytest.mark.parametrize("indices", [np.array(1), np.array([2, 0, 1]), np.array([[2, 0], [1, 1]])])
def test_what_is_gathered_lies_as_it_lay(axis: int, indices: Any, tmp_path: Path) -> None:
    """The axes of the indices take the place of the axis, wherever it lies."""
    text = f"v = Conv(x, w)\na = Gather<axis={axis}>(v, i)\nb = Relu(v)\ny = Abs(a)"
    found = carried(
        text, "prefer Conv = NHWC\n", tmp_path, x=[1, 4, 6, 5], w=(20, 4, 1, 1), i=indices
    )
    assert found.plan.variants[1].how == "gathered"
    assert found.transforms[0].value == "x"


def test_rows_of_a_table_are_gathered_in_any_order(tmp_path: Path) -> None:
    """An embedding whose table is a constant lies as its readers would have it."""
    found = carried(
        "a = Gather<axis=0>(t, i)\nb = Transpose<perm=[0,2,1]>(a)\nc = Mul(b, x)\ny = Relu(c)",
        "prefer Conv = NHWC\n",
        tmp_path,
        x=[2, 8, 3],
        t=(10, 8),
        i=np.array([[1, 2, 0], [4, 9, 9]]),
    )
    assert found.plan.cost == 0
