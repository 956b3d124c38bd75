"""``bench``: how fast layouts are packed, beside a copy and beside other packages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from layoutdsl.shell.benchmark_cases import cases, tasks_of
from layoutdsl.shell.exits import Exit, Failure, usage
from layoutdsl.shell.options import JSON, choice, quiet
from layoutdsl.shell.output import error, say, say_json
from layoutdsl.shell.progress import Progress

if TYPE_CHECKING:
    from layoutdsl.commands.bench.peers.peer import Peer
    from layoutdsl.commands.bench.run import Plan, Result
    from layoutdsl.language.meaning.model import Layout


WORST = 10
"""Cases that are told where layouts were drawn; of chosen ones the worst alone."""


@click.command(short_help="Measure packing beside a copy, and beside other packages.")
@cases
@click.option(
    "--only",
    "words",
    metavar="WORD",
    multiple=True,
    help="Cases whose name, type, shape or verb has it.",
)
@click.option(
    "--target",
    "ours",
    type=click.Choice(["both", "native", "numpy"]),
    default="both",
    show_default=True,
    help="Which of ours; peers are compared with it, or with native.",
)
@click.option(
    "--peers",
    default="np.pad",
    show_default=True,
    metavar="NAMES",
    help="np.pad,einops,torch,jax,onednn,tvm,numba; or all, or none.",
)
@click.option(
    "--threads", type=click.IntRange(1, 256), default=1, show_default=True, metavar="N",
    help="Threads, and cores, for each candidate.",
)  # fmt: skip
@click.option(
    "--rounds", type=click.IntRange(1, 10_000), default=15, show_default=True, metavar="N",
    help="Rounds of a case, at most; after 2 seconds no more than 5.",
)  # fmt: skip
@click.option(
    "--budget",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="For the whole run: rounds are left out where time is short, down to 3.",
)
@choice("propagate", "subject", "Of models of ONNX: how many transforms are left in them.")
@choice("markdown", "form", "Print tables for a document, by case and element type.")
@quiet
@JSON
def bench(
    written: tuple[str, ...],
    shapes: tuple[str, ...],
    types: tuple[str, ...],
    goal: str | None,
    words: tuple[str, ...],
    count: int | None,
    seed: int | None,
    ours: str,
    peers: str,
    threads: int,
    rounds: int,
    budget: float | None,
    subject: str,
    form: str,
) -> int:
    """Measure how fast tensors are packed, unpacked and converted, beside a copy.

    Our targets `native` and `numpy`, and the peers that are asked for and installed, move the same
    buffers in interleaved rounds. Before anything is timed, each result is compared, element by
    element in poisoned buffers, with what the layout means; a wrong one is reported, never timed.
    Without LAYOUT a default set is measured: see --only for parts of it.

    \b
      layoutdsl bench NCHW16c --shape 8,256,56,56
      layoutdsl bench NCHW16c --shape 8,256,56,56 --of u8 --peers torch,onednn
      layoutdsl bench NCHW16c --to NHWC --shape 8,256,56,56
      layoutdsl bench --only Crouton --only pack
      layoutdsl bench --target numpy --peers np.pad,einops
      layoutdsl bench --random 200 --seed 7
      layoutdsl bench --random 1 --seed 31       one of them again
      layoutdsl bench --peers all --markdown > table.md
      layoutdsl bench --propagate model.onnx     without one, those of onnx
    \b
    us      microseconds of a call of our first target, which is compiled C
            where there is a compiler
    share   the time of the floor over that of a candidate: 1 is as fast as a
            copy. The floor is a copy of the tensor, a fill of the padding, and
            a read of the other cache lines that hold elements, on the same
            buffers in the same rounds
    2.5x    a peer takes so many times longer than our first target
    ~       noise: the middle half of the rounds is wider than 15 % of the median
    -       the candidate cannot do this; the end of the report says why

    Medians of rounds; what it takes to compile is apart. The process is bound to as many cores as
    threads. Ctrl-C ends it, and what was measured so far is reported. The exit code is 1 where a
    result was wrong.
    """
    from layoutdsl.commands.bench.limits import bound, cores

    if threads > cores():
        hint = f"ask for {cores()} at most"
        message = f"--threads is {threads}, and this process may use {cores()} cores"
        raise Failure(Exit.USAGE, message, hint)
    if subject == "propagate":
        from layoutdsl.shell.benchmark_models import bench_models

        return bench_models(written, threads, rounds, form)
    tasks = tasks_of(written, shapes, types, goal, words, count, seed)
    candidates, missing = _candidates(ours, peers, threads)
    from layoutdsl.commands.bench.measure import Rounds
    from layoutdsl.commands.bench.run import Plan

    plan = Plan(tasks, candidates, threads, Rounds(most=rounds, fewest=min(rounds, 5)), budget)
    with bound(threads):
        return _report(plan, missing, form, 1 if count is None else WORST)


def _report(plan: Plan, missing: dict[str, str], form: str, worst: int) -> int:
    from layoutdsl.commands.bench.summary import faults
    from layoutdsl.shell import benchmark_text as words

    results: list[Result] = []
    ended = "ok"
    rows = words.Rows(plan.candidates)
    if form == "plain":
        say(words.head(plan))
    progress = Progress()
    try:
        for each in _measured(plan, progress):
            results.append(each)
            progress.clear()
            if form == "plain":
                say(rows.lines(each))
    except KeyboardInterrupt:
        progress.clear()
        ended = "interrupted"
    wrong = bool(faults(results))
    if form == "json":
        say_json(_by_keys(plan, results, missing, "wrong" if wrong else ended))
    elif form == "markdown":
        say(words.markdown(plan, results, missing, worst))
    else:
        say(words.ending(results, missing, worst))
    if ended == "interrupted":
        error(f"interrupted after {len(results)} of {len(plan.tasks)} moves")
    if wrong:
        return Exit.REFUTED
    return Exit.INTERRUPTED if ended == "interrupted" else Exit.OK


def _by_keys(
    plan: Plan, results: Sequence[Result], missing: dict[str, str], status: str
) -> dict[str, object]:
    """Return all that was measured."""
    from layoutdsl.commands.bench.limits import machine
    from layoutdsl.commands.bench.peers.peer import version_of
    from layoutdsl.commands.bench.summary import reference_of, standings
    from layoutdsl.shell.encode import plain

    converted = [each for each in results if each.task.verb == "convert"]
    moved = [each for each in results if each.task.verb != "convert"]
    return {
        "status": status,
        "machine": machine(),
        "threads": plan.threads,
        "reference": reference_of(results),
        "candidates": [
            {"name": each.name, "says": each.says, "version": version_of(each.package)}
            for each in plan.candidates
        ],
        "missing": [{"name": name, "reason": reason} for name, reason in missing.items()],
        "asked": len(plan.tasks),
        "moves": [_move(each) for each in results],
        "standings": [
            {"moves": word, **plain(each)}
            for word, some in (("pack and unpack", moved), ("convert", converted))
            for each in standings(some)
        ],
    }


def _move(result: Result) -> dict[str, object]:
    from layoutdsl.shell.encode import plain

    task = result.task
    outcomes = [{"name": name, **plain(each)} for name, each in result.outcomes.items()]
    return {
        "case": task.title,
        "seed": task.seed,
        "verb": task.verb,
        "source": _text(task.source),
        "target": _text(task.target),
        "type": task.dtype,
        "shape": task.shape,
        "bytes": task.bytes,
        "rounds": result.rounds,
        "reference": result.reference,
        "floor": result.floor,
        "candidates": outcomes,
    }


def _text(layout: Layout | None) -> str | None:
    from layoutdsl.language.declaration import declaration

    return None if layout is None else declaration(layout)


def _measured(plan: Plan, progress: Progress) -> Iterator[Result]:
    from layoutdsl.commands.bench.run import run

    return run(plan, progress)


def _candidates(ours: str, written: str, threads: int) -> tuple[tuple[Peer, ...], dict[str, str]]:
    """What was asked for, without what is not installed, and why that is left out."""
    from layoutdsl.commands.bench.peers.ours import TWO_PASSES
    from layoutdsl.commands.bench.peers.shelf import ONE_THREAD, OURS, PEERS, peers

    with usage():
        match written.strip():
            case "all":
                asked = PEERS
            case "none":
                asked = ()
            case _:
                asked = peers(tuple(each.strip() for each in written.split(",")))
    left_out = {"both": [], "native": ["numpy"], "numpy": ["native", TWO_PASSES]}[ours]
    one_thread = (ONE_THREAD,) if threads > 1 and ours != "numpy" else ()
    candidates = (*(each for each in OURS if each.name not in left_out), *one_thread, *asked)
    reasons = {each.name: each.missing() for each in candidates}
    missing = {name: reason for name, reason in reasons.items() if reason is not None}
    for name, reason in missing.items():
        error(f"note: {name} is left out: {reason}")
    return tuple(each for each in candidates if each.name not in missing), missing
