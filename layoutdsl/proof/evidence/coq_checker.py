"""Confirm certificates with `layoutdsl-check`, the checker that is proved in Coq.

The program is built from `proofs/coq`, and asks no solver. It gets the text of a certificate on its
standard input, the same text that was compared with the source, and prints a line for each claim.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, cast, get_args

from layoutdsl.language.texts import resources
from layoutdsl.proof.evidence.manifest import Entry
from layoutdsl.proof.evidence.problem import Kind, Problem
from layoutdsl.proof.kernel.process import converse
from layoutdsl.proof.kernel.solver import NoSolver

PROGRAM = "layoutdsl-check"
VARIABLE = "LAYOUTDSL_CHECK"
"""Environment variable with the path of the program."""

WALL = 300.0
"""Seconds without a line after which the program is killed. It gives up a question after 60."""

PACKAGES = "ocaml-nox ocaml-findlib libzarith-ocaml-dev"

Status: TypeAlias = Literal["confirmed", "empty", "unanswered", "rejected"]

SENTENCES = ("", "packs", "packs outside gaps", "places")
"""Sentences of `proofs/coq/Layout.v` about the declaration of a layout, as they are printed."""


class NotRunError(Exception):
    """The program ended early, hung, or printed something else: nothing is confirmed."""


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """The verdict of the program on one claim; ``empty`` means that it has no theorems.

    The reason of a confirmed claim is one of `SENTENCES`.
    """

    status: Status
    reason: str = ""

    @property
    def has_sentence(self) -> bool:
        """Whether the theorems imply that the declared offset is a bijection, or injective."""
        return self.status == "confirmed" and self.reason != ""


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A verdict for each claim of a certificate, and how many questions were answered."""

    claims: tuple[ClaimResult, ...]
    questions: int


@dataclass(frozen=True, slots=True)
class Confirmed:
    """How many claims with theorems the program confirmed, of how many; and the problems."""

    claims: int
    of: int
    problems: tuple[Problem, ...]

    @property
    def summary(self) -> str:
        """The counts, in a line."""
        claims = f"{self.of} claim{'' if self.of == 1 else 's'} with theorems"
        return f"{PROGRAM} confirms {self.claims} of {claims}"


def program() -> str:
    """Return the path of `layoutdsl-check`: of `$LAYOUTDSL_CHECK`, PATH, or the checkout.

    Raises:
        NoSolver: it is not installed. The remedy is the commands that build it.
    """
    chosen = os.environ.get(VARIABLE)
    if chosen:
        if os.access(chosen, os.X_OK) and Path(chosen).is_file():
            return chosen
        message = f"${VARIABLE} is `{chosen[:200]}`, which is no program"
        raise NoSolver(message, f"set it to the path of {PROGRAM}")
    folder = resources.folder("proofs") / "coq"
    built = folder / PROGRAM
    found = shutil.which(PROGRAM) or (str(built) if os.access(built, os.X_OK) else None)
    if found is None:
        remedy = (
            f"build it: `make -C {folder}`, after `apt-get install {PACKAGES}`; "
            f"${VARIABLE} names one that is built elsewhere"
        )
        raise NoSolver(f"the program {PROGRAM} is not installed", remedy)
    return found


def confirm_claims(certificate: str, count: int) -> Confirmation:
    """Return the verdicts on the claims of a certificate, in their order.

    Args:
        certificate: the text of the JSON file.
        count: how many claims it has.

    Raises:
        NoSolver: the program is not installed.
        NotRunError: its output is incomplete, or is not what it prints for so many claims.
    """
    *lines, last = _lines(["--by-claim", "-"], certificate)
    end = re.fullmatch(r"end\t([0-9]+) questions", last)
    results = tuple(_result(line) for line in lines)
    if end is None or len(results) != count:
        raise NotRunError(f"{PROGRAM} ended early: {last[:200]}")
    return Confirmation(results, int(end[1]))


def _result(line: str) -> ClaimResult:
    status, tab, reason = line.partition("\t")
    known = status in get_args(Status) and (status != "confirmed" or reason in SENTENCES)
    if not known or not tab:
        raise NotRunError(f"{PROGRAM} complains: {line[:200]}")
    return ClaimResult(cast("Status", status), reason)


def refuse_lemmas(certificate: str) -> str:
    """Return why the lemmas of a certificate are not those that are proved in Coq; else ``""``.

    Raises:
        NoSolver: the program is not installed.
        NotRunError: its output is incomplete.
    """
    (line,) = _lines(["--lemmas", "-"], certificate)[:1]
    if re.fullmatch(r"CONFIRMED -: .*", line):
        return ""
    if line.startswith("REJECTED "):
        return line.removeprefix("REJECTED ")
    raise NotRunError(f"{PROGRAM} complains: {line[:200]}")


def _lines(words: Sequence[str], text: str) -> list[str]:
    output, reason = converse(PROGRAM, [program(), *words], text, WALL)
    lines = output.splitlines()
    if reason or not lines:
        raise NotRunError(reason or f"{PROGRAM} prints nothing")
    return lines


def problems_of(entry: Entry, result: ClaimResult) -> Iterator[Problem]:
    """Yield what is wrong with a claim by the verdict of the program."""
    match result.status:
        case "rejected":
            words = f"layoutdsl-check rejects it: {result.reason[:400]}"
            yield Problem(Kind.BROKEN, entry.claim, words)
        case "unanswered":
            yield unconfirmed(entry.claim, result.reason[:400])
        case "empty" | "confirmed" as status if (status == "empty") != (not entry.proofs):
            # Two readers of one text have to see the same number of theorems.
            yield Problem(Kind.BROKEN, entry.claim, "layoutdsl-check reads other theorems in it")


def unconfirmed(place: str, reason: str) -> Problem:
    """Return the problem that the program gives no verdict."""
    return Problem(Kind.UNCONFIRMED, place, reason)
