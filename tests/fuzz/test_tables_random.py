"""Random tables, half of them damaged: what is found of them, against counting out.

A table is written from random digits by hand-made arithmetic, not by the inverse of ours.
"""

from __future__ import annotations

import random
import re
from collections import Counter

import pytest
from proving import shapes
from test_tables import held
from texts import module

from layoutdsl.proof.prover.check import check
from layoutdsl.proof.prover.verdict import Checked


def written(seed: int) -> str:
    """A table and the layout that it inverts, as text."""
    draw = random.Random(seed)
    parts: list[tuple[str, str, str]] = []  # digit of the axis, its extent, its weight
    axes = "nchw"[: draw.randint(1, 3)]
    for axis in axes:
        blocks = [draw.choice([2, 3, 4]) for _ in range(draw.choice([0, 0, 1, 1, 2]))]
        weight = 1
        for block in blocks:
            digit = f"{axis}/{weight}%{block}" if weight > 1 else f"{axis}%{block}"
            parts.append((digit, str(block), str(weight)))
            weight *= block
        extent = f"ceil({axis.upper()}/{weight})" if weight > 1 else axis.upper()
        parts.append((f"{axis}/{weight}" if weight > 1 else axis, extent, str(weight)))
    draw.shuffle(parts)
    coordinates, slots = [], []
    index: dict[str, list[str]] = {axis: [] for axis in axes}
    for name in "xyzuv":
        if not parts:
            break
        taken = [
            parts.pop() for _ in range(len(parts) if name == "v" else draw.randint(1, 3)) if parts
        ]
        slots.append(f"{name}: {'*'.join(extent for _, extent, _ in taken)}")
        coordinates.append(f"({', '.join(digit for digit, _, _ in taken)})")
        for place, (digit, extent, weight) in enumerate(taken):
            inner = "*".join(each for _, each, _ in taken[place + 1 :])
            read = f"{name}/({inner})" if inner else name
            read = f"{read}%{extent}" if place else read
            index[digit[0]].append(f"{read}*{weight}" if weight != "1" else read)
    decoded = ", ".join(
        f"{axis} = {' + '.join(draw.sample(v, len(v)))}" for axis, v in index.items()
    )
    table = f"table T({', '.join(axes)})[{', '.join(slots)}] = ({decoded})"
    if draw.random() < 0.5:
        table = damaged(draw, table)
    return f"layout L({', '.join(axes)}) = [{', '.join(coordinates)}]\n{table}\n"


def damaged(draw: random.Random, table: str) -> str:
    """The table with one number changed, or two slot coordinates swapped."""
    numbers = [place for place in re.finditer(r"\d", table) if place.group() != "1"]
    head, _, body = table.partition("] = ")
    names = re.findall(r"(\w): ", head)
    if numbers and draw.random() < 0.7:
        place = draw.choice(numbers)
        other = str(int(place.group()) + draw.choice([-1, 1]))
        return table[: place.start()] + other + table[place.end() :]
    one, other = draw.choice(names), draw.choice(names)
    swap = {one: other, other: one}
    return f"{head}] = {re.sub(r'[x-zuv]', lambda m: swap.get(m[0], m[0]), body)}"


def judged(seed: int) -> list[str]:
    """For both claims: what was found, and what counting out says."""
    made = module(f"{written(seed)}prove T\nprove T inverts L\n")
    alone, inverts = made.table_claims
    table, layout = alone.table, made["L"]
    once = same = True
    for values in shapes(table.frame, 10, 10):
        slots = held(table, values)
        once &= all(len(each) == 1 for each in slots.values())
        numbers = {slot: n for n, slot in enumerate(table.every_slot(values))}
        same &= table.size(values) == layout.size(values)
        same &= all(
            [numbers[slot] for slot in each] == [layout.offset(index, values)]
            for index, each in slots.items()
        )
    return [_word(check(alone), once), _word(check(inverts), same)]


def _word(checked: Checked, holds: bool) -> str:
    return f"{checked.status} {'right' if holds else 'wrong'}"


def agree(seeds: range) -> Counter[str]:
    told = Counter[str]()
    for seed in seeds:
        for word in judged(seed):
            assert word != "proved wrong", written(seed)
            told[word] += 1
    return told


@pytest.mark.slow
def test_random_tables_are_judged_as_they_are() -> None:
    told = agree(range(16))
    assert told["proved right"] >= 12
    assert told["refuted wrong"] >= 6
    assert told["undecided right"] + told["undecided wrong"] + told["refuted right"] <= 2


@pytest.mark.campaign
def test_many_random_tables() -> None:
    told = agree(range(1000, 3000))
    assert told["proved right"] > told["undecided right"]
