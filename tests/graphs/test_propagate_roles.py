"""Roles: what each allows an operator to meet, and what follows for its other operands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from small_graphs import ENGINES, bound, found, graph, placings, reason, templates

from layoutdsl import library
from layoutdsl.graphs.graph import Graph
from layoutdsl.graphs.placings.placing import Placing
from layoutdsl.graphs.placings.reading import placed
from layoutdsl.graphs.roles.rejoined import follows
from layoutdsl.graphs.roles.roles import Template, from_joint, lifted

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
}


def around(operators: str, outputs: str = "y", channels: int = 20) -> Graph:
    """Operators after a convolution that makes ragged channels, in an image of 6 by 5."""
    text = "v = Conv(x, w)\n" + operators
    known = {name: each for name, each in KNOWN.items() if f" {name}" in text}
    shape = (channels, 4, 1, 1)
    return graph(text, outputs, x=[1, 4, 6, 5], w=shape, **known)


def of(layout: str, channels: int, rows: int, columns: int) -> str:
    """How a value of one image is placed."""
    text = {"NCHW8c": "NCHWc<8>"}.get(layout, layout)
    return str(placed(library(text), (1, channels, rows, columns)))


@pytest.mark.parametrize("layout", ENGINES)
@pytest.mark.parametrize(
    ("operators", "shape"),
    [
        ("y = Relu(v)", (20, 6, 5)),
        ("y = Add(v, v)", (20, 6, 5)),
        ("y = Mul(v, column)", (20, 6, 5)),
        ("y = BatchNormalization(v, ones, ones, ones, ones)", (20, 6, 5)),
        ("y = MaxPool<kernel_shape=[2,2], strides=[2,2]>(v)", (20, 3, 2)),
        ("y = AveragePool<kernel_shape=[3,3]>(v)", (20, 4, 3)),
        ("y = GlobalAveragePool(v)", (20, 1, 1)),
        ("y = ReduceSum<keepdims=1>(v, three)", (20, 6, 1)),
        ("y = ReduceMax<keepdims=1>(v, two)", (20, 1, 5)),
        ("y = Concat<axis=2>(v, v)", (20, 12, 5)),
        ("y = Slice(v, one, three, two)", (20, 2, 5)),
        ("y = Pad(v, pads)", (20, 9, 5)),
        ('y = Resize<mode="nearest">(v, , scales)', (20, 12, 10)),
        ("y = Softmax<axis=2>(v)", (20, 6, 5)),
        ("y = InstanceNormalization(v, ones, ones)", (20, 6, 5)),
        ("y = Conv(v, v2)", (12, 6, 5)),
    ],
)
def test_what_does_not_care_of_channels_follows_the_convolution(
    layout: str, operators: str, shape: tuple[int, int, int]
) -> None:
    one = around(operators) if "v2" not in operators else _two_convolutions()
    some = found(one, layout)
    assert of(layout, *shape) in placings(some, -1)
    assert not some.gaps


def _two_convolutions() -> Graph:
    return graph(
        "v = Conv(x, w)\ny = Conv(v, v2)", x=[1, 4, 6, 5], w=(20, 4, 1, 1), v2=(12, 20, 1, 1)
    )


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
    operators: str, outputs: str, layouts: set[str]
) -> None:
    text = "v = Conv(x, w)\n" + operators
    known: dict[str, Any] = {**KNOWN, "w16": (16, 4, 1, 1), "w24": (24, 4, 1, 1)}
    known = {name: each for name, each in known.items() if f" {name}" in text}
    one = graph(text, outputs, x=[1, 4, 6, 5], w=(20, 4, 1, 1), **known)
    taken = set[str]()
    for layout in ENGINES:
        wanted = of(layout, 20, 6, 5)
        ways = found(one, layout)
        taken |= {layout for each in templates(ways, -1) if wanted in map(str, each.takes)}
    assert taken == layouts


def test_boundaries_that_cut_a_block_are_refused() -> None:
    """The trap: 24 channels are three blocks of 8, and one and a half of 16."""
    for block, stays in ((8, True), (16, False)):
        one = graph("y = Concat<axis=1>(a, b)", a=[1, 24, 3, 3], b=[1, 20, 3, 3])
        own = bound(one)
        placing = placed(library(f"NCHWc<{block}>"), (1, 44, 3, 3))
        assert isinstance(placing, Placing)
        assert own.results[0] is not None
        joint = lifted(own, own.results[0], placing)
        assert joint is not None
        assert (from_joint(own, joint, "joined") is not None) is stays


@pytest.mark.parametrize(
    ("text", "said", "tensors"),
    [
        ("y = NonZero(x)", "no rule says", {"x": [2, 3]}),
        ("y = Concat<axis=1>(x, x)", "elements", {"x": [0, 3]}),
        ("y = Softmax<axis=5>(x)", "names no axis", {"x": [2, 3]}),
        ("y = ReduceSum(x, k)", "depends on data", {"x": [2, 3], "k": [1]}),
        (
            "y, m, v = BatchNormalization<training_mode=1>(x, s, s, s, s)",
            "more results",
            {"x": [1, 3, 2], "s": (3,)},
        ),
    ],
)
def test_what_fits_no_rule_says_why(text: str, said: str, tensors: dict[str, Any]) -> None:
    from layoutdsl.graphs.graph import Node, Value

    node, shape = text.split(" = ")[1], tensors["x"]
    if "Softmax" in text or "elements" in said or "depends" in said:
        operator = node.split("<")[0].split("(")[0]
        attributes = {"axis": 5} if "Softmax" in text else {"axis": 1}
        inputs = ("x", "k") if "depends" in said else ("x",)
        kind = np.dtype("f4")
        values = {name: Value(name, tuple(shape), kind) for name in ("x", "y", "k")}
        one = Graph(
            "g",
            18,
            (Node(0, "", operator, inputs, ("y",), attributes),),
            values,
            {},
            ("x",),
            ("y",),
        )
    else:
        one = graph(text, **tensors)
    assert said in reason(one)


@pytest.mark.parametrize(
    ("text", "tensors", "takes", "makes"),
    [
        # rows of the weights follow the digits of what is summed
        (
            "u = Flatten(v)\ny = Gemm(u, m)",
            {"m": (120, 7)},
            ("[d1%30, d1/30%4]", "[d0%30, d0/30%4, d1%7]"),
            "[d1%7]",
        ),
        (
            "u = Flatten(v)\ny = Gemm<transB=1>(u, m, b)",
            {"m": (7, 120), "b": (7,)},
            ("[d1%30, d1/30%4]", "[d1%30, d1/30%4, d0%7]", "[d0%7]"),
            "[d1%7]",
        ),
    ],
)
def test_rows_of_weights_are_permuted(
    text: str, tensors: dict[str, Any], takes: tuple[str, ...], makes: str
) -> None:
    one = graph(f"v = Conv(x, w)\n{text}", x=[1, 4, 6, 5], w=(4, 4, 1, 1), **tensors)
    some = found(one, "NHWC")
    wanted = Template(takes, (makes,), "product")  # type: ignore[arg-type]
    own = [
        Template(tuple(map(str, each.takes)), tuple(map(str, each.makes)), each.how)  # type: ignore[arg-type]
        for each in templates(some, -1)
    ]
    assert wanted in own


def test_products_keep_what_is_summed_last() -> None:
    """Columns that lie between what is summed are no matrix: only as written is left."""
    one = graph("y = MatMul(x, w)", x=[3, 4, 5], w=(5, 6))
    own = bound(one)
    for order, fits in (
        ((0, 1, 2), True),
        ((1, 0, 2), True),
        ((0, 2, 1), False),
        ((2, 1, 0), False),
    ):
        from layoutdsl.graphs.placings.placing import as_written, inverse, transposed

        turned = tuple((3, 4, 5)[axis] for axis in order)
        placing = transposed(as_written(turned), inverse(order))
        from layoutdsl.graphs.roles.templates import offered

        ways = list(offered(own, {"x": [placing], "y": [], "w": []}.__getitem__))
        assert bool(ways) is fits
        assert all(follows(own, each) for each in ways)


@pytest.mark.parametrize("layout", ENGINES)
@pytest.mark.parametrize("outputs", ["first", "all"])
def test_every_way_that_is_offered_is_one_that_the_checker_follows(
    layout: str, outputs: str
) -> None:
    """How ways are found, and how a way is read back, are two pieces of code."""
    text = """
        v = Conv(x, w)
        a = BatchNormalization(v, ones, ones, ones, ones)
        b = Relu(a)
        c = Add(a, b)
        p = MaxPool<kernel_shape=[2,2]>(c)
        q = Concat<axis=1>(c, c)
        r = Concat<axis=3>(c, a)
        s = ReduceSum<keepdims=0>(r, three)
        t = Transpose<perm=[0,2,3,1]>(q)
        u = Flatten(p)
        y = Softmax(t)
        z = Gemm(u, m)
    """
    known = {name: KNOWN[name] for name in ("ones", "three")}
    one = graph(
        text,
        "y z s" if outputs == "all" else "y",
        x=[2, 4, 6, 5],
        w=(20, 4, 1, 1),
        m=(400, 7),
        **known,
    )
    some = found(one, layout)
    seen = 0
    for number, own in enumerate(some.bound):
        assert not isinstance(own, str)
        for each in templates(some, number):
            if each.how not in ("anchor", "written"):
                seen += 1
                assert follows(own, each), (one.nodes[number].operator, each)
    assert seen > 5


def test_a_way_with_one_placing_changed_is_none() -> None:
    """Whoever checks a plan tells a way from one that is not."""
    one = around("y = Add(v, column)")
    own = bound(one)
    some = found(one, "NCHW8c")
    way = next(each for each in templates(some, -1) if "d1%8" in str(each.makes[0]))
    assert follows(own, way)
    others = [placed(library(each), (1, 20, 6, 5)) for each in ("NCHW", "NHWC", "NCHW16c")]
    for other in others:
        assert isinstance(other, Placing)
        assert not follows(own, Template((other, way.takes[1]), way.makes, way.how))
        assert not follows(own, Template(way.takes, (other,), way.how))
