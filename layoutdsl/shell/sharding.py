"""``run``: a share of what many machines pack or unpack by a plan."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from layoutdsl.shell.arrays import VERBOSE
from layoutdsl.shell.exits import Exit, Failure, reason
from layoutdsl.shell.interrupts import watched
from layoutdsl.shell.large import looking
from layoutdsl.shell.options import COMPILED, choice
from layoutdsl.shell.output import error
from layoutdsl.shell.progress import Progress, Way, progress_option
from layoutdsl.shell.telling import notes, say_words
from layoutdsl.shell.weights import told_unfit

if TYPE_CHECKING:
    from layoutdsl.commands import CompileTarget, Planned, PlannedWeights
    from layoutdsl.files.pieces.standing import Standing

    AnyPlanned = Planned | PlannedWeights

_SHARE = re.compile(r"([0-9]{1,6})/([0-9]{1,6})")
SHOWN = 8
"""Missing shares that a message names."""


@click.command(short_help="Do a share of a plan.")
@click.argument("place", metavar="PLAN.json")
@click.option(
    "--shard",
    "written",
    metavar="I/N",
    help="Which share: 0/16 is the first of 16, 15/16 the last.  [default: 0/1, all of it]",
)
@choice("finish", "verb", "Only put the output in its place, or say which shares are missing.")
@click.option(
    "--jobs",
    type=click.IntRange(1, 256),
    default=1,
    metavar="N",
    help="Pieces at a time.  [default: 1]",
)
@COMPILED
@progress_option
@VERBOSE
def run(
    place: str,
    written: str | None,
    verb: str,
    jobs: int,
    compiled: CompileTarget,
    way: Way,
    verbose: int,
) -> None:
    """Do a share of a plan, or what is left of it where an earlier run was interrupted.

    Shares may be done in any order, on any machine that sees the files under the same names, and
    again. Whoever does the last one puts the output in its place; --finish does it too, and fails
    where shares are missing, and names them.

    \b
      layoutdsl run plan.json --shard 3/16
      layoutdsl run plan.json --shard $SLURM_ARRAY_TASK_ID/16
      layoutdsl run plan.json --finish
    """
    from layoutdsl.commands import finish_plan, load_plan, run_share

    if verb == "finish" and written is not None:
        raise Failure(Exit.USAGE, "--finish and --shard exclude each other", "leave --shard out")
    number, of = _share(written)
    with _failing(place):
        planned = load_plan(place)
    if verb == "finish":
        with _failing(place, planned):
            standing = finish_plan(planned)
        _refuse_missing(place, planned, standing)
        say_words(f"`{_output(planned)}` is whole", verbose)
        return
    progress = Progress(planned.plan.verb, way)
    with _failing(place, planned), watched(progress), notes():
        how: dict[str, Any] = {"progress": progress, "look": _look(planned)}
        how["tell"] = lambda words: progress.above(f"note: {words}")
        standing = run_share(planned, number, of, jobs=jobs, target=compiled, **how)
    say_words(f"{number}/{of} is done; {_standing(planned, standing)}", verbose)


def _share(written: str | None) -> tuple[int, int]:
    if written is None:
        return 0, 1
    found = _SHARE.fullmatch(written.strip())
    number, of = (int(found[1]), int(found[2])) if found else (0, 0)
    if found and number < of:
        return number, of
    message = f"`{written[:40]}` in --shard is no share"
    hint = f"shares of {of} are 0/{of} to {of - 1}/{of}" if of else "write I/N, from 0/16 to 15/16"
    raise Failure(Exit.USAGE, message, hint)


def _look(planned: AnyPlanned) -> Any:
    """What looks at every tensor; tensors of weights are looked at by their rules."""
    from layoutdsl.commands import Planned

    if not isinstance(planned, Planned):
        return None
    plan = planned.plan
    return looking(planned.layout, plan.sources[0].path, plan.fill_number)


def _output(planned: AnyPlanned) -> str:
    """The output as it is seen from here."""
    place, here = Path(planned.plan.named), Path.cwd()
    return str(place.relative_to(here) if place.is_relative_to(here) else place)


def _standing(planned: AnyPlanned, standing: Standing) -> str:
    """How far the plan has come, in words."""
    if standing.placed:
        return f"`{_output(planned)}` is whole"
    if standing.missing:
        return f"not done: {_named(standing)}"
    return "others are at work still, and the last of them puts the output in its place"


def _named(standing: Standing) -> str:
    """The shares that are missing, those side by side together."""
    runs: list[list[int]] = []
    for share in standing.missing:
        if runs and runs[-1][-1] == share.number - 1:
            runs[-1].append(share.number)
        else:
            runs.append([share.number])
    of = standing.missing[0].of
    words = [f"{r[0]}/{of}" + (f" to {r[-1]}/{of}" if len(r) > 1 else "") for r in runs]
    more = f" and {len(words) - SHOWN} more" if len(words) > SHOWN else ""
    return f"{', '.join(words[:SHOWN])}{more}"


def _refuse_missing(place: str, planned: AnyPlanned, standing: Standing) -> None:
    """Fail where the output is not in its place."""
    target = _output(planned)
    if standing.missing:
        first = standing.missing[0]
        hint = f"layoutdsl run {place} --shard {first}"
        message = f"`{target}` is not whole; not done: {_named(standing)}"
        raise Failure(Exit.INPUT, message, hint)
    if not standing.placed:
        message = f"`{target}` is not in its place: somebody is at work still"
        raise Failure(Exit.INPUT, message, "wait for the others")


@contextmanager
def _failing(place: str, planned: AnyPlanned | None = None) -> Iterator[None]:
    """What goes wrong with a plan and its files, in words for a shell."""
    from layoutdsl.commands import RefusedError, UnvalidatedError
    from layoutdsl.files.npy import UnreadableError
    from layoutdsl.files.pieces.plan import PlanError
    from layoutdsl.files.places import OccupiedError
    from layoutdsl.files.weights.faults import UnfitError

    source = place if planned is None else planned.plan.sources[0].path
    try:
        yield
    except PlanError as unfit:
        raise Failure(Exit.INPUT, f"`{place}` {unfit.fact}", unfit.remedy) from None
    except UnfitError as unfit:
        raise told_unfit(unfit) from None
    except RefusedError as refused:
        raise Failure(Exit.REFUTED, str(refused)) from None
    except UnvalidatedError as missing:
        raise Failure(Exit.UNDECIDED, str(missing)) from None
    except UnreadableError as unfit:
        raise Failure(Exit.INPUT, f"`{source}` {unfit.fact}") from None
    except OccupiedError as occupied:
        raise Failure(Exit.INPUT, occupied.message, occupied.remedy or None) from None
    except OSError as failure:
        name = failure.filename or place
        word = "read" if str(name) in (place, source) else "written"
        raise Failure(Exit.INPUT, f"`{name}` cannot be {word}: {reason(failure)}") from None
    except KeyboardInterrupt:
        error("note: what is done is kept; the same command goes on with it")
        raise
