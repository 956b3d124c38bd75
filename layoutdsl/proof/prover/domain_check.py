"""The checks that a layout with a domain has to pass."""

from __future__ import annotations

from itertools import islice

from layoutdsl.language.digits.domains import reading_of
from layoutdsl.language.digits.network import NotDigits
from layoutdsl.language.meaning.model import Layout
from layoutdsl.proof.kernel import lemmas
from layoutdsl.proof.kernel.builder import NoProof
from layoutdsl.proof.kernel.checker import Proof, Theorem
from layoutdsl.proof.statements.sound import IN_THE_DOMAIN
from layoutdsl.proof.statements.terms import NotExpressible
from layoutdsl.proof.tactics.domain_proof import USED, DomainSoundness


def add_proofs(
    layout: Layout, proved: list[tuple[Theorem, Proof]], reasons: dict[str, str]
) -> None:
    """Add every theorem with its proof, and for those without one the reason."""
    names = {name for each in IN_THE_DOMAIN.values() for name in each}
    reading = reading_of(layout)
    if isinstance(reading, NotDigits):
        reasons |= dict.fromkeys(names, f"no proof was found: {reading.reason}")
        return
    try:
        soundness = DomainSoundness(layout, reading, lemmas.stated())
        proved.extend(soundness.theorems())
        proved.extend(soundness.filling())
    except (NoProof, NotExpressible) as reason:
        done = {theorem.name for theorem, _ in proved}
        reasons |= dict.fromkeys(names - done, f"no proof was found: {reason}")


def domain_in_bounds(layout: Layout) -> list[tuple[Theorem, Proof]]:
    """Return theorems with their proofs, the last of which says that every offset is in bounds.

    Raises:
        NoProof: no proof was found.
        NotExpressible: the layout says what the checker's terms cannot.
    """
    reading = reading_of(layout)
    if isinstance(reading, NotDigits):
        raise NoProof(f"that every offset is in bounds was not proved: {reading.reason}")
    theorems = DomainSoundness(layout, reading, lemmas.stated()).theorems()
    return list(islice(theorems, len(USED) + 1))
