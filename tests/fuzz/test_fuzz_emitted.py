"""Random layouts with all that is emitted of them, a sample; and that faults are found and shrunk.

The rest: `python -m tests.support.emitted_fuzz --count 20000`, or
`pytest -m campaign -k emitted -s`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from codegen_cases import layout_of
from emitted_fuzz import c_functions, conversions, modules, printed
from emitted_fuzz import campaign as fuzzing
from emitted_fuzz.campaign import Share, campaign, told
from emitted_fuzz.cases import Case, Kind, Ways
from emitted_fuzz.running import run
from functions_built import C

import layoutdsl

CACHES = (
    modules.generated,
    modules.module_of,
    printed.sheet,
    c_functions.printed_c,
    conversions.converted,
)


@pytest.fixture
def anew() -> Iterator[None]:
    """Nothing that was emitted before is taken, and nothing is left."""

    def forget() -> None:
        for each in CACHES:
            each.cache_clear()
        c_functions._COMPILED.clear()

    forget()
    yield
    forget()


COUNTED = (
    "inverses printed",
    "inverses run at every slot",
    "modules run beyond 64 bits",
    "modules with a domain",
    "modules with copies",
    "modules of an element type",
    "modules, element by element",
    "modules, fill any",
    "straight conversions",
    *(("C with an inverse",) if C else ()),
)


@pytest.mark.ci(1)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("block", "layouts"),
    [
        (11, 40),  # of few blocks do so few layouts hold one of every kind that is counted
        pytest.param(3, 50, marks=pytest.mark.slow),
        pytest.param(2, 270, marks=pytest.mark.slow),
    ],
)
def test_what_is_emitted_of_random_layouts_is_what_is_meant(block: int, layouts: int) -> None:
    share = Share(shapes=2, numpy=35, large=6, c=6, conversions=12, wrong=4)
    found = campaign(10**5 * block, layouts, share)
    assert not found.faults, told(found, 0)
    assert found.counts["modules"] > 0.7 * found.counts["layouts asked for a module"]
    assert {name for name in COUNTED if not found.counts[name]} == set()


@pytest.mark.campaign
@pytest.mark.parametrize("block", range(20))
def test_many_random_layouts_emitted(block: int) -> None:
    found = campaign(10**6 * (block + 1), 1000)
    print(told(found, 0))
    assert not found.faults, told(found, 0)


FOUND = [
    # A tensor without axes: no text of any language was right, and what was unpacked into one lost.
    Case("numpy", "layout L() = [0]", ()),
    Case("numpy", "layout L() = [2 : 5] fill 7", (), Ways("f8", "reversed", "strided", 3)),
    Case("numpy", "layout L() = [1 : 3, 2 : 4] offset 5", (), Ways("i2", "unaligned", "apart")),
    Case("python", "layout L() = [2 : 5] offset 3", ()),
    *([Case("c", "layout L() = [2 : 5] offset 3", ())] if C else []),
    # Of two fixed extents an exclusive or took the larger block.
    Case("numpy", "layout L(c: 12, h) = [h, c ^ h%4]", (12, 5)),
    Case("python", "layout L(a: 3) = [0 ^ a]", (3,)),
    # A buffer of more slots than there are numbers of 64 bits ended in an OverflowError.
    Case(
        "python", "layout L(c: 4, a: 8) = [c%2 : 450283905890997331, a/2, a%2 + a/2, c/2]", (4, 8)
    ),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", FOUND, ids=lambda case: f"{case.kind} {case.text[7:30]}")
def test_what_was_found_once(case: Case) -> None:
    assert run(case) in (("right", ""), ("refuted", ""))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("target", ["numpy", *(["native"] if C else [])])
def test_one_element_is_compiled_and_converted(target: str) -> None:
    """Of a tensor without axes, and the same with all its arguments."""
    one, other = map(layout_of, ("layout L() = [2 : 5] fill 9", "layout M() = [1 : 3]"))
    module = layoutdsl.compile(one, target)  # type: ignore[arg-type]
    tensor, room = np.array(7, "u1"), np.array(1, "u1")
    packed = module.pack(tensor, threads=2)
    assert packed.tolist() == [9, 9, 7, 9, 9]
    assert module.unpack(packed, ()).tolist() == 7
    assert module.unpack(packed, (), room) is room
    assert room.tolist() == 7
    convert = layoutdsl.convert(one, other, compiled=target)  # type: ignore[arg-type]
    assert convert(packed, ()).tolist() == [0, 7, 0]


def wrong_remainders(text: str) -> str:
    """A text in which each remainder of an index is by one more."""
    return re.sub(r"\b((?:i_)?[a-z]\w*)%(\d+)", r"\1%(\2 + 1)", text)


def plant_in_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    executed = modules.executed
    monkeypatch.setattr(modules, "executed", lambda text: executed(wrong_remainders(text)))


def plant_in_formulas(monkeypatch: pytest.MonkeyPatch) -> None:
    text = printed.sheet_text
    monkeypatch.setattr(
        printed, "sheet_text", lambda layout, to: wrong_remainders(text(layout, to))
    )


def plant_in_c(monkeypatch: pytest.MonkeyPatch) -> None:
    functions = c_functions.printed_c

    def wrong(text: str) -> object:
        found = functions(text)
        return (
            found if isinstance(found, str) else replace(found, text=wrong_remainders(found.text))
        )

    monkeypatch.setattr(c_functions, "printed_c", wrong)


PLANTED: dict[Kind, Callable[[pytest.MonkeyPatch], None]] = {
    "numpy": plant_in_modules,
    "python": plant_in_formulas,
    "c": plant_in_c,
}


@pytest.mark.ci(1)
@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.usefixtures("anew")
@pytest.mark.parametrize("kind", PLANTED)
def test_a_fault_is_found_and_made_small(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    if kind == "c" and C is None:
        pytest.skip("there is no C compiler")
    PLANTED[kind](monkeypatch)
    monkeypatch.setattr(fuzzing, "TOGETHER", 1)
    found = campaign(7, 20, Share(c=100, conversions=0, wrong=0, kinds=(kind,)), most=1)
    small = found.faults[0][0]
    assert re.fullmatch(r"layout L\(\w+\) = \[[^,]{1,12}(, [^,]{1,8})?\]", small.text), small.text
    assert small.shape[0] <= 5
    assert small.ways == Ways()
    assert f"python -m tests.support.emitted_fuzz --kind {kind} --layout 'layout L(" in str(small)
    assert run(small)[0] == "wrong"
