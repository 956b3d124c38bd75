"""The wheel, installed into an environment of its own and used from elsewhere, without a network.

The packages that ours needs are lent from this environment; ours itself must come from the wheel.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import click
import pytest

import layoutdsl

CHECKOUT = Path(layoutdsl.__file__).parent.parent

pytest.importorskip("hatchling", reason="the wheel is built by hatchling, which is not here")
pytestmark = pytest.mark.skipif(
    not (CHECKOUT / "pyproject.toml").is_file(), reason="this is no checkout to build from"
)

DEMO = "layout Demo(c, h) = [c/4, h, c%4]\nprove Demo == (c/4*H + h)*4 + c%4\n"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder]
    subprocess.run(build, cwd=CHECKOUT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def elsewhere(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel unpacked in it, and a folder to run in."""
    folder = tmp_path_factory.mktemp("elsewhere")
    venv.create(folder / "venv", with_pip=False)
    (packages,) = (folder / "venv").glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    # A path file runs no other path file, so our own editable installation stays behind.
    (packages / "lent.pth").write_text(str(Path(click.__file__).parent.parent), encoding="utf-8")
    (folder / "demo.layout").write_text(DEMO, encoding="utf-8")
    return folder


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [str(folder / "venv/bin/python"), *words]
    return subprocess.run(
        command, cwd=folder, env=clean, text=True, capture_output=True, check=False
    )


@pytest.mark.slow
def test_wheel_holds_the_folders_beside_the_package(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for needed in (
        "layoutdsl/py.typed",
        "layoutdsl/grammar/layout.lark",
        "layoutdsl/grammar/errors.md",
        "layoutdsl/grammar/tables/layout.json",
        "layoutdsl/language/library/blocked.layout",
        "layoutdsl/proofs/blocked/NCHW16c.json",
        "layoutdsl/proofs/lemmas.smt2",
    ):
        assert needed in names
    assert not [name for name in names if name.startswith("tests/")]


@pytest.mark.slow
def test_the_package_is_the_wheel(elsewhere: Path) -> None:
    found = run(elsewhere, "-c", "import layoutdsl; print(layoutdsl.__file__)")
    assert found.stdout.startswith(str(elsewhere))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--help"], "Usage"),
        (["check", "demo.layout"], ""),
        (["where", "NCHW16c", "--shape", "2,20,3,4", "--index", "1,17,2,3"], "753"),
        (["formula", "R4CroutonLayout", "--as", "python"], "h//8"),
        (["explain", "L202"], "gap"),
        (["recheck", "NCHW16c"], "2 confirmed"),
    ],
    ids=lambda each: each[0] if isinstance(each, list) else None,
)
def test_shell(elsewhere: Path, words: list[str], said: str) -> None:
    found = run(elsewhere, "-m", "layoutdsl", *words)
    assert (found.returncode, found.stderr) == (0, "")
    assert said in found.stdout


@pytest.mark.slow
def test_python(elsewhere: Path) -> None:
    program = """\
import json, layoutdsl
module = layoutdsl.parse(open("demo.layout").read())
nchw16c = layoutdsl.library("NCHW16c")
from layoutdsl.graphs.engine_text import engine_called
kernels = len(engine_called("blocked16").kernels)
print(json.dumps([list(module), nchw16c.offset((1, 17, 2, 3), (2, 20, 3, 4)), kernels]))
"""
    found = run(elsewhere, "-c", program)
    assert found.stderr == ""
    assert json.loads(found.stdout) == [["Demo"], 753, 4]


RIGHT = """\
from pathlib import Path

import numpy as np

import layoutdsl

module: layoutdsl.Module = layoutdsl.parse("layout A(n, c) = [c, n]")
layout: layoutdsl.Layout = module["A"].with_parameters()
offset: int = layout.offset((1, 2), (3, 4))
report: layoutdsl.Report = layoutdsl.prove(module, print)
status: str = report.status
code = layoutdsl.compile(layoutdsl.library("NCHW16c"), "numpy")
packed = code.pack(np.zeros((2, 20, 3, 4)))
made: Path = layoutdsl.generate(layout).write("a.py")
found: layoutdsl.Difference = layoutdsl.diff(layout, layoutdsl.from_notation("onednn", "ba"))
if isinstance(found, layoutdsl.Equal):
    print(found.certificate, found.queries)
for match in layoutdsl.identify(layout):
    print(match.name.upper())
try:
    layoutdsl.load(Path("demo.layout"))
except layoutdsl.LayoutError as error:
    print(error.diagnostics[0].code)
"""
WRONG = """\
import layoutdsl

layout = layoutdsl.library("NCHW16c")
offset: str = layout.offset((0, 0, 0, 0), (1, 1, 1, 1))
layoutdsl.prov(layout)
layoutdsl.prove(layout).stat
layoutdsl.compile(layoutdsl.library_module())
layoutdsl.compile(layout, "fpga")
"""
MISTAKES = ["4: [assignment]", "5: [attr-defined]", "6: [attr-defined]"]
MISTAKES += ["7: [call-overload]", "8: [call-overload]"]


@pytest.mark.slow
def test_types(elsewhere: Path) -> None:
    """What is installed tells a strict type checker all, and lets it find what is wrong."""
    pytest.importorskip("mypy", reason="mypy is not here")
    (elsewhere / "right.py").write_text(RIGHT, encoding="utf-8")
    (elsewhere / "wrong.py").write_text(WRONG, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(elsewhere / "cache")]
    command += ["--python-executable", str(elsewhere / "venv/bin/python"), "right.py", "wrong.py"]
    found = subprocess.run(command, cwd=elsewhere, text=True, capture_output=True, check=False)
    assert found.stderr == ""
    *lines, _ = [line for line in found.stdout.splitlines() if ": note: " not in line]
    assert [re.sub(r"wrong\.py:(\d+): error: .* ", r"\1: ", line) for line in lines] == MISTAKES
