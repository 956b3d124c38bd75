"""The proofs that a solver has of questions, followed by `replay`, which shares no line with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from layoutdsl.proof.evidence.problem import Kind, Problem
from layoutdsl.proof.evidence.questions import Asked
from layoutdsl.proof.evidence.replay import Refused, replay
from layoutdsl.proof.kernel.question import PREAMBLE
from layoutdsl.proof.kernel.solver import Answers


def unreplayed(questions: Sequence[Asked], given: Answers) -> Iterator[Problem]:
    """Yield each question of which no proof was followed to its end, and why.

    Args:
        questions: in the order of the script.
        given: what a solver that proves says of it.
    """
    proofs = (*given.proofs, *[""] * len(questions))
    for asked, answer, proof in zip(questions, given.answers, proofs, strict=False):
        reason = f"the solver says {answer}, and has no proof"
        if proof and answer == "unsat":
            try:
                replay(PREAMBLE + asked.question.text, proof)
            except Refused as refused:
                reason = f"the solver's proof is not accepted: {refused}"
            else:
                continue
        yield Problem(Kind.UNREPLAYED, asked.label, reason)
