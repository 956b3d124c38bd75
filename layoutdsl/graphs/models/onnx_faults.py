"""What is wrong with a model, in a sentence, and what to do about it."""

from __future__ import annotations

from typing import Literal

from layoutdsl.language.texts.values import printable


class UnfitModelError(ValueError):
    """A model cannot be planned.

    Attributes:
        message: what is wrong, one sentence.
        remedy: how to go on.
        kind: `file`, where the model is at fault, or `option`, where something has to be said.
    """

    def __init__(self, message: str, remedy: str, kind: Literal["file", "option"] = "file") -> None:
        super().__init__(f"{message}; {remedy}")
        self.message, self.remedy, self.kind = message, remedy, kind


def line_of(error: Exception) -> str:
    """Return what an error of a package says, as one short line."""
    line = printable(" ".join(str(error).split()))
    return line if len(line) <= 240 else f"{line[:237]}..."
