"""A fault of a text: one diagnostic, raised where it is met and reported with the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from layoutdsl.language.texts.source import Diagnostic, Label, Span

MOST_CANDIDATES = 500
"""Names that a misspelt one is compared with."""


class Fault(Exception):  # noqa: N818  a fault of the text, not an error of ours
    """One diagnostic, on its way to those that are raised together.

    ``needs_numbers`` marks what a parameterised layout may leave open until it is given arguments.
    """

    def __init__(self, diagnostic: Diagnostic, *, needs_numbers: bool = False) -> None:
        super().__init__(diagnostic)
        self.diagnostic = diagnostic
        self.needs_numbers = needs_numbers


def fault(
    code: str,
    message: str,
    span: Span,
    *,
    words: str = "",
    others: tuple[Label, ...] = (),
    help: str | None = None,  # noqa: A002  the word that the message uses
) -> Fault:
    """Return a fault with one primary place."""
    return Fault(Diagnostic(code, message, Label(span, words), others, help))


class UnknownNameError(ValueError):
    """There is nothing of that name; `hint` says what was perhaps meant, if anything is close."""

    def __init__(self, message: str, hint: str | None) -> None:
        super().__init__(f"{message}; {hint}" if hint else message)
        self.message, self.hint = message, hint


class VerdictError(ValueError):
    """A layout may not move data or become code.

    Attributes:
        checked: the verdict on it.
        reason: a sentence.
    """

    checked: Any
    reason: str


class UnsearchedError(ValueError):
    """What was looked for may be there or not: the search for it was given up."""


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """Return the help line that names the closest known word, where one is close."""
    from difflib import get_close_matches

    names = sorted({name for name in known if abs(len(name) - len(word)) <= 3})[:MOST_CANDIDATES]
    close = get_close_matches(word, names, n=1) or [
        name for name in names if name.lower() == word.lower()
    ]
    return f"did you mean `{close[0]}`?" if close else None
