"""All indices at once: never a yes where one index fails, and yes wherever none does."""

from __future__ import annotations

import pytest
from proving import elements, shapes, wrong_at
from texts import EXAMPLES, LIBRARY, module

from layoutdsl.language.integers.expr import Add, Constant
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.claims import EqualsFormula, EqualsLayout
from layoutdsl.proof.refute import grid

BODIES = """
[c/8, h, c%4]
[c/4, c%4, h : 3]
[(c, h)/4, (c, h)%3]
[c, h - c : H]
[max(c, h) : C + H]
[min(c, h), c ^ h%4, h]
[c & 6, h, c%2, h]
[ceil(c/2), h, c%2] offset 3
[h, C - 1 - c]
[c, h%(C + 1)]
[c + h]
[c/2, h, c%2] offset C
""".strip().splitlines()


@pytest.mark.sampled(2, slow=1)
@pytest.mark.parametrize("body", BODIES)
def test_faults(body: str) -> None:
    layout = module(f"layout L(c, h) = {body}\nrefute L")["L"]
    answers = set()
    for values in shapes(layout, 7, 40):
        found = grid.no_fault(layout, layout.all_coordinates, values)
        assert found is (not wrong_at(layout, values))
        answers.add(found)
    assert True in answers


@pytest.mark.sampled(3)
@pytest.mark.parametrize("layout", {**LIBRARY, **EXAMPLES}.values(), ids=lambda each: each.name)
def test_a_layout_is_itself(layout: object) -> None:
    for values in list(shapes(layout, 3, 60))[:6]:  # type: ignore[arg-type]
        assert grid.same_offsets(layout, layout, values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "right",
    ["c*H + h", "c*H + h + (c*h)/6", "c*H + (h ^ c & 4)", "h*C + c", "min(c, 3)*H + h", "[h, c]"],
)
def test_equality(right: str) -> None:
    (claim,) = module(f"layout L(c, h) = [c, h]\nprove L == {right}").claims
    answers = set()
    for values in shapes(claim.layout, 6, 40):
        match claim.predicate:
            case EqualsFormula(formula):
                found = grid.same_formula(claim.layout, formula, values)
                said = [evaluate(formula, bound) for bound in elements(claim.layout, values)]
            case EqualsLayout(other):
                found = grid.same_offsets(claim.layout, other, values)
                said = [other.offset_at(bound) for bound in elements(claim.layout, values)]
        assert found is (
            said == [claim.layout.offset_at(b) for b in elements(claim.layout, values)]
        )
        answers.add(found)
    assert answers == ({True} if right == "c*H + h" else {True, False})


HUGE = 10**18 - 1


@pytest.mark.parametrize(
    ("body", "formula"),
    [
        (f"[c : {HUGE}, h : {HUGE}, 0 : 9]", f"(c*{HUGE} + h)*9"),
        (f"[c, h] offset {HUGE}*{HUGE}", f"{HUGE}*{HUGE} + c*H + h"),
        (f"[c, h, 0 : {HUGE}, 0 : {HUGE}]", f"(c*H + h)*{HUGE}*{HUGE}"),
        ("[c, h]", f"c*H + h + c*{HUGE}*{HUGE} - c*{HUGE}*{HUGE}"),
        ("[c, h]", "c*H + h + (1 << 62) - (1 << 62)"),
    ],
)
def test_what_leaves_64_bits_is_worked_out_all_the_same(body: str, formula: str) -> None:
    (claim,) = module(f"layout L(c, h) = {body}\nprove L == {formula}").claims
    assert isinstance(claim.predicate, EqualsFormula)
    formula = claim.predicate.formula
    assert grid.same_formula(claim.layout, formula, {"C": 3, "H": 2})
    assert not grid.same_formula(claim.layout, Add(formula, Constant(1)), {"C": 3, "H": 2})
