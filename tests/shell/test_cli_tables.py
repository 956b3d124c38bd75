"""Tables on the command line: the verbs that take them, and those that say why they do not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_shell import Shell, shell, timeless

__all__ = ["shell"]

SPEC = """\
layout Kernel(n, h, w, c) = [(n, h/4), (c, w), h%4]
table Published(n, h, w, c)[j: N*ceil(H/4), i: W*C, k: 4] = \
(n = j%N, h = j/H*4 + k, w = i%W, c = i/W)
table Blocked<k>(c)[i: ceil(C/k), l: k] = (c = i*k + l)
refute Published inverts Kernel
prove Published where N == H
"""


@pytest.fixture
def spec(shell: Shell) -> Shell:
    Path("my.layout").write_text(SPEC, encoding="utf-8")
    return shell


PROVED = """\
refuted: `Published` loses an element
  at shape N=2 H=1 W=1 C=1
    (n=1, h=0, w=0, c=0) lies in no slot
refuted: `Published` reads two slots to one element
  at shape N=1 H=5 W=1 C=1
    (j=0, i=0, k=0) holds (n=0, h=0, w=0, c=0)
    (j=1, i=0, k=0) holds (n=0, h=0, w=0, c=0)
  = replay: layoutdsl at my.layout:Published --shape 1,5,1,1 4
refuted    Published inverts Kernel, as claimed  (0 ms)
proved     Published where N == H  (2 properties, 20 questions, 0 ms)
  it inverts `[(h/4, n), (c, w), h%4]`
1 refuted, 1 refuted as claimed, 1 proved  (0 ms)
"""


def test_prove_a_table(spec: Shell) -> None:
    ended = spec("prove", "my.layout:Published")
    assert (ended.code, timeless(ended.out), ended.err) == (1, PROVED, "")


def test_prove_a_file_with_tables(spec: Shell) -> None:
    ended = spec("prove", "my.layout")
    heads = [line.split("  ")[0].rstrip() for line in ended.out.splitlines() if line[0] != " "]
    assert heads[:-1] == [
        "proved",
        "refuted: `Published` loses an element",
        "refuted: `Published` reads two slots to one element",
        "proved",
        "refuted",
        "proved",
    ]


def test_prove_with_parameters_and_a_range(spec: Shell) -> None:
    assert spec("prove", "my.layout:Blocked<8>").code == 0
    assert spec("prove", "my.layout:Blocked", "--where", "k == 8").code == 0
    assert spec("prove", "my.layout:Published", "--where", "H == N, N == 5").code == 0
    ended = spec("prove", "my.layout:Blocked<8, 9>")
    assert ended.code == 2
    assert "the table `Blocked` takes 1 parameter, not 2" in ended.err


def test_a_replay_shows_what_was_said(spec: Shell) -> None:
    ended = spec("at", "my.layout:Published", "--shape", "1,5,1,1", "4")
    assert ended.code == 0
    assert ended.out == (
        "`Published` at shape N=1 H=5 W=1 C=1\n"
        "slot 4, (j=1, i=0, k=0) -> (n=0, h=0, w=0, c=0)\n\n"
        "  n = j%N = 0\n  h = j/H*4 + k = 0\n  w = i%W = 0\n  c = i/W = 0\n"
    )
    ended = spec("at", "my.layout:Blocked<4>", "--shape", "5", "6")
    assert ended.out == (
        "`Blocked<4>` at shape C=5\nslot 6, (i=1, l=2) -> padding\n\n"
        "  c = i*4 + l = 6, outside 0..4\n"
    )


def test_at_as_json(spec: Shell) -> None:
    ended = spec("at", "MaceArgumentTable", "--shape", "6", "7", "--json")
    assert json.loads(ended.out) == {
        "table": "MaceArgumentTable",
        "shape": {"W": 6},
        "offset": 7,
        "coordinates": {"j": 0, "i": 1, "k": 3},
        "holds": "padding",
        "index": None,
    }


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        ("slot 8 is outside the 8 slots of the table", ("at", "MaceArgumentTable", "8")),
        ("slot -1 is outside the 8 slots of the table", ("at", "MaceArgumentTable", "--", "-1")),
        (
            "`MaceArgumentTable` is a table, which is drawn as a picture",
            ("show", "MaceArgumentTable"),
        ),
        ("`Published` is a table, and a layout is needed", ("formula", "my.layout:Published")),
    ],
)
def test_what_is_no_question_to_a_table(
    spec: Shell, message: str, arguments: tuple[str, ...]
) -> None:
    verb, *rest = arguments
    shape = [] if verb == "formula" else ["--shape", "6"]
    ended = spec(verb, *shape, *rest)
    assert ended.code == 2
    assert ended.err.startswith(f"error: {message}\n")


def test_check_counts_tables(spec: Shell) -> None:
    ended = spec("check", "my.layout")
    assert ended.code == 0
    assert ended.out.splitlines()[1:] == [
        "Published   (n, h, w, c)[j: N*ceil(H/4), i: C*W, k: 4]"
        " = (n = j%N, h = j/H*4 + k, w = i%W, c = i/W)",
        "Blocked<k>  (c)[i: ceil(C/k), l: k] = (c = i*k + l)",
        "1 layout, 2 tables, 2 claims: well formed",
    ]
    found = json.loads(spec("check", "my.layout", "--json").out)
    assert found["claims"] == ["refute Published inverts Kernel", "prove Published where N == H"]
    assert found["tables"][1] == {
        "name": "Blocked",
        "text": "table Blocked<k>(c)[i: ceil(C/k), l: k] = (c = i*k + l)",
        "axes": [{"name": "c", "extent": "C"}],
        "slots": [{"name": "i", "extent": "ceil(C/k)"}, {"name": "l", "extent": "k"}],
        "index": {"c": "i*k + l"},
        "where": [],
        "parameters": ["k"],
    }


def test_what_is_printed_is_what_was_written(spec: Shell) -> None:
    assert spec("print", "my.layout").out == SPEC


def test_list_names_tables_with_their_source(spec: Shell) -> None:
    lines = spec("list", "--long").out.splitlines()
    place = next(k for k, line in enumerate(lines) if line.startswith("  table MaceArgumentTable"))
    assert lines[place + 1].strip().startswith('mace-memory-layout, "1-D Argument Tensor"')
    tables = json.loads(spec("list", "--json").out)["tables"]
    assert {each["family"] for each in tables} == {"mace"}
    assert all("mace-memory-layout" in each["source"] for each in tables)


def test_verdicts_as_json(spec: Shell) -> None:
    found = json.loads(spec("prove", "my.layout:Published", "--json").out)
    assert [each["table"] for each in found["claims"]] == ["Published"] * 3
    lost, double = found["claims"][0]["findings"]
    assert lost["points"] == [
        {"index": {"n": 1, "h": 0, "w": 0, "c": 0}, "words": "lies in no slot"}
    ]
    assert lost["replay"] is None
    assert double["replay"] == "layoutdsl at my.layout:Published --shape 1,5,1,1 4"
    assert found["claims"][2]["findings"][0]["says"] == "it inverts `[(h/4, n), (c, w), h%4]`"
