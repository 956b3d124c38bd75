"""One mutant, judged: what the prover finds of it, and what plain integers say to that."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from layoutdsl import Claim, LayoutError, library, library_names
from layoutdsl.language.elaborate.shelf import elaborated
from layoutdsl.language.meaning.claims import EqualsFormula, EqualsLayout, Sound
from layoutdsl.language.texts.source import Source
from layoutdsl.proof.prover.check import check
from layoutdsl.proof.prover.verdict import Undecided

from . import oracle
from .audits import Audit, equality, soundness

LIBRARY = {name: library(name) for name in library_names()}


@dataclass(frozen=True)
class Mutant:
    """A text that was changed in one place, and the declaration it came from.

    ``form`` is "layout", or how the formula is spelled; a ``kind`` of "original" is no mutant.
    """

    base: str
    form: str
    kind: str
    original: str
    text: str


@dataclass
class Judgement:
    """What became of a mutant. ``wrong`` says where plain integers contradict the prover."""

    mutant: Mutant
    verdict: Literal["refused", "equal", "different", "undecided"] = "refused"
    sound: Literal["", "proved", "refuted", "undecided"] = ""
    reason: str = ""
    seconds: float = 0.0
    checked: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def take(self, audit: Audit) -> None:
        self.checked += audit.checked
        self.wrong += audit.wrong


def judge(mutant: Mutant) -> Judgement:
    """Ask the prover about a mutant, and hold its answers against brute force."""
    found = Judgement(mutant)
    try:
        claims = _claims(mutant)
    except LayoutError as error:
        found.reason = error.diagnostics[0].code
        return found
    one = oracle.read(mutant.original)
    if mutant.form == "layout":
        two = oracle.read(mutant.text)
    else:
        two = oracle.read(mutant.original, mutant.text)
    begun = time.perf_counter()
    answers = [check(claim) for claim in claims]
    found.seconds = time.perf_counter() - begun
    for answer in answers:
        reasons = {each.reason for each in answer.findings if isinstance(each, Undecided)}
        if answer.status == "undecided":
            found.reason = "; ".join(sorted(reasons))
        if isinstance(answer.claim.predicate, Sound):
            found.sound = answer.status
            found.take(soundness(two, answer))
        else:
            verdicts = {"proved": "equal", "refuted": "different"}
            found.verdict = verdicts.get(answer.status, "undecided")  # type: ignore[assignment]
            found.take(equality(one, two, answer))
    return found


def _claims(mutant: Mutant) -> list[Claim]:
    """That the mutant is the original, and that it is sound itself."""
    name = mutant.base
    if mutant.form != "layout":
        text = f"{mutant.original}\nprove {name} == {mutant.text}"
        (claim,) = elaborated(Source("", text), LIBRARY).claims
        assert isinstance(claim.predicate, EqualsFormula)
        return [claim]
    changed = mutant.text.replace(f"layout {name}", "layout Mutant", 1)
    text = f"{mutant.original}\n{changed}\nprove {name} == Mutant\nrefute Mutant"
    equality, soundness = elaborated(Source("", text), LIBRARY).claims
    assert isinstance(equality.predicate, EqualsLayout)
    return [soundness, equality]
