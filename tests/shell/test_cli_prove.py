"""`prove`: every verdict in whole words, as JSON, and as an exit code."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_shell import Ended, Shell, shell, timeless

import layoutdsl
from layoutdsl import Checked, Claim, Report, parse
from layoutdsl.commands import claims_of, narrowed
from layoutdsl.language.meaning.counterexample import Counterexample, Point
from layoutdsl.proof.kernel.certificate import Certificate
from layoutdsl.proof.prover.verdict import Finding, Proved, Refuted, Undecided
from layoutdsl.shell.progress import _Line

__all__ = ["shell"]

SPEC = """\
layout Manual(n, c, h, w) = [n, c%8*H + h, w]
layout Half(c) = [c/2, c%2] where C % 2 == 0
"""
EXAMPLE = Counterexample(
    "`Manual` is not injective",
    (("N", 1), ("C", 9), ("H", 1), ("W", 1)),
    (
        Point((("n", 0), ("c", 0), ("h", 0), ("w", 0)), "-> offset 0"),
        Point((("n", 0), ("c", 8), ("h", 0), ("w", 0)), "-> offset 0"),
    ),
)
CERTIFICATE = Certificate(())
PROVED = (
    Proved("in bounds", (), CERTIFICATE, 3),
    Proved("size fits int64", ("the buffer is small",), CERTIFICATE, 1),
)
REFUTED = (Proved("in bounds", (), CERTIFICATE, 3), Refuted("injective", EXAMPLE))
UNDECIDED = (
    PROVED[0],
    Undecided("injective", "`h ^ w` is no digit"),
    Undecided("onto", "`h ^ w` is no digit"),
)

BLOCK = """\
refuted: `Manual` is not injective
  at shape N=1 C=9 H=1 W=1
    (n=0, c=0, h=0, w=0) -> offset 0
    (n=0, c=8, h=0, w=0) -> offset 0
