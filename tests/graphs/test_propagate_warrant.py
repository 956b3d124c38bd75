"""What a model says of its plan: written and read back, and anything else refused in a sentence."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from layoutdsl.graphs.checking.warrant import UnreadableWarrantError, Warrant, read, written

SOUND = Warrant(
    engine="prefer Conv = NHWC",
    rules="00ff",
    shapes={"x": (1, 3, 8, 8)},
    inputs={"x": "NHWC"},
    outputs={},
    choice="first",
    kind="functions",
    chosen=(0, 2, 1),
    cost=1500,
    bound=1500,
    scale=1,
    rows=6,
    dual={0: 1500, 4: -1500},
)


def test_it_is_read_as_it_was_written() -> None:
    assert read(written(SOUND)) == SOUND
    assert read(written(replace(SOUND, kind="plain", choice="any"))).kind == "plain"
    assert SOUND.numbers == (1500, 0, 0, 0, -1500, 0)


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
def test_whatever_else_it_says_is_refused(key: str, value: Any) -> None:
    said = {**json.loads(written(SOUND)), key: value}
    with pytest.raises(UnreadableWarrantError, match="the certificate"):
        read(json.dumps(said))


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", '{"version": 1}', "[" * 100_000])
def test_no_text_ends_in_an_error_of_another_kind(text: str) -> None:
    with pytest.raises(UnreadableWarrantError):
        read(text)


@pytest.mark.parametrize("fault", ["dual", "scale", "bound"])
def test_a_dual_that_was_changed_to_prove_less_is_refused(fault: str, tmp_path: Any) -> None:
    """It is still a lower bound, and not the one that the plan was said to have."""
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("scipy")
    from small_models import written as model_written

    from layoutdsl.commands import check_model, propagate
    from layoutdsl.graphs.checking.warrant import KEY

    place = model_written(tmp_path)
    found = propagate(place, "nhwc", verify="off")
    assert found.figures.minimal
    model = found.model
    entry = next(each for each in model.metadata_props if each.key == KEY)
    said = json.loads(entry.value)
    match fault:
        case "dual":
            row = max(said["dual"], key=lambda each: said["dual"][each])
            said["dual"][row] -= 1000
        case "scale":
            said["scale"] *= 2
        case _:
            said["bound"] -= 500
    entry.value = json.dumps(said, sort_keys=True)
    onnx.save(model, tmp_path / "out.onnx")
    faults = check_model(tmp_path / "out.onnx", place).faults
    assert faults
    assert any("proves" in each for each in faults), faults
