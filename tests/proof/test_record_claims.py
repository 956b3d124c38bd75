"""Claims of records: what is refuted is replayed by `Record.bit_address`."""

from __future__ import annotations

import json
import re
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import pytest
import random_records as drawing
import record_claims_drawn as made
from cli_shell import Shell, shell
from random_records import Drawn, shapes
from record_cuts import ALIGNED, EQUAL, RUNS

import layoutdsl
from layoutdsl import Checked, LayoutError, Record, RecordClaim, parse

__all__ = ["shell"]

BASE = """
record A(r, k) = {
    d(r, b: K/32) = [r, b, 0 : 17]           of f16
    q(r, k)       = [r, k/32, 2 + k%32 : 34] of i8
} where K % 32 == 0
"""
OTHERS = {
    "other types": ("f16", "u16", "proved"),
    "the other order": ("b, 0 : 17", "b, 16 : 17", "refuted"),
    "a field more": ("of i8", "of i8\n e(r, b: K/32) = [r, b, 0 : 17] of f16", "refuted"),
    "another name": ("q(r", "p(r", "refuted"),
    "other extents": ("b: K/32", "b: K/16", "refuted"),
    "wider": ("of f16", "of f32", "refuted"),
    "larger": ("17]", "18]", "refuted"),
    "an axis less": ("d(r, b: K/32) = [r, b, ", "d(b: K/32) = [b, ", "refuted"),
}
LIES = re.compile(r"bit (\d+) of (\w+)\[([\d, ]*)\] -> (?:bit (\d+)|nowhere) in `A`, (.*) in `B`")


def claim_in(text: str) -> RecordClaim:
    (claim,) = parse(text).record_claims
    return claim


def check(claim: RecordClaim) -> Checked:
    (found,) = layoutdsl.prove((claim,)).checked
    return found


def refutation(found: Checked) -> Any:
    """The counterexample of a claim with one property."""
    assert found.status == "refuted"
    (refuted,) = found.findings
    return refuted.example  # type: ignore[union-attr]


def place(of: Record, held: tuple[str, tuple[int, ...], int], values: dict[str, int]) -> str:
    """Where a bit lies, in words."""
    try:
        return f"bit {of.bit_address(*held, values)}"
    except ValueError:
        return "nowhere"


@pytest.mark.parametrize("name", OTHERS)
def test_two_records_are_compared_bit_by_bit(name: str) -> None:
    one, other, status = OTHERS[name]
    text = BASE + BASE.replace("record A", "record B").replace(one, other)
    claim = claim_in(f"{text}prove A == B")
    found = check(claim)
    assert found.status == status
    if status == "proved":
        return
    example = refutation(found)
    values = dict(example.shape)
    other_ = claim.predicate.other  # type: ignore[union-attr]
    if name == "larger":  # where there is one block, elements lie alike
        sizes = claim.record.size_bits(values), other_.size_bits(values)
        assert example.sentence.endswith("have {} and {} bits".format(*sizes))
        return
    (point,) = example.points
    said = LIES.fullmatch(point.words)
    assert said is not None, point.words
    held = said[2], tuple(map(int, said[3].split(","))), int(said[1])
    here = place(claim.record, held, values)
    there = place(other_, held, values)
    assert here != there
    assert point.words.endswith(f"-> {here} in `A`, {there} in `B`")


# Of fields.

ALIGNS = re.compile(r" aligns .* to (\d+) bytes")
POINT = re.compile(r"bit 0 of (\w+)\[([\d, ]*)\] -> bit (\d+)(?:.*the formula gives (-?\d+))?.*")


def replay(found: Checked, formula: str) -> None:
    """The element of a counterexample lies where it says, and the claim fails there."""
    claim = found.claim
    assert isinstance(claim, RecordClaim)
    example = refutation(found)
    values, (point,) = dict(example.shape), example.points
    said = POINT.fullmatch(point.words)
    assert said is not None, point.words
    index = tuple(int(each) for each in said[2].split(",") if each)
    assert claim.record.bit_address(said[1], index, 0, values) == int(said[3])
    aligned = ALIGNS.search(claim.text)
    if aligned is not None:
        assert int(said[3]) % (8 * int(aligned[1]))
        return
    bound = {**values, **dict(zip(claim.predicate.axes, index, strict=True))}  # type: ignore[union-attr]
    assert made.worked_out(formula, bound) == int(said[4]) != int(said[3])


