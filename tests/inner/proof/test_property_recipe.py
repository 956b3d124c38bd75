"""A new kind of claim, by the recipe of `CONTRIBUTING.md`: one file, and a line in a table.

Contributors add a property inside the prover, so the recipe is followed there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from texts import layout

from layoutdsl import Claim
from layoutdsl.language.meaning.counterexample import example_at, point_at
from layoutdsl.language.meaning.shapes import Values, bind_index, indices
from layoutdsl.proof.kernel.theorem import Term
from layoutdsl.proof.properties import expected, replay, seen
from layoutdsl.proof.properties.known import PROPERTIES
from layoutdsl.proof.properties.property import Property, Statement, ground_of, spoken_of
from layoutdsl.proof.prover.check import check
from layoutdsl.proof.prover.verdict import Proved, Refuted
from layoutdsl.proof.refute.refute import At, Examples
from layoutdsl.proof.statements import claim_statement, statement


@dataclass(frozen=True, slots=True)
class Multiples:
    """Every offset is a multiple of a number."""

    of: int


class OffsetsAreMultiples(Property[Multiples]):
    """What `Multiples` says, as a theorem and in plain integers."""

    theorems = ("multiples",)

    @property
    def words(self) -> str:
        return f"every offset is a multiple of {self.predicate.of}"

    def statement(self) -> Statement:
        ground = ground_of(self.layout)
        goals: tuple[Term, ...] = (
            *statement.assumptions(ground, ground.vocabulary),
            ("=", ("mod", "left", self.predicate.of), 0),
        )
        left = claim_statement.offset(self.layout, ground.vocabulary)
        theorem = claim_statement.of_elements(ground, "multiples", (("left", left),), goals)
        return Statement(ground, theorem, spoken_of(self.layout))

    def tries(self) -> At:
        return self._at

    def _at(self, values: Values) -> Examples:
        for index in indices(self.layout, values):
            offset = self.layout.offset_at(bind_index(self.layout, values, index))
            if offset % self.predicate.of:
                point = point_at(self.layout, index, f"-> offset {offset}")
                sentence = f"`{self.layout.name}` has an offset that is no such multiple"
                return {self.words: example_at(values, sentence, point)}
        return {}


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PROPERTIES, Multiples, OffsetsAreMultiples)


def claimed(text: str, of: int) -> Claim:
    predicate: Any = Multiples(of)
    return Claim("prove", layout(text), predicate, (), f"every offset by {of}")


def test_it_is_proved() -> None:
    claim = claimed("layout L(c, h) = [c/4, h, c%4, 0 : 8]", 8)
    found = check(claim)
    (finding,) = found.findings
    assert isinstance(finding, Proved)
    assert finding.certificate is not None
    assert found.passed
    theorems = expected.restated(claim, None)
    assert [each for each, _ in finding.certificate.proved] == list(theorems.values())
    (want,) = expected.wanted(claim, theorems)
    assert (want.property, want.rests_on) == (finding.property, ("multiples",))
    assert seen.inhabited(claim)


def test_it_is_refuted() -> None:
    claim = claimed("layout L(c, h) = [c/4, h, c%4, 0 : 4]", 8)
    (finding,) = check(claim).findings
    assert isinstance(finding, Refuted)
    assert finding.example.points[0].words == "-> offset 4"
    assert replay.replayed(claim, finding.property, finding.example) == finding.example


def test_a_property_that_names_other_theorems_than_it_states_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(OffsetsAreMultiples, "theorems", ("aligned",))
    with pytest.raises(AssertionError):
        check(claimed("layout L(c, h) = [c/4, h, c%4, 0 : 8]", 8))


def test_a_small_range_is_tried() -> None:
    claim = claimed("layout L(c: 3) = [(c*(c + 1))*4 : 60]", 8)
    assert check(claim).status == "proved"
