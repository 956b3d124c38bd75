"""The checks that a layout with a domain has to pass: its theorems, and which property is which."""

from __future__ import annotations

from collections.abc import Container, Mapping
from itertools import islice

from layoutdsl.digits.domains import reading_of
from layoutdsl.digits.network import NotDigits
from layoutdsl.kernel import lemmas
from layoutdsl.kernel.checker import Proof, Theorem
from layoutdsl.kernel.script import Stuck
from layoutdsl.meaning.model import Layout
from layoutdsl.properties.verdict import BOUNDS, EXTENTS, FULL, INJECTIVE, INVERSE, ONTO, PADDING
from layoutdsl.statements.terms import Unstated
from layoutdsl.tactics.domain_proof import FILLING, USED, DomainSoundness

Theorems = tuple[str, ...]

_RESTS_ON: Mapping[str, Theorems] = {
    EXTENTS: ("domain.element",),
    BOUNDS: ("domain.element",),
    INJECTIVE: ("domain.injective",),
    INVERSE: ("domain.own", "domain.read"),
    PADDING: ("domain.own", "domain.read", "domain.decode"),
}


def rests_on(others: Mapping[str, Theorems], known: Container[str]) -> dict[str, Theorems]:
    """Return the theorems that each property is, in the order of the properties.

    Args:
        others: the same of layouts without a domain.
        known: the theorems there are; only with those that say so is every slot held.
    """
    found: dict[str, Theorems] = {}
    for name, theorems in others.items():
        if name != ONTO:
            found[name] = _RESTS_ON.get(name, theorems)
        elif all(each in known for each in FILLING):
            found[FULL] = ("domain.decode", *FILLING)
    return found


def add_proofs(
    layout: Layout, proved: list[tuple[Theorem, Proof]], reasons: dict[str, str]
) -> None:
    """Add every theorem with its proof, and for those without one the reason."""
    names = {name for each in _RESTS_ON.values() for name in each}
    reading = reading_of(layout)
    if isinstance(reading, NotDigits):
        reasons |= dict.fromkeys(names, f"no proof was found: {reading.reason}")
        return
    try:
        soundness = DomainSoundness(layout, reading, lemmas.stated())
        proved.extend(soundness.theorems())
        proved.extend(soundness.filling())
    except (Stuck, Unstated) as reason:
        done = {theorem.name for theorem, _ in proved}
        reasons |= dict.fromkeys(names - done, f"no proof was found: {reason}")


def domain_in_bounds(layout: Layout) -> list[tuple[Theorem, Proof]]:
    """Return theorems with their proofs, the last of which says that every offset is in bounds.

    Raises:
        Stuck: no proof was found.
        Unstated: the layout says what the checker's terms cannot.
    """
    reading = reading_of(layout)
    if isinstance(reading, NotDigits):
        raise Stuck(f"that every offset is in bounds was not proved: {reading.reason}")
    theorems = DomainSoundness(layout, reading, lemmas.stated()).theorems()
    return list(islice(theorems, len(USED) + 1))
