"""``prove``: is what a text says true for every shape?"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

import click

from layoutdsl.cli.drawing import DRAWN_TO, PAGE, place, refuse_both, refuse_drawing, refuse_output
from layoutdsl.cli.exits import Exit, Failure, usage
from layoutdsl.cli.options import JSON, choice
from layoutdsl.cli.output import say, say_json
from layoutdsl.cli.progress import Progress, Way, progress_option
from layoutdsl.cli.targets import Target, claims_in, refuse_silent, targets_of

if TYPE_CHECKING:
    from layoutdsl.cli.evidence import Writer
    from layoutdsl.cli.verdicts import Verdict
    from layoutdsl.meaning.claims import AnyClaim
    from layoutdsl.prover.verdict import Checked


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
@progress_option
@PAGE
@DRAWN_TO
@JSON
def prove(
    written: tuple[str, ...],
    range_: str | None,
    verbose: int,
    jobs: int | None,
    writes: str,
    into: str | None,
    way: Way,
    drawn: str,
    output: str | None,
    form: str,
) -> int:
    """Prove layouts, tables, records, or files with claims, for every shape; else the library.

    Every layout is checked without asking: extents hold, offsets are in bounds, no two elements
    share one, decoding inverts encoding, padding is exact. Of codes of real numbers: each is the
    nearest, for every scale, and 0 comes back as 0. Of a table: every element lies in exactly one
    slot. Of a record: each part as a layout, and every bit of every element lies in
    exactly one place, which no other bit has. A refutation comes with the smallest shape found,
    and a command line that replays it.

    \b
      layoutdsl prove demo.layout
      layoutdsl prove demo.layout:NCHW16c --where "C <= 64"
      layoutdsl prove NCHW16c -v
      layoutdsl prove Q4_0
      layoutdsl prove --write
      layoutdsl prove demo.layout --write --into demo.proofs
      layoutdsl prove demo.layout --as html -o refuted.html
    """
    refuse_both(drawn, form)
    if drawn == "text":
        refuse_drawing({"-o": output})
    if writes != "write" and into is not None:
        raise Failure(Exit.USAGE, "--into says where --write writes", "add --write")
    if writes == "write" and range_ is not None:
        raise Failure(Exit.USAGE, "--write writes what the text claims, without --where")
    targets = targets_of(written)
    for each in targets:
        refuse_silent(each)
    refuse_output(drawn, output, *(each.place for each in targets))
    pairs = [(each, claim) for each in targets for claim in _narrowed(claims_in(each), range_)]
    if writes == "write":
        from layoutdsl.cli.evidence import Writer

        made = Writer(targets, into, bool(written))
        return _report(pairs, verbose, jobs, form, way, made, (drawn, output))
    return _report(pairs, verbose, jobs, form, way, None, (drawn, output))


def _narrowed(claims: tuple[AnyClaim, ...], range_: str | None) -> tuple[AnyClaim, ...]:
    if range_ is None:
        return claims
    if not range_.strip():
        raise Failure(Exit.USAGE, "--where is empty", 'write a range: --where "C <= 64, N == 1"')
    from layoutdsl.api import narrowed

    with usage():
        return narrowed(claims, range_)


def _report(
    pairs: list[tuple[Target, AnyClaim]],
    verbose: int,
    jobs: int | None,
    form: str,
    way: Way,
    writer: Writer | None,
    page: tuple[str, str | None],
) -> int:
    from layoutdsl.api import Report, timed_checks, usual_jobs
    from layoutdsl.cli.verdicts import summary, verdict_of, verdict_text

    progress, claims = Progress("prove", way), [claim for _, claim in pairs]
    jobs = min(jobs or usual_jobs(len(claims)), len(claims))
    standing = _Standing(progress, len(claims), jobs)
    verdicts: list[Verdict] = []
    started = perf_counter()
    found = timed_checks(claims, standing.under_way, jobs, standing.arrived)
    for (chosen, _), (checked, seconds) in zip(pairs, found, strict=True):
        progress.clear()
        standing.turn += 1
        verdicts.append(verdict_of(chosen, checked, seconds))
        if writer is not None:
            writer.take(checked)
        if form != "json" and not _on_stdout(page):
            say(verdict_text(verdicts[-1], verbose))
    report = Report(tuple(each.checked for each in verdicts))
    written = {} if writer is None else writer.finish()
    if form == "json":
        told = [each.as_json() for each in verdicts]
        say_json({"status": report.status, "passed": report.passed, "claims": told, **written})
    else:
        words = [summary(verdicts, perf_counter() - started)]
        words += [] if writer is None else [writer.summary]
        if not _on_stdout(page):
            say("\n".join(words))
        if page[0] != "text":
            from layoutdsl.cli.verdict_page import verdict_page

            text = verdict_page(verdicts, "\n".join(words), verbose)
            place(text, page[0], page[1], *{each.place for each, _ in pairs})
    return {"proved": Exit.OK, "refuted": Exit.REFUTED, "undecided": Exit.UNDECIDED}[report.status]


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
