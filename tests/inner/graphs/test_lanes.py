"""What padding holds: evaluated as ONNX has it, demanded where it matters, filled in otherwise.

Padding holds NaN and infinities in no layout of the language, and the planner has to know them.
"""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from small_graphs import ENGINES, found, graph

from layoutdsl.graphs.variants import Lane
from layoutdsl.graphs.ways.elementwise import _CURVES, _MANY, _PLAIN, evaluated
from layoutdsl.graphs.ways.lanes import Demand, is_finite, lane, suits, to_fill
from layoutdsl.graphs.ways.ways import Ways

INTEGERS = ("BitwiseAnd", "BitwiseOr", "BitwiseXor")
BOOLEANS = ("And", "Or", "Xor", "Not")
NUMBERS = (0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -3.0, 7.0, 100.0, math.inf, -math.inf, math.nan)
NOT_THERE = ("Swish",)
"""In no version of ONNX that is tried here."""


def reference(operator: str, attributes: dict[str, Any], arrays: list[Any]) -> Any:
    """What onnx's own implementation makes of one element."""
    from onnx import helper
    from onnx.reference import ReferenceEvaluator

    names = [f"x{k}" for k in range(len(arrays))]
    node = helper.make_node(operator, names, ["y"], **attributes)
    values = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(each.dtype), each.shape)
        for name, each in zip(names, arrays, strict=True)
    ]
    made = [helper.make_empty_tensor_value_info("y")]
    whole = helper.make_graph([node], "g", values, made)
    model = helper.make_model(whole, opset_imports=[helper.make_opsetid("", 20)])
    with np.errstate(all="ignore"):
        return ReferenceEvaluator(model).run(None, dict(zip(names, arrays, strict=True)))[0]


def agree(own: Any, other: Any) -> bool:
    """Equal, or apart by rounding; what is no number is so in both."""
    if own is None:
        return True
    return bool(np.allclose(np.float64(own), np.float64(other), 1e-5, 1e-6, equal_nan=True))


@pytest.mark.parametrize(
    "operator", [each for each in (*_PLAIN, *_CURVES) if "::" not in each and each not in NOT_THERE]
)
def test_of_one_number(operator: str) -> None:
    known = 0
    for number in NUMBERS:
        kind = np.bool_ if operator in BOOLEANS else np.float32
        x = kind(number)
        own = evaluated(operator, {}, [x])
        known += own is not None
        other = reference(operator, {}, [np.array([x])])[0]
        if operator == "HardSwish" and math.isinf(number):
            continue  # inf * 0 is what its formula says
        assert agree(own, other), (number, own, other)
    assert known > 8


@pytest.mark.parametrize(
    ("operator", "attributes"),
    [
        ("LeakyRelu", {"alpha": 0.3}),
        ("Elu", {"alpha": 2.0}),
        ("Celu", {"alpha": 0.5}),
        ("Selu", {"alpha": 1.1, "gamma": 0.7}),
        ("HardSigmoid", {"alpha": 0.4, "beta": 0.1}),
        ("ThresholdedRelu", {"alpha": 0.4}),
        ("Gelu", {"approximate": "tanh"}),
    ],
)
def test_of_one_number_with_attributes(operator: str, attributes: dict[str, Any]) -> None:
    for number in (-2.0, -0.3, 0.0, 0.45, 3.0):
        own = evaluated(operator, attributes, [np.float32(number)])
        assert own is not None
        assert agree(own, reference(operator, attributes, [np.array([number], "f4")])[0])


@pytest.mark.parametrize("operator", [*_MANY, "Div", "Pow", "PRelu"])
def test_of_two_numbers(operator: str) -> None:
    draw = random.Random(operator)
    for _ in range(40):
        if operator in BOOLEANS:
            pair = [np.bool_(draw.random() < 0.5) for _ in range(2)]
        elif operator in INTEGERS:
            pair = [np.int32(draw.randint(-9, 9)) for _ in range(2)]
        else:
            pair = [np.float32(draw.choice(NUMBERS)) for _ in range(2)]
        own = evaluated(operator, {}, pair)
        assert own is not None or operator == "PRelu"
        if any(np.isnan(each) for each in pair) and operator in ("PRelu", "Max", "Min"):
            continue
        assert agree(own, reference(operator, {}, [np.array([each]) for each in pair])[0]), pair


@pytest.mark.parametrize("pair", [(7, 2), (-7, 2), (7, -2), (0, 5)])
def test_integers_are_divided_towards_zero(pair: tuple[int, int]) -> None:
    own = evaluated("Div", {}, [np.int32(each) for each in pair])
    assert own == int(pair[0] / pair[1])
    assert evaluated("Div", {}, [np.int32(1), np.int32(0)]) is None


