"""What can be wrong with a certificate, each kind with a code of its own."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from layoutdsl.language.texts.values import brief


class Kind(Enum):
    """A code that stays, and the word for it; `grammar/errors.md` explains each."""

    STALE = ("P101", "stale", "prove it again: `layoutdsl prove --write`")
    MISSING = ("P102", "missing", "prove it: `layoutdsl prove --write`")
    LEFT_OVER = ("P103", "left over", "remove it: `layoutdsl prove --write` does")
    BROKEN = ("P104", "broken", "believe nothing of it, and prove it again")
    DISAGREEMENT = ("P105", "disagreement", "one solver is wrong: please report this question")
    UNANSWERED = ("P106", "unanswered", "ask another solver: --solver")
    UNCONFIRMED = ("P107", "not confirmed", "ask a solver instead: leave out `--checker coq`")

    @property
    def code(self) -> str:
        """The code, for ``layoutdsl explain``."""
        return self.value[0]

    @property
    def word(self) -> str:
        """The kind in a word or two."""
        return self.value[1]

    @property
    def help(self) -> str:
        """What can be done about it."""
        return self.value[2]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong.

    Attributes:
        kind: what sort of thing.
        place: the file, or the claim in it.
        message: what is wrong there.
    """

    kind: Kind
    place: str
    message: str

    __repr__ = brief


@dataclass(frozen=True, slots=True)
class Rechecked:
    """What came of one certificate.

    Attributes:
        name: its file, without the ending.
        claims: how many claims it was checked for.
        questions: how many questions each solver answered, or `layoutdsl-check`.
        problems: what is wrong; with none, it stands.
        sentences: how many layouts `layoutdsl-check` confirmed from their declarations, if it
            was asked.
    """

    name: str
    claims: int
    questions: int
    problems: tuple[Problem, ...]
    sentences: int | None = None

    __repr__ = brief

    def __bool__(self) -> bool:
        """Return whether the certificate is confirmed."""
        return self.status == "confirmed"

    @property
    def status(self) -> str:
        """``confirmed``, ``failed``, or ``undecided`` where only an answer is missing."""
        kinds = {each.kind for each in self.problems}
        if not kinds:
            return "confirmed"
        return "undecided" if kinds <= {Kind.UNANSWERED, Kind.UNCONFIRMED} else "failed"
