"""``bench --propagate``: counts beside onnxruntime's; nothing here is about times."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cli_shell import Shell, shell
from models import convolutions

__all__ = ["shell"]

onnx = pytest.importorskip("onnx", exc_type=ImportError)
pytest.importorskip("scipy", exc_type=ImportError)


@pytest.fixture
def model(tmp_path: Path) -> str:
    place = tmp_path / "two.onnx"
    onnx.save(convolutions((3, 20, 8)), place)
    return str(place)


@pytest.mark.slow
def test_a_model_is_a_row(shell: Shell, model: str) -> None:
    ended = shell("bench", "--propagate", model, "--rounds", "2", "--json")
    assert (ended.code, ended.err) == (0, "")
    (row,) = json.loads(ended.out)["models"]
    assert (row["model"], row["nodes"]) == ("two", 3)
    assert (row["last"]["alone"], row["last"]["left"], row["last"]["minimal"]) == (4, 2, True)
    assert (row["blocked"]["left"], row["blocked"]["minimal"]) == (1, True)
    assert (row["transposes"], row["plain"]) == (0, 0)


@pytest.mark.parametrize(("form", "starts"), [((), "two"), (("--markdown",), "| two")])
def test_as_a_table(shell: Shell, model: str, form: tuple[str, ...], starts: str) -> None:
    ended = shell("bench", "--propagate", model, "--rounds", "2", *form)
    assert ended.code == 0
    (row,) = [line for line in ended.out.splitlines() if line.startswith(starts)]
    words = re.findall(r"[\w.~-]+", row)
    assert words[:5] == ["two", "4", "~0", "2", "~0"]


def test_what_is_no_model_ends_it(shell: Shell, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.onnx"
    wrong.write_bytes(b"no model")
    for place in (wrong, tmp_path / "missing.onnx"):
        ended = shell("bench", "--propagate", str(place))
        assert ended.code == 4
        assert str(place) in ended.err