def judged(drawn: Drawn, random: Random) -> Counter[str]:
    """What becomes of a formula that is true, of one with another number, and of an alignment."""
    found: Counter[str] = Counter()
    of = layoutdsl.parse(drawn.text).records["A"]
    field = random.choice(of.fields)
    part = made.lowest_part(field)
    if part is None:
        return found
    # Some that are drawn are wrong somewhere, and claims of a field have nothing to speak of.
    tried = [each for each in shapes(of, random, 6, 1 << 12) if made.count(field, each) < 500]
    if any(drawing.faults(of, each) for each in tried):
        return found
    names = f"({', '.join(made.names_of(field))})" if field.extents else ""
    subject = f"A.{field.name}{names}"
    right = made.formula_of(part)
    for kind, formula in (("right", right), ("changed", made.changed(random, right))):
        try:
            checked = check(claim_in(f"{drawn.text}\nprove {subject} == {formula}"))
        except LayoutError:  # a divisor that may be 0 where a digit is cut by an extent
            found[f"{kind} refused"] += 1
            continue
        holds = all(made.formula_holds(of, field, formula, each) for each in tried)
        assert holds or kind == "changed", (drawn.text, formula)
        assert not (checked.status == "proved" and not holds), (drawn.text, formula)
        if checked.status == "refuted":
            replay(checked, formula)
        found[f"{kind} {holds} {checked.status}"] += 1
    if not field.extents:
        return found
    run = random.randrange(len(field.extents)), random.choice((1, 2, 4, 8, 16, 32))
    number = random.choice((1, 2, 4, 8, 16))
    text = f"prove {subject} aligns x{run[0]}%{run[1]} to {number} bytes"
    checked = check(claim_in(f"{drawn.text}\n{text}"))
    holds = all(made.run_holds(of, field, run, number, each) for each in tried)
    assert not (checked.status == "proved" and not holds), (drawn.text, text)
    if checked.status == "refuted":
        replay(checked, "")
    found[f"run {holds} {checked.status}"] += 1
    return found


def assert_judged(seed: int, count: int) -> Counter[str]:
    random, found = Random(seed), Counter[str]()
    for _ in range(count):
        found += judged(drawing.right(random), random)
    return found


@pytest.mark.slow
def test_claims_of_fields_of_random_records() -> None:
    found = assert_judged(0, 12)
    assert found["right True proved"] > 5 < found["changed False refuted"]


@pytest.mark.campaign
def test_claims_of_fields_of_many_random_records() -> None:
    found = sum((assert_judged(seed, 12) for seed in range(100, 160)), Counter[str]())
    assert found["right True proved"] > 20 * found["right True undecided"]


def field_claims() -> list[RecordClaim]:
    """The claims of the library about a field."""
    claims = layoutdsl.library_module().record_claims
    return [each for each in claims if hasattr(each.predicate, "field")]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("claim", field_claims(), ids=lambda claim: claim.text)
def test_a_claim_of_the_library_is_counted_out(claim: RecordClaim) -> None:
    of = claim.record
    said: Any = claim.predicate
    field = of.field(said.field)
    shape = {name: 512 if name == "K" else 4 for name in of.frame.symbols}
    if ALIGNS.search(claim.text):
        (found,) = re.findall(r"aligns k%(\d+) to", claim.text)
        holds = made.run_holds(of, field, (said.axes.index("k"), int(found)), said.bytes, shape)
    else:
        formula, _, named = claim.text.partition("== ")[2].partition(" with ")
        name, _, value = named.partition(" = ")
        formula = re.sub(rf"\b{name}\b", f"({value})", formula) if name else formula
        places = made.elements(of, field, shape)
        holds = all(
            made.worked_out(formula, {**shape, **dict(zip(said.axes, index, strict=True))}) == at
            for index, at in places
        )
    assert holds == (claim.polarity == "prove")


# Two records.


