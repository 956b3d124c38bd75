"""``plan`` and ``run``: a large file packed or unpacked by many machines, each its share."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from layoutdsl.cli.arrays import (
    SOURCE,
    VERBOSE,
    extents_of,
    fill_of,
    ready,
    refuse_copies,
    refuse_words,
)
from layoutdsl.cli.destination import refuse_foreign, refuse_inputs
from layoutdsl.cli.exits import Exit, Failure, reason, usage
from layoutdsl.cli.interrupts import watched
from layoutdsl.cli.large import MEMORY, RAW, Large, dtype_of, failing, looking, places
from layoutdsl.cli.options import COMPILED, TARGET, choice
from layoutdsl.cli.output import error, say
from layoutdsl.cli.progress import Progress, Way, progress_option
from layoutdsl.cli.targets import shape_of, target
from layoutdsl.cli.telling import notes, say_words

if TYPE_CHECKING:
    from layoutdsl.api import CompileTarget, Planned
    from layoutdsl.pieces.shards import Standing

_OPENING = b'{\n  "format": "layoutdsl plan'
_SHARE = re.compile(r"([0-9]{1,6})/([0-9]{1,6})")
SHOWN = 8
"""Missing shares that a message names."""


@click.command(short_help="Plan to pack a .npy file by many machines.")
@TARGET
@SOURCE
@click.option("-o", "plan", metavar="PLAN.json", required=True, help="Becomes the plan.")
@click.option("--out", "output", metavar="OUT.npy", required=True, help="What is packed.")
@choice("unpack", "verb", "Unpack IN.npy, of which --shape says the tensor, in place of packing.")
@click.option("--fill", metavar="V", help="What padding holds, instead of what the layout says.")
@click.option("--shape", metavar="2,20,3,4", help="The extents of the tensor, to unpack or --raw.")
@click.option(
    "--shards",
    type=click.IntRange(1, 100_000),
    default=1,
    metavar="N",
    help="Cut so many pieces at least that each of N machines has some.",
)
@RAW
@MEMORY
@COMPILED
def plan(
    written: str,
    source: str,
    plan: str,
    output: str,
    verb: str,
    fill: str | None,
    shape: str | None,
    shards: int,
    raw: str | None,
    mem: int | None,
    compiled: CompileTarget,
) -> None:
    """Plan to pack a large file by many machines that see the same folders.

    PLAN.json says all that decides what comes out. OUT.npy.part is a folder with the output, of its
    full size, until `run` has done every share of it. A share is a run of pieces, and a piece fills
    its own stretch of the output, which is proved first.

    \b
      layoutdsl plan NCHW16c in.npy -o plan.json --out out.npy --shards 16
      layoutdsl run plan.json --shard 3/16
    """
    chosen = target(written)
    layout = chosen.layout
    for name in (output, plan):
        refuse_inputs(name, source, chosen.place)
    if "-" in (plan, output) or Path(plan).absolute() == Path(output).absolute():
        raise Failure(Exit.USAGE, "the plan and what it makes are two files", "name both")
    refuse_words("items", layout)
    refuse_copies(layout)
    hint = "choose another file, or remove this one"
    refuse_foreign(Path(plan), chosen.place, _OPENING, _OPENING, hint)
    value = None if fill is None else fill_of(fill)
    verb = "pack" if verb == "plain" else verb
    with usage():
        extents = None if shape is None else extents_of(layout, shape_of(layout, shape))
    _refuse_shape(verb, raw, shape, value)
    ready(chosen, layout, compiled)
    files, asked = (source, output), Large(mem, None, raw)
    places(files)
    from layoutdsl.api import MEM, plan_file

    with failing(layout, files, asked), _writing(plan), notes():
        count = plan_file(
            "unpack" if verb == "unpack" else "pack",
            layout,
            source,
            output,
            plan,
            shape=extents,
            raw=None if raw is None else dtype_of(raw),
            fill=value,
            mem=MEM if mem is None else mem,
            shards=shards,
            target=compiled,
            look=looking(layout, source, value),
        )
    say(f"wrote {plan}: {count} piece{'' if count == 1 else 's'}")


@contextmanager
def _writing(plan: str) -> Iterator[None]:
    """What goes wrong with the plan itself."""
    try:
        yield
    except OSError as failure:
        if failure.filename != plan:
            raise
        message = f"`{plan}` cannot be written: {reason(failure)}"
        raise Failure(Exit.INPUT, message) from None


def _refuse_shape(verb: str, raw: str | None, shape: str | None, fill: float | None) -> None:
    """Fail where a shape is missing, or is said twice."""
    if shape is None and (verb == "unpack" or raw is not None):
        option = "--raw" if raw is not None else "--unpack"
        raise Failure(Exit.USAGE, f"{option} is given without --shape", "give the tensor's extents")
    if shape is not None and verb == "pack" and raw is None:
        hint = "a .npy file says it itself"
        raise Failure(Exit.USAGE, "--shape is given without --raw or --unpack", hint)
    if fill is not None and verb == "unpack":
        raise Failure(Exit.USAGE, "--fill is for packing, and --unpack drops it", "leave it out")


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
    from layoutdsl.api import finish_plan, load_plan, run_share

    if verb == "finish" and written is not None:
        raise Failure(Exit.USAGE, "--finish does no share", "leave --shard out")
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


def _look(planned: Planned) -> Any:
    plan = planned.plan
    return looking(planned.layout, plan.source, plan.fill_number)


def _output(planned: Planned) -> str:
    """The output as it is seen from here."""
    place, here = Path(planned.plan.target), Path.cwd()
    return str(place.relative_to(here) if place.is_relative_to(here) else place)


def _standing(planned: Planned, standing: Standing) -> str:
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


def _refuse_missing(place: str, planned: Planned, standing: Standing) -> None:
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
def _failing(place: str, planned: Planned | None = None) -> Iterator[None]:
    """What goes wrong with a plan and its files, in words for a shell."""
    from layoutdsl.api import RefusedError
    from layoutdsl.files.npy import UnreadableError
    from layoutdsl.files.places import OccupiedError
    from layoutdsl.pieces.plan import PlanError

    source = place if planned is None else planned.plan.source
    try:
        yield
    except PlanError as unfit:
        raise Failure(Exit.INPUT, f"`{place}` {unfit.fact}", unfit.remedy) from None
    except RefusedError as refused:
        raise Failure(Exit.REFUTED, str(refused)) from None
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
