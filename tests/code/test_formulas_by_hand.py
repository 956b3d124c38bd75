"""Formulas as engineers write them: each is the layout's or is not, over all shapes.

The table is `layouts/formulas_by_hand.layout`.
"""

from __future__ import annotations

import numpy as np
import pytest
from mutants import oracle
from mutants.spellings import FORMS, ROUNDING, spelled
from texts import HERE, LIBRARY, module

from layoutdsl import Claim, prove

FOUND = module((HERE / "layouts/formulas_by_hand.layout").read_text(encoding="utf-8"))
EQUAL = [claim for claim in FOUND.claims if claim.polarity == "prove"]
UNEQUAL = [claim for claim in FOUND.claims if claim.polarity == "refute"]


def readings(claim: Claim) -> tuple[oracle.Reading, oracle.Reading]:
    """The layout and the formula, read a second time."""
    declaration = FOUND.texts[claim.layout.name]
    return oracle.read(declaration), oracle.read(declaration, claim.text.split(" == ", 1)[1])


def test_there_are_enough() -> None:
    assert len({claim.text for claim in EQUAL}) >= 60
    assert len({claim.text for claim in UNEQUAL}) >= 60
    for claims in (EQUAL, UNEQUAL):
        assert {claim.layout.name for claim in claims} == set(FOUND)
        assert not any(claim.where for claim in claims)


@pytest.mark.sampled(11)
@pytest.mark.parametrize("claim", EQUAL, ids=lambda claim: claim.text)
def test_equal_formulas_are_proved(claim: Claim) -> None:
    """And brute force finds no difference."""
    assert prove([claim]).status == "proved"
    one, two = readings(claim)
    for values in oracle.shapes((one, two), 300, 3_000, 20):
        index = oracle.every_index(one, values)
        assert np.array_equal(one.offsets(values, index), two.offsets(values, index))


@pytest.mark.sampled(32)
@pytest.mark.parametrize("claim", UNEQUAL, ids=lambda claim: claim.text)
def test_unequal_formulas_are_refuted(claim: Claim) -> None:
    """By a shape and an index at which a second reading of the text finds them different."""
    (checked,) = prove([claim]).checked
    assert checked.status == "refuted"
    (finding,) = checked.findings
    (point,) = finding.example.points
    values, index = dict(finding.example.shape), dict(point.index)
    offset, given = (each.offsets(values, index) for each in readings(claim))
    assert offset != given
    assert point.words == f"-> offset {offset}, the formula gives {given}"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rounding", ROUNDING)
def test_every_spelling_of_a_layout_is_proved(rounding: str, form: str) -> None:
    layout = LIBRARY["R4Crouton4x1Layout"]
    claim = f"prove R4Crouton4x1Layout == {spelled(layout, rounding, form)}"
    assert prove(module(claim, LIBRARY).claims).status == "proved"
