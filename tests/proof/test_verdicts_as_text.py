"""`print` of a report, and the message of `RefusedError`, show the counterexample."""

from __future__ import annotations

import re
from ast import literal_eval

import pytest

import layoutdsl
from layoutdsl import parse, prove

TEXT = """\
layout Lost(n, c) = [n, c%4]
prove Lost == n + c
table Twice(c)[i: 2*C] = (c = i/2)
record Both(n) = { a(n) = [n] of u8  b(n) = [n] of u8 }
"""
LOST = """\
refuted: `Lost` is not injective
  at shape N=1 C=5
    (n=0, c=0) -> offset 0
    (n=0, c=4) -> offset 0
  = replay: Lost.offset((0, 4), (1, 5)) gives 0"""
FORMULA = """\
refuted: the formula is not the offset of `Lost`
  at shape N=2 C=1
    (n=1, c=0) -> offset 4, the formula gives 1
  = claim: prove Lost == n + c
  = replay: Lost.offset((1, 0), (2, 1)) gives 4"""
TWICE = """\
refuted: `Twice` reads two slots to one element
  at shape C=1
    (i=0) holds (c=0)
    (i=1) holds (c=0)
  = replay: Twice.decode((1,), (1,)) gives (0,)"""
BOTH = """\
    bit 0 of a[0] -> bit 0, bit 0 of byte 0
    bit 0 of b[0] -> bit 0, bit 0 of byte 0
  = replay: Both.bit_address('b', (0,), 0, (1,)) gives 0"""


def lost() -> layoutdsl.Layout:
    return parse(TEXT)["Lost"]


def test_a_report_prints_each_verdict_with_its_counterexample() -> None:
    report = prove(parse(TEXT))
    printed = str(report)
    for part in (LOST, FORMULA, TWICE, BOTH):
        assert part in printed
    assert printed.splitlines()[-1] == "4 refuted"
    assert str(prove(lost())) == LOST == str(prove(lost()).checked[0])


def test_what_is_printed_can_be_replayed() -> None:
    module = parse(TEXT)
    known = {**module, **module.tables, **module.records}
    lines = re.findall(r"replay: (\w+)\.(\w+)(\(.*\)) gives (.+)", str(prove(module)))
    assert len(lines) == 4
    for name, verb, arguments, gives in lines:
        assert getattr(known[name], verb)(*literal_eval(arguments)) == literal_eval(gives)


@pytest.mark.slow
def test_other_verdicts_are_printed_too() -> None:
    assert str(prove(parse("layout A(c) = [c]"))).startswith("proved     A for all shapes  (")
    assert str(prove(parse("layout A(c) = [c%4]\nrefute A"))) == "refuted    A, as claimed"
    contrary = str(prove(parse("layout A(c) = [c]\nrefute A == c")))
    assert "`A == c` holds for all shapes, and the text says it does not" in contrary
    undecided = parse("layout K(b, t, h, d) = [b, (t/16%4096*H + h)*D + d : 4096*H*D, t%16]")
    printed = str(prove(undecided))
    assert printed.startswith("undecided  K\n  ")
    assert "\n    injective\n" in printed


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (TEXT.splitlines()[0], "<Report refuted, 1 claim; refuted: prove Lost: injective>"),
        (
            "layout A(c) = [c]\nlayout B(c) = [c%4]",
            "<Report refuted, 2 claims; refuted: prove B: injective>",
        ),
        (
            "layout K(b, t, h, d) = [b, (t/16%4096*H + h)*D + d : 4096*H*D, t%16]",
            "<Report undecided, 1 claim; undecided: prove K: injective, decode inverts encode, "
            "padding is exact>",
        ),
        ("layout A(c) = [c]", "<Report proved, 1 claim>"),
    ],
)
def test_one_line_names_the_property(text: str, shown: str) -> None:
    assert repr(prove(parse(text))) == shown


@pytest.mark.parametrize(
    "refused",
    [
        layoutdsl.compile,
        layoutdsl.generate,
        layoutdsl.generate_c,
        lambda layout: layoutdsl.convert(layout, layout),
        lambda layout: layoutdsl.compile(layout, "numpy"),
    ],
    ids=["compile", "generate", "generate_c", "convert", "numpy"],
)
def test_a_refusal_says_what_is_wrong(refused: object) -> None:
    assert callable(refused)
    with pytest.raises(layoutdsl.RefusedError) as caught:
        refused(lost())
    assert str(caught.value) == f"`Lost` is refuted, so no code is generated\n{LOST}"
