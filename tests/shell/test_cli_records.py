"""Records on the command line: proved, listed, shown, and what they cost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_shell import Shell, shell, timeless
from record_texts import WRONG, spec
from replaying import REPLAY

import layoutdsl

__all__ = ["shell", "spec"]

# What is proved and refuted.

REFUTED = """\
refuted: two parts of `Shared` share a bit
  at shape R=1 K=32
    bit 0 of d[0, 0] -> bit 16, bit 0 of byte 2
    bit 0 of q[0, 0] -> bit 16, bit 0 of byte 2
  = replay: layoutdsl where wrong.layout:Shared --shape 1,32 --index q:0,0 --bit 0
  = replay: layoutdsl where wrong.layout:Shared --shape 1,32 --index d:0,0 --bit 0
1 refuted  (0 ms)
"""


@pytest.mark.slow
def test_prove(spec: Shell) -> None:
    ended = spec("prove", "my.layout")
    assert (ended.code, ended.err) == (0, "")
    proved = [line.split()[1] for line in ended.out.splitlines() if line.startswith("proved")]
    assert proved == ["Plain", "Block", "Turned", "Halves", "Planes", "Gaps", "Open"]


def test_a_refutation_in_words(spec: Shell) -> None:
    ended = spec("prove", "wrong.layout:Shared")
    assert (ended.code, timeless(ended.out), ended.err) == (1, REFUTED, "")


PLACES = {
    "Shared": ["bit 0 of q[0, 0] -> bit 16, bit 0 of byte 2"],
    "Nowhere": ["bit 0 of a[0, 1] -> no part"],
    "Twice": ["bit 2 of a[0, 0] -> bit 2, bit 2 of byte 0"],
    "Same": ["d(r, b), in slots of 16 bits -> offset 0"],
    "Left": ["bit 0 of q[0] -> bit 4, bit 4 of byte 0", "bit 0 of q[0] -> bit 0, bit 0 of byte 0"],
}
"""What a replay of each wrong record shows, among the rest."""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", PLACES)
def test_a_replay_shows_what_was_said(spec: Shell, name: str) -> None:
    ended = spec("prove", f"wrong.layout:{name}")
    assert ended.code == 1
    lines = REPLAY.findall(ended.out)
    assert lines
    shown = "".join(spec(*line.split()[1:]).out for line in lines)
    for words in PLACES[name]:
        assert words in shown


def test_a_part_is_called_by_its_record(spec: Shell) -> None:
    out = spec("prove", "wrong.layout:Same").out
    assert "refuted: `Same.d(r, b)` is not injective\n  at shape R=1 K=64\n    (r=0, b=0) " in out


def test_what_came_from_a_pipe_has_no_replay(spec: Shell) -> None:
    ended = spec("prove", "-:Shared", stdin=WRONG.encode())
    assert ended.code == 1
    assert not REPLAY.findall(ended.out)


def test_verdicts_as_json(spec: Shell) -> None:
    found = json.loads(spec("prove", "wrong.layout:Left", "--json").out)
    sound, equal = found["claims"]
    assert (sound["record"], sound["status"]) == ("Left", "proved")
    (finding,) = equal["findings"]
    assert finding["replay"] == "layoutdsl where wrong.layout:Left --shape 2 --index q:0 --bit 0"


def test_a_record_of_the_library(spec: Shell) -> None:
    ended = spec("prove", "Q4_0")
    assert ended.code == 0
    assert ended.out.startswith("proved     Q4_0 for all shapes where K%32 == 0  (")


# What is listed.


def test_list_names_fields_and_one_record_its_parts(spec: Shell) -> None:
    line = "  record Q4_0(r, k): d(R, K/32) of f16, q(R, K) of u4 where K%32 == 0\n"
    assert line in spec("list", "--long").out
    lines = spec("list", "Q4_0").out.splitlines()
    assert lines[1:5] == [
        "  record Q4_0(r, k) = {",
        "      d(r, b: K/32) = [r, b, 0 : 9] of f16",
        "      q(r, k) = [r, k/32, 2 + k%16 : 18, k%32/16] of u4",
        "  } where K%32 == 0",
    ]
    (found,) = json.loads(spec("list", "Q4_0", "--json").out)["records"]
    assert [each["name"] for each in found["fields"]] == ["d", "q"]
    assert spec("list", "NCHW").out.startswith("flat\n  NCHW(n, c, h, w) = [n, c, h, w]\n")


def test_list_of_what_is_not_there(spec: Shell) -> None:
    ended = spec("list", "Q4_00")
    message = "error: there is no layout, table or record `Q4_00` in the library\n"
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(message)


CHECKED = """\
Left   (k) = {
           q(k) = [k] of u4
       }
Right  (k) = {
           q(k) = [k/2, 1 - k%2 : 2] of u4
       } where K%2 == 0
2 records, 1 claim: well formed
"""


def test_check_says_them_in_full(spec: Shell) -> None:
    Path("two.layout").write_text(WRONG[WRONG.index("record Left") :])
    assert spec("check", "two.layout").out == CHECKED
    last = spec("check", "my.layout").out.splitlines()[-1]
    assert last == "1 layout, 6 records, 0 claims: well formed"


# Where bits lie.

WHERE = """\
`Halves` at shape R=1 K=4: q[0, 3] of u6

bits 0..3 of q[0, 3] -> bits 16..19, bits 0..3 of byte 2
  q(r, k) bits 0..3, in slots of 4 bits -> offset 4

  coordinate    value  extent  stride  amount
  r                 0       1       6       0
  k/2         3/2 = 1       2       3       3
  k%2 : 3     3%2 = 1       3       1       1
  sum                                       4

