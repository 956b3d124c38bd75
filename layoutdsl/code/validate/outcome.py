"""What comes of validation: shown for every shape, or not shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from layoutdsl.proof.kernel.certificate import Certificate

Certificates: TypeAlias = tuple[tuple[str, Certificate], ...]
"""Theorems with their proofs, for each function by name."""


@dataclass(frozen=True, slots=True)
class Validated:
    """What was to be shown holds for every shape of the range.

    Attributes:
        seal: the hash of the text, of what the layout says, and of the theorems with their proofs.
        theorems: how many there are.
        questions: how many questions the solver answered.
        certificates: the theorems, but for those that are read off the text.
    """

    seal: str
    theorems: int
    questions: int
    certificates: Certificates = ()


@dataclass(frozen=True, slots=True)
class NotValidated:
    """It was not shown; says what is missing."""

    reason: str
