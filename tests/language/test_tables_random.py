"""Random tables, half of them damaged: what is found of them, against counting out.

A table is written from random digits by hand-made arithmetic, not by the inverse of ours.
"""

from __future__ import annotations

from collections import Counter

import pytest
from proving import shapes
from random_tables import written
from test_tables import held
from texts import module

import layoutdsl
from layoutdsl import TableClaim


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
    return [_word(alone, once), _word(inverts, same)]


def _word(claim: TableClaim, holds: bool) -> str:
    return f"{layoutdsl.prove([claim]).status} {'right' if holds else 'wrong'}"


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
