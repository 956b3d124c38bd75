"""Models run with their weights beside them: the same results as with weights in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from onnx import helper, numpy_helper  # noqa: E402

from layoutdsl.graphs.running import onnx_run  # noqa: E402
from layoutdsl.graphs.running.onnx_run import SMALL, Effort, RunError, is_fed, run  # noqa: E402

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
    from layoutdsl.graphs.running.samples import added, far_apart

    terms = np.array([[1e4, -1e4, 1.0]], "f4")
    found, expected = np.array([[0.3334]]), np.array([[1 / 3]])
    assert far_apart(found, expected) > 1e-4
    assert far_apart(found, expected, added("ReduceMean", terms, expected)) < 1e-7
    assert added("ReduceSum", terms, expected) == 3 * added("ReduceMean", terms, expected)
    assert added("Relu", terms, expected) == added("ReduceMean", terms.astype("i4"), expected) == 0
    assert added("ReduceMean", terms * np.inf, expected) == 0
