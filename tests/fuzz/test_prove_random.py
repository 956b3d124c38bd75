"""Random layouts and claims against brute force: no verdict that small shapes contradict."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from integers import extent, value
from proving import elements, replays, shapes, sound, words, wrong_at
from random_declarations import changed, mutated, read, right
from texts import module

import layoutdsl
from layoutdsl import Checked, Claim, Layout, LayoutError

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
        if hasattr(each, "example") and each.example.points:
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


def extent_of(place: str, axes: dict[str, str]) -> str:
    """The extent that a coordinate has by nature, or the one that is declared of it."""
    value, _, declared = place.partition(" : ")
    if declared:
        return declared
    if re.fullmatch(r"\(.*\)", value):
        return "*".join(f"({extent_of(each, axes)})" for each in split(value[1:-1]))
    if value in axes:
        return axes[value]
    whole, sign, number = re.fullmatch(r"(.*)([/%])(\d+)", value).groups()  # type: ignore[union-attr]
    return number if sign == "%" else f"ceil(({extent_of(whole, axes)})/{number})"


def split(places: str) -> list[str]:
    """The coordinates of a list: apart at the commas that no parentheses hold."""
    return re.findall(
        r"(?:\([^()]*\)|[^,()]|\((?:[^()]|\([^()]*\))*\))+", places.replace(", ", ",")
    )


def horner(text: str) -> str:
    """The formula of a layout by Horner's rule, written in the language."""
    head, places, tail = re.fullmatch(r"layout L\((.*?)\) = \[(.*?)\](.*)", text).groups()  # type: ignore[union-attr]
    declared = [each.partition(": ") for each in head.split(", ")]
    axes = {name: extent or name.upper() for name, _, extent in declared}
    start = re.search(r" offset (\d+)", tail)
    total = ""
    for each in split(places):
        place = each.replace(",", ", ")
        value, extent = place.partition(" : ")[0], extent_of(place, axes)
        total = f"(({total})*({extent}) + ({value}))" if total else f"({value})"
    return f"{total} + ({start[1] if start else 0})"


def statements(random: Random, text: str, made: Layout) -> Iterator[str]:
    """Claims about a layout, some right and some wrong."""
    body = text.split(" = ", 1)[1].split("]")[0] + "]"
    formula = horner(text)
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


BITS = {"u4": 4, "i8": 8, "f16": 16}
LARGEST = {"int8": 127, "uint8": 255}


def holds(claim: Claim, statement: str, values: dict[str, int]) -> bool:
    """Whether the claim is true at a shape, straight from what its words say."""
    made = claim.ranged
    extents = dict(zip((each.name for each in made.axes), made.shape_of(values), strict=True))
    placed = [(bound, made.offset_at(bound)) for bound in elements(made, values)]
    kind, _, said = statement.removeprefix("prove L ").partition(" ")
    if kind == "fits":
        largest = max([made.size(values), *(offset for _, offset in placed)])
        return largest <= LARGEST[said.split()[0]] and min(offset for _, offset in placed) >= 0
    if kind == "==" and said.startswith("["):
        other: Layout = claim.predicate.other  # type: ignore[union-attr]
        same = all(other.offset_at(bound) == offset for bound, offset in placed)
        return same and made.size(values) == other.size(values)
    if kind == "==":
        return all(value(said, bound, extents) == offset for bound, offset in placed)
    run = run_of(statement)
    starts: dict[tuple[int, ...], int] = {}
    for bound, offset in placed:
        if not any(value(each, bound) for each in run):
            starts[others(made, run, bound)] = offset
    for bound, offset in placed:
        first = starts[others(made, run, bound)]
        place = 0
        for each in run:
            place = place * extent(each, bound, extents) + value(each, bound)
        if kind == "keeps" and offset != first + place:
            return False
        if kind == "aligns":
            number, element = re.findall(r" to (\d+) bytes of (\w+)", statement)[0]
            if first * BITS[element] % (8 * int(number)):
                return False
    return True


def run_of(statement: str) -> list[str]:
    """The digits that a claim names."""
    found = re.fullmatch(r"prove L (?:keeps|aligns) (.*?) (?:contiguous|to .*)", statement)
    return found[1].split(", ") if found else []


def others(made: Layout, run: list[str], bound: dict[str, int]) -> tuple[int, ...]:
    """What tells runs apart: each index with the digits of the run taken out."""
    left = {axis.name: bound[axis.name] for axis in made.axes}
    for each in run:
        name, divisor = re.fullmatch(r"(\w+?)((?:[/%]\d+)*)", each).groups()  # type: ignore[union-attr]
        weight = 1
        for number in re.findall(r"/(\d+)", divisor):
            weight *= int(number)
        left[name] -= value(each, bound) * weight
    return tuple(left.values())


def claims_agree(random: Random, examples: str) -> None:
    text = right(random, block=random.random() < 0.2)
    made = read(text)
    assert made is not None, text
    for statement in statements(random, text, made):
        try:
            claim = module(f"{text}\n{statement}").claims[0]
        except LayoutError:
            continue
        if overlapping(statement):
            continue
        (found,) = layoutdsl.prove([claim]).checked
        kind = statement.split()[2] if "[" not in statement.split()[3] else "== [list]"
        counted[f"{examples} {kind} {found.status}"] += 1
        if found.status == "proved":
            for values in shapes(claim.ranged, SMALL, ELEMENTS):
                assert holds(claim, statement, values), f"{text}\n{statement}\n{values}"
        for each in found.findings:
            if hasattr(each, "example"):
                values = claim.ranged.bind(dict(each.example.shape))
                assert not holds(claim, statement, values), f"{text}\n{statement}\n{words(each)}"


def overlapping(statement: str) -> bool:
    """Whether a run names an index twice, which nothing defines where its digits overlap."""
    named = [each[0] for each in run_of(statement)]
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
