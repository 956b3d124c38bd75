"""One thing that is asked of what is emitted, small enough to be said in a line."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from random import Random
from typing import Literal

from arrays_in_memory import KINDS

from .meaning import Shape

Kind = Literal["numpy", "convert", "python", "c"]
KINDS_OF_CODE: tuple[Kind, ...] = ("numpy", "convert", "python", "c")
TYPES = ("u1", "i2", "f4", "f8", "c16", ">i2", ">f4", "f2", "V3", "V16", "m8[s]", "?", "u8")


class Fault(AssertionError):  # noqa: N818  not of the program that runs
    """What is emitted is not what is meant; says in what."""


class Refused(Exception):  # noqa: N818  not an error: nothing was emitted
    """Nothing is emitted for the layout; says why in a word."""


@dataclass(frozen=True)
class Ways:
    """The type of the elements, how arrays lie in memory, the fill, and how many threads."""

    dtype: str = "u1"
    source: str = "plain"
    target: str = "plain"
    fill: int | None = None
    threads: int = 1

    @classmethod
    def drawn(cls, random: Random) -> Ways:
        return cls(
            random.choice(TYPES),
            random.choice((*KINDS, "broadcast")),
            random.choice(KINDS),
            random.choice((None, None, 0, 1)),
            random.choice((1, 1, 1, 2, 3)),
        )

    def __str__(self) -> str:
        fill = "-" if self.fill is None else self.fill
        return f"{self.dtype},{self.source},{self.target},{fill},{self.threads}"

    @classmethod
    def read(cls, text: str) -> Ways:
        dtype, source, target, fill, threads = text.split(",")
        return cls(dtype, source, target, None if fill == "-" else int(fill), int(threads))


@dataclass(frozen=True)
class Case:
    """Emitted code of one kind, at one shape.

    Attributes:
        text: the layout, whose name is ``L``.
        other: the layout that is converted to, ``M``, where that is the question.
    """

    kind: Kind
    text: str
    shape: Shape
    ways: Ways = Ways()
    other: str = ""

    def __str__(self) -> str:
        """The command that runs it again."""
        words = ["--kind", self.kind, "--layout", self.text]
        words += ["--other", self.other] if self.other else []
        words += ["--shape", ",".join(map(str, self.shape)), "--ways", str(self.ways)]
        return f"python -m tests.support.emitted_fuzz {shlex.join(words)}"
