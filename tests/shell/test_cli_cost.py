"""`cost`: in words, as a table, as JSON, and what is refused."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from cli_shell import Shell, shell
from texts import layout

import layoutdsl

__all__ = ["shell"]

WORDS = """\
NCHW16c: the slots that an element costs, for all shapes

  elements  N*C*H*W
  size      16*N*ceil(C/16)*H*W slots
            64*N*ceil(C/16)*H*W bytes of f32
  padding   16*N*ceil(C/16)*H*W - N*C*H*W slots
  ratio     16*ceil(C/16)/C

  at most     16, reached at N=1 C=1 H=1 W=1  (proved)
  at least    1, reached at N=1 C=16 H=1 W=1
  in the end  1, where all extents are large

at N=1 C=20 H=3 W=4
  elements  240
  size      384 slots, 1536 bytes of f32
  padding   144 slots, 37.5 % of the buffer
  ratio     1.6 (8/5)
    axis c  20 -> 32, times 1.6 (8/5)
"""

GAPS = """\
at N=1 H=2 W=3
  elements  6
  size      423 slots
  padding   414 slots, 97.9 % of the buffer
  ratio     70.5 (141/2)
    axis w  3 -> 6, times 2
    gaps    times 35
    before  3 slots before the first
"""


def test_in_words(shell: Shell) -> None:
    ended = shell("cost", "demo.layout:NCHW16c", "--shape", "1,20,3,4", "--of", "f32")
    assert (ended.code, ended.out, ended.err) == (0, WORDS, "")


def test_gaps_and_what_is_before(shell: Shell) -> None:
    out = shell("cost", "demo.layout:Gaps", "--shape", "1,2,3").out
    assert out.endswith(GAPS)
    assert "below 1 elements share slots" in out


def test_no_digits_and_an_element_type_of_the_layout(shell: Shell) -> None:
    overlapping = "tvm:lambda c, h: [c // 4, h, c % 8]"
    assert "not told apart" in shell("cost", overlapping, "--shape", "8,4").out
    assert "bytes of u4" in shell("cost", "demo.layout:Crouton").out


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("code", "line", "text"),
    [
        (0, "  at most   16, reached at C=1  (proved)", "(c) = [c/16, c%16] where C <= 99"),
        (0, "  at most     2, a limit: shapes come as near as one likes  (proved)",
         "(c) = [c : 2*C - 1]"),
        (0, "  at most   no bound: there are shapes for every ratio", "<k>(c) = [c/k, c%k]"),
        (0, "  at most   4, reached at N=1 C=1  (worked out, not proved)",
         "(n, c) = [(n, c)/4, (n, c)%4]"),
        (3, "  at most   undecided: 32 at H=2 W=1, and at most 64",
         "(h, w) = [h/8, w/8, h%8, w%8] where H == 2*W"),
        (3, "  at most   undecided: 1.941 (33/17) at C=34 k=33, and no bound was found",
         "<k>(c) = [c/k, c%k] where k <= C"),
        (0, "  at most   1, reached  (proved)", "(c: 8) = [c/4, c%4]"),
    ],
)  # fmt: skip
def test_the_worst_case_in_words(shell: Shell, code: int, line: str, text: str) -> None:
    ended = shell("cost", "-", stdin=f"layout L{text}".encode())
    assert (ended.code, ended.err) == (code, "")
    assert line in ended.out.splitlines()


def test_a_range(shell: Shell) -> None:
    out = shell("cost", "NCHW16c", "--where", "C >= 64").out
    assert out.startswith(
        "NCHW16c: the slots that an element costs, for all shapes where C >= 64\n"
    )
    assert "  at most     1.231 (16/13), reached at N=1 C=65 H=1 W=1  (proved)\n" in out


def test_several_in_a_table(shell: Shell) -> None:
    ended = shell("cost", "NCHW4c", "demo.layout:NCHW16c", "NCHWc", "--shape", "C=20,N=1,H=3,W=4")
    assert ended.code == 2
    ended = shell("cost", "NCHW4c", "demo.layout:NCHW16c", "--shape", "1,20,3,4", "--of", "f16")
    assert ended.out == (
        "at N=1 C=20 H=3 W=4\n"
        "layout   slots  bytes  padding  ratio      at most  at least\n"
        "NCHW4c   240    480    0        1          4        1\n"
        "NCHW16c  384    768    144      1.6 (8/5)  16       1\n"
    )
    assert shell("cost", "NCHW4c", "NCHWc").out == (
        "layout  at most   at least\nNCHW4c  4         1\nNCHWc   no bound  1\n"
    )


def test_json(shell: Shell) -> None:
    ended = shell("cost", "NCHW16c", "--shape", "1,20,3,4", "--of", "f32", "--json")
    (found,) = json.loads(ended.out)["costs"]
    assert len(found.pop("certificate")) == 64
    assert found == {
        "layout": "NCHW16c",
        "where": [],
        "elements": "N*C*H*W",
        "size": "16*N*ceil(C/16)*H*W",
        "padding": "16*N*ceil(C/16)*H*W - N*C*H*W",
        "ratio": "16*ceil(C/16)/C",
        "element": "f32",
        "bytes": "64*N*ceil(C/16)*H*W",
        "most": {
            "how": "reached",
            "value": {"exact": "16", "decimal": 16.0},
            "shape": {"N": 1, "C": 1, "H": 1, "W": 1},
            "beyond": None,
        },
        "least": {
            "how": "reached",
            "value": {"exact": "1", "decimal": 1.0},
            "shape": {"N": 1, "C": 16, "H": 1, "W": 1},
            "beyond": None,
        },
        "far": {"exact": "1", "decimal": 1.0},
        "proved": True,
        "at": {
            "shape": {"N": 1, "C": 20, "H": 3, "W": 4},
            "elements": 240,
            "size": 384,
            "before": 0,
            "padding": 144,
            "ratio": {"exact": "8/5", "decimal": 1.6},
            "bytes": 1536,
            "axes": [{"axis": "c", "extent": 20, "padded": 32}],
            "gaps": {"exact": "1", "decimal": 1.0},
            "copies": 1,
        },
    }


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        ("missing argument `FILE:NAME...`", []),
        ("`demo.layout` has", ["demo.layout"]),
        ("layout `NCHW16c` has extents (N, C, H, W); 2 were given", ["NCHW16c", "--shape", "1,2"]),
        ("there is no element type `f33`", ["NCHW16c", "--of", "f33"]),
        ("no shape of `NCHW16c` was found", ["NCHW16c", "--where", "C < 1"]),
        ("--where is empty", ["NCHW16c", "--where", " "]),
        ("error[L201]: `Q` is neither", ["NCHW16c", "--where", "Q < 1"]),
    ],
)
def test_what_is_refused(shell: Shell, message: str, arguments: list[str]) -> None:
    ended = shell("cost", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err


def test_from_python() -> None:
    found = layoutdsl.cost(layout("layout L(c) = [c/16, c%16]"), (20,), of="f32", where="C >= 17")
    assert found.most.value == Fraction(32, 17)
    assert found.at is not None
    assert (found.at.ratio, found.at.bytes) == (Fraction(8, 5), 128)
    with pytest.raises(ValueError, match="element type"):
        layoutdsl.cost(layout("layout L(c) = [c]"), of="f33")
