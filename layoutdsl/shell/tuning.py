"""``tune``: the fastest compiled code for shapes that are met, found by the clock."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, log
from statistics import fmean
from typing import TYPE_CHECKING, Any

import click

from layoutdsl.shell.benchmark_cases import cases, tasks_of
from layoutdsl.shell.exits import Exit, Failure
from layoutdsl.shell.options import JSON, quiet
from layoutdsl.shell.output import error, say, say_json
from layoutdsl.shell.progress import Progress
from layoutdsl.shell.telling import notes

if TYPE_CHECKING:
    from layoutdsl.code.tuning import Tuned
    from layoutdsl.commands.bench.moves import Task

_ROW = "{:<28}{:<8} {:<8} {:>18} {:>10} {:>7} {:>6}"


@click.command(short_help="Find the fastest compiled code for a shape, by the clock.")
@cases
@quiet
@JSON
def tune(
    written: tuple[str, ...],
    shapes: tuple[str, ...],
    types: tuple[str, ...],
    goal: str | None,
    count: int | None,
    seed: int | None,
    form: str,
) -> int:
    """Find the fastest compiled code for a shape on this machine, and keep it.

    What is compiled otherwise is what seems to be the fastest. Here up to seven ways to move the
    same are proved, compiled, tried and timed in turns, some seconds for each verb. The fastest is
    kept with the other libraries if it gains 3 % or more, and serves from then on, in all programs
    of this user, for all shapes with the same small extents. What `generate` writes stays as it is.

    \b
      layoutdsl tune NCHW16c --shape 8,256,56,56
      layoutdsl tune NCHW16c --shape 8,256,56,56 --of u8 --to NHWC
      layoutdsl tune --random 20 --seed 7
      layoutdsl bench --random 20 --seed 7          measures what was found
    \b
    us      microseconds of a call of what serves now
    times   as fast as before; 1.00 where the first choice is the fastest
    tree    the one that is used: 1 for the first choice by the cost model, 2 for
            the next

    Without LAYOUT it is those of `bench`. The machine had better do nothing else. Ctrl-C ends it;
    what was found so far is kept.
    """
    tasks = tasks_of(written, shapes, types, goal, (), count, seed)
    if form == "plain":
        say(click.style(_ROW.format("", "verb", "type", "shape", "us", "times", "tree"), bold=True))
    found, ended = list[dict[str, Any]](), Exit.OK
    try:
        for task, each in _tuned(tasks):
            found.append(_keyed(task, each))
            if form == "plain":
                say(_line(task, each))
    except KeyboardInterrupt:
        error("interrupted; what was found so far is kept")
        ended = Exit.INTERRUPTED
    if form == "json":
        say_json({"status": "interrupted" if ended else "ok", "moves": found})
    elif found:
        say(_ending(found))
    return ended


def _tuned(tasks: tuple[Task, ...]) -> Iterator[tuple[Task, Tuned]]:
    """What is found of each task; both verbs of a layout are tuned at once."""
    progress, seen = Progress(), set[tuple[object, ...]]()
    for task in tasks:
        layouts = [each for each in (task.source, task.target) if each is not None]
        key = (*layouts, task.shape, task.dtype)
        if key in seen:
            continue
        seen.add(key)
        progress(f"tuning {task.name} {'x'.join(map(str, task.shape))}")
        try:
            with notes():
                found = _of(task)
        except ValueError as reason:
            progress.clear()
            error(f"note: {task.name} is left out: {reason}")
            continue
        progress.clear()
        for each in found:
            yield task, each


def _of(task: Task) -> tuple[Tuned, ...]:
    from layoutdsl.commands import CompilerError
    from layoutdsl.commands import tune as tuned

    try:
        return tuned(_compiled(task), task.shape, task.dtype)
    except CompilerError as failed:
        raise Failure(Exit.USAGE, failed.message, failed.remedy) from None


def _compiled(task: Task) -> Any:
    from layoutdsl.commands import compile as ready
    from layoutdsl.commands import convert

    if task.source is None or task.target is None:
        layout = task.source or task.target
        assert layout is not None
        return ready(layout, "native")
    axes = tuple(axis.name for axis in task.target.axes)
    return convert(task.source, task.target, axes, compiled="native")


def _line(task: Task, found: Tuned) -> str:
    shape = "x".join(map(str, task.shape))
    factor = f"{found.before / found.after:.2f}"
    return _ROW.format(
        task.name, found.verb, task.dtype, shape, f"{found.after * 1e6:.1f}", factor, found.rank + 1
    )


def _keyed(task: Task, found: Tuned) -> dict[str, Any]:
    return {
        "case": task.title,
        "seed": task.seed,
        "verb": found.verb,
        "type": task.dtype,
        "shape": task.shape,
        "before": found.before,
        "after": found.after,
        "rank": found.rank,
        "tried": found.tried,
    }


def _ending(found: list[dict[str, Any]]) -> str:
    mean = exp(fmean(log(each["before"] / each["after"]) for each in found))
    other = sum(each["rank"] > 0 for each in found)
    return f"\n{mean:.2f} times as fast in the mean; another way serves in {other} of {len(found)}"
