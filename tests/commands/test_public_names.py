"""What docstrings name can be imported from `layoutdsl`, and a type checker knows its types."""

from __future__ import annotations

import builtins
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import layoutdsl

RESULTS = (
    *("Checked", "Compiled", "Conversion", "Cost", "Engine", "Group", "Inspected"),
    *("RecordConversion", "RecordCost", "RecordModule", "Rule", "Verified"),
)


def raised(documented: str) -> set[str]:
    """The exceptions that the section `Raises:` of a docstring names."""
    found = set[str]()
    for section in re.findall(r"^ *Raises:\n((?: +.*\n?)+)", documented, re.MULTILINE):
        found |= set(re.findall(r"\b[A-Z]\w*Error\b", section))
    return found


def documented() -> dict[str, str]:
    """Every docstring of a public function, class or method, by its name."""
    found = dict[str, str]()
    for name in layoutdsl.__all__:
        value = getattr(layoutdsl, name)
        found[name] = inspect.getdoc(value) or ""
        for own, each in vars(value).items() if inspect.isclass(value) else ():
            if own == "__init__" or (own[0] != "_" and inspect.isroutine(each)):
                found[f"{name}.{own}"] = inspect.getdoc(getattr(value, own)) or ""
    return found


def test_documented_exceptions_can_be_imported() -> None:
    known = {*layoutdsl.__all__, *dir(builtins)}
    missing = {name: raised(text) - known for name, text in documented().items()}
    assert {name: each for name, each in missing.items() if each} == {}
    assert len(set().union(*map(raised, documented().values()))) > 12


@pytest.mark.parametrize("name", RESULTS)
def test_result_types_can_be_imported(name: str) -> None:
    assert name in layoutdsl.__all__
    assert inspect.isclass(getattr(layoutdsl, name))


@pytest.mark.slow
def test_names_are_fetched_when_they_are_used() -> None:
    program = (
        "import sys, layoutdsl\n"
        "print([name for name in sys.modules if name.startswith('layoutdsl.')])\n"
        "layoutdsl.Rule, layoutdsl.Engine, layoutdsl.TooLittleError, layoutdsl.UnfitModelError\n"
        "print([name for name in ('numpy', 'onnx', 'z3', 'lark') if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\n")[0] == "[]"


SNIPPET = """\
import numpy as np
import layoutdsl

x = np.ones((2, 20, 3, 4))
module = layoutdsl.parse("layout A(n, c) = [n, c]")
reveal_type(layoutdsl.compile("NCHW16c").pack(x))
reveal_type(layoutdsl.compile(layoutdsl.library("NCHW16c"), "native").unpack(x, (2, 20, 3, 4)))
reveal_type(layoutdsl.convert("NCHW16c", "NHWC")(x, (2, 20, 3, 4)))
reveal_type(layoutdsl.pack("NCHW16c", x))
reveal_type(layoutdsl.unpack("NCHW16c", x, (2, 20, 3, 4)))
reveal_type(layoutdsl.library("NCHW16c").pack(x))
reveal_type(module.layouts["A"].pack(x))
reveal_type(layoutdsl.check("layout A(n) = [n]"))
reveal_type(layoutdsl.compile(layoutdsl.library_record("Q4_0")))
reveal_type(layoutdsl.cost("NCHW16c"))
moves: layoutdsl.Compiled = layoutdsl.compile("NCHW16c")
"""
REVEALED = [
    *["ndarray"] * 7,
    "tuple[layoutdsl.language.texts.source.Diagnostic, ...]",
    "RecordModule",
    "Cost",
]


@pytest.mark.slow
def test_mypy_knows_what_comes_out(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    (tmp_path / "use.py").write_text(SNIPPET)
    command = [sys.executable, "-m", "mypy", "--config-file=", "--strict", "--no-error-summary"]
    # Errors inside the package are the business of its own run of mypy.
    command += ["--follow-imports=silent", "--cache-dir", str(tmp_path / "cache"), "use.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    found = [line.partition("Revealed type is ")[2] for line in lines if "Revealed" in line]
    assert [line for line in lines if "Revealed" not in line] == []
    assert len(found) == len(REVEALED), done.stdout
    for line, type_ in zip(found, REVEALED, strict=True):
        assert type_.rpartition(".")[2].strip('"') in line
        assert "| Any" not in line
