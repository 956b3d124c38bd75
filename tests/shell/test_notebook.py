"""Cells of a notebook, by IPython in this process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from layoutdsl import Layout, Record

pytest.importorskip("IPython", minversion="8")


@pytest.fixture
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A shell that writes nothing where the user's is."""
    before = os.environ.get("IPYTHONDIR")
    os.environ["IPYTHONDIR"] = str(tmp_path_factory.mktemp("ipython"))
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    settings = Config()
    settings.HistoryManager.enabled = False
    found = InteractiveShell(config=settings)
    found.run_line_magic("load_ext", "layoutdsl")
    yield found
    if before is None:
        del os.environ["IPYTHONDIR"]
    else:
        os.environ["IPYTHONDIR"] = before


def test_names_are_bound_and_used_by_later_cells(shell: Any) -> None:
    text = "layout A<k>(n, c) = [n, c/k, c%k]\nrecord R(r) = { d(r) = [r] of u8 }"
    assert shell.run_cell(f"%%layout\n{text}").success
    assert shell.run_cell("x = A(k=4).offset((0, 5), (1, 8))").success
    assert shell.user_ns["x"] == 5
    assert isinstance(shell.user_ns["R"], Record)
    assert (
        shell.run_cell("%%layout\nlayout B = A<8>\nprove B == NCHWc<8> where N == 1").success
        is False
    )
    assert shell.run_cell("%%layout\nlayout B = A<8>").success
    assert isinstance(shell.user_ns["B"], Layout)


def test_verdicts_are_shown(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert shell.run_cell(
        "%%layout prove\nlayout A(n) = [n/4, n%4]\nprove A keeps n%4 contiguous"
    ).success
    first, _, second, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith("proved     A for all shapes")
    assert second.startswith("proved     A keeps n%4 contiguous for all shapes")
    assert not shell.run_cell("%%layout prove\nlayout A(n) = [n/4, n%4]\nprove A == n + 1").success
    shown = capsys.readouterr()
    assert "refuted: the formula is not the offset of `A`\n  at shape N=1\n" in shown.out
    assert "not all of it is proved" in shown.err + shown.out


def test_a_fault_is_shown_with_its_place_and_binds_nothing(
    shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not shell.run_cell("%%layout\nlayout Good(n) = [n]\nlayout Bad(c) = [c/16, c%8]").success
    shown = capsys.readouterr()
    words = shown.err + shown.out
    assert "error[L202]: the digits of axis `c` leave a gap between 8 and 16" in words
    assert "2 | layout Bad(c) = [c/16, c%8]\n  |                  ^^^^ steps by 16" in words
    assert "Traceback" not in words
    assert "Good" not in shell.user_ns


def test_warnings_are_shown(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    warns = Path(__file__).parents[1] / "golden/diagnostics/L214-in-a-tuple.layout"
    assert shell.run_cell(f"%%layout\n{warns.read_text()}").success
    assert "warning[L214]" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("%%layout proof\nprove NCHW", "`proof` is no way to read a cell"),
        ("%%layout\nlayout In(n) = [n]", "`In` is a name of IPython itself"),
    ],
)
def test_what_is_refused(
    shell: Any, capsys: pytest.CaptureFixture[str], cell: str, message: str
) -> None:
    assert not shell.run_cell(cell).success
    shown = capsys.readouterr()
    assert message in shown.err + shown.out
