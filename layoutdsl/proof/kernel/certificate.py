"""A record of what was proved and how: theorems, proofs, and the hash of their text.

The text has no times, dates or paths, so the same proof has the same hash everywhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property

from layoutdsl.proof.kernel import lemmas
from layoutdsl.proof.kernel.checker import Rejected, check
from layoutdsl.proof.kernel.solver import Answers, ask
from layoutdsl.proof.kernel.theorem import Native, Proof, Theorem
from layoutdsl.proof.kernel.written import written, written_proof


@dataclass(frozen=True)
class Certificate:
    """Theorems with their proofs, each after those that it uses."""

    proved: tuple[tuple[Theorem, Proof], ...]

    def __repr__(self) -> str:
        names = ", ".join(theorem.name for theorem, _ in self.proved)
        return f"<Certificate of {names if len(names) < 160 else names[:157] + '...'}>"

    @cached_property
    def text(self) -> str:
        """The lemmas, the theorems, and the proofs of both, one step a line."""
        return _lemma_text() + _text(self.proved)

    @cached_property
    def hash(self) -> str:
        """The SHA-256 of the text, in hexadecimal."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@cache
def _lemma_text() -> str:
    """What every proof may use is part of what a certificate stands for."""
    return _text(lemmas.library())


def _text(proved: Iterable[tuple[Theorem, Proof]]) -> str:
    lines = (line for each, proof in proved for line in (written(each), *written_proof(proof)))
    return "".join(f"{line}\n" for line in lines)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a theorem: established, or why not; and how many questions it took."""

    reason: str
    questions: int

    @property
    def established(self) -> bool:
        """Whether the theorem holds."""
        return not self.reason


def establish(proved: Iterable[tuple[Theorem, Proof]]) -> dict[str, Outcome]:
    """Check proofs and ask the solver their questions; returns what became of each theorem.

    A theorem that rests on one that does not hold is not established either: its name is then
    unknown to the checker. Nothing is established where the lemma library was not confirmed.

    Raises:
        ValueError: two theorems have one name, or a theorem has the name of a lemma.
    """
    theorems = list(proved)
    names = [theorem.name for theorem, _ in theorems]
    if len({*names, *lemmas.stated()}) < len(names) + len(lemmas.stated()):
        raise ValueError("a theorem has a name that is taken")
    try:
        known = dict(known_lemmas())
    except LemmasFailedError as failure:
        return dict.fromkeys(names, Outcome(str(failure), 0))
    asked: dict[str, list[str]] = {}
    outcomes: dict[str, Outcome] = {}
    for theorem, proof in theorems:
        try:
            if isinstance(proof, Native):
                raise Rejected("only the lemma library asks in the solver's own arithmetic")
            asked[theorem.name] = [each.text for each in check(theorem, proof, known)]
        except Rejected as rejected:
            outcomes[theorem.name] = Outcome(f"the proof was rejected: {rejected}", 0)
        else:
            known[theorem.name] = theorem
    answers = ask([question for questions in asked.values() for question in questions])
    place = 0
    for name, questions in asked.items():
        given = answers.answers[place : place + len(questions)]
        place += len(questions)
        outcomes[name] = Outcome(_reason(given, answers), len(questions))
    return _without_consequences(theorems, outcomes)


def _reason(given: tuple[str, ...], answers: Answers) -> str:
    if "unknown" in given:
        return answers.reason or "z3 does not know"
    return "a step of the proof does not follow" if "sat" in given else ""


def _without_consequences(
    theorems: list[tuple[Theorem, Proof]], outcomes: dict[str, Outcome]
) -> dict[str, Outcome]:
    """A theorem used by a proof has to hold as well."""
    for theorem, proof in theorems:
        used = (
            set() if isinstance(proof, Native) else {getattr(step, "theorem", "") for step in proof}
        )
        for name in outcomes:
            if name not in used or outcomes[name].established:
                continue
            if outcomes[theorem.name].established:
                questions = outcomes[theorem.name].questions
                outcomes[theorem.name] = Outcome(f"it rests on `{name}`", questions)
    return outcomes


class LemmasFailedError(RuntimeError):
    """The lemma library was not confirmed, so nothing can be proved."""


@cache
def known_lemmas() -> Mapping[str, Theorem]:
    """Return the lemma library, after the solver has confirmed it; once in a process.

    Raises:
        LemmasFailedError: a lemma was not confirmed.
    """
    known: dict[str, Theorem] = {}
    questions: list[str] = []
    for theorem, proof in lemmas.library():
        questions += [each.text for each in check(theorem, proof, known)]
        known[theorem.name] = theorem
    answers = ask(questions)
    if set(answers.answers) != {"unsat"}:
        raise LemmasFailedError(answers.reason or "a lemma does not hold")
    return known
