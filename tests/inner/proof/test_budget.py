"""One line of text is never much work: beyond a budget it is *undecided*, with that reason.

Where the kernel stops is no part of a verdict, so its budget is spent here by hand.
"""

from __future__ import annotations

import pytest
from proving import sound, words
from texts import LIBRARY, layout

from layoutdsl.proof.kernel import budget
from layoutdsl.proof.kernel.budget import MOST_WORK, Budget, NoProof, shared

LONG = [
    # sums of thousands of terms, nested as deeply: these ended in a RecursionError
    "((a*b + 2)*(i*a + 6))*((b*j + 2)*(a*j + 1))%9, (j*i + 1)*(i + 8)*(i + 5) ^ i/16%4 ^ a/4%2",
    "j, (j*j + 7)*(j + 5)*(i*b + 9) ^ a/16%16 ^ b%16, ((i + a*3)/7 + j*9)/4 + j*3, b",
    "i, j, i : (B*I + 1)*(J*I + 1)*(B*A + 4)*(J*J + 3)*(B*A + 1), (b + 7)*(a*a + 7) ^ i/2%4",
    # expressions of which each evaluation takes long
    "((((i*j + 1)*b + 9)*j + 3))*((((i*j + 4)*a + 5)*b + 1))/6, (((i*a + 9)*a + 8)*j)*i/7, a, j",
    "(i*j + 1)*(i*j + 2)*(i*j + 3)*(i*j + 4)*(i*j + 5)*(i*j + 6), i, j, a, b",
    "min(i, min(j, min(i + 1, min(j + 1, min(i + 2, min(j + 2, min(i + 3, j + 3))))))), i, j, a, b",
    ", ".join(f"({axis}/{k}%{m}, b/{m}%{k})" for axis in "ija" for k in (2, 3) for m in (4, 5, 7)),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.ci(1)
@pytest.mark.parametrize("body", LONG)
def test_a_long_line_is_undecided_or_refuted_and_no_fault_of_ours(body: str) -> None:
    made = layout(f"layout L(i, j, a, b) = [{body}]\nrefute L")
    found = sound(made)
    assert found.status in ("undecided", "refuted")


def test_what_is_beyond_the_budget_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "MOST_WORK", 2_000)
    monkeypatch.setattr(shared.__wrapped__, "__defaults__", (2_000,))  # type: ignore[attr-defined]
    found = sound(LIBRARY["Swizzle128"])
    assert found.status == "undecided"
    reason = "it takes more than the 2000 units of work that one claim has"
    assert any(reason in words(each) for each in found.findings)


def test_the_library_needs_a_small_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    spent: list[int] = []
    plain = Budget.spend
    monkeypatch.setattr(Budget, "spend", lambda self, n: (spent.append(n), plain(self, n))[1])
    assert sound(LIBRARY["Swizzle128"]).status == "proved"
    assert sum(spent) < MOST_WORK / 4


def test_a_budget_is_shared_by_what_is_looked_for_inside() -> None:
    with shared(10):
        budget.current().spend(6)
        with pytest.raises(NoProof, match="more than the 10 units"):
            budget.current().spend(6)
    budget.current().spend(11)
