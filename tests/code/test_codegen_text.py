"""The emitted text itself: golden modules, what it may say, and its head."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cli_shell import Shell, shell
from codegen_cases import BY_NAME, CASES, Case, emit, layout_of, module_of

import layoutdsl

__all__ = ["shell"]

GOLDEN = Path(__file__).parents[1] / "golden"
PROOFS = 'CERTIFICATE = "sha256:0123"'
"""In place of the hash of the proofs, which changes with the prover."""


@pytest.mark.parametrize("name", [pytest.param("NCHW16c", marks=pytest.mark.slow), "Xor"])
def test_golden_modules(name: str) -> None:
    """`LAYOUTDSL_REWRITE_GOLDEN=1` rewrites them; they are read in review."""
    case = BY_NAME[name]
    made = layoutdsl.generate(layout_of(case.text), source=case.text, validate=False)
    text = re.sub(r'^CERTIFICATE = "[0-9a-f]{64}"$', PROOFS, made.text, flags=re.MULTILINE)
    path = GOLDEN / f"{name}.py"
    if os.environ.get("LAYOUTDSL_REWRITE_GOLDEN") == "1":
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8")


@pytest.mark.slow
def test_text_is_the_same_in_every_process() -> None:
    names = ("Crouton", "Nested", "Skew")
    here = [emit(BY_NAME[name].text).text for name in names]
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from codegen_cases import BY_NAME, emit\n"
        "sys.stdout.write('\\0'.join(emit(BY_NAME[n].text).text for n in sys.argv[2:]))"
    )
    there = subprocess.run(
        [sys.executable, "-c", program, str(GOLDEN.parent / "support"), *names],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    assert there.split("\0") == here


@pytest.mark.sampled(9)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_function_is_typed_and_little_is_imported(case: Case) -> None:
    tree = ast.parse(emit(case.text).text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            assert node.returns is not None
            assert all(each.annotation is not None for each in node.args.args)
    imports = [ast.unparse(n) for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)]
    assert imports == [
        "import math",
        "import operator",
        "from collections.abc import Iterator, Sequence",
        "from typing import Any, TypeAlias",
        "import numpy as np",
        "from numpy.typing import ArrayLike, NDArray",
    ]


class _Plain(ast.NodeTransformer):
    """Names of a formula in place of those of a function."""

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(node.id.removeprefix("n_").removeprefix("i_"), ast.Load())


@pytest.mark.sampled(8)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_offset_returns_the_printed_formula(case: Case, shell: Shell) -> None:
    """The function `offset` returns the very expression that `formula` prints."""
    Path("a.layout").write_text(f"{case.text}\nrefute {case.name}", encoding="utf-8")
    ended = shell("formula", f"a.layout:{case.name}", "--as", "python", "--json")
    assert ended.code == 0, ended.err
    printed = ast.parse(json.loads(ended.out)["offset"], mode="eval").body
    tree = ast.parse(emit(case.text).text)
    function = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "offset")
    last = function.body[-1]
    assert isinstance(last, ast.Return)
    assert last.value is not None
    assert ast.dump(_Plain().visit(last.value)) == ast.dump(printed)


def test_the_head_says_where_it_comes_from() -> None:
    text = 'layout Nasty(c) = [c]\n# """ \' \\ é'
    nasty = layout_of("layout Nasty(c) = [c]")
    module = layoutdsl.generate(nasty, source=text, validate=False).load()
    assert module.__name__ == "layoutdsl.generated.Nasty"
    assert (text, None) == (module.SOURCE, module.FALLBACK)
    assert re.fullmatch("[0-9a-f]{64}", module.CERTIFICATE)
    assert not module.VALIDATED
    assert module.__doc__ == "Nasty: pack and unpack tensors (C,). VALIDATED names its proof."


def test_a_fallback_says_why() -> None:
    twos = layout_of("layout Twos(i, j: 4) = [i, j ^ i%4]")
    made = layoutdsl.generate(twos, validate=False)
    module = made.load()
    assert made.fallback == "`j ^ i%4` is not a digit of an axis"
    assert made.fallback == module.FALLBACK


@pytest.mark.parametrize("name", ["lambda", "import", "np", "slice"])
def test_names_that_python_knows_are_harmless(name: str) -> None:
    module = module_of(f"layout Keyword({name}, c) = [c/4, {name}, c%4]")
    assert module.physical_shape((3, 5)) == (2, 3, 4)
