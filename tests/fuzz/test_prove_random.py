"""Random layouts and claims against brute force: no verdict that small shapes contradict."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from proving import elements, replays, shapes, sound, words, wrong_at
from random_declarations import changed, mutated, read, right
from texts import module

from layoutdsl import Checked, Claim, Layout, LayoutError
from layoutdsl.language.integers.expr import text as spelled
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.claims import Aligns, EqualsFormula, EqualsLayout, Fits, Keeps
from layoutdsl.proof.prover.check import check
from layoutdsl.proof.prover.verdict import Refuted

RANDOM = st.integers(0, 1 << 30).map(Random)
SMALL = 13
"""The largest extent that brute force tries; blocks are at most 12."""

ELEMENTS = 40
"""Elements of the largest shape that it tries."""

counted: Counter[str] = Counter()
"""What was found of what; printed by the last test."""


def agrees(made: Layout, found: Checked, most: int = SMALL) -> None:
    """A proof has no exception among small shapes, a refutation replays."""
    if found.status == "proved":
        for values in shapes(made, most, ELEMENTS):
            assert wrong_at(made, values) == set()
    for each in found.findings:
        if isinstance(each, Refuted) and each.example.points:
            assert replays(made, each.property, each.example)


def layouts_agree(random: Random, examples: str, block: bool) -> None:
    text = right(random, block)
    made = read(text)
    assert made is not None, text
    found = sound(made)
    counted[f"{examples} right {found.status}"] += 1
    agrees(made, found)
    if next(shapes(made, SMALL, 10**9), None) is None:
        assert found.status != "proved", text
    else:
        assert found.status == "proved" or (block and found.status == "undecided"), text
    other = read(mutated(random, text))
    if other is not None:
        found = sound(other)
        counted[f"{examples} mutated {found.status}"] += 1
        agrees(other, found)


@pytest.mark.slow
@given(RANDOM)
@settings(max_examples=50)
def test_layouts_agree_with_brute_force(random: Random) -> None:
    """Every right one is proved."""
    layouts_agree(random, "digits", block=False)


@pytest.mark.slow
@given(RANDOM)
@settings(max_examples=25)
def test_tuples_agree_with_brute_force(random: Random) -> None:
    """Tuples cut again are proved, or undecided where the generator finds nothing."""
    layouts_agree(random, "tuples", block=True)


def horner(made: Layout) -> str:
    """The formula of a layout by Horner's rule, written in the language."""
    total = ""
    for each in made.coordinates:
        value = spelled(each.value)
        extent = spelled(each.extent)
        total = f"(({total})*({extent}) + ({value}))" if total else f"({value})"
    return f"{total} + ({spelled(made.start)})"


def statements(random: Random, text: str, made: Layout) -> Iterator[str]:
    """Claims about a layout, some right and some wrong."""
    body = text.split(" = ", 1)[1].split("]")[0] + "]"
    formula = horner(made)
    yield f"prove L == {formula}"
    yield f"prove L == {changed(random, formula, '[0-9]+', lambda n: str(int(n) + 1))}"
    yield f"prove L == {body}"
    yield f"prove L == {mutated(random, ' = ' + body)[3:]}"
    places = re.findall(r"[abc](?:[/%]\d+)*(?=[,\]])", body)
    if places:
        run = ", ".join(places[-random.randint(1, 2) :])
        yield f"prove L keeps {run} contiguous"
        element = random.choice(["u4", "i8", "f16"])
        yield f"prove L aligns {run} to {random.choice([1, 2, 4, 6, 8])} bytes of {element}"
    symbols = made.symbols
    bound = ", ".join(f"{name} <= {random.randint(1, 12)}" for name in symbols)
    yield f"prove L fits {random.choice(['int8', 'uint8'])}{' where ' + bound if bound else ''}"