bits 4..5 of q[0, 3] -> bits 22..23, bits 6..7 of byte 2
  q(r, k) bits 4..5, in slots of 2 bits -> offset 11

  coordinate        value  extent  stride  amount
  r                     0       1      12       0
  k/2             3/2 = 1       2       6       6
  4 + k%2 : 6  4 + 1 = 5       6       1       5
  sum                                          11
"""


def test_where_shows_each_run(spec: Shell) -> None:
    ended = spec("where", "my.layout:Halves", "--shape", "1,4", "--index", "q:0,3")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.split() == WHERE.replace("4 + 1 =", "4 + 3%2 =").split()


@pytest.mark.parametrize(
    ("name", "shape", "index", "bit", "words"),
    [
        ("Block", "1,64", "d:0,1", None, "bits 0..15 of d[0, 1] -> bits 144..159, bytes 18..19"),
        ("Block", "1,64", "q:0,40", "3", "bit 3 of q[0, 40] -> bit 227, bit 3 of byte 28"),
        ("Planes", "2,4", "uv:0,1,1", None, "bits 0..7 of uv[0, 1, 1] -> bits 88..95, byte 11"),
        ("Halves", "1,4", "q:0,2", "5", "bit 5 of q[0, 2] -> bit 21, bit 5 of byte 2"),
    ],
)
def test_where_in_words(
    spec: Shell, name: str, shape: str, index: str, bit: str | None, words: str
) -> None:
    more = () if bit is None else ("--bit", bit)
    ended = spec("where", f"my.layout:{name}", "--shape", shape, "--index", index, *more)
    assert ended.code == 0
    assert f"\n{words}\n" in ended.out


@pytest.mark.slow
def test_where_and_at_are_the_meaning(spec: Shell) -> None:
    """Every bit of every element lies where the meaning has it, and its byte says so."""
    record = layoutdsl.load("my.layout").records["Halves"]
    for _, held, address in record.every_bit(record.bind((1, 4))):
        index = f"{held.field}:{','.join(map(str, held.index))}"
        asked = ("--shape", "1,4", "--index", index, "--bit", str(held.bit), "--json")
        (run,) = json.loads(spec("where", "my.layout:Halves", *asked).out)["runs"]
        assert (run["address"], run["byte"], run["bit"]) == (address, address // 8, address % 8)
        asked = ("--shape", "1,4", "--byte", str(run["byte"]), "--bit", str(run["bit"]), "--json")
        (bit,) = json.loads(spec("at", "my.layout:Halves", *asked).out)["bits"]
        assert (bit["field"], tuple(bit["index"]), bit["first"]) == (
            held.field,
            held.index,
            held.bit,
        )


AT = {
    ("Halves", "1,4", "1"): "byte 1 of 3\n\n"
    "  bits 0..1  bits 4..5 of q[0, 0]\n"
    "  bits 2..3  bits 4..5 of q[0, 1]\n"
    "  bits 4..7  bits 0..3 of q[0, 2]\n",
    ("Block", "1,32", "1"): "byte 1 of 18\n\n  bits 0..7  bits 8..15 of d[0, 0]\n",
    ("Gaps", "1", "1"): "byte 1 of 3\n\n  bits 0..7  padding, filled with 0\n",
    ("Gaps", "1", "2"): "byte 2 of 3\n\n"
    "  bits 0..3  bits 0..3 of b[0]\n"
    "  bits 4..7  padding, filled with 0\n",
}


@pytest.mark.parametrize(("name", "shape", "byte"), AT)
def test_at_in_words(spec: Shell, name: str, shape: str, byte: str) -> None:
    ended = spec("at", f"my.layout:{name}", "--shape", shape, "--byte", byte)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.partition(": ")[2] == AT[name, shape, byte]


def test_at_says_what_is_held_twice(spec: Shell) -> None:
    ended = spec("at", "wrong.layout:Shared", "--shape", "1,32", "--byte", "2", "--bit", "0")
    lines = ended.out.splitlines()[2:]
    assert lines == ["  bit 0  bit 0 of d[0, 0]", "  bit 0  bit 0 of q[0, 0]"]


def test_a_buffer_that_ends_within_a_byte(spec: Shell) -> None:
    ended = spec("at", "wrong.layout:Left", "--shape", "1", "--byte", "0")
    assert ended.out.splitlines()[2:] == [
        "  bits 0..3  bits 0..3 of q[0]",
        "  bits 4..7  behind the end of the buffer",
    ]


# What it costs.

COST = """\
Gaps: the bits that each of N costs, for all shapes

  buffer   3*N bytes
  padding  12*N bits

  field  of  elements  bits
  a      u8  N         8*N
  b      u4  N         4*N

  at most     24, reached at N=1  (proved)
  at least    24, reached at N=1
  in the end  24, where all extents are large

at N=2
  buffer   6 bytes
  padding  24 bits
  ratio    24 bits for each of 2

  field  elements  bits  bits of the buffer for each
  a      2         16    24
  b      2         8     24
"""


def test_cost(spec: Shell) -> None:
    assert spec("cost", "my.layout:Gaps", "--shape", "2").out == COST
    out = spec("cost", "Q4_0", "my.layout:Planes", "--where", "N <= 1").err
    assert out.startswith("error[")
    out = spec("cost", "Q4_0").out
    assert "  buffer   18*R*(K/32) bytes\n  padding  none: every bit is held\n" in out
    assert "  at most     4.5 (9/2), reached at R=1 K=32  (proved)\n" in out
    out = spec("cost", "my.layout:Planes", "--shape", "2,4").out
    assert "  padding  none: every bit is held\n" in out
    assert "  buffer   12 bytes\n" in out
