"""Records that are wrong in one place: each is refuted, and plain integers say the same."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice

import numpy as np
import pytest
from mutants.records import MUTANTS, RecordMutant, edited
from record_bits import TEXTS, places

from layoutdsl import LayoutError, Record, RecordClaim, library_record, parse
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.claims import EqualsRecord, Sound
from layoutdsl.language.meaning.counterexample import Counterexample
from layoutdsl.language.meaning.part import part_size
from layoutdsl.language.meaning.record import Held
from layoutdsl.language.meaning.shapes import small
from layoutdsl.proof.prover.check import check
from layoutdsl.proof.prover.verdict import Proved, Refuted
from layoutdsl.proof.statements.record_statement import AFTER, APART, DEFINED, SIZE, WHOLE

BIT = re.compile(r"bit (\d+) of (\w+)\[([\d, ]*)\] -> (?:bit (\d+)\b.*|no part)")
OWN = {"apart": APART, "whole": WHOLE, "size": SIZE, "after": AFTER, "shape": DEFINED}


def record(mutant: RecordMutant) -> Record:
    return parse(mutant.text).records[mutant.base]


def held_at(words: str) -> tuple[Held, int | None]:
    """Which bit of which element a line speaks of, and where it lies."""
    found = BIT.fullmatch(words)
    assert found is not None, words
    index = tuple(int(each) for each in found[3].split(","))
    return Held(found[2], index, int(found[1])), int(found[4]) if found[4] else None


def addresses(of: Record, held: Held, values: dict[str, int]) -> list[int]:
    """Every bit of the buffer that parts say holds it, one by one."""
    return [address for _, found, address in of.every_bit(values) if found == held]


def replay_apart(of: Record, example: Counterexample) -> None:
    """Two bits of elements lie in one bit of the buffer."""
    values = dict(example.shape)
    (one, here), (other, there) = (held_at(each.words) for each in example.points)
    assert one != other
    assert here == there is not None
    for held in (one, other):
        assert of.bit_address(held.field, held.index, held.bit, values) == here
    assert {one, other} <= set(of.holders(here, values))


def replay_whole(of: Record, example: Counterexample) -> None:
    """A bit of an element lies in two bits of the buffer, or in none."""
    values = dict(example.shape)
    (held, here), *others = (held_at(each.words) for each in example.points)
    if here is None:
        assert not others
        assert addresses(of, held, values) == []
        with pytest.raises(ValueError, match=re.escape(f"no part holds {held}")):
            of.bit_address(held.field, held.index, held.bit, values)
        return
    ((same, there),) = others
    assert (same, [here, there]) == (held, addresses(of, held, values))
    assert of.bit_address(held.field, held.index, held.bit, values) == here


def replay_size(of: Record, example: Counterexample) -> None:
    """Parts that begin at one bit have buffers of the bits that are said, and these differ."""
    values = dict(example.shape)
    said = re.fullmatch(
        r"parts of `.*` have other buffers: `(.*)` fills (\d+) bits, and `(.*)` (\d+)",
        example.sentence,
    )
    assert said is not None, example.sentence
    found = {each.label: part_size(each, values) for each in of.parts}
    assert found[said[1]] == int(said[2]) != int(said[4]) == found[said[3]]


def replay_after(of: Record, example: Counterexample) -> None:
    """A region begins before the one in front of it ends."""
    values = dict(example.shape)
    said = re.fullmatch(
        r"regions of `.*` overlap: `(.*)` starts at bit (\d+), and what is before it ends at (\d+)",
        example.sentence,
    )
    assert said is not None, example.sentence
    first = min(address for part, _, address in of.every_bit(values) if part.label == said[1])
    ends = {part_size(each, values) for each in of.parts}
    assert first == int(said[2]) < int(said[3])
    assert int(said[3]) in ends


def replay_shape(of: Record, example: Counterexample) -> None:
    """A part has no element at a shape at which the record has some."""
    values = of.bind(dict(example.shape))
    said = re.fullmatch(r"`(.*)` has no element: (\w+) is 0", example.sentence)
    assert said is not None, example.sentence
    (part,) = (each for each in of.parts if each.label == said[1])
    assert part.shape(values)[said[2]] == 0


def replay_part(of: Record, name: str, example: Counterexample) -> None:
    """A coordinate of a part leaves its extent, and its offset its buffer, at the index given."""
    label, said = name.split(": ")
    (part,) = (each for each in of.parts if each.label == label)
    (point,) = example.points
    layout, values = part.layout, part.shape(of.bind(dict(example.shape)))
    bound = {**values, **dict(point.index)}
    assert set(dict(point.index)) == {axis.name for axis in layout.axes}
    if said == "every offset is in bounds":
        assert layout.offset_at(bound) >= layout.size(values)
        return
    assert said == "every coordinate stays within its extent"
    assert any(
        not 0 <= evaluate(each.value, bound) < evaluate(each.extent, bound)
        for each in layout.coordinates
    )


REPLAYS = {
    APART: replay_apart,
    WHOLE: replay_whole,
    SIZE: replay_size,
    AFTER: replay_after,
    DEFINED: replay_shape,
}


def test_there_are_mutants_of_every_kind() -> None:
    found = Counter(each.fails for each in MUTANTS)
    assert sum(found.values()) >= 30
    assert set(found) == {*OWN, "part", "differs"}
    assert len({each.text for each in MUTANTS}) == len(MUTANTS)


WRONG = [m for m in MUTANTS if m.fails != "differs"]
SAMPLED = [
    m if i % 3 == 0 else pytest.param(m, marks=pytest.mark.slow) for i, m in enumerate(WRONG)
]
"""One in three by default, all of them where there is time."""


@pytest.mark.sampled(39, slow=38)
@pytest.mark.parametrize("mutant", SAMPLED, ids=str)
def test_a_mutant_is_refuted_and_the_refutation_is_so(mutant: RecordMutant) -> None:
    wrong = record(mutant)
    found = check(RecordClaim("prove", wrong, Sound()))
    assert found.status == "refuted"
    refuted = {each.property: each for each in found.findings if isinstance(each, Refuted)}
    assert (mutant.fails == "part") == (not refuted.keys() & REPLAYS.keys())
    if mutant.fails != "part":
        assert OWN[mutant.fails] in refuted
    for name, each in refuted.items():
        if name in REPLAYS:
            REPLAYS[name](wrong, each.example)
        else:
            replay_part(wrong, name, each.example)


@pytest.mark.sampled(4, slow=3)
@pytest.mark.parametrize("mutant", [m for m in MUTANTS if m.fails == "differs"], ids=str)
def test_a_mutant_that_is_a_record_is_another(mutant: RecordMutant) -> None:
    other, was = record(mutant), library_record(mutant.base)
    found = check(RecordClaim("prove", other, Sound()))
    assert all(isinstance(each, Proved) for each in found.findings)
    (finding,) = check(RecordClaim("prove", other, EqualsRecord(was))).findings
    assert isinstance(finding, Refuted)
    values = dict(finding.example.shape)
    (point,) = finding.example.points
    said = re.fullmatch(
        r"bit (\d+) of (\w+)\[([\d, ]*)\] -> bit (\d+) in `\w+`, bit (\d+) in `\w+`", point.words
    )
    assert said is not None, point.words
    index = tuple(int(each) for each in said[3].split(","))
    assert other.bit_address(said[2], index, int(said[1]), values) == int(said[4])
    assert was.bit_address(said[2], index, int(said[1]), values) == int(said[5]) != int(said[4])


@pytest.mark.slow
def test_buffers_too_large_for_their_bits_are_compared() -> None:
    """At the smallest shape there are 57 million bits to look at; sizes need none of them."""
    text = TEXTS["Q3_K"].replace("d(r, s: K/256)", "d(r, s: K*256)")
    found = check(RecordClaim("prove", parse(text).records["Q3_K"], Sound()))
    (refuted,) = (each for each in found.findings if each.property == SIZE)
    assert isinstance(refuted, Refuted)
    assert refuted.example.sentence.endswith(f"and `d(r, s)` {256 * 256 * 880}")


def assert_counted_out(of: Record) -> None:
    """At small shapes every bit of every element has one place, which no other has."""
    left = 1 << 18
    for values in small(of.frame, 1 << 12):
        held = np.concatenate([each.reshape(-1) for each in places(of, values).values()])
        assert (held.min(), len(np.unique(held))) >= (0, len(held)), values
        assert held.max() < of.size_bits(values), values
        left -= len(held)
        if left < 0:
            return


def assert_judged(seed: int, count: int) -> None:
    """What is proved is so; where nothing is decided, nothing is wrong at a small shape either."""
    for name, text in islice(edited(seed), count):
        try:
            mutant = parse(text).records[name]
        except LayoutError:
            continue
        if check(RecordClaim("prove", mutant, Sound())).status != "refuted":
            assert_counted_out(mutant)


@pytest.mark.slow
def test_a_sample_of_edits() -> None:
    assert_judged(3, 12)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(20))
def test_more_edits(seed: int) -> None:
    assert_judged(100 + seed, 50)
