"""What comes of validation: shown for every shape, or not shown."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Validated:
    """What was to be shown holds for every shape of the range.

    Attributes:
        certificate: the hash of the theorems and their proofs.
        theorems: how many there are.
        questions: how many questions the solver answered.
    """

    certificate: str
    theorems: int
    questions: int


@dataclass(frozen=True, slots=True)
class NotValidated:
    """It was not shown; says what is missing."""

    reason: str
