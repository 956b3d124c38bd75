"""L219: `where c % 16 == 0` is a condition on an index, and was meant for the extent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_shell import Shell, shell

import layoutdsl
from layoutdsl import parse

__all__ = ["shell"]

MEANT_FOR_EXTENTS = [
    # a declaration, and the condition to write instead
    ("A(n, c) = [n, c/16, c%16] where c % 16 == 0", "C % 16 == 0"),
    ("A(n, c) = [n, c/16, c%16] where N >= 2, c%16 == 0", "C%16 == 0"),
    ("A(n, c) = [n, c] where 0 == c % 4", "0 == C % 4"),
    ("A(n, c) = [n, c] where c == 64", "C == 64"),
    ("A(n, c: N) = [n, c] where n%2 == 1", "N%2 == 1"),
    ("A(n, c: M) = [n, c] where c%2 == 0", "M%2 == 0"),
    ("A<k>(n, c) = [n, c/k, c%k] where c % k == 0", "C % k == 0"),
    ("A<k>(n, c) = [n, c/k, c%k] where c % (2*k) == 0", "C % (2*k) == 0"),
    ("A = NCHW where c % 4 == 0", "C % 4 == 0"),
    ('A(n, c, h, w) = onednn "nchw" where c % 4 == 0', "C % 4 == 0"),
]
MEANT_AS_THEY_STAND = [
    "A(i: N, j: N) = [i, j] where j <= i",
    "A(i: N, j: N) = [i, j] where i%2 == j%2",
    "A(i: N, j: N) = [i, j] where i == j",
    "A(n, c) = [n, c] where c == C - 1",
    "A(n, c) = [n, c] where c % C == 0",
    "A(n, c) = [n, c] where c < 8",
    "A(n, c) = [n, c] where c >= 1, c != 3",
    "A(n, c) = [n, c] where c%16 in 0..0",
    "A(n, c) = [n, c] where n + c == 4",
    "A(n, c: 32) = [n, c] where c % 16 == 0",
    "A(n, c) = [n, c] where C % 16 == 0, N == 1",
    "A(n, c) = [n, c%4] where c % 16 == 0\nrefute A",
]


def warnings(text: str) -> list[str]:
    found = parse(f"layout {text}").warnings
    return [str(each) for said in found.values() for each in said if each.code == "L219"]


@pytest.mark.parametrize(("text", "instead"), MEANT_FOR_EXTENTS)
def test_the_extent_is_proposed(text: str, instead: str) -> None:
    (warning,) = warnings(text)
    assert f"= help: write `{instead}`; for these elements alone, write `" in warning
    written = text.rpartition("where ")[2].split(", ")[-1]
    assert not warnings(text.replace(written, instead))
    kept = warning.rpartition("write `")[2].partition("`")[0]
    same = text.replace(written, kept)
    assert not warnings(same)
    shape = (6, 64)
    if "<k>" not in text and "onednn" not in text and "NCHW" not in text:
        one, other = (parse(f"layout {each}")["A"] for each in (text, same))
        if not one.where:
            shape = (64, 64) if len(one.symbols) == 1 else shape
            assert one.elements(shape) == other.elements(shape)


@pytest.mark.parametrize("text", MEANT_AS_THEY_STAND)
def test_domains_are_not_doubted(text: str) -> None:
    assert not warnings(text)


def test_the_library_is_not_doubted() -> None:
    assert not layoutdsl.library_module().warnings


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "line",
    [
        "check my.layout",
        "prove my.layout",
        "prove my.layout:Slip",
        "formula my.layout:Slip",
        "where my.layout:Slip --shape 2,32 --index 0,16",
        "show my.layout:Slip --shape 1,16",
        "cost my.layout:Slip",
        "print my.layout",
        "generate my.layout:Slip -o .",
        "diff my.layout:Slip NC",
    ],
)
def test_every_verb_warns(shell: Shell, line: str) -> None:
    Path("my.layout").write_text("layout Slip(n, c) = [n, c] where c % 16 == 0\n")
    ended = shell(*line.split())
    assert "warning[L219]: `where` keeps only some elements along the axis `c`" in ended.err
    assert "= help: write `C % 16 == 0`;" in ended.err


def test_json_has_the_warning(shell: Shell) -> None:
    Path("my.layout").write_text("layout Slip(n, c) = [n, c] where c % 16 == 0\n")
    ended = shell("check", "my.layout", "--json")
    (found,) = json.loads(ended.out)["diagnostics"]
    assert (found["code"], found["severity"]) == ("L219", "warning")
