"""What is wrong with files of weights, rules and tensors: all of it, each with a remedy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from layoutdsl.files.npy import UnreadableError

Kind: TypeAlias = Literal["rule", "tensor", "file"]

MOST = 20
"""Faults that are told; files hold ten thousand tensors."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong.

    Attributes:
        kind: what is at fault.
        message: names it, and says why.
        remedy: how to go on.
    """

    kind: Kind
    message: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.message}; {self.remedy}" if self.remedy else self.message


class UnfitError(ValueError):
    """Files, rules or tensors do not fit; nothing was written.

    Attributes:
        problems: all that were found, at least one.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        told = [str(each) for each in self.problems[:MOST]]
        left = len(self.problems) - len(told)
        super().__init__("\n".join([*told, *([f"and {left} more"] if left else [])]))


@contextmanager
def reading(place: Path) -> Iterator[None]:
    """What is unreadable inside is this file.

    Raises:
        UnfitError: in place of what was raised.
    """
    try:
        yield
    except UnreadableError as unreadable:
        raise UnfitError((Problem("file", f"`{place}` {unreadable.fact}"),)) from None
