"""All indices at once: never a yes where one index fails, and yes wherever none does."""

from __future__ import annotations

import pytest
from proving import claimed, elements, shapes, sound, wrong_at
from texts import EXAMPLES, LIBRARY, layout

from layoutdsl import Layout

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


def at(values: dict[str, int]) -> str:
    """A clause that leaves one shape."""
    return "where " + ", ".join(f"{name} == {value}" for name, value in values.items())


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("body", BODIES)
def test_faults(body: str) -> None:
    """Of a layout of one shape every index is tried, unless a proof shows it all the same."""
    open_ = layout(f"layout L(c, h) = {body}\nrefute L")
    answers = set()
    for values in list(shapes(open_, 7, 40))[::2]:
        found = sound(layout(f"layout L(c, h) = {body} {at(values)}\nrefute L"))
        wrong = wrong_at(open_, values)
        refuted = {each.property for each in found.findings if hasattr(each, "example")}
        assert bool(wrong) is (found.status == "refuted"), values
        assert wrong <= refuted
        answers.add(not wrong)
    assert True in answers


@pytest.mark.sampled(3)
@pytest.mark.parametrize("layout", {**LIBRARY, **EXAMPLES}.values(), ids=lambda each: each.name)
def test_a_layout_is_itself(layout: Layout) -> None:
    twin = str(layout).replace(f"layout {layout.name}", "layout Twin", 1)
    for values in list(shapes(layout, 3, 60))[:2]:
        shape = at(values) if values else ""
        assert claimed(f"{layout}\n{twin}\nprove {layout.name} == Twin {shape}").passed


RIGHT = "c*H + h"
FORMULAS = [RIGHT, "c*H + h + (c*h)/6", "c*H + (h ^ c & 4)", "h*C + c", "min(c, 3)*H + h", "[h, c]"]


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("right", FORMULAS)
def test_equality(right: str) -> None:
    declared = "layout L(c, h) = [c, h]"
    made, other = layout(declared), layout(f"layout M(c, h) = {coordinates(right)}\nrefute M")
    answers = set()
    for values in shapes(made, 6, 40):
        same = all(
            made.offset_at(bound) == other.offset_at(bound) for bound in elements(made, values)
        )
        found = claimed(f"{declared}\nprove L == {right} {at(values)}")
        assert found.status == ("proved" if same else "refuted"), values
        answers.add(same)
    assert answers == ({True} if right == RIGHT else {True, False})


def coordinates(right: str) -> str:
    """A formula as the only coordinate of a layout: the offset is its value."""
    return right if right[0] == "[" else f"[{right} : 99]"


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
    claim = f"layout L(c, h) = {body}\nprove L == {formula}"
    assert claimed(f"{claim} where C == 3, H == 2").status == "proved"
    assert claimed(f"{claim} + 1 where C == 3, H == 2").status == "refuted"
