"""The script of a certificate: every question, in SMT-LIB, as it is read by the solvers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from layoutdsl.proof.evidence.manifest import Proofs
from layoutdsl.proof.kernel.checker import Rejected, check
from layoutdsl.proof.kernel.question import PREAMBLE, Question
from layoutdsl.proof.kernel.theorem import Native, Proof, Theorem, Use

HEAD = "; layoutdsl: every answer has to be unsat"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and the step that it is asked for: claim, theorem and fact."""

    label: str
    question: Question


def asked(claim: str, proofs: Proofs, lemmas: Mapping[str, Theorem]) -> list[Asked]:
    """Return the questions on which the theorems of a claim rest, as the checker derives them.

    Raises:
        Rejected: a step does not follow, or a name is taken.
    """
    known = dict(lemmas)
    found: list[Asked] = []
    for theorem, proof in proofs:
        if theorem.name in known:
            raise Rejected(f"the name {theorem.name} is taken")
        if isinstance(proof, Native):
            raise Rejected("only the lemma library asks in the solver's own arithmetic")
        found += _labelled(claim, theorem, check(theorem, proof, known))
        known[theorem.name] = theorem
    return found


def used(proof: Proof) -> set[str]:
    """Return the names of the theorems that a proof uses."""
    return set() if isinstance(proof, Native) else {s.theorem for s in proof if isinstance(s, Use)}


def asked_by_lemmas(proofs: Proofs) -> list[Asked]:
    """Return the questions on which the lemma library rests.

    Raises:
        Rejected: a step does not follow.
    """
    known: dict[str, Theorem] = {}
    found: list[Asked] = []
    for theorem, proof in proofs:
        found += _labelled("lemma", theorem, check(theorem, proof, known))
        known[theorem.name] = theorem
    return found


def _labelled(claim: str, theorem: Theorem, questions: Sequence[Question]) -> list[Asked]:
    spoken = " ".join(claim.split())
    return [Asked(f"{spoken}: {theorem.name} {each.fact}", each) for each in questions]


def script_text(questions: Sequence[Asked]) -> str:
    """Return the questions as one script, each in a scope of its own, below what it is for."""
    scopes = (
        f"; {each.label}\n(push 1)\n{each.question.text}(check-sat)\n(pop 1)\n"
        for each in questions
    )
    return f"{HEAD}\n{PREAMBLE}{''.join(scopes)}"
