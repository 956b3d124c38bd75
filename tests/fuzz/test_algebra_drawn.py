"""Operations of the algebra on drawn layouts, symbolic and ragged, against plain integers.

`pytest -m campaign -k algebra_drawn` looks at 500 more.
"""

from __future__ import annotations

from collections import Counter

import pytest
from algebra_cases import cases

from layoutdsl import algebra


def judged(seed: int, count: int) -> Counter[str]:
    """What came of each case; a wrong result fails."""
    found: Counter[str] = Counter()
    for case in cases(seed, count):
        try:
            result = case.run()
        except algebra.PreconditionError as refused:
            found["refused with a shape" if refused.example else "refused"] += 1
            continue
        assert case.check(result) == "", case.text
        status = algebra.evidence(result).status
        found[status] += 1
        if status == "undecided":
            print(case.text, algebra.evidence(result).reasons)
    return found


def test_results_are_what_plain_integers_say() -> None:
    found = judged(5, 10)
    assert found["proved"] >= 7
    assert found["undecided"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 13))
def test_more_results_are_what_plain_integers_say(seed: int) -> None:
    found = judged(seed, 60)
    assert found["proved"] >= 40
    assert found["undecided"] == 0


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(100, 110))
def test_five_hundred_algebra_drawn(seed: int) -> None:
    found = judged(seed, 50)
    assert found["undecided"] == 0
