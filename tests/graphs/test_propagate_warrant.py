"""What a model says of its plan: written and read back, and anything else refused in a sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeAlias

import pytest

Planned: TypeAlias = tuple[Path, Any, dict[str, Any]]

onnx = pytest.importorskip("onnx")
pytest.importorskip("scipy")

from small_models import written  # noqa: E402

from layoutdsl import check_model, propagate  # noqa: E402

KEY = "layoutdsl.certificate"


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Planned:
    """A model, what became of it, and the certificate in that."""
    place = written(tmp_path_factory.mktemp("planned"))
    found = propagate(place, "nhwc", verify="off", shapes={"x": (2, 3, 8, 8)})
    assert found.figures.minimal
    return place, found.model, json.loads(found.certificate)


def faults(planned: Planned, text: str, folder: Path) -> tuple[str, ...]:
    """What is wrong with the model where its certificate is this text."""
    place, model, _ = planned
    wrong = onnx.ModelProto.FromString(model.SerializeToString())
    next(each for each in wrong.metadata_props if each.key == KEY).value = text
    onnx.save(wrong, folder / "out.onnx")
    found: tuple[str, ...] = check_model(folder / "out.onnx", place).faults
    return found


def test_the_certificate_says_what_was_asked_for(planned: Planned, tmp_path: Path) -> None:
    _, model, said = planned
    assert [each.key for each in model.metadata_props] == [KEY]
    asked = {"shapes": {"x": [2, 3, 8, 8]}, "choice": "first", "kind": "functions"}
    assert {key: said[key] for key in asked} == asked
    assert said["cost"] == said["bound"]
    assert faults(planned, json.dumps(said), tmp_path) == ()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("version", 1),
        ("rows", -1),
        ("rows", 10**12),
        ("rows", 4),
        ("rows", True),
        ("cost", 1.5),
        ("cost", "1500"),
        ("dual", {"x": 1}),
        ("dual", {"9": 1}),
        ("dual", [1, 2]),
        ("dual", {"1": 0.5}),
        ("chosen", None),
        ("chosen", ["a"]),
        ("shapes", {"x": "1,3"}),
        ("shapes", []),
        ("engine", None),
        ("inputs", {"x": 3}),
        ("choice", "best"),
        ("kind", "../out"),
        ("more", 1),
    ],
)
def test_whatever_else_it_says_is_refused(
    key: str, value: Any, planned: Planned, tmp_path: Path
) -> None:
    (fault,) = faults(planned, json.dumps({**planned[2], key: value}), tmp_path)
    assert "the certificate" in fault


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", '{"version": 1}', "[" * 100_000])
def test_no_text_ends_in_an_error_of_another_kind(
    text: str, planned: Planned, tmp_path: Path
) -> None:
    assert faults(planned, text, tmp_path)


@pytest.mark.parametrize("fault", ["dual", "scale", "bound"])
def test_a_dual_that_was_changed_to_prove_less_is_refused(
    fault: str, planned: Planned, tmp_path: Path
) -> None:
    """It is still a lower bound, and not the one that the plan was said to have."""
    said = json.loads(json.dumps(planned[2]))
    match fault:
        case "dual":
            row = max(said["dual"], key=lambda each: said["dual"][each])
            said["dual"][row] -= 1000
        case "scale":
            said["scale"] *= 2
        case _:
            said["bound"] -= 500
    found = faults(planned, json.dumps(said, sort_keys=True), tmp_path)
    assert any("proves" in each for each in found), found
