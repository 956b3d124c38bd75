"""All ways to run a graph: anchors, kernels, wishes, and what has no rule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from small_graphs import engine, found, graph, placings, templates

from layoutdsl import Engine, library, parse
from layoutdsl.graphs.planning.program import plan_of
from layoutdsl.graphs.variants import Lane
from layoutdsl.graphs.ways.ways import MOST, Ways, Wishes, ways
from layoutdsl.language.elaborate.shelf import operator_rules

CONV = "y = Conv(x, w)"


def moves(one: Any, some: Ways) -> int:
    """Conversions of the cheapest plan, which has to be proved to be that."""
    plan = plan_of(one, some.variants, some.given, some.wanted)
    assert plan.cost == plan.bound
    return len(plan.conversions)


@pytest.mark.parametrize(
    ("text", "channels", "layouts", "how"),
    [
        ("prefer Conv = NHWC", 20, ("NHWC",), "anchor"),
        ("prefer Conv = NCHW16c, NHWC", 20, ("NCHW16c",), "anchor"),
        # a kernel that names the layout has to be for the node
        (
            "op Conv(x: NCHW16c) -> NCHW16c where C >= 64\nprefer Conv = NCHW16c, NHWC",
            20,
            ("NHWC",),
            "anchor",
        ),
        (
            "op Conv(x: NCHW16c) -> NCHW16c where C >= 64\nprefer Conv = NCHW16c, NHWC",
            64,
            ("NCHW16c",),
            "anchor",
        ),
        # no layout fits: as written
        ("op Conv(x: NCHW16c) -> NCHW16c where C >= 64\nprefer Conv = NCHW16c", 20, (), "written"),
        ("layout NWC(n, c, w) = [n, w, c]\nprefer Conv = NWC", 20, (), "written"),
        # a kernel with another layout before than after, as of the first convolution
        (
            "op Conv(x: NCHW) -> NCHW16c where C < 16\nprefer Conv = NCHW16c",
            3,
            ("NCHW16c",),
            "anchor",
        ),
    ],
)
def test_preferences(text: str, channels: int, layouts: tuple[str, ...], how: str) -> None:
    some = found(graph(CONV, x=[1, channels, 6, 5], w=(20, channels, 1, 1)), text)
    assert some.anchors == {0: layouts}
    assert [each.how for each in some.variants[0]] == [how]


def test_with_choice_all_that_fit_are_of_one_worth() -> None:
    one = graph(CONV, x=[1, 20, 6, 5], w=(20, 20, 1, 1))
    some = ways(one, engine("prefer Conv = NCHW16c, NHWC"), Wishes(choice="any"))
    assert some.anchors == {0: ("NCHW16c", "NHWC")}
    assert len(some.variants[0]) == 2


def test_kernels_without_a_preference_stand_beside_what_is_written() -> None:
    text = "op MaxPool(x: NCHW16c) -> NCHW16c\nprefer Conv = NCHW16c"
    one = graph(
        "v = Conv(x, w)\ny = MaxPool<kernel_shape=[2,2]>(v)", x=[1, 20, 6, 5], w=(20, 20, 1, 1)
    )
    some = found(one, text)
    assert placings(some, -1) == ["[d1/16%2, d2%5, d3%4, d1%16]", "[d1%20, d2%5, d3%4]"]
    assert moves(one, some) == 2


def test_a_kernel_that_leaves_out_a_result_is_not_for_a_node_that_has_it() -> None:
    """That would be as written, and its numbers would not lie as the rule says."""
    text = "op MaxPool(x: NCHW16c) -> NCHW16c\nprefer Conv = NCHW16c"
    one = graph(
        "v = Conv(x, w)\ny, k = MaxPool<kernel_shape=[2,2]>(v)", x=[1, 20, 6, 5], w=(20, 20, 1, 1)
    )
    assert [each.how for each in found(one, text).variants[-1]] == ["written"]


@pytest.mark.parametrize(("low", "fits"), [(0.0, True), (0.5, False), (-np.inf, False)])
def test_conditions_take_constants_for_the_numbers_that_they_are(low: float, fits: bool) -> None:
    text = "op Clip(x: NHWC) -> NHWC where low == 0\nprefer Clip = NHWC"
    one = graph("y = Clip(x, l)", x=[1, 20, 6, 5], l=np.array(low, "f4"))
    assert found(one, text).anchors == {0: ("NHWC",) if fits else ()}


def test_where_an_operand_is_missing_a_kernel_is_not_for_the_node() -> None:
    text = (
        "layout V(o) = [o/16, o%16]\nop Conv(x: NCHW16c, b{}: V) -> NCHW16c\nprefer Conv = NCHW16c"
    )
    one = graph(CONV, x=[1, 20, 6, 5], w=(20, 20, 1, 1))
    assert found(one, text.format("?")).anchors == {0: ("NCHW16c",)}
    some = found(one, text.format(""))
    assert some.anchors == {0: ()}
    assert "`b`" in some.reasons[0][0]


def test_the_caller_gives_and_takes_layouts() -> None:
    one = graph("v = Conv(x, w)\ny = Relu(v)", x=[1, 4, 6, 5], w=(20, 4, 1, 1))
    assert moves(one, found(one, "NHWC")) == 2
    nhwc = library("NHWC")
    given = Wishes(inputs={"x": nhwc})
    assert moves(one, found(one, "NHWC", given)) == 1
    both = Wishes(inputs={"x": nhwc}, outputs={"y": nhwc})
    assert moves(one, found(one, "NHWC", both)) == 0


@pytest.mark.parametrize(("text", "number"), [("fill 0", 0), ("fill 7", 7), ("fill any", None)])
def test_padding_that_the_caller_gives_holds_what_the_layout_says(
    text: str, number: int | None
) -> None:
    layout = parse(f"layout B(n, c, h, w) = [n, c/16, h, w, c%16] {text}")["B"]
    one = graph("y = Relu(x)", x=[1, 20, 3, 3])
    some = found(one, "NHWC", Wishes(inputs={"x": layout}))
    assert some.given["x"].lane == Lane(number)


@pytest.mark.parametrize(
    ("wishes", "said"),
    [
        (Wishes(inputs={"z": library("NHWC")}), "no such input or output: `z`"),
        (Wishes(outputs={"x": library("NHWC")}), "no such input or output: `x`"),
        (Wishes(inputs={"x": library("OIhw16i16o")}), "4 axes, the value has 3"),
    ],
)
def test_wishes_that_fit_nothing_are_refused(wishes: Wishes, said: str) -> None:
    one = graph("y = Relu(x)", x=[1, 20, 3])
    with pytest.raises(ValueError, match=said):
        found(one, "NHWC", wishes)


def test_what_has_no_rule_is_as_written_and_says_so() -> None:
    one = graph(
        "v = Conv(x, w)\na = NonZero(v)\ny = Relu(v)", "y a", x=[1, 4, 6, 5], w=(20, 4, 1, 1)
    )
    some = found(one, "NHWC")
    assert some.gaps == {1: "no rule says what NonZero does with axes"}
    (only,) = some.variants[1]
    assert str(only.takes[0].placing) == "[d1%20, d2%6, d3%5]"  # type: ignore[union-attr]
    assert only.how == "written"


def test_an_operator_is_added_by_one_line_of_text() -> None:
    from layoutdsl.graphs.graph import Graph, Node, Value

    shape = (1, 20, 6, 5)
    values = {name: Value(name, shape, np.dtype("f4")) for name in ("x", "v", "y")}
    values["w"] = Value("w", (20, 20, 1, 1), np.dtype("f4"))
    nodes = (
        Node(0, "", "Conv", ("x", "w"), ("v",), {}),
        Node(1, "", "com.acme::Brighten", ("v",), ("y",), {}),
    )
    constants = {"w": np.zeros((20, 20, 1, 1), "f4")}
    one = Graph("g", 18, nodes, values, constants, ("x",), ("y",))
    text = "prefer Conv = NHWC\n"
    assert set(found(one, text).gaps) == {1}
    taught = found(one, text + "rule com.acme::Brighten(x[..]) -> [..]\n")
    assert not taught.gaps
    assert "[d2%6, d3%5, d1%20]" in placings(taught, 1)


def test_standard_operators_have_windows_only_as_written() -> None:
    one = graph(
        "v = Transpose<perm=[0,3,1,2]>(x)\na = MaxPool<kernel_shape=[2,2]>(v)\ny = Relu(a)",
        x=[1, 6, 5, 20],
    )
    free = ways(one, engine("prefer Conv = NHWC"), Wishes())
    plain = ways(one, engine("prefer Conv = NHWC"), Wishes(operators="standard"))
    assert {each.how for each in free.variants[1]} == {"written", "window"}
    assert {each.how for each in plain.variants[1]} == {"written"}
    assert moves(one, free) == 1
    assert moves(one, plain) == 1


def test_views_cost_nothing_and_have_no_way_as_written() -> None:
    """A shuffle of channels: two reshapes and a transpose that only rename digits."""
    one = graph(
        """
        v = Conv(x, w)
        a = Reshape(v, cut)
        b = Transpose<perm=[0,2,1,3,4]>(a)
        c = Reshape(b, whole)
        y = Relu(c)
        """,
        x=[1, 4, 6, 5],
        w=(20, 4, 1, 1),
        cut=np.array([1, 4, 5, 6, 5]),
        whole=np.array([1, 20, 6, 5]),
    )
    some = found(one, "NHWC")
    for number in (1, 2, 3):
        assert {each.how for each in templates(some, number)} == {"view"}
    assert "[d2%6, d3%5, d1/5%4, d1%5]" not in placings(some, 3)
    assert "[d2%6, d3%5, d1%4, d1/4%5]" in placings(some, 3)


def test_no_value_has_more_candidates_than_are_allowed() -> None:
    lines = [f"t{k} = Transpose<perm={list(order)}>(x)" for k, order in enumerate(_orders())]
    text = "\n".join([*lines, "y = Sum(x, " + ", ".join(f"t{k}" for k in range(len(lines))) + ")"])
    one = graph(text, x=[3, 3, 3, 3])
    some = ways(one, Engine(rules=operator_rules()), Wishes())
    met: dict[str, set[object]] = {}
    for node, own in zip(one.nodes, some.variants, strict=True):
        for each in own:
            for name, held in zip(
                (*node.inputs, *node.outputs), (*each.takes, *each.makes), strict=True
            ):
                met.setdefault(name, set()).add(held)
    assert max(map(len, met.values())) == MOST


def _orders() -> list[tuple[int, ...]]:
    from itertools import permutations

    return list(permutations(range(4)))


def test_an_empty_tensor_is_as_written() -> None:
    from layoutdsl.graphs.graph import Graph, Node, Value

    values = {name: Value(name, (0, 3), np.dtype("f4")) for name in ("x", "y")}
    nodes = (Node(0, "", "Relu", ("x",), ("y",), {}),)
    one = Graph("g", 18, nodes, values, {}, ("x",), ("y",))
    assert "no elements" in found(one, "NHWC").gaps[0]
