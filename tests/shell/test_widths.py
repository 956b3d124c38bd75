"""Help and tables follow the width of the terminal; 80 columns are enough."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from cli_shell import Shell, shell

import layoutdsl

__all__ = ["shell"]

COMMANDS = (
    *("tour", "check", "prove", "cost", "recheck", "formula", "generate", "pack", "unpack"),
    *("convert", "verify", "inspect", "propagate", "plan", "run", "bench", "tune", "where", "at"),
    *("show", "banks", "view", "diff", "translate", "identify", "probe", "explain", "list"),
    *("print", "completion", "format", "lsp"),
)
RULES = """\
tensor "**.k_proj.weight"(n, k) = [n/16, k/64, n%16, k%64]
tensor "**.v_proj.weight"(n, k) = [n/16, k/64, n%16, k%64]
"""
LONG = "model.language_model.layers.0.self_attn.k_proj.weight"


def at_width(shell: Shell, width: int, *words: str) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(width))
        return shell(*words).out


def test_every_command_is_here(shell: Shell) -> None:
    listed = shell("--help").out.partition("Commands:\n")[2].partition("\n\n")[0]
    assert tuple(re.findall(r"^  (\w+)", listed, re.MULTILINE)) == COMMANDS


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_80_columns_and_breaks_no_word(command: str, shell: Shell) -> None:
    words = [*filter(None, [command]), "--help"]
    narrow, wide = (at_width(shell, width, *words) for width in (80, 200))
    assert [line for line in narrow.splitlines() if len(line) > 80] == []
    assert set(narrow.split()) <= set(wide.split())
    assert max(map(len, wide.splitlines())) <= 98


@pytest.fixture
def packed(shell: Shell) -> str:
    """A packed file of weights, in the folder of `shell`."""
    assert shell("--version").code == 0
    tensors = {
        LONG: np.ones((40, 100), "f2"),
        "model.layers.0.v_proj.weight": np.ones((40, 100), "f2"),
        "norm": np.ones(7, "f4"),
    }
    np.savez("w.npz", **tensors)  # type: ignore[arg-type]
    module = layoutdsl.parse(RULES)
    layoutdsl.pack_weights("w.npz", "packed.npz", module)
    return "packed.npz"


@pytest.mark.sampled(4)
@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_inspect_folds_rows_that_are_too_long(width: int, shell: Shell, packed: str) -> None:
    out = at_width(shell, width, "inspect", packed)
    rows = out.partition("3 tensors of")[0]
    assert max(map(len, rows.splitlines())) <= max(width, len(LONG))
    assert set(rows.split()) == set(shell("inspect", packed).out.partition("3 tensors")[0].split())
    assert (len(rows.splitlines()) == 3) == (width >= 120)


def test_a_pipe_gets_one_row_a_line(shell: Shell, packed: str) -> None:
    assert len(shell("inspect", packed).out.partition("3 tensors of")[0].splitlines()) == 3


QUESTION = "htp:ChunkedMemoryLayout<4, 0,0, 1,0, 2,0, 3,0, 1,16>"


@pytest.mark.slow
@pytest.mark.parametrize("width", [80, 200])
def test_identify_says_the_question_once(width: int, shell: Shell) -> None:
    out = at_width(shell, width, "identify", QUESTION)
    first, *rows = out.splitlines()
    assert first == f"`{QUESTION}` is"
    assert QUESTION not in "".join(rows)
    assert rows[0] == "  equal        `NC1HWC0<16>`             for all shapes"
    assert max(map(len, rows)) <= width
    if width == 200:
        assert all(re.match(r"  equal( where| {6})  `", row) for row in rows)


def test_bench_fits_80_columns(shell: Shell) -> None:
    words = ["bench", "NCHW4c", "--shape", "1,8,4,4", "--rounds", "1", "--target", "numpy"]
    out = at_width(shell, 80, *words)
    rows = out.partition("\n\n")[2]
    assert [line for line in rows.splitlines() if len(line) > 80] == []
    assert rows.splitlines()[1] == "NCHW4c"
    wide = at_width(shell, 200, *words).partition("\n\n")[2]
    assert wide.splitlines()[1].startswith("NCHW4c   ")


@pytest.mark.parametrize("width", [80, 120])
def test_list_names_everything_by_family(width: int, shell: Shell) -> None:
    out = at_width(shell, width, "list")
    lines, summary = out.splitlines()[:-2], out.splitlines()[-1]
    assert max(map(len, lines)) <= width
    names = [name for line in lines if line.startswith("  ") for name in line.split()]
    module = layoutdsl.library_module()
    assert set(names) == set(module)
    assert summary.startswith(f"{len(module)} names; ")
    assert "cpu\n  nChw8c nChw16c" in out


def test_list_in_full(shell: Shell) -> None:
    full = shell("list", "--long").out
    assert full == shell("list", "--search", "", "--long").out
    entry = "  NCHW16c(n, c, h, w) = [n, c/16, h, w, c%16]"
    assert entry in full
    assert entry in shell("list", "NCHW16c").out
    assert entry in shell("list", "--search", "NCHW16c").out


def test_files_in_a_narrow_terminal_lose_nothing(shell: Shell, packed: str) -> None:
    out = at_width(shell, 20, "inspect", packed)
    assert LONG in out
    assert Path(packed).exists()