def holds(claim: Claim, values: dict[str, int]) -> bool:
    """Whether the claim is true at a shape, straight from what its words say."""
    made, predicate = claim.ranged, claim.predicate
    placed = [(bound, made.offset_at(bound)) for bound in elements(made, values)]
    match predicate:
        case EqualsLayout(other):
            same = all(other.offset_at(bound) == offset for bound, offset in placed)
            return same and made.size(values) == other.size(values)
        case EqualsFormula(formula):
            return all(evaluate(formula, bound) == offset for bound, offset in placed)
        case Fits(type_):
            largest = max([made.size(values), *(offset for _, offset in placed)])
            return largest <= type_.largest and min(offset for _, offset in placed) >= 0
    run = predicate.run  # type: ignore[union-attr]
    starts: dict[tuple[object, ...], int] = {}
    for bound, offset in placed:
        ranks = [evaluate(each.value, bound) for each in run]
        if not any(ranks):
            starts[others(made, run, bound)] = offset
    for bound, offset in placed:
        first = starts[others(made, run, bound)]
        place = 0
        for each in run:
            place = place * evaluate(each.extent, bound) + evaluate(each.value, bound)
        if isinstance(predicate, Keeps) and offset != first + place:
            return False
        if isinstance(predicate, Aligns) and first * predicate.element.bits % (8 * predicate.bytes):
            return False
    return True


def others(made: Layout, run: object, bound: dict[str, int]) -> tuple[object, ...]:
    """What tells runs apart: each index with the digits of the run taken out."""
    left = {axis.name: bound[axis.name] for axis in made.axes}
    for each in run:  # type: ignore[attr-defined]
        name, divisor = re.fullmatch(r"(\w+?)((?:[/%]\d+)*)", _written(each)).groups()  # type: ignore[union-attr]
        weight = 1
        for number in re.findall(r"/(\d+)", divisor):
            weight *= int(number)
        left[name] -= evaluate(each.value, bound) * weight
    return tuple(left.values())


def _written(place: object) -> str:
    return spelled(place.value)  # type: ignore[attr-defined]


def claims_agree(random: Random, examples: str) -> None:
    text = right(random, block=random.random() < 0.2)
    made = read(text)
    assert made is not None, text
    for statement in statements(random, text, made):
        try:
            claim = module(f"{text}\n{statement}").claims[0]
        except LayoutError:
            continue
        if overlapping(claim):
            continue
        found = check(claim)
        kind = statement.split()[2] if "[" not in statement.split()[3] else "== [list]"
        counted[f"{examples} {kind} {found.status}"] += 1
        if found.status == "proved":
            for values in shapes(claim.ranged, SMALL, ELEMENTS):
                assert holds(claim, values), f"{text}\n{statement}\n{values}"
        for each in found.findings:
            if isinstance(each, Refuted):
                values = claim.ranged.bind(dict(each.example.shape))
                assert not holds(claim, values), f"{text}\n{statement}\n{words(each)}"


def overlapping(claim: Claim) -> bool:
    """Whether a run names an index twice, which nothing defines where its digits overlap."""
    if not isinstance(claim.predicate, Keeps | Aligns):
        return False
    named = [_written(each)[0] for each in claim.predicate.run]
    return len(set(named)) < len(named)


@pytest.mark.slow
@given(RANDOM)
@settings(max_examples=15)
def test_claims_agree_with_brute_force(random: Random) -> None:
    claims_agree(random, "claim")


@pytest.mark.campaign
@given(RANDOM)
@settings(max_examples=3_000)
def test_campaign_of_layouts(random: Random) -> None:
    layouts_agree(random, "campaign", block=random.random() < 0.5)


@pytest.mark.campaign
@given(RANDOM)
@settings(max_examples=1_000)
def test_campaign_of_claims(random: Random) -> None:
    claims_agree(random, "campaign")


def test_something_of_everything_was_found() -> None:
    """The examples above are of use: most right layouts are proved, mutants go both ways."""
    if not any(kind.startswith("digits ") for kind in counted):
        pytest.skip("the test of digits was not run, or by another worker")
    print("\n".join(f"{number:5} {kind}" for kind, number in sorted(counted.items())))
    for kind in ("right proved", "mutated proved", "mutated refuted"):
        assert counted[f"digits {kind}"] > 0
