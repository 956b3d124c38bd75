"""What we conclude: proved, refuted and undecided are three different answers.

A claim has several properties, each with a finding of its own. A refutation carries a
counterexample in plain integers, replayed through `Layout.offset` before it is reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from layoutdsl.meaning.claims import AnyClaim
from layoutdsl.meaning.counterexample import Counterexample
from layoutdsl.statements.sound import INJECTIVE, INVERSE, ONTO, PADDING, RANGE
from layoutdsl.texts.values import Displayed, said

if TYPE_CHECKING:
    from layoutdsl.kernel.certificate import Certificate

Status: TypeAlias = Literal["proved", "refuted", "undecided"]


@dataclass(frozen=True, slots=True)
class Proved:
    """The property holds for every shape of the range, under the conditions named.

    ``certificate`` is what was checked, where it was a proof and not a trial of every index;
    ``queries`` counts the questions that the solver answered for it. ``says`` is what else came out
    of the proof, in a few words.
    """

    property: str
    conditions: tuple[str, ...] = ()
    certificate: Certificate | None = None
    queries: int = 0
    says: str = ""

    def __repr__(self) -> str:
        return said(self, f"{self.property}: {self.queries} questions")


def certificate_hash(found: Proved) -> str:
    """Return the hash of the certificate; empty where there is none."""
    return "" if found.certificate is None else found.certificate.hash


@dataclass(frozen=True, slots=True)
class Refuted:
    """The property fails at a shape that was replayed in plain integers."""

    property: str
    example: Counterexample

    def __bool__(self) -> bool:
        """Return `False`: the property does not hold."""
        return False

    def __repr__(self) -> str:
        return said(self, f"{self.property}: {self.example.sentence}")


@dataclass(frozen=True, slots=True)
class Undecided:
    """Neither proved nor refuted within the budget; ``reason`` says why.

    ``obstacle`` is what kept a proof from being found, where that is the reason.
    """

    property: str
    reason: str
    obstacle: str = ""

    def __bool__(self) -> bool:
        """Return `False`: the property was not proved."""
        return False

    def __repr__(self) -> str:
        return said(self, f"{self.property}: {self.reason}")


def unproved(name: str, obstacle: str) -> Undecided:
    """Return that no proof of a property was found, because of what."""
    return Undecided(name, f"no proof was found: {obstacle}", obstacle)


Finding: TypeAlias = Proved | Refuted | Undecided


_SENTENCES = {
    INJECTIVE: "no two elements share a slot",
    INVERSE: "the inverse of the offset is right",
    ONTO: "its buffer is the padded box",
    PADDING: "padding is the slots without an element",
    RANGE: "it has an element",
}


def sentence_of(property_: str) -> str:
    """Return a property as a clause after "no proof was found that"."""
    label, colon, name = property_.rpartition(": ")
    clause = _SENTENCES.get(name, name)
    return f"{clause} in `{label}`" if colon else clause


@dataclass(frozen=True, slots=True)
class Checked(Displayed):
    """A claim with what was found of each of its properties."""

    claim: AnyClaim
    findings: tuple[Finding, ...]

    def __bool__(self) -> bool:
        """Return `passed`: undecided is never a pass."""
        return self.passed

    def __repr__(self) -> str:
        return said(self, f"{self.status}: {self.claim.text}")

    @property
    def status(self) -> Status:
        """Refuted if any property is; proved only if every one is."""
        if any(isinstance(each, Refuted) for each in self.findings):
            return "refuted"
        proved = self.findings and all(isinstance(each, Proved) for each in self.findings)
        return "proved" if proved else "undecided"

    @property
    def passed(self) -> bool:
        """Whether the claim says what was found; undecided is never a pass."""
        return self.status == ("proved" if self.claim.polarity == "prove" else "refuted")
