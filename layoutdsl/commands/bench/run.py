"""Each move: candidates prepared, held against the meaning, and then measured together."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from layoutdsl.commands.bench.measure import (
    FLOOR,
    Call,
    Rounds,
    Spread,
    floor_of,
    over,
    sample,
    spread,
)
from layoutdsl.commands.bench.moves import Move, Task, moves_of
from layoutdsl.commands.bench.peers.peer import CannotError, Peer


@dataclass(frozen=True, slots=True)
class Skipped:
    """A candidate that cannot do it, and why; that is no fault."""

    reason: str

    status = "skipped"


@dataclass(frozen=True, slots=True)
class Wrong:
    """A candidate whose result is not what the layout means; it was not timed."""

    reason: str

    status = "wrong"


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured of a candidate.

    Attributes:
        seconds: of a call.
        share: of the floor: the floor's time over this one's, round by round.
        ratio: this time over that of the reference, round by round.
        compiled: seconds until it was ready, its first call included.
    """

    seconds: Spread
    share: Spread
    ratio: Spread
    compiled: float

    status = "measured"
    reason = None


Outcome: TypeAlias = Measured | Skipped | Wrong


@dataclass(frozen=True, slots=True)
class Result:
    """What was found of one task.

    Attributes:
        task: what was moved.
        outcomes: by the name of the candidate.
        floor: seconds of the floor.
        reference: the candidate with which the others are compared: the first that was measured.
        rounds: how many there were.
    """

    task: Task
    outcomes: dict[str, Outcome]
    floor: Spread
    reference: str | None
    rounds: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure, and how.

    Attributes:
        tasks: one after the other.
        candidates: the reference first.
        threads: how many each may use.
        rounds: of each task.
        budget: seconds for all of them together, which the rounds are cut down to.
    """

    tasks: tuple[Task, ...]
    candidates: tuple[Peer, ...]
    threads: int = 1
    rounds: Rounds = field(default_factory=Rounds)
    budget: float | None = None


def run(plan: Plan, progress: Callable[[str], None]) -> Iterator[Result]:
    """Yield what is found of each task, as soon as it is."""
    started = time.perf_counter()
    for number, move in enumerate(moves_of(list(plan.tasks))):
        began = time.perf_counter()
        words = f"{number + 1}/{len(plan.tasks)} {move.task}"
        calls, compiled, outcomes = _prepared(plan, move, progress, words)
        progress(f"{words}: measuring")
        rounds = plan.rounds
        if plan.budget is not None:
            left = plan.budget - (began - started)
            share = left / (len(plan.tasks) - number) - (time.perf_counter() - began)
            rounds = Rounds(rounds.most, max(0.0, share), min(3, rounds.most))
        found = _result(plan, move, rounds, calls, compiled, outcomes)
        del move, calls  # before the next takes memory
        yield found


def _prepared(
    plan: Plan, move: Move, progress: Callable[[str], None], words: str
) -> tuple[dict[str, Call], dict[str, float], dict[str, Outcome]]:
    calls, compiled, outcomes = dict[str, Call](), dict[str, float](), dict[str, Outcome]()
    for peer in plan.candidates:
        progress(f"{words}: {peer.name}")
        began = time.perf_counter()
        ready = _ready(peer, move, plan.threads)
        compiled[peer.name] = time.perf_counter() - began
        if isinstance(ready, Skipped):
            outcomes[peer.name] = ready
            continue
        found = _check(move, ready)
        if found is None:
            calls[peer.name] = ready
        else:
            outcomes[peer.name] = found
    return calls, compiled, outcomes


def _ready(peer: Peer, move: Move, threads: int) -> Call | Skipped:
    """A call of the candidate; whatever a package of others raises is why there is none."""
    reason = peer.cannot(move)
    if reason is not None:
        return Skipped(reason)
    try:
        return peer.prepare(move, threads)
    except CannotError as unable:
        return Skipped(str(unable))
    except Exception as failure:
        if peer.package is None:
            raise
        return Skipped(_words(failure))


def _check(move: Move, call: Call) -> Skipped | Wrong | None:
    """Run it once in poisoned buffers, and hold the result against the meaning."""
    move.write.poison()
    try:
        result = call()
    except Exception as failure:
        return Skipped(_words(failure))
    own = result is None or result is move.write.array
    fault = move.fault(None if own else np.asarray(result))
    if fault is None:
        return None
    move.mend()
    return Wrong(fault)


def _words(failure: Exception) -> str:
    first = next(iter(str(failure).strip().splitlines()), "")
    return f"it failed with {type(failure).__name__}: {first}".rstrip(": ")


def _result(
    plan: Plan,
    move: Move,
    rounds: Rounds,
    calls: dict[str, Call],
    compiled: dict[str, float],
    outcomes: dict[str, Outcome],
) -> Result:
    found = sample({FLOOR: floor_of(move, plan.threads), **calls}, rounds)
    for name, failure in found.failed.items():
        outcomes[name] = Skipped(_words(failure))
    floor = found.seconds.pop(FLOOR)
    reference = next(iter(found.seconds), None)
    for name, seconds in found.seconds.items():
        assert reference is not None
        outcomes[name] = Measured(
            spread(seconds),
            over(floor, seconds),
            over(seconds, found.seconds[reference]),
            compiled[name],
        )
    ordered = {each.name: outcomes[each.name] for each in plan.candidates}
    return Result(move.task, ordered, spread(floor), reference, len(floor))
