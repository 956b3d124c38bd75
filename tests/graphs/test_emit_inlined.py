"""`--emit inlined`: a model without functions, for runtimes that know none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_shell import Shell, shell

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
pytest.importorskip("scipy")

from onnx import helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402
from propagate_fuzz import random_model  # noqa: E402
from propagate_odd import odd_model  # noqa: E402
from small_models import network, written  # noqa: E402

from layoutdsl import check_model, propagate  # noqa: E402

__all__ = ["shell"]

FEW, MANY = 6, 400


def feeds(model: Any, batch: int = 2) -> dict[str, Any]:
    drawn, known = np.random.default_rng(9), {each.name for each in model.graph.initializer}
    return {
        each.name: drawn.standard_normal(
            [extent.dim_value or batch for extent in each.type.tensor_type.shape.dim]
        ).astype("f4")
        for each in model.graph.input
        if each.name not in known
    }


def is_plain(model: Any) -> bool:
    """Whether nothing in a model is of layoutdsl's own domain, and the package onnx takes it."""
    onnx.checker.check_model(model, full_check=True)
    domains = {each.domain for each in (*model.opset_import, *model.graph.node)}
    return not model.functions and domains <= {""}


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("engine", ["nhwc", "blocked16"])
@pytest.mark.parametrize("batch", [2, "n"])
def test_a_model_without_functions_is_written(engine: str, batch: int | str, shell: Shell) -> None:
    """OpenVINO and TVM refuse functions of a domain that they do not know."""
    written(Path(), batch=batch)
    ended = shell(
        "propagate", "model.onnx", "--engine", engine, "--emit", "inlined", "-o", "o.onnx"
    )
    assert (ended.code, ended.err) == (0, "")
    assert "in functions" not in ended.out
    made = onnx.load("o.onnx")
    assert is_plain(made)
    count = sum(each.op_type == "Transpose" for each in made.graph.node)
    assert f"Transpose 0 -> {count}" in ended.out
    given = feeds(network(batch=batch), 3)
    expected = ReferenceEvaluator(network(batch=batch)).run(None, given)[0]
    session = ort.InferenceSession("o.onnx", providers=["CPUExecutionProvider"])
    for found in (session.run(None, given)[0], ReferenceEvaluator(made).run(None, given)[0]):
        assert np.allclose(found, expected, atol=1e-4)
    assert shell("propagate", "--check", "o.onnx", "--against", "model.onnx").code == 0
    made.graph.node[-1].op_type = "Identity"
    onnx.save(made, "o.onnx")
    assert shell("propagate", "--check", "o.onnx", "--against", "model.onnx").code == 1


@pytest.mark.slow
def test_names_like_those_of_inlined_bodies_are_told_apart(tmp_path: Path) -> None:
    model, place, out = network(), tmp_path / "model.onnx", tmp_path / "out.onnx"
    renamed = {"x": "c0__1", "w1": "t0__1", "a": "x_0__1", "w2": "c1__2", "r": "y_plain__1"}
    for node in model.graph.node:
        for names in (node.input, node.output):
            names[:] = [renamed.get(each, each) for each in names]
    for each in (*model.graph.input, *model.graph.initializer):
        each.name = renamed.get(each.name, each.name)
    onnx.save(model, place)
    found = propagate(place, "blocked16", emit="inlined")
    assert found.status == "done"
    found.write(out)
    made, given = onnx.load(out), feeds(model)
    assert is_plain(made)
    one, other = (ReferenceEvaluator(each).run(None, given)[0] for each in (model, made))
    assert np.allclose(one, other, atol=1e-4)
    assert check_model(out, place).holds


def test_functions_of_the_models_own_are_inlined_too(tmp_path: Path) -> None:
    place, out = tmp_path / "model.onnx", tmp_path / "out.onnx"
    model = network()
    next(each for each in model.graph.node if each.name == "relu").domain = "com.acme"
    opsets = [helper.make_opsetid("", 17)]
    body = [helper.make_node("Relu", ["a"], ["b"])]
    model.functions.append(helper.make_function("com.acme", "Relu", ["a"], ["b"], body, opsets))
    model.opset_import.append(helper.make_opsetid("com.acme", 1))
    onnx.save(model, place)
    engine = tmp_path / "engine.layout"
    engine.write_text("rule com.acme::Relu(x[..]) -> [..]\nprefer Conv = NHWC\n", encoding="utf-8")
    found = propagate(place, engine, emit="inlined")
    assert found.status == "done"
    found.write(out)
    assert is_plain(onnx.load(out))


def tried(seed: int, folder: Path, draw: Callable[[int], Any]) -> None:
    place, out, model = folder / "model.onnx", folder / "out.onnx", draw(seed)
    onnx.save(model, place)
    found = propagate(place, ("nhwc", "blocked16")[seed % 2], emit="inlined")
    assert found.status != "refuted", (seed, found.verified)
    found.write(out)
    assert is_plain(onnx.load(out))
    assert check_model(out, place).faults == ()


@pytest.mark.slow
@pytest.mark.parametrize("draw", [random_model, odd_model])
def test_drawn_graphs_are_written_without_functions(
    draw: Callable[[int], Any], tmp_path: Path
) -> None:
    for seed in range(FEW):
        tried(seed, tmp_path, draw)


@pytest.mark.campaign
@pytest.mark.parametrize("draw", [random_model, odd_model])
def test_many_drawn_graphs_are_written_without_functions(
    draw: Callable[[int], Any], tmp_path: Path
) -> None:
    for seed in range(MANY):
        tried(seed, tmp_path, draw)
