"""What engineers write is proved: layouts of a generator, and formulas of public code."""

from __future__ import annotations

from random import Random

import pytest

from yardstick.__main__ import contradiction, drawn, formulas
from yardstick.judging import fault_of, verdict

FORMULAS = formulas()


@pytest.mark.sampled(10)
@pytest.mark.parametrize("seed", range(20))
def test_drawn_layouts_are_proved_and_right(seed: int) -> None:
    """Of each ten layouts nine are proved, or more."""
    found = [verdict(text) for text in drawn(f"test {seed}", 10)]
    assert not [words for each in found if (words := contradiction(each))]
    assert sum(each.status == "proved" for each in found) >= 9, found


@pytest.mark.sampled(30)
@pytest.mark.ci(8)
@pytest.mark.parametrize("name", FORMULAS)
def test_no_verdict_about_a_formula_is_wrong(name: str) -> None:
    found = verdict(FORMULAS[name])
    assert found.status in ("proved", "undecided"), found
    assert not contradiction(found)


def test_counting_finds_what_is_wrong() -> None:
    for text in (
        "layout L(c, h) = [(c + h)/2, h]",
        "layout L(c, h) = [c*H + h : C*H - 1]",
        "layout L(c) = [c%8]",
    ):
        assert fault_of(text, Random(1)), text


def test_the_same_seed_gives_the_same_texts() -> None:
    assert drawn(5, 3) == drawn(5, 3)
    assert drawn(1, 2) == [
        "layout L(t, n) = [(t/4)*4 + t%4 + (n >> 3)*ceil(T/4)*4 : (N/8)*ceil(T/4)*4, n%8 : 8 + 1]"
        " where N % 8 == 0",
        "layout L(d, c: 8) = [d, ((c & 3), (c >> 2))]",
    ]
