"""Claims to what is found of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from layoutdsl.language.elaborate.shelf import find_subject
from layoutdsl.language.meaning.arguments import FUNCTION, expect
from layoutdsl.language.meaning.claims import AnyClaim
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.module import Module
from layoutdsl.language.meaning.record import Record
from layoutdsl.language.meaning.table import Table
from layoutdsl.language.texts.values import Displayed, said
from layoutdsl.proof.claims import claims_of

if TYPE_CHECKING:
    from layoutdsl.proof.prover.verdict import Checked, Status


CLAIMS_PER_JOB = 16
"""Below so many claims another process does not pay."""


@dataclass(frozen=True, slots=True)
class Report(Displayed):
    """What was found of several claims, in their order."""

    checked: tuple[Checked, ...]

    def __bool__(self) -> bool:
        """Return `passed`: ``assert prove(layout)`` fails unless every claim passed."""
        return self.passed

    def __repr__(self) -> str:
        failed = [each for each in self.checked if not each.passed]
        count = f"{len(self.checked)} claim{'' if len(self.checked) == 1 else 's'}"
        first = [each.headline for each in failed[:1]]
        return said(self, "; ".join([f"{self.status}, {count}", *first]))

    def __str__(self) -> str:
        from layoutdsl.proof.prover.verdict import outcomes

        counts = [outcomes(self.checked)] if len(self.checked) > 1 else []
        return "\n".join([*map(str, self.checked), *counts])

    @property
    def status(self) -> Status:
        """Proved: every claim says what was found. Refuted: the contrary of one was found.

        Where there is no claim nothing was proved.
        """
        if self.checked and all(each.passed for each in self.checked):
            return "proved"
        failed = [each for each in self.checked if not each.passed]
        return "refuted" if any(each.status != "undecided" for each in failed) else "undecided"

    @property
    def passed(self) -> bool:
        """Whether every claim says what was found."""
        return self.status == "proved"


def prove(
    subject: Layout | Table | Record | Module | Iterable[AnyClaim] | str,
    progress: Callable[[str], None] | None = None,
) -> Report:
    """Return what is found of a layout, table or record, of a module, or of some claims.

    All that a module declares is checked without being claimed to be right; but not what a bare
    ``refute NAME`` says is wrong.

    Args:
        subject: what to look at; a name is that of a layout, table or record of the library.
        progress: is told, in a few words, what is being asked.

    Returns:
        A report that is true only if every claim passed, so ``assert prove(layout)`` is a test.

    Raises:
        TypeError: ``subject`` is nothing that can be proved.
        ValueError: there is nothing to prove.
    """
    expect(progress=(progress, FUNCTION.or_none()))
    if isinstance(subject, str):
        subject = find_subject(subject, "subject")
    claims = claims_of(subject)
    if not claims:
        raise ValueError("there is nothing to prove")
    return Report(tuple(checks(claims, progress)))


def checks(
    claims: Iterable[AnyClaim], progress: Callable[[str], None] | None = None
) -> Iterator[Checked]:
    """Yield what is found of each claim, as soon as it is found."""
    return (checked for checked, _ in timed_checks(tuple(claims), progress, jobs=1))


def timed_checks(
    claims: Sequence[AnyClaim],
    progress: Callable[[str], None] | None = None,
    jobs: int | None = None,
    arrived: Callable[[int, Checked], None] | None = None,
) -> Iterator[tuple[Checked, float]]:
    """Yield what is found of each claim, in their order, and the seconds that it took.

    Args:
        claims: what to look at.
        progress: is told, in a few words, what is being done by the only process.
        jobs: processes at a time; as many as the work is worth, if left out. A process that dies
            leaves its claim undecided.
        arrived: of several processes, is told the number of a claim and what was found of it, as
            soon as it was, whatever its turn is.
    """
    number = usual_jobs(len(claims)) if jobs is None else min(jobs, len(claims))
    if number <= 1:
        yield from (_timed(each, progress) for each in claims)
        return
    from layoutdsl.proof.prover.jobs import shared

    def tell(number: int, found: tuple[Checked, float]) -> None:
        if arrived is not None:
            arrived(number, found[0])

    yield from shared(_timed, claims, number, _undecided, tell)


def usual_jobs(claims: int) -> int:
    """Return how many processes so many claims are worth on this machine."""
    if sys.platform == "emscripten":
        return 1  # a browser starts no processes
    return max(1, min(os.cpu_count() or 1, claims // CLAIMS_PER_JOB))


def _timed(claim: AnyClaim, progress: Callable[[str], None] | None = None) -> tuple[Checked, float]:
    from layoutdsl.proof.prover.check import check

    started = perf_counter()
    checked = check(claim, progress)
    return checked, perf_counter() - started


def _undecided(claim: AnyClaim, ending: str) -> tuple[Checked, float]:
    from layoutdsl.proof.prover.check import given_up

    return given_up(claim, f"the process that was proving it died: {ending}"), 0.0