@pytest.mark.parametrize(
    ("operator", "numbers", "expected"),
    [
        ("Clip", [np.float32(-1), np.float32(0), np.float32(6)], 0),
        ("Clip", [np.float32(9), None, np.float32(6)], 6),
        ("Clip", [np.float32(9)], 9),
        ("Where", [np.bool_(True), np.float32(1), np.float32(2)], 1),
        ("QuantizeLinear", [np.float32(1.0), np.float32(0.5), np.uint8(3)], 5),
        ("QuantizeLinear", [np.float32(1e9), np.float32(0.5), np.int8(3)], 127),
        ("DequantizeLinear", [np.int8(-3), np.float32(0.5), np.int8(1)], -2.0),
        ("DequantizeLinear", [np.int8(-3), np.float32(0.5)], -1.5),
        ("Mean", [np.float32(1), np.float32(4)], 2.5),
        ("com.acme::Upscale", [np.float32(1)], None),
    ],
)
def test_of_several(operator: str, numbers: list[Any], expected: float | None) -> None:
    assert evaluated(operator, {}, numbers) == expected


def test_what_is_no_number_is_one_lane() -> None:
    assert lane(np.float32("nan")) == lane(float("nan")) == Lane(math.nan)
    assert lane(np.uint8(3)) == Lane(3)
    assert lane(None) == Lane(None)


@pytest.mark.parametrize(
    ("held", "demand", "expected"),
    [
        (None, "never", True),
        (Lane(0), "never", False),
        (Lane(None), "anything", True),
        (Lane(None), "finite", False),
        (Lane(math.inf), "finite", False),
        (Lane(0.5), "finite", True),
        (Lane(0.5), Lane(0), False),
        (Lane(0.0), Lane(0), True),
        (Lane(None), Lane(0), False),
    ],
)
def test_what_suits(held: Lane | None, demand: Demand, expected: bool) -> None:
    assert suits(held, demand) is expected


def test_an_infinity_of_integers_is_the_least_of_them() -> None:
    assert to_fill(Lane(-math.inf), np.dtype("i1")) == Lane(-128)
    assert to_fill(Lane(math.inf), np.dtype("u1")) == Lane(255)
    assert to_fill("finite", np.dtype("f4")) == Lane(0)


def lanes_of(some: Ways, number: int) -> set[float | bool | None]:
    """What the padding of a node's first result may hold, where it has any."""
    made = [each.makes[0] for each in some.variants[number]]
    return {each.lane.number for each in made if each is not None and each.lane is not None}


@pytest.mark.parametrize("layout", ["NCHW8c", "NCHW16c"])
@pytest.mark.parametrize(
    ("operators", "lanes"),
    [
        ("y = Relu(v)", {0}),
        ("y = Sigmoid(v)", {0.5}),
        ("y = Exp(v)", {1}),
        ("a = Sigmoid(v)\ny = Add(a, v)", {0.5}),
        ("y = Log(v)", {-math.inf}),
        ("y = Add(v, three)", {3}),
        ("y = Mul(v, column)", {0}),
        # 0 / 0 were no number, so the constant is filled with 1
        ("y = Div(v, column)", {0}),
        # a column of data: where there is no channel there is still a row of it
        ("a = ReduceMean<keepdims=1>(v, one)\ny = Add(v, a)", {None}),
        ("a = Sigmoid(v)\ny = MaxPool<kernel_shape=[2,2]>(a)", {0.5}),
        ("a = Sigmoid(v)\ny = AveragePool<kernel_shape=[2,2]>(a)", {None}),
        ("y = AveragePool<kernel_shape=[2,2]>(v)", {0}),
        # the sign of the infinity is that of the 0
        ("y = Reciprocal(v)", {None}),
        ("a = Sigmoid(v)\ny = Pad(a, pads)", {None}),
        ('a = Sigmoid(v)\ny = Pad<mode="edge">(a, pads)', {0.5}),
        ("y = Pad(v, pads)", {0}),
        ("a = Sigmoid(v)\ny = Conv(a, v2)", {0}),
        ("y = Greater(three, v)", {True}),
        ("y = Cast<to=7>(v)", {0}),
    ],
)
def test_padding_is_known(layout: str, operators: str, lanes: set[Any]) -> None:
    text = "v = Conv(x, w)\n" + operators
    known = {
        "v2": (12, 20, 1, 1),
        "three": np.array([3], "f4"),
        "one": np.array([1]),
        "column": (20, 1, 1),
        "pads": np.array([0, 0, 1, 0, 0, 0, 2, 0]),
    }
    used = {name: each for name, each in known.items() if name in text}
    one = graph(text, x=[1, 4, 6, 5], w=(20, 4, 1, 1), **used)
    assert lanes_of(found(one, layout), -1) == lanes


