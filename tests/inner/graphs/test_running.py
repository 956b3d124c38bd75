"""A model run some nodes at a time, its weights beside it, makes what it makes at once.

Models that need this are gigabytes large, so the limits are lowered to what a test can run.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import helper, numpy_helper  # noqa: E402
from propagate_fuzz import random_model  # noqa: E402
from small_graphs import proto  # noqa: E402

from layoutdsl.graphs.running import onnx_run  # noqa: E402
from layoutdsl.graphs.running import onnx_sections as sections  # noqa: E402
from layoutdsl.graphs.running.onnx_run import (  # noqa: E402
    NONE,
    SMALL,
    Effort,
    RunError,
    is_fed,
    run,
)
from layoutdsl.graphs.running.onnx_sections import run_in_sections  # noqa: E402
from layoutdsl.graphs.running.samples import added, far_apart  # noqa: E402


def given(model: Any) -> dict[str, Any]:
    drawn = np.random.default_rng(5)
    shapes = {
        each.name: [extent.dim_value for extent in each.type.tensor_type.shape.dim]
        for each in model.graph.input
    }
    return {name: drawn.standard_normal(shape).astype("f4") for name, shape in shapes.items()}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("most", [0, 1 << 11, 1 << 40])
def test_sections_make_what_the_whole_does(seed: int, most: int) -> None:
    model = random_model(seed)
    feeds, wanted = given(model), [each.name for each in model.graph.output]
    sizes = {name: 1000 for node in model.graph.node for name in node.output}
    found = run_in_sections(model, feeds, wanted, NONE, sizes, most)
    assert list(found) == wanted
    for name, expected in run(model, feeds, wanted).items():
        assert np.allclose(found[name], expected, 1e-4, 1e-4, equal_nan=True)


def test_what_inner_graphs_use_is_given_to_them() -> None:
    """Values and weights of the outer graph, by their names."""
    one = helper.make_graph(
        [helper.make_node("Add", ["a", "w"], ["then"])], "then", [],
        [helper.make_empty_tensor_value_info("then")],
    )  # fmt: skip
    other = helper.make_graph(
        [helper.make_node("Neg", ["x"], ["else"])], "else", [],
        [helper.make_empty_tensor_value_info("else")],
    )  # fmt: skip
    model = proto(
        "a = Relu(x)\nh = ReduceMax<keepdims=0>(a)\nc = Cast<to=9>(h)\ny = Neg(a)", x=[2, 3]
    )
    branch = helper.make_node("If", ["c"], ["i"], then_branch=one, else_branch=other)
    model.graph.node.insert(3, branch)
    model.graph.node[4].input[0] = "i"
    weights = {"w": np.arange(3, dtype="f4")}
    feeds = given(model)
    found = run_in_sections(model, feeds, ["y", "a"], weights, {}, 0)
    assert np.array_equal(found["y"], -(np.maximum(feeds["x"], 0) + weights["w"]))
    assert np.array_equal(found["a"], np.maximum(feeds["x"], 0))


def test_weights_are_asked_for_where_they_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "\n".join(f"v{k + 1} = MatMul(v{k}, w{k})" for k in range(8))
    drawn = np.random.default_rng(1)
    weights = {f"w{k}": drawn.standard_normal((16, 16)).astype("f4") for k in range(8)}
    model = proto(text, "v8", v0=[4, 16])
    held = list[int]()
    whole = sections.run_anyhow

    def watched(one: Any, feeds: Any, wanted: Any, own: Any, effort: Any) -> Any:
        held.append(len(own))
        assert len(feeds) == 1
        return whole(one, feeds, wanted, own, effort)

    monkeypatch.setattr(sections, "run_anyhow", watched)
    feeds = given(model)
    sizes = dict.fromkeys([*weights, *(f"v{k}" for k in range(9))], 1000)
    found = run_in_sections(model, feeds, ["v8"], weights, sizes, 4000)
    assert held == [2, 2, 2, 2]
    for each in weights.values():
        feeds["v0"] = feeds["v0"] @ each
    assert np.allclose(found["v8"], feeds["v0"], 1e-4)


def test_a_node_that_nothing_runs_is_said() -> None:
    model = proto("a = Relu(x)\ny = Neg(a)", x=[2, 3])
    model.graph.node[1].op_type = "Nothing"
    with pytest.raises(RunError, match="Nothing"):
        run_in_sections(model, given(model), ["y"], NONE, {}, 0)


def test_initialisers_that_a_model_has_are_those_of_its_sections() -> None:
    model = proto("a = Add(x, w)\ny = Mul(a, w)", x=[2, 3], w=(3,))
    feeds = given(model)
    weight = numpy_helper.to_array(model.graph.initializer[0])
    found = run_in_sections(model, feeds, ["y"], NONE, {}, 0)
    assert np.allclose(found["y"], (feeds["x"] + weight) * weight)


SHAPE = (24, 24)


def product(weights: dict[str, np.ndarray[Any, Any]]) -> Any:
    """A model of `y = x * w + b`, with weights in it."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"]),
        helper.make_node("Add", ["a", "b"], ["y"]),
    ]
    ends = [helper.make_tensor_value_info(name, 1, SHAPE) for name in ("x", "y")]
    held = [numpy_helper.from_array(each, name) for name, each in weights.items()]
    graph = helper.make_graph(nodes, "product", ends[:1], ends[1:], held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("effort", ["as it is", "optimised"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_weights_may_lie_beside_a_model(effort: Effort, order: Any) -> None:
    random = np.random.default_rng(7)
    x, w, b = (random.standard_normal(each).astype(np.float32) for each in (SHAPE, SHAPE, 24))
    weights = {"w": np.array(w, order=order), "b": b}
    assert [is_fed(each) for each in weights.values()] == [True, False]
    shell = product({})
    before = shell.SerializeToString()
    found = run(shell, {"x": x}, ["y"], effort, weights)["y"]
    assert np.array_equal(found, run(product(weights), {"x": x}, ["y"], effort)["y"])
    assert np.allclose(found, x @ w + b, atol=1e-4)
    assert shell.SerializeToString() == before


def test_a_weight_that_is_missing_is_an_error() -> None:
    x = np.zeros(SHAPE, np.float32)
    with pytest.raises(RunError):
        run(product({}), {"x": x}, ["y"], weights={"w": x})


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "int4", "object", "str"])
def test_what_numpy_has_no_type_for_stays_in_the_model(dtype: str) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = np.zeros(2 * SMALL, getattr(ml_dtypes, dtype, None) or np.dtype(dtype))
    assert not is_fed(array)


def test_a_kernel_that_has_to_know_its_weights_has_them_in_the_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    honest, tries = onnx_run._run_here, list[bool]()

    def strict(model: Any, feeds: Any, wanted: Any, effort: Any) -> Any:
        tries.append("w" in feeds)
        if "w" in feeds:
            raise ValueError("w must be a constant")
        return honest(model, feeds, wanted, effort)

    monkeypatch.setattr(onnx_run, "_run_here", strict)
    x = np.ones(SHAPE, np.float32)
    found = run(product({}), {"x": x}, ["y"], weights={"w": x, "b": x[0]})
    assert tries == [True, False]
    assert np.array_equal(found["y"], np.full(SHAPE, 25, np.float32))


def test_a_sum_whose_terms_cancel_is_held_against_what_was_added() -> None:
    """What is left of them is smaller than the rounding that their order makes."""
    terms = np.array([[1e4, -1e4, 1.0]], "f4")
    found, expected = np.array([[0.3334]]), np.array([[1 / 3]])
    assert far_apart(found, expected) > 1e-4
    assert far_apart(found, expected, added("ReduceMean", terms, expected)) < 1e-7
    assert added("ReduceSum", terms, expected) == 3 * added("ReduceMean", terms, expected)
    assert added("Relu", terms, expected) == added("ReduceMean", terms.astype("i4"), expected) == 0
    assert added("ReduceMean", terms * np.inf, expected) == 0
