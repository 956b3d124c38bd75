"""`prove`: every verdict in whole words, as JSON, and as an exit code."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from cli_shell import Ended, Shell, shell, timeless

import layoutdsl
from layoutdsl import Report, parse

__all__ = ["shell"]

MANUAL = "layout Manual(n, c, h, w) = [n, c%8*H + h, w]\n"
HALF = "layout Half(c) = [c/2, c%2] where C % 2 == 0\n"
FLAT = "layout Flat(n, c) = [n, c]\n"
ODD = "layout Odd(h, w) = [h, w ^ h : W + H]\n"
"""`w ^ h` is no digit of an axis, so that no proof is found; and no shape refutes it."""

BLOCK = """\
refuted: `Manual` is not injective
  at shape N=1 C=9 H=1 W=1
    (n=0, c=0, h=0, w=0) -> offset 0
    (n=0, c=8, h=0, w=0) -> offset 0
"""
REPLAY = "layoutdsl where my.layout:Manual --shape 1,9,1,1 --index 0,8,0,0"
SMALL = "  where the buffer has at most 2**63 - 1 elements"


def prove(shell: Shell, text: str, *options: str) -> Ended:
    Path("my.layout").write_text(text)
    ended = shell("prove", "my.layout", *options)
    assert ended.err == ""
    return Ended(ended.code, timeless(ended.out), ended.err, ended.raw)


def without_counts(text: str) -> list[str]:
    """The lines, without how many properties and questions there were."""
    return re.sub(r"  \(\d+ propert[^)]*\)", "", text).splitlines()


def counted(claim: dict[str, Any]) -> str:
    """How many properties and questions a claim has, as its line says it."""
    count, asked = len(claim["findings"]), sum(each["queries"] for each in claim["findings"])
    return f"({count} propert{'y' if count == 1 else 'ies'}, {asked} questions, 0 ms)"


def test_proved(shell: Shell) -> None:
    text = FLAT + HALF + "prove Half fits int8 where C <= 64\n"
    ended = prove(shell, text)
    flat, half, claim = json.loads(prove(shell, text, "--json").out)["claims"]
    assert ended.out == (
        f"proved     Flat for all shapes  {counted(flat)}\n"
        f"{SMALL}\n"
        f"proved     Half for all shapes where C%2 == 0  {counted(half)}\n"
        f"{SMALL}\n"
        f"proved     Half fits int8 where C <= 64, C%2 == 0  {counted(claim)}\n"
        "3 proved  (0 ms)\n"
    )
    assert ended.code == 0
    assert len(flat["findings"]) > 5 < sum(each["queries"] for each in flat["findings"])


def test_every_property_on_request(shell: Shell) -> None:
    lines = prove(shell, FLAT, "-v").out.splitlines()
    (flat,) = json.loads(prove(shell, FLAT, "--json").out)["claims"]
    assert lines == [
        f"proved     Flat for all shapes  {counted(flat)}",
        *(
            f"  proved  {each['property']}"
            + (f"  where {each['conditions'][0]}" if each["conditions"] else "")
            for each in flat["findings"]
        ),
        "1 proved  (0 ms)",
    ]
    assert f"  proved  the size fits int64{SMALL}" in lines


def test_refuted(shell: Shell) -> None:
    ended = prove(shell, MANUAL)
    assert ended.out == f"{BLOCK}  = replay: {REPLAY}\n1 refuted  (0 ms)\n"
    assert ended.code == 1
    assert shell(*REPLAY.split()[1:]).code == 0


def test_a_replay_is_quoted_for_the_shell(shell: Shell) -> None:
    Path("my spec.layout").write_text(MANUAL)
    assert "where 'my spec.layout:Manual' --shape" in shell("prove", "my spec.layout").out


def test_a_refuted_claim_is_quoted(shell: Shell) -> None:
    ended = prove(shell, f"{HALF}prove Half fits int8")
    assert without_counts(ended.out) == [
        "proved     Half for all shapes where C%2 == 0",
        SMALL,
        "refuted: `Half` does not fit int8",
        "  at shape C=128",
        "    (c=127) -> offset 127; the size is 128, at most 127 fits",
        "  = claim: prove Half fits int8",
        "  = replay: layoutdsl where my.layout:Half --shape 128 --index 127",
        "1 proved, 1 refuted  (0 ms)",
    ]
    assert ended.code == 1


def test_refuted_as_claimed(shell: Shell) -> None:
    """What the text expects passes, and its example is shown on request only."""
    ended = prove(shell, f"{HALF}refute Half fits int8")
    assert ended.out.splitlines()[2:] == [
        "refuted    Half fits int8, as claimed  (0 ms)",
        "1 proved, 1 refuted as claimed  (0 ms)",
    ]
    assert ended.code == 0
    ended = prove(shell, f"{MANUAL}refute Manual")
    assert ended.out.splitlines() == [
        "refuted    Manual, as claimed  (0 ms)",
        "1 refuted as claimed  (0 ms)",
    ]
    assert ended.code == 0
    lines = prove(shell, f"{MANUAL}refute Manual", "-v").out.splitlines()
    assert [each for each in lines if each.startswith("      ")] == [
        "      (n=0, c=0, h=0, w=0) -> offset 0",
        "      (n=0, c=8, h=0, w=0) -> offset 0",
    ]


def test_proved_against_the_claim(shell: Shell) -> None:
    ended = prove(shell, f"{FLAT}refute Flat")
    assert ended.out == (
        "proved: `Flat` holds for all shapes, and the text says it does not\n"
        "1 proved, not refuted  (0 ms)\n"
    )
    assert ended.code == 1


def test_undecided_is_no_pass(shell: Shell) -> None:
    """Properties that are undecided for one reason stand below it."""
    ended = prove(shell, ODD)
    assert ended.out == (
        "undecided  Odd  (0 ms)\n"
        "  proofs need coordinates that are digits; `w ^ h` is not a digit of an axis\n"
        "    every coordinate stays within its extent\n"
        "    every offset is in bounds\n"
        "    injective\n"
        "    decode inverts encode\n"
        "    onto the padded box\n"
        "    padding is exact\n"
        "  no proof was found: `w ^ h` is outside what proofs can say\n"
        "    the printed formula is the proved one\n"
        "  no counterexample: 561 shapes of up to 114 elements were tried\n"
        "1 undecided  (0 ms)\n"
    )
    assert ended.code == 3


def test_an_undecided_refutation_is_not_as_claimed(shell: Shell) -> None:
    ended = prove(shell, f"{ODD}refute Odd")
    assert ended.out.startswith("undecided  Odd  (0 ms)\n")
    assert ended.code == 3


def test_a_refutation_outweighs_what_is_undecided(shell: Shell) -> None:
    assert prove(shell, ODD + MANUAL).code == 1
    assert prove(shell, MANUAL + ODD).code == 1
    assert prove(shell, FLAT + ODD).code == 3


SILENT = {
    "empty": "",
    "blank": "\n \n",
    "remarks": "# nothing yet\n",
}


@pytest.mark.parametrize("verb", [["prove"], ["prove", "--write", "--into", "x"], ["recheck"]])
@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_what_says_nothing_does_not_pass(shell: Shell, verb: list[str], text: str) -> None:
    Path("my.layout").write_text(text)
    message = "`my.layout` has no layout and no claim, so there is nothing to prove"
    hint = "write `layout NCHW(n, c, h, w) = [n, c, h, w]`"
    for targets in (["my.layout"], ["demo.layout", "my.layout"]):
        ended = shell(*verb, *targets)
        assert (ended.code, ended.out) == (2, "")
        assert ended.err == f"error: {message}\n  = help: {hint}\n"
        ended = shell(*verb, *targets, "--json")
        assert (ended.code, ended.err) == (2, "")
        failure = {"status": "error", "message": message, "help": hint, "diagnostics": []}
        assert json.loads(ended.out) == failure
    assert not Path("x").exists()


def test_a_standard_input_that_says_nothing_does_not_pass(shell: Shell) -> None:
    ended = shell("prove", "-", stdin=b"# nothing\n")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: the standard input has no layout and no claim, so")


def test_a_file_of_claims_alone_says_something(shell: Shell) -> None:
    assert prove(shell, "prove NCHW fits int8 where N <= 2, C <= 4, H <= 2, W <= 4").code == 0


def test_python_does_not_prove_nothing() -> None:
    nothings: tuple[Any, ...] = (parse(""), (), [])
    for nothing in nothings:
        with pytest.raises(ValueError, match="there is nothing to prove"):
            layoutdsl.prove(nothing)


RANGES = """\
layout Half(c) = [c/2, c%2] where C % 2 == 0
layout Third(c) = [c/3, c%3] where C % 3 == 0
prove Half fits int8 where C <= 64
prove Half == Third where C <= 64, C % 2 == 0
refute Half fits int16 where C < 9
"""


def test_the_range_of_a_claim_does_not_hide_that_of_its_layout(shell: Shell) -> None:
    assert without_counts(prove(shell, RANGES).out)[4:-1] == [
        "proved     Half fits int8 where C <= 64, C%2 == 0",
        "proved     Half == Third where C <= 64, C%2 == 0, C%3 == 0",
        "  where `Third` is defined: C%3 == 0",
        "proved: `Half fits int16 where C < 9` holds where C%2 == 0, and the text says it does not",
    ]


CLAIMS = """\
layout A<k>(c) = [c/k, c%k]
prove NCHW fits int8
prove A<4> fits int8
prove NCHWc<8> fits int8
"""


def test_the_layout_of_a_claim_is_replayed_where_it_is(shell: Shell) -> None:
    replays = re.findall(r"= replay: layoutdsl (.*)", prove(shell, CLAIMS).out)
    assert [shlex.split(each)[1] for each in replays] == ["NCHW", "my.layout:A<4>", "NCHWc<8>"]
    for each in replays:
        assert shell(*shlex.split(each)).code == 0


def test_a_layout_with_arguments_is_replayed_with_them(shell: Shell) -> None:
    Path("my.layout").write_text("layout Bad<k>(n, c) = [n, c%k] where C < 99")
    (replay,) = re.findall(r"= replay: layoutdsl (.*)", shell("prove", "my.layout:Bad<4>").out)
    assert shlex.split(replay)[1] == "my.layout:Bad<4>"
    assert shell(*shlex.split(replay)).code == 0


def test_json(shell: Shell) -> None:
    plain = prove(shell, MANUAL + ODD).out
    found = json.loads(prove(shell, MANUAL + ODD, "--json").out)
    assert (found["status"], found["passed"]) == ("refuted", False)
    manual, odd = found["claims"]
    told = manual.pop("text")
    assert told.startswith("refuted: `Manual` is not injective\n  at shape N=1 C=9")
    assert told in plain
    assert manual.pop("seconds") >= 0
    findings = {each.pop("property"): each for each in manual.pop("findings")}
    assert manual == {
        "claim": "prove Manual",
        "polarity": "prove",
        "layout": "Manual",
        "status": "refuted",
        "passed": False,
    }
    assert findings.pop("injective") == {
        "status": "refuted",
        "sentence": "`Manual` is not injective",
        "shape": {"N": 1, "C": 9, "H": 1, "W": 1},
        "points": [
            {"index": {"n": 0, "c": 0, "h": 0, "w": 0}, "words": "-> offset 0"},
            {"index": {"n": 0, "c": 8, "h": 0, "w": 0}, "words": "-> offset 0"},
        ],
        "replay": REPLAY,
    }
    in_bounds = findings["every offset is in bounds"]
    assert re.fullmatch("[0-9a-f]{64}", in_bounds.pop("certificate"))
    assert in_bounds.pop("queries") > 0
    assert in_bounds == {"status": "proved", "conditions": []}
    assert {
        "property": "injective",
        "status": "undecided",
        "reason": "proofs need coordinates that are digits; `w ^ h` is not a digit of an axis",
    } in odd["findings"]


def test_one_layout_of_a_file(shell: Shell) -> None:
    spec = f"{FLAT}{HALF}prove Half fits int8 where C < 9\nprove Flat fits int8 where N < 3, C < 5"
    Path("my.layout").write_text(spec)
    out = shell("prove", "my.layout:Half").out
    assert [line.split()[1] for line in out.splitlines() if line.startswith("proved")] == [
        "Half",
        "Half",
    ]


def test_a_narrowed_range(shell: Shell) -> None:
    """The range narrows a layout, and each claim beside the range that it has already."""
    text = f"{FLAT}prove Flat fits int8 where N < 9"
    lines = without_counts(prove(shell, text, "--where", "C <= 8, N in 1..4").out)
    assert lines == [
        "proved     Flat where C <= 8, N in 1..4",
        "proved     Flat fits int8 where N < 9, C <= 8, N in 1..4",
        "2 proved  (0 ms)",
    ]
    assert prove(shell, text, "--where", "C <= 99").code == 1


@pytest.mark.parametrize(
    ("range_", "message"),
    [
        (
            " ",
            'error: --where is empty\n  = help: write a range: --where "C <= 64, N == 1"\n',
        ),
        (
            "Q < 3",
            "error[L201]: `Q` is neither an axis nor an extent here\n"
            " --> --where:1:20\n"
            "  |\n"
            "1 | prove Manual where Q < 3\n"
            "  |                    ^\n"
            "  = help: the names in scope are `n`, `c`, `h`, `w`, `N`, `C`, `H`, `W`\n",
        ),
        (
            "N < 3 layout Other(c) = [c]",
            "error: `N < 3 layout Other(c) = [c]` is more than a range of shapes\n",
        ),
        (
            "N < 3 prove Manual fits int8",
            "error: `N < 3 prove Manual fits int8` is more than a range of shapes\n",
        ),
    ],
)
def test_a_range_that_is_none(shell: Shell, range_: str, message: str) -> None:
    Path("my.layout").write_text(MANUAL)
    ended = shell("prove", "my.layout", "--where", range_)
    assert (ended.code, ended.out, ended.err) == (2, "", message)


def test_empty_reports_and_mixed_ones_do_not_pass() -> None:
    (proved,), (refuted,), (undecided,) = (
        layoutdsl.prove(parse(text)).checked for text in (FLAT, MANUAL, ODD)
    )
    assert Report(()).status == "undecided"
    assert Report((proved, undecided)).status == "undecided"
    assert Report((undecided, refuted)).status == "refuted"
    assert Report((proved,)).passed
    assert not Report((proved, undecided)).passed


REAL = """\
layout NCHW16c(n, c, h, w) = [n, c/16, h, w, c%16]
layout Manual(n, c, h, w) = [n, c/8, h, w, c%4]
refute Manual
prove NCHW16c == NCHW8c
layout NCHW8c(n, c, h, w) = [n, c/8, h, w, c%8]
"""


def test_the_engine_answers(shell: Shell) -> None:
    ended = prove(shell, REAL)
    assert ended.code == 1
    lines = ended.out.splitlines()
    assert lines[0].startswith("proved     NCHW16c for all shapes")
    assert any(line.startswith("refuted: `NCHW16c` is not `NCHW8c`") for line in lines)
    assert "refuted    Manual, as claimed  (0 ms)" in lines
    assert lines[-1] == "2 proved, 1 refuted as claimed, 1 refuted  (0 ms)"