@pytest.mark.parametrize("layout", ["NCHW8c", "NCHW16c"])
@pytest.mark.parametrize(
    ("operators", "takes"),
    [
        # weights are 0 there, and 0 times a number is 0
        ("a = Sigmoid(v)\ny = Conv(a, v2)", {0.5}),
        # but not 0 times an infinity: the padding is filled anew
        ("a = Log(v)\ny = Conv(a, v2)", {0}),
        ("a = Sigmoid(v)\ny = ReduceMax<keepdims=1>(a, one)", {-math.inf}),
        ("a = Sigmoid(v)\ny = ReduceMin<keepdims=1>(a, one)", {math.inf}),
        ("a = Sigmoid(v)\ny = ReduceSum<keepdims=1>(a, one)", {0}),
        ("a = Sigmoid(v)\ny = ReduceProd<keepdims=1>(a, one)", {1}),
        ("y = ReduceSum<keepdims=1>(v, one)", {0}),
        ("y = ReduceMean<keepdims=1>(v, one)", set()),
    ],
)
def test_readers_take_the_padding_that_suits(layout: str, operators: str, takes: set[Any]) -> None:
    text = "v = Conv(x, w)\n" + operators
    known = {"v2": (12, 20, 1, 1), "one": np.array([1])}
    used = {name: each for name, each in known.items() if name in text}
    one = graph(text, x=[1, 4, 6, 5], w=(20, 4, 1, 1), **used)
    some = found(one, layout)
    held = [each.takes[0] for each in some.variants[-1]]
    assert {each.lane.number for each in held if each is not None and each.lane} == takes


def test_further_results_are_not_what_the_first_is() -> None:
    one = graph("v = Conv(x, w)\ny, m = Dropout(v)", "y m", x=[1, 4, 6, 5], w=(20, 4, 1, 1))
    padded = [each for each in found(one, "NCHW16c").variants[-1] if each.makes[0].lane]  # type: ignore[union-attr]
    assert [[held.lane for held in each.makes if held] for each in padded] == [
        [Lane(0), Lane(None)]
    ]


def test_packed_weights_hold_zeros() -> None:
    one = graph("y = Conv(x, w, b)", x=[1, 20, 6, 5], w=(20, 20, 1, 1), b=(20,))
    text = """
        layout V(o) = [o/16, o%16]
        op Conv(x: NCHW16c, w: OIhw16i16o, b?: V) -> NCHW16c
        prefer Conv = NCHW16c
    """
    (only,) = found(one, text).variants[0]
    assert [each.lane for each in only.takes if each is not None] == [Lane(0)] * 3
    assert [str(each.placing) for each in only.takes[1:] if each is not None] == [
        "[d0/16%2, d1%32, d0%16]",
        "[d0%32]",
    ]


@pytest.mark.parametrize(
    ("zeros", "how", "fill"), [([3] * 8, "anchor", 3), ([3] * 7 + [4], "written", None)]
)
def test_quantised_weights_are_packed_with_their_zero(
    zeros: list[int], how: str, fill: int | None
) -> None:
    """Where each channel has a zero of its own there is none to pack, and no kernel to run."""
    one = graph(
        """
        q = QuantizeLinear(x, s, z)
        r = QLinearConv(q, s, z, w, t, u, s, z)
        y = DequantizeLinear(r, s, z)
        """,
        x=[1, 20, 3, 3],
        s=np.array(0.5, "f4"),
        z=np.array(7, "u1"),
        w=np.ones((8, 20, 1, 1), "u1"),
        t=np.ones(8, "f4"),
        u=np.array(zeros, "u1"),
    )
    text = "op QLinearConv(x: NCHW16c, w: OIhw16i16o) -> NCHW16c\nprefer QLinearConv = NCHW16c"
    some = found(one, text)
    (only,) = some.variants[1]
    assert only.how == how
    assert bool(some.anchors[1]) is (how == "anchor")
    if only.takes[3] is not None and fill is not None:
        assert only.takes[3].lane == Lane(fill)
        assert only.makes[0] is not None
        assert only.makes[0].lane == Lane(7)


@pytest.mark.parametrize("layout", ENGINES)
def test_every_lane_in_use_is_finite_or_asked_for(layout: str) -> None:
    """Nothing that a sum reads is no number."""
    one = graph(
        "v = Conv(x, w)\na = Log(v)\nb = Div(a, a)\nc = Conv(b, v2)\ny = Exp(c)",
        x=[1, 4, 6, 5],
        w=(20, 4, 1, 1),
        v2=(12, 20, 1, 1),
    )
    some = found(one, layout)
    assert all(is_finite(each.takes[0].lane) for each in some.variants[3] if each.takes[0])
