"""`layoutdsl.check` reports what the command `check` reports; the earlier meaning warns."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_shell import Shell, shell

import layoutdsl

__all__ = ["shell"]

TEXTS = {
    "well formed": "layout A(n, c) = [n, c/16, c%16]\n",
    "empty": "",
    "a gap": "layout A(n, c) = [n, c/16]\n",
    "two errors": "layout A(n, c) = [n, c/16]\nlayout B(n) = [m]\n",
    "a warning": "layout A(n, c) = [n, c] where c % 16 == 0\n",
    "no layout": "layout A(n",
}


@pytest.mark.parametrize("case", TEXTS)
def test_as_the_command_does(case: str, shell: Shell) -> None:
    Path("a.layout").write_text(TEXTS[case])
    found = layoutdsl.check(TEXTS[case], name="a.layout")
    printed = json.loads(shell("check", "a.layout", "--json").out)
    assert [each.as_json() for each in found] == printed["diagnostics"]
    assert any(each.severity == "error" for each in found) == (printed["status"] != "ok")


def test_what_is_no_text() -> None:
    with pytest.raises(TypeError, match="`text` is an int, and has to be a text"):
        layoutdsl.check(3)  # type: ignore[call-overload]


CALLS: list[Callable[..., Any]] = [
    layoutdsl.check,
    lambda out, model: layoutdsl.check(out, against=model),
    lambda out, model: layoutdsl.check(out=out, against=model),  # type: ignore[call-overload]
]


@pytest.mark.parametrize("call", CALLS)
def test_two_models_warn_and_are_checked(call: Callable[..., Any], tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    said = r"models are checked by `layoutdsl.check_model\(out, against\)`"
    with pytest.warns(DeprecationWarning, match=said), pytest.raises(FileNotFoundError):
        call(tmp_path / "out.onnx", tmp_path / "model.onnx")
