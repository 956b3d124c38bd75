"""The campaign of mutants, a sample of it in every run; and that its oracle can tell.

The rest, with a table at the end: `python -m tests.support.mutants --count 2000 --jobs 2`.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from mutants import oracle
from mutants.audits import equality, soundness
from mutants.campaign import mutants, originals
from mutants.edits import of_formula, of_layout
from mutants.judge import LIBRARY, Judgement, judge
from mutants.report import failed, table
from texts import EXAMPLES, defined, every_index

import layoutdsl
from layoutdsl import Checked, Layout

SAMPLE = 20


def judged(seed: int, count: int) -> list[Judgement]:
    return [judge(mutant) for mutant in islice(mutants(seed), count)]


@pytest.mark.slow
def test_a_sample() -> None:
    """No verdict that plain integers contradict, and none undecided."""
    found = judged(7, SAMPLE)
    assert [each.wrong for each in found if each.wrong] == []
    assert [each.mutant.text for each in found if each.verdict == "undecided"] == []
    assert {each.verdict for each in found} >= {"different"}
    assert "contradictions: 0" in table([], found, 1.0)
    assert not failed(found)


@pytest.mark.campaign
def test_two_thousand() -> None:
    found = judged(0, 2100)
    decided = [each for each in found if each.verdict != "refused"]
    assert len(decided) >= 2000
    assert not failed(found)
    assert sum(each.verdict == "undecided" for each in decided) < len(decided) / 100


@pytest.mark.campaign
def test_every_spelling_of_every_layout() -> None:
    assert not failed(map(judge, originals(0)))


@pytest.mark.slow
def test_the_same_seed_gives_the_same_mutants() -> None:
    one, other, third = (list(islice(mutants(seed), 20)) for seed in (1, 1, 2))
    assert one == other != third


def test_there_are_edits_of_every_kind() -> None:
    text = "layout L(n, c) = [n, c/16 : ceil(C/16), c%16, 0 : 3] offset 2"
    edits = [*of_layout(text), *of_formula(text, "(n*ceil(C/16) + c >> 4)*roundup(C, 16) - n")]
    kinds = {"dropped", "exchanged", "extent", "halved", "index", "number", "operator", "padding"}
    assert {each.kind for each in edits} == {*kinds, "rounding"}
    assert len({each.text for each in edits}) == len(edits)


READABLE = [layout for layout in {**LIBRARY, **EXAMPLES}.values() if not layout.parameters]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("layout", READABLE, ids=lambda layout: layout.name)
def test_the_oracle_reads_as_the_model_does(layout: Layout) -> None:
    """Two readings of one text: offsets and sizes of some shapes."""
    reading = oracle.read(str(layout))
    for values in defined(layout, [[1, 4, 9] for _ in layout.symbols])[:8]:
        index = every_index(layout, values)
        assert reading.size(values) == layout.size(values)
        offsets = np.broadcast_to(reading.offsets(values, index), len(next(iter(index.values()))))
        for number, offset in enumerate(offsets.tolist()):
            point = {name: int(each[number]) for name, each in index.items()}
            assert offset == layout.offset_at({**values, **point})


ONE = "layout L(c, h) = [c/8, h, c%8]"


def checked(right: str) -> Checked:
    """Prove that `ONE` equals the formula `right`, and return the claim with its verdicts."""
    (found,) = layoutdsl.prove(layoutdsl.parse(f"{ONE}\nprove L == {right}").claims).checked
    return found


@pytest.mark.parametrize("right", ["(c/8*H + h)*8 + c%8 + c/100", "c*H + h", "(c/8*H + h)*8"])
def test_a_false_proof_is_found_out(right: str) -> None:
    """Were a wrong formula proved, brute force would say so."""
    lie = replace(checked(right), findings=checked("(c/8*H + h)*8 + c%8").findings)
    assert lie.status == "proved"
    assert equality(oracle.read(ONE), oracle.read(ONE, right), lie).wrong


def test_a_false_counterexample_is_found_out() -> None:
    """Of numbers that are not so, and of a shape that is not the smallest."""
    wrong = "(c/8*H + h)*8 + c%4"
    one, two, truth = oracle.read(ONE), oracle.read(ONE, wrong), checked(wrong)
    (refuted,) = truth.findings
    example = refuted.example  # type: ignore[union-attr]

    def audited(shape: tuple[int, int], index: tuple[int, int], words: str) -> list[str]:
        points = [
            replace(example.points[0], index=tuple(zip("ch", index, strict=True)), words=words)
        ]
        told = replace(example, shape=tuple(zip("CH", shape, strict=True)), points=tuple(points))
        lie = replace(truth, findings=(replace(refuted, example=told),))
        return equality(one, two, lie).wrong

    assert audited((5, 1), (4, 0), "-> offset 4, the formula gives 0") == []
    assert len(audited((5, 1), (3, 0), "-> offset 3, the formula gives 3")) == 1
    assert len(audited((5, 1), (4, 0), "-> offset 5, the formula gives 0")) == 1
    assert len(audited((6, 1), (4, 0), "-> offset 4, the formula gives 0")) == 1


@pytest.mark.parametrize(
    "text", ["layout L(c) = [c/8, c%4]", "layout L(c) = [c : 5]", "layout L(c, h) = [c + h]"]
)
def test_a_false_soundness_is_found_out(text: str) -> None:
    (lie,) = layoutdsl.prove("NHWC").checked
    assert lie.status == "proved"
    assert soundness(oracle.read(text), lie).wrong
