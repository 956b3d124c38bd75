"""``prove``: is what a text says true for every shape?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

import click

from layoutdsl.shell.drawing import (
    PAGE,
    drawn_to,
    place,
    refuse_both,
    refuse_drawing,
    refuse_output,
)
from layoutdsl.shell.exits import Exit, Failure, usage
from layoutdsl.shell.options import CHECKER, Form, choice, forms, quiet
from layoutdsl.shell.output import is_quiet, say, say_json, say_passed
from layoutdsl.shell.progress import Progress, Way, progress_option
from layoutdsl.shell.targets import Target, claims_in, named, refuse_silent, target, targets_of

if TYPE_CHECKING:
    from layoutdsl.language.meaning.claims import AnyClaim
    from layoutdsl.proof.prover.verdict import Checked
    from layoutdsl.shell.evidence import Writer
    from layoutdsl.shell.reporting import Reporting
    from layoutdsl.shell.verdicts import Verdict


@click.command(short_help="Prove layouts, or files, for every shape.")
@click.argument("written", metavar="[FILE[:NAME]]...", nargs=-1)
@click.option(
    "--where", "range_", metavar="RANGE", help='Only shapes in a range: --where "C <= 64, N == 1".'
)
@click.option("-v", "--verbose", count=True, help="List every property, and every counterexample.")
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1, 256),
    metavar="N",
    help="Processes at a time; by default as many as the work is worth.",
)
@choice("write", "writes", "Write certificates, which `recheck` checks again.")
@click.option(
    "--into", metavar="DIR", help="Where --write writes; proofs/ of a checkout for the library."
)
@CHECKER
@progress_option
@PAGE
@drawn_to
@quiet
@forms
def prove(
    written: tuple[str, ...],
    range_: str | None,
    verbose: int,
    jobs: int | None,
    writes: str,
    into: str | None,
    checker: str | None,
    way: Way,
    drawn: str,
    output: str | None,
    form: Form,
) -> int:
    """Prove layouts, tables, records, or files with claims, for every shape; else the library.

    The library is proved where nothing is named, unless the standard input is a pipe or a file:
    - reads that.

    Every layout is checked without asking: extents hold, offsets are in bounds, no two elements
    share one, decoding inverts encoding, padding is exact. Of codes of real numbers: each is the
    nearest, for every scale, and 0 comes back as 0. Of a table: every element lies in exactly one
    slot. Of a record: each part as a layout, and every bit of every element lies in
    exactly one place, which no other bit has. A refutation comes with the smallest shape found,
    and a command line that replays it.

    With --checker coq, `layoutdsl-check` follows each proof again, without a solver. A claim that
    it does not confirm ends the command with 3.

    \b
      layoutdsl prove demo.layout
      layoutdsl prove - < demo.layout
      layoutdsl prove demo.layout:NCHW16c --where "C <= 64"
      layoutdsl prove NCHW16c -v
      layoutdsl prove Q4_0
      layoutdsl prove NCHW16c --checker coq
      layoutdsl prove --write
      layoutdsl prove demo.layout --write --into demo.proofs
      layoutdsl prove kernels/*.layout --format sarif
      layoutdsl prove demo.layout --as html -o refuted.html
    """
    refuse_both(drawn, form)
    if drawn == "text":
        refuse_drawing({"-o": output})
    if writes != "write" and into is not None:
        raise Failure(Exit.USAGE, "--into says where --write writes", "add --write")
    if writes == "write" and range_ is not None:
        raise Failure(Exit.USAGE, "--write writes what the text claims, without --where")
    if checker is not None:
        _refuse_checker(form)
    targets = targets_of(written, target if form in ("text", "json") else named)
    for each in targets:
        refuse_silent(each)
    refuse_output(drawn, output, *(each.place for each in targets))
    asked = [each for chosen in targets for each in _asked(chosen, range_)]
    told, writer = None, None
    if form in ("sarif", "github"):
        from layoutdsl.shell.reporting import Reporting

        told = Reporting(form, targets)
    if writes == "write":
        from layoutdsl.shell.evidence import Writer

        writer = Writer(targets, into, bool(written))
    return _report(asked, verbose, jobs, form, way, told, writer, (drawn, output), checker)


def _refuse_checker(form: Form) -> None:
    if form not in ("text", "json"):
        raise Failure(Exit.USAGE, f"--checker does not go with --format {form}", "leave one out")
    from layoutdsl.shell.evidence import refuse_missing_checker

    refuse_missing_checker()


@dataclass(frozen=True, slots=True)
class _Asked:
    """A claim that is looked at, as its text has it, and where that is."""

    chosen: Target
    claim: AnyClaim
    written: AnyClaim


def _asked(chosen: Target, range_: str | None) -> Iterator[_Asked]:
    said = claims_in(chosen)
    return (_Asked(chosen, *each) for each in zip(_narrowed(said, range_), said, strict=True))


def _narrowed(claims: tuple[AnyClaim, ...], range_: str | None) -> tuple[AnyClaim, ...]:
    if range_ is None:
        return claims
    if not range_.strip():
        raise Failure(Exit.USAGE, "--where is empty", 'write a range: --where "C <= 64, N == 1"')
    from layoutdsl.commands import narrowed

    with usage():
        return narrowed(claims, range_)


def _report(
    asked: list[_Asked],
    verbose: int,
    jobs: int | None,
    form: Form,
    way: Way,
    told: Reporting | None,
    writer: Writer | None,
    page: tuple[str, str | None],
    checker: str | None,
) -> int:
    from layoutdsl.commands import Report, confirm, timed_checks, usual_jobs
    from layoutdsl.shell.evidence import problem_text
    from layoutdsl.shell.verdicts import summary, verdict_of, verdict_text

    progress, claims = Progress("prove", way), [each.claim for each in asked]
    jobs = min(jobs or usual_jobs(len(claims)), len(claims))
    standing = _Standing(progress, len(claims), jobs)
    verdicts: list[Verdict] = []
    started = perf_counter()
    found = timed_checks(claims, standing.under_way, jobs, standing.arrived)
    for each, (checked, seconds) in zip(asked, found, strict=True):
        progress.clear()
        standing.turn += 1
        verdicts.append(verdict_of(each.chosen, checked, seconds))
        if writer is not None:
            writer.take(checked)
        if told is not None:
            told.take(verdicts[-1], each.written)
        elif form == "text" and not (_on_stdout(page) or (checked.passed and is_quiet())):
            say(verdict_text(verdicts[-1], verbose))
    report = Report(tuple(each.checked for each in verdicts))
    code = {"proved": Exit.OK, "refuted": Exit.REFUTED, "undecided": Exit.UNDECIDED}[report.status]
    written = {} if writer is None else writer.finish()
    confirmed = None if checker is None else confirm(each.checked for each in verdicts)
    problems = () if confirmed is None else confirmed.problems
    if problems and code == Exit.OK:
        code = Exit.UNDECIDED
    if told is not None:
        told.finish(code, summary(verdicts, perf_counter() - started))
    elif form == "json":
        claims_json = [each.as_json() for each in verdicts]
        status = {"status": report.status, "passed": report.passed}
        words = summary(verdicts, perf_counter() - started)
        by = {} if confirmed is None else {"checker": checker, "unconfirmed": problems}
        say_json({**status, "claims": claims_json, "summary": words, **written, **by})
    else:
        lines = [summary(verdicts, perf_counter() - started)]
        lines += [] if writer is None else [writer.summary]
        lines += [] if confirmed is None else [confirmed.summary]
        if not _on_stdout(page):
            for problem in problems:
                say(problem_text(problem))
            say_passed("\n".join(lines))
        if page[0] != "text":
            from layoutdsl.shell.verdict_page import verdict_page

            text = verdict_page(verdicts, "\n".join(lines), verbose)
            place(text, page[0], page[1], *{each.chosen.place for each in asked})
    return code


def _on_stdout(page: tuple[str, str | None]) -> bool:
    """Whether a page takes the standard output, so that nothing else is said there."""
    drawn, output = page
    return drawn != "text" and output in (None, "-")


@dataclass(slots=True)
class _Standing:
    """How many claims are done, of how many, by how many processes.

    Attributes:
        turn: how many verdicts were printed; they keep the order of the claims.
        done: of how many claims it is known what is found.
    """

    progress: Progress
    count: int
    jobs: int
    turn: int = 0
    done: int = 0

    def under_way(self, words: str) -> None:
        """Say what the only process does."""
        self.progress(words if self.count == 1 else f"{self.turn} of {self.count}, {words}")

    def arrived(self, number: int, checked: Checked) -> None:
        """Say what has been done, and at once what is amiss, where its turn has not come."""
        self.done += 1
        if not checked.passed and number > self.turn and self.progress.is_shown:
            self.progress.above(f"{checked.status}: {checked.claim.text}; more when it is its turn")
        if self.done < self.count:
            name = checked.claim.subject.name
            self.progress(f"{self.done} of {self.count}, {name}, {self.jobs} jobs")
