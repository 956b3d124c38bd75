"""How nodes are run: preferences, kernels and wishes, as the plan and the model have them."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("scipy")

from planned_graphs import lanes_of, planned, said_of

from layoutdsl import library, parse, propagate

CONV = "y = Conv(x, w)"
KERNEL = "op Conv(x: NCHW16c) -> NCHW16c where C >= 64\n"


def how_run(found: Any) -> list[tuple[str, str]]:
    """The operators that are run in layouts that were asked for, and these layouts."""
    return [(each.operator, each.layout) for each in found.figures.anchors]


def moves(found: Any) -> int:
    """Conversions of the cheapest plan, which has to be proved to be that."""
    assert found.figures.proved
    return len(found.transforms)


@pytest.mark.parametrize(
    ("text", "channels", "layout"),
    [
        ("prefer Conv = NHWC", 20, "NHWC"),
        ("prefer Conv = NCHW16c, NHWC", 20, "NCHW16c"),
        # a kernel that names the layout has to be for the node
        (f"{KERNEL}prefer Conv = NCHW16c, NHWC", 20, "NHWC"),
        (f"{KERNEL}prefer Conv = NCHW16c, NHWC", 64, "NCHW16c"),
        # no layout fits: as written
        (f"{KERNEL}prefer Conv = NCHW16c", 20, ""),
        ("layout NWC(n, c, w) = [n, w, c]\nprefer Conv = NWC", 20, ""),
        # a kernel with another layout before than after, as of the first convolution
        ("op Conv(x: NCHW) -> NCHW16c where C < 16\nprefer Conv = NCHW16c", 3, "NCHW16c"),
    ],
)
def test_preferences(text: str, channels: int, layout: str, tmp_path: Path) -> None:
    found = planned(tmp_path, CONV, text, x=[1, channels, 6, 5], w=(20, channels, 1, 1))
    assert how_run(found) == ([("Conv", layout)] if layout else [])
    assert moves(found) == (0 if not layout else 1 if channels == 3 else 2)


def test_with_choice_all_that_fit_are_of_one_worth(tmp_path: Path) -> None:
    """The caller takes the second layout, so that one is cheaper."""
    known: dict[str, Any] = {"x": [1, 20, 6, 5], "w": (20, 20, 1, 1)}
    nhwc = {"inputs": {"x": "NHWC"}, "outputs": {"y": "NHWC"}}
    text = "prefer Conv = NCHW16c, NHWC"
    first = planned(tmp_path, CONV, text, how=nhwc, **known)
    found = planned(tmp_path, CONV, text, how={"choice": "any", **nhwc}, **known)
    assert (how_run(first), moves(first)) == ([("Conv", "NCHW16c")], 2)
    assert (how_run(found), moves(found)) == ([("Conv", "NHWC")], 0)


def test_kernels_without_a_preference_stand_beside_what_is_written(tmp_path: Path) -> None:
    text = "op MaxPool(x: NCHW16c) -> NCHW16c\nprefer Conv = NCHW16c"
    operators = "v = Conv(x, w)\ny = MaxPool<kernel_shape=[2,2]>(v)"
    found = planned(tmp_path, operators, text, x=[1, 20, 6, 5], w=(20, 20, 1, 1))
    assert moves(found) == 2
    assert "y@NCHW16c" in said_of(found, "layout")


def test_a_kernel_that_leaves_out_a_result_is_not_for_a_node_that_has_it(tmp_path: Path) -> None:
    """That would be as written, and its numbers would not lie as the rule says."""
    text = "op MaxPool(x: NCHW16c) -> NCHW16c\nprefer Conv = NCHW16c"
    operators = "v = Conv(x, w)\ny, k = MaxPool<kernel_shape=[2,2]>(v)"
    found = planned(tmp_path, operators, text, "y k", x=[1, 20, 6, 5], w=(20, 20, 1, 1))
    assert found.plan.variants[-1].how == "written"


@pytest.mark.parametrize(("low", "fits"), [(0.0, True), (0.5, False), (-np.inf, False)])
def test_conditions_take_constants_for_the_numbers_that_they_are(
    low: float, fits: bool, tmp_path: Path
) -> None:
    text = "op Clip(x: NHWC) -> NHWC where low == 0\nprefer Clip = NHWC"
    found = planned(tmp_path, "y = Clip(x, l)", text, x=[1, 20, 6, 5], l=np.array(low, "f4"))
    assert how_run(found) == ([("Clip", "NHWC")] if fits else [])


def test_where_an_operand_is_missing_a_kernel_is_not_for_the_node(tmp_path: Path) -> None:
    text = (
        "layout V(o) = [o/16, o%16]\nop Conv(x: NCHW16c, b{}: V) -> NCHW16c\nprefer Conv = NCHW16c"
    )
    known: dict[str, Any] = {"x": [1, 20, 6, 5], "w": (20, 20, 1, 1)}
    assert how_run(planned(tmp_path, CONV, text.format("?"), **known)) == [("Conv", "NCHW16c")]
    assert how_run(planned(tmp_path, CONV, text.format(""), **known)) == []


def test_the_caller_gives_and_takes_layouts(tmp_path: Path) -> None:
    known: dict[str, Any] = {"x": [1, 4, 6, 5], "w": (20, 4, 1, 1)}
    nhwc = library("NHWC")
    wishes: tuple[dict[str, Any], ...] = (
        {},
        {"inputs": {"x": nhwc}},
        {"inputs": {"x": nhwc}, "outputs": {"y": nhwc}},
    )
    text = "v = Conv(x, w)\ny = Relu(v)"
    found = [planned(tmp_path, text, "prefer Conv = NHWC", how=each, **known) for each in wishes]
    assert [moves(each) for each in found] == [2, 1, 0]


@pytest.mark.parametrize(
    ("text", "lane"), [("fill 0", "0.0"), ("fill 7", "7.0"), ("fill any", "?")]
)
def test_padding_that_the_caller_gives_holds_what_the_layout_says(
    text: str, lane: str, tmp_path: Path
) -> None:
    layout = parse(f"layout B(n, c, h, w) = [n, c/16, h, w, c%16] {text}")["B"]
    how, nodes = {"inputs": {"x": layout}, "outputs": {"y": layout}}, "a = Abs(x)\ny = Abs(a)"
    found = planned(tmp_path, nodes, "prefer Conv = NHWC", how=how, x=[1, 20, 3, 3])
    assert moves(found) == 0
    assert lanes_of(found, "a") == {lane}


@pytest.mark.parametrize(
    ("wishes", "said"),
    [
        ({"inputs": {"z": "NHWC"}}, "no such input or output: `z`"),
        ({"outputs": {"x": "NHWC"}}, "no such input or output: `x`"),
        ({"inputs": {"x": "OIhw16i16o"}}, "4 axes, the value has 3"),
    ],
)
def test_wishes_that_fit_nothing_are_refused(
    wishes: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=said):
        planned(tmp_path, "y = Relu(x)", "prefer Conv = NHWC", how=wishes, x=[1, 20, 3])


def test_what_has_no_rule_is_as_written_and_says_so(tmp_path: Path) -> None:
    text = "v = Conv(x, w)\na = NonZero(v)\ny = Relu(v)"
    found = planned(tmp_path, text, "prefer Conv = NHWC", "y a", x=[1, 4, 6, 5], w=(20, 4, 1, 1))
    (gap,) = found.figures.gaps
    assert (gap.operator, gap.reason) == ("NonZero", "no rule says what NonZero does with axes")
    assert found.plan.variants[1].how == "written"
    assert any(each.value == "v" and each.kind == "between" for each in found.figures.left)


def test_an_operator_is_added_by_one_line_of_text(tmp_path: Path) -> None:
    """Until then it is as written, and what is beside it is moved."""
    import onnx

    given, made = (
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, 20, 6, 5])
        for name in "xy"
    )
    nodes = [
        onnx.helper.make_node("Conv", ["x", "w"], ["v"]),
        onnx.helper.make_node("Brighten", ["v"], ["u"], domain="com.acme"),
        onnx.helper.make_node("Conv", ["u", "w"], ["y"]),
    ]
    weight = onnx.numpy_helper.from_array(np.ones((20, 20, 1, 1), "f4"), "w")
    infos = [onnx.helper.make_tensor_value_info("u", onnx.TensorProto.FLOAT, [1, 20, 6, 5])]
    graph = onnx.helper.make_graph(nodes, "g", [given], [made], [weight], value_info=infos)
    opsets = [onnx.helper.make_opsetid("", 18), onnx.helper.make_opsetid("com.acme", 1)]
    onnx.save(
        onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8), tmp_path / "acme.onnx"
    )
    texts = {"a.layout": "", "b.layout": "rule com.acme::Brighten(x[..]) -> [..]\n"}
    seen = []
    for name, text in texts.items():
        (tmp_path / name).write_text(f"prefer Conv = NHWC\n{text}", encoding="utf-8")
        found = propagate(tmp_path / "acme.onnx", tmp_path / name, verify="off")
        seen.append(([each.operator for each in found.figures.gaps], moves(found)))
    assert seen == [(["com.acme::Brighten"], 4), ([], 2)]


def test_standard_operators_have_windows_only_as_written(tmp_path: Path) -> None:
    text = "v = Transpose<perm=[0,3,1,2]>(x)\na = MaxPool<kernel_shape=[2,2]>(v)\ny = Relu(a)"
    free, plain = (
        planned(tmp_path, text, "prefer Conv = NHWC", how=how, x=[1, 6, 5, 20])
        for how in ({}, {"emit": "plain"})
    )
    assert plain.plan.variants[1].how == "written"
    assert (moves(free), moves(plain)) == (1, 1)
    wished = {"outputs": {"y": "NHWC"}}
    free, plain = (
        planned(tmp_path, text, "prefer Conv = NHWC", how={**how, **wished}, x=[1, 6, 5, 20])
        for how in ({}, {"emit": "plain"})
    )
    assert [each.plan.variants[1].how for each in (free, plain)] == ["window", "written"]
    assert (moves(free), moves(plain)) == (0, 2)


def test_views_cost_nothing_and_have_no_way_as_written(tmp_path: Path) -> None:
    """A shuffle of channels: two reshapes and a transpose that only rename digits."""
    text = """
        v = Conv(x, w)
        a = Reshape(v, cut)
        b = Transpose<perm=[0,2,1,3,4]>(a)
        c = Reshape(b, whole)
        y = Relu(c)
    """
    shapes: dict[str, Any] = {"cut": np.array([1, 4, 5, 6, 5]), "whole": np.array([1, 20, 6, 5])}
    found = planned(tmp_path, text, "prefer Conv = NHWC", x=[1, 4, 6, 5], w=(20, 4, 1, 1), **shapes)
    assert [each.how for each in found.plan.variants[1:4]] == ["view"] * 3
    assert moves(found) == 2


def test_a_value_that_is_turned_in_all_ways_is_planned(tmp_path: Path) -> None:
    """More ways than are kept of a value: the plan is right, and not all of them are looked at."""
    orders = list(permutations(range(4)))
    lines = [f"t{k} = Transpose<perm={list(order)}>(x)" for k, order in enumerate(orders)]
    text = "\n".join([*lines, "y = Sum(x, " + ", ".join(f"t{k}" for k in range(len(lines))) + ")"])
    found = planned(tmp_path, text, "prefer Conv = NHWC", x=[3, 3, 3, 3])
    assert moves(found) == len(orders) - 1
    assert not found.theorems.refuted