def test_a_range_is_one_of_the_records_too() -> None:
    """Where there is one row, blocks row by row lie as blocks of each column do."""
    one = "record A(r, k) = { d(r, b: K/32) = [r, b] of f16\n q(r, k) = [r, k] of u8 offset R*K }"
    one += " where K % 32 == 0\n"
    both = one + one.replace("record A", "record B").replace("[r, b]", "[b, r]")
    for range_, status in (("where R == 1", "proved"), ("where K == 32", "proved")):
        assert check(claim_in(f"{both}prove A == B {range_}")).status == status
    assert check(claim_in(f"{both}prove A == B where R == 2, K == 64")).status == "refuted"


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("name", EQUAL)
def test_parts_that_are_cut_otherwise(name: str, turned: bool) -> None:
    *bodies, status = EQUAL[name]
    one, other = reversed(bodies) if turned else bodies
    claim = claim_in(f"record A(r, k) = {one}\nrecord B(r, k) = {other}\nprove A == B")
    there, found = claim.predicate.other, check(claim)  # type: ignore[union-attr]
    assert found.status == status
    values = [{"R": rows, "K": 32 * blocks} for rows in (1, 2) for blocks in (1, 3)]
    assert all(same(claim.record, there, each) for each in values) == (status != "refuted")
    if status == "refuted":
        assert not same(claim.record, there, dict(refutation(found).shape))


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ALIGNED)
def test_runs_of_parts_that_are_cut(name: str) -> None:
    for run, number, status in RUNS:
        text = f"record A(r, k) = {ALIGNED[name]}\nprove A.q(r, k) aligns {run} to {number} bytes"
        claim = claim_in(text)
        _, _, length = run.partition("%")
        for values in ({"R": 2, "K": 64}, {"R": 3, "K": 96}):
            field = claim.record.field("q")
            held = made.run_holds(claim.record, field, (1, int(length or 96)), number, values)
            assert held or status == "refuted", (run, number)
        found = check(claim)
        assert found.status == status, (run, number, found.findings)
        if status == "refuted":
            replay(found, "")


def same(one: Record, other: Record, values: dict[str, int]) -> bool:
    """Whether every bit of either lies where it does in the other, in buffers of one size."""
    places = [
        {held: address for _, held, address in reversed([*of.every_bit(values)])}
        for of in (one, other)
    ]
    return places[0] == places[1] and one.size_bits(values) == other.size_bits(values)


def assert_compared(seed: int, count: int) -> Counter[str]:
    random, found = Random(seed), Counter[str]()
    while found.total() < count:
        drawn = drawing.right(random)
        other = drawing.changed(random, drawn).text if random.random() < 0.7 else drawn.text
        text = f"{drawn.text}\n{other.replace('record A', 'record B')}\nprove A == B"
        try:
            claim = claim_in(text)
        except (LayoutError, ValueError):
            continue
        checked, there = check(claim), claim.predicate.other  # type: ignore[union-attr]
        tried = [
            each
            for each in shapes(claim.record, random, 4, 1 << 12)
            if all(condition.holds(each) for condition in there.where)
        ]
        holds = all(same(claim.record, there, each) for each in tried)
        assert not (checked.status == "proved" and not holds), text
        if checked.status == "refuted":
            assert not same(claim.record, there, dict(refutation(checked).shape)), text
        found[f"{holds} {checked.status}"] += 1
    return found


@pytest.mark.slow
def test_random_records_are_compared() -> None:
    found = assert_compared(1, 5)
    assert found["True proved"] > 1 < found["False refuted"]


@pytest.mark.campaign
def test_many_random_records_are_compared() -> None:
    assert assert_compared(2, 600)["False undecided"] < 60


# Evidence.

CLAIMS = """
prove A == B
prove A.q == ((r*Kb + k/32)*34 + 2 + k%32)*8 with Kb = K/32
prove A.q == (k/32*34 + 2 + k%32)*8 where R == 1
refute A.q == ((r*Kb + k/32)*34 + 2 + k%16)*8 with Kb = K/32
prove A.d aligns b to 2 bytes where K == 32
refute A.d aligns r to 4 bytes
"""


@pytest.mark.slow
def test_certificates_of_claims_stand_and_others_do_not(shell: Shell) -> None:
    text = BASE + BASE.replace("record A", "record B")
    Path("a.layout").write_text(text + CLAIMS)
    ended = shell("prove", "a.layout", "--write", "--into", "here")
    assert ended.code == 0, ended.out
    written = {each.stem for each in Path("here").glob("*.json")}
    assert {"A", "A_q", "A_d"} <= written
    recheck = ("recheck", "a.layout", "--dir", "here", "--json")
    found = json.loads(shell(*recheck).out)
    assert {each["status"] for each in found["certificates"]} == {"confirmed"}
    assert shell(*recheck, "--solver", "both").code == (0 if find_spec("cvc5") else 3)
    # A certificate that only says that it is of another formula is none of it.
    old, new = "2 + k%32)*8 with", "3 + k%32)*8 with"
    for each in (*Path("here").glob("A_q.*"), Path("a.layout")):
        each.write_text(each.read_text().replace(old, new))
    found = json.loads(shell(*recheck).out)
    statuses = {each["name"]: each["status"] for each in found["certificates"]}
    assert statuses["A_q"] != "confirmed" == statuses["A_d"]
