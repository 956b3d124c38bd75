"""Records that are wrong in one place: each is refuted, and plain integers say the same."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice, product
from math import prod
from typing import Any

import numpy as np
import pytest
from mutants.records import MUTANTS, RecordMutant, edited
from proving import leaves_extent
from record_bits import TEXTS, places

from layoutdsl import Checked, LayoutError, Record, library_record, parse, prove

APART, WHOLE = "no bit is held twice", "every bit of every element is held once"
SIZE, AFTER = "parts have a buffer of the same size", "regions lie one after the other"
DEFINED = "every part has a shape of its own"
"""Properties of a record, as verdicts name them."""

Bit = tuple[str, tuple[int, ...], int]
"""A field, an index, and a bit of that element."""

BIT = re.compile(r"bit (\d+) of (\w+)\[([\d, ]*)\] -> (?:bit (\d+)\b.*|no part)")
OWN = {"apart": APART, "whole": WHOLE, "size": SIZE, "after": AFTER, "shape": DEFINED}


def record(mutant: RecordMutant) -> Record:
    return parse(mutant.text).records[mutant.base]


def checked(of: Record) -> Checked:
    (found,) = prove(of).checked
    return found


def refutations(found: Checked) -> dict[str, Any]:
    """The counterexample to each property that is refuted."""
    return {each.property: each.example for each in found.findings if hasattr(each, "example")}


def held_at(words: str) -> tuple[Bit, int | None]:
    """Which bit of which element a line speaks of, and where it lies."""
    found = BIT.fullmatch(words)
    assert found is not None, words
    index = tuple(int(each) for each in found[3].split(","))
    return (found[2], index, int(found[1])), int(found[4]) if found[4] else None


def bit_of(held: Any) -> Bit:
    return held.field, held.index, held.bit


def addresses(of: Record, held: Bit, values: dict[str, int]) -> list[int]:
    """Every bit of the buffer that parts say holds it, one by one."""
    return [address for _, found, address in of.every_bit(values) if bit_of(found) == held]


def part_size(part: Any, values: dict[str, int]) -> int:
    """The bits of the buffer of a part."""
    return int(part.in_bits.size(part.shape(values)))


def replay_apart(of: Record, example: Any) -> None:
    """Two bits of elements lie in one bit of the buffer."""
    values = dict(example.shape)
    (one, here), (other, there) = (held_at(each.words) for each in example.points)
    assert one != other
    assert here == there is not None
    for held in (one, other):
        assert of.bit_address(*held, values) == here
    assert {one, other} <= set(map(bit_of, of.holders(here, values)))


def replay_whole(of: Record, example: Any) -> None:
    """A bit of an element lies in two bits of the buffer, or in none."""
    values = dict(example.shape)
    (held, here), *others = (held_at(each.words) for each in example.points)
    if here is None:
        assert not others
        assert addresses(of, held, values) == []
        field, index, bit = held
        words = f"no part holds bit {bit} of {field}[{', '.join(map(str, index))}]"
        with pytest.raises(ValueError, match=re.escape(words)):
            of.bit_address(*held, values)
        return
    ((same, there),) = others
    assert (same, [here, there]) == (held, addresses(of, held, values))
    assert of.bit_address(*held, values) == here


def replay_size(of: Record, example: Any) -> None:
    """Parts that begin at one bit have buffers of the bits that are said, and these differ."""
    values = dict(example.shape)
    said = re.fullmatch(
        r"parts of `.*` have other buffers: `(.*)` fills (\d+) bits, and `(.*)` (\d+)",
        example.sentence,
    )
    assert said is not None, example.sentence
    found = {each.label: part_size(each, values) for each in of.parts}
    assert found[said[1]] == int(said[2]) != int(said[4]) == found[said[3]]


def replay_after(of: Record, example: Any) -> None:
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


def replay_shape(of: Record, example: Any) -> None:
    """A part has no element at a shape at which the record has some."""
    values = of.bind(dict(example.shape))
    said = re.fullmatch(r"`(.*)` has no element: (\w+) is 0", example.sentence)
    assert said is not None, example.sentence
    (part,) = (each for each in of.parts if each.label == said[1])
    assert part.shape(values)[said[2]] == 0


def replay_part(of: Record, name: str, example: Any) -> None:
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
    assert leaves_extent(layout, bound)


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


@pytest.mark.sampled(39)
@pytest.mark.parametrize("mutant", SAMPLED, ids=str)
def test_a_mutant_is_refuted_and_the_refutation_is_so(mutant: RecordMutant) -> None:
    wrong = record(mutant)
    found = checked(wrong)
    assert found.status == "refuted"
    refuted = refutations(found)
    assert (mutant.fails == "part") == (not refuted.keys() & REPLAYS.keys())
    if mutant.fails != "part":
        assert OWN[mutant.fails] in refuted
    for name, each in refuted.items():
        if name in REPLAYS:
            REPLAYS[name](wrong, each)
        else:
            replay_part(wrong, name, each)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("mutant", [m for m in MUTANTS if m.fails == "differs"], ids=str)
def test_a_mutant_that_is_a_record_is_another(mutant: RecordMutant) -> None:
    other, was = record(mutant), library_record(mutant.base)
    text = mutant.text.replace(f"record {mutant.base}", "record Mutant")
    sound, equal = prove(parse(f"{text}\nprove Mutant == {mutant.base}")).checked
    assert (sound.status, equal.status) == ("proved", "refuted")
    ((_, example),) = refutations(equal).items()
    values = dict(example.shape)
    (point,) = example.points
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
    found = refutations(checked(parse(text).records["Q3_K"]))
    assert found[SIZE].sentence.endswith(f"and `d(r, s)` {256 * 256 * 880}")


def small(of: Record, most: int) -> Iterator[dict[str, int]]:
    """Shapes of the range whose extents have a product of up to ``most``, by product."""
    names = of.frame.symbols
    for total in range(1, most + 1):
        factors = [each for each in range(1, total + 1) if total % each == 0]
        for first in product(factors, repeat=len(names) - 1):
            if total % prod(first) == 0:
                values = dict(zip(names, (*first, total // prod(first)), strict=True))
                with suppress(ValueError):
                    of.bind(values)
                    yield values


def assert_counted_out(of: Record) -> None:
    """At small shapes every bit of every element has one place, which no other has."""
    left = 1 << 18
    for values in small(of, 1 << 12):
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
        if checked(mutant).status != "refuted":
            assert_counted_out(mutant)


@pytest.mark.slow
def test_a_sample_of_edits() -> None:
    assert_judged(3, 12)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(20))
def test_more_edits(seed: int) -> None:
    assert_judged(100 + seed, 50)