"""
REPLAY = "layoutdsl where my.layout:Manual --shape 1,9,1,1 --index 0,8,0,0"

Answers = Callable[..., None]


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Answers:
    """Replace the engine: the findings of each claim by its text, proved where none are given."""

    def replace(**findings: tuple[Finding, ...]) -> None:
        def check(claim: Claim, progress: Callable[[str], None] | None = None) -> Checked:
            if progress is not None:
                progress(f"asking about {claim.text}")
            word = claim.text.split()[-1]
            return Checked(claim, findings.get(word, PROVED))

        monkeypatch.setattr("layoutdsl.proof.prover.check.check", check)

    return replace


def prove(shell: Shell, text: str, *options: str) -> Ended:
    Path("my.layout").write_text(text)
    ended = shell("prove", "my.layout", *options)
    assert ended.err == ""
    return Ended(ended.code, timeless(ended.out), ended.err, ended.raw)


def test_proved(shell: Shell, answers: Answers) -> None:
    answers()
    ended = prove(shell, SPEC)
    assert ended.out == (
        "proved     Manual for all shapes  (2 properties, 4 questions, 0 ms)\n"
        "  where the buffer is small\n"
        "proved     Half for all shapes where C%2 == 0  (2 properties, 4 questions, 0 ms)\n"
        "  where the buffer is small\n"
        "2 proved  (0 ms)\n"
    )
    assert ended.code == 0


def test_every_property_on_request(shell: Shell, answers: Answers) -> None:
    answers()
    assert prove(shell, SPEC.splitlines()[0], "-v").out == (
        "proved     Manual for all shapes  (2 properties, 4 questions, 0 ms)\n"
        "  proved  in bounds\n"
        "  proved  size fits int64  where the buffer is small\n"
        "1 proved  (0 ms)\n"
    )


def test_refuted(shell: Shell, answers: Answers) -> None:
    answers(Manual=REFUTED)
    ended = prove(shell, SPEC.splitlines()[0])
    assert ended.out == f"{BLOCK}  = replay: {REPLAY}\n1 refuted  (0 ms)\n"
    assert ended.code == 1


def test_a_replay_runs(shell: Shell, answers: Answers) -> None:
    answers(Manual=REFUTED)
    prove(shell, SPEC.splitlines()[0])
    assert shell(*REPLAY.split()[1:]).code == 0


def test_a_replay_is_quoted_for_the_shell(shell: Shell, answers: Answers) -> None:
    answers(Manual=REFUTED)
    Path("my spec.layout").write_text(SPEC.splitlines()[0])
    assert "where 'my spec.layout:Manual' --shape" in shell("prove", "my spec.layout").out


def test_a_refuted_claim_is_quoted(shell: Shell, answers: Answers) -> None:
    answers(int8=REFUTED)
    ended = prove(shell, SPEC.splitlines()[0] + " prove Manual fits int8")
    assert ended.out == (
        "proved     Manual for all shapes  (2 properties, 4 questions, 0 ms)\n"
        "  where the buffer is small\n"
        f"{BLOCK}  = claim: prove Manual fits int8\n  = replay: {REPLAY}\n"
        "1 proved, 1 refuted  (0 ms)\n"
    )
    assert ended.code == 1


def test_refuted_as_claimed(shell: Shell, answers: Answers) -> None:
    answers(int8=REFUTED)
    text = SPEC.splitlines()[0] + " refute Manual fits int8"
    ended = prove(shell, text)
    assert ended.out.splitlines()[2:] == [
        "refuted    Manual fits int8, as claimed  (0 ms)",
        "1 proved, 1 refuted as claimed  (0 ms)",
    ]
    assert ended.code == 0
    answers(int8=(REFUTED[1], PROVED[1]))
    assert prove(shell, text).out.splitlines()[2:] == ended.out.splitlines()[2:]
    answers(int8=REFUTED)
    assert prove(shell, text, "-v").out.splitlines()[-3:-1] == [
        "      (n=0, c=0, h=0, w=0) -> offset 0",
        "      (n=0, c=8, h=0, w=0) -> offset 0",
    ]


def test_proved_against_the_claim(shell: Shell, answers: Answers) -> None:
    answers()
    ended = prove(shell, SPEC.splitlines()[0] + " refute Manual")
    assert ended.out == (
        "proved: `Manual` holds for all shapes, and the text says it does not\n"
        "1 proved, not refuted  (0 ms)\n"
    )
    assert ended.code == 1


def test_undecided_is_no_pass(shell: Shell, answers: Answers) -> None:
    answers(Manual=UNDECIDED)
    ended = prove(shell, SPEC.splitlines()[0])
    assert ended.out == (
        "undecided  Manual  (0 ms)\n"
        "  `h ^ w` is no digit\n"
        "    injective\n"
        "    onto\n"
        "1 undecided  (0 ms)\n"
    )
    assert ended.code == 3


def test_an_undecided_refutation_is_not_as_claimed(shell: Shell, answers: Answers) -> None:
    answers(Manual=UNDECIDED)
    ended = prove(shell, f"{SPEC.splitlines()[0]}\nrefute Manual")
    assert ended.out.startswith("undecided  Manual  (0 ms)\n")
    assert ended.code == 3


def test_a_refutation_outweighs_what_is_undecided(shell: Shell, answers: Answers) -> None:
    answers(Manual=UNDECIDED, Half=REFUTED)
    assert prove(shell, SPEC).code == 1
    answers(Manual=REFUTED, Half=UNDECIDED)
    assert prove(shell, SPEC).code == 1


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


def test_a_file_of_claims_alone_says_something(shell: Shell, answers: Answers) -> None:
    answers()
    assert prove(shell, "prove NCHW fits int8").code == 0


def test_python_does_not_prove_nothing() -> None:
    for nothing in (parse(""), (), []):
        with pytest.raises(ValueError, match="there is nothing to prove"):
            layoutdsl.prove(nothing)


RANGES = """\
layout Half(c) = [c/2, c%2] where C % 2 == 0
layout Third(c) = [c/3, c%3] where C % 3 == 0
prove Half fits int8 where C <= 64
prove Half == Third where C <= 64, C % 2 == 0
refute Half fits int16 where C < 9
"""


def test_the_range_of_a_claim_does_not_hide_that_of_its_layout(
    shell: Shell, answers: Answers
) -> None:
    answers()
    lines = [line.partition("  (")[0] for line in prove(shell, RANGES).out.splitlines()]
    assert lines[4:-1] == [
        "proved     Half fits int8 where C <= 64, C%2 == 0",
        "  where the buffer is small",
        "proved     Half == Third where C <= 64, C%2 == 0, C%3 == 0",
        "  where the buffer is small",
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


def test_json(shell: Shell, answers: Answers) -> None:
    answers(Manual=REFUTED, Half=UNDECIDED)
    plain = prove(shell, SPEC).out
    found = json.loads(prove(shell, SPEC, "--json").out)
    assert (found["status"], found["passed"]) == ("refuted", False)
    manual, half = found["claims"]
    told = manual.pop("text")
    assert told.startswith("refuted: `Manual` is not injective\n  at shape N=1 C=9")
    assert told in plain
    assert manual.pop("seconds") >= 0
    assert manual == {
        "claim": "prove Manual",
        "polarity": "prove",
        "layout": "Manual",
        "status": "refuted",
        "passed": False,
        "findings": [
            {
                "property": "in bounds",
                "status": "proved",
                "conditions": [],
                "certificate": CERTIFICATE.hash,
                "queries": 3,
            },
            {
                "property": "injective",
                "status": "refuted",
                "sentence": "`Manual` is not injective",
                "shape": {"N": 1, "C": 9, "H": 1, "W": 1},
                "points": [
                    {"index": {"n": 0, "c": 0, "h": 0, "w": 0}, "words": "-> offset 0"},
                    {"index": {"n": 0, "c": 8, "h": 0, "w": 0}, "words": "-> offset 0"},
                ],
                "replay": REPLAY,
            },
        ],
    }
    assert half["findings"][1] == {
        "property": "injective",
        "status": "undecided",
        "reason": "`h ^ w` is no digit",
    }


def test_one_layout_of_a_file(shell: Shell, answers: Answers) -> None:
    answers()
    Path("my.layout").write_text(SPEC + "prove Half fits int8\nprove Manual fits int8")
    out = shell("prove", "my.layout:Half").out
    assert [line.split()[1] for line in out.splitlines() if line.startswith("proved")] == [
        "Half",
        "Half",
    ]


def test_a_narrowed_range(shell: Shell, answers: Answers) -> None:
    answers()
    ended = prove(shell, SPEC.splitlines()[0], "--where", "C <= 64, N in 1..4")
    assert ended.out.startswith("proved     Manual where C <= 64, N in 1..4  (2 properties")


def test_a_range_narrows_what_is_proved() -> None:
    module = parse("layout A(c) = [c] prove A fits int8 where C < 9")
    first, second = narrowed(claims_of(module), "C != 3")
    assert [str(each) for each in first.ranged.where] == ["C != 3"]
    assert [str(each) for each in second.ranged.where] == ["C < 9", "C != 3"]
    assert second.text == "prove A fits int8 where C < 9, C != 3"


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
    Path("my.layout").write_text(SPEC.splitlines()[0])
    ended = shell("prove", "my.layout", "--where", range_)
    assert (ended.code, ended.out, ended.err) == (2, "", message)


def test_progress_is_for_terminals(
    shell: Shell, answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers()
    Path("my.layout").write_text(SPEC.splitlines()[0])
    assert shell("prove", "my.layout").err == ""

    monkeypatch.setattr("layoutdsl.shell.progress._teller", lambda verb, _: _Line(verb))
    assert shell("prove", "my.layout").err == ("\r\x1b[2Kasking about prove Manual\r\x1b[2K")


def test_empty_reports_and_mixed_ones_do_not_pass() -> None:
    claim = claims_of(parse(SPEC))[0]
    proved, refuted, undecided = (
        Checked(claim, findings) for findings in (PROVED, REFUTED, UNDECIDED)
    )
    assert Report(()).status == "undecided"
    assert Report((proved, undecided)).status == "undecided"
    assert Report((undecided, refuted)).status == "refuted"
    assert Report((proved,)).passed


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
