"""What many results say together: geometric means, wins, and the worst case."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from layoutdsl.commands.bench.measure import Spread, spread
from layoutdsl.commands.bench.moves import Task
from layoutdsl.commands.bench.run import Measured, Outcome, Result, Skipped, Wrong


@dataclass(frozen=True, slots=True)
class Extreme:
    """The least of some numbers, and the task that it belongs to."""

    value: float
    task: Task

    @property
    def move(self) -> str:
        """The task in words."""
        return str(self.task)


@dataclass(frozen=True, slots=True)
class Beside:
    """A candidate beside the reference: how many times longer it takes.

    Attributes:
        mean: geometric, of the medians.
        wins: tasks in which the reference took less.
        count: tasks in which both were measured.
        least: where the reference did worst.
    """

    mean: float
    wins: int
    count: int
    least: Extreme


@dataclass(frozen=True, slots=True)
class Standing:
    """What all results say of one candidate.

    Attributes:
        name: of the candidate.
        measured: tasks in which it was.
        skipped: tasks that it cannot do.
        wrong: tasks in which its result was wrong.
        noisy: tasks in which its share was.
        share: geometric mean of the shares of the floor; ``None`` where nothing was measured.
        shares: their quartiles.
        worst: the least share.
        beside: it and the reference; ``None`` for the reference itself.
        compiled: the longest that it took to be ready, in seconds.
    """

    name: str
    measured: int
    skipped: int
    wrong: int
    noisy: int
    share: float | None
    shares: Spread | None
    worst: Extreme | None
    beside: Beside | None
    compiled: float


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean of positive numbers.

    >>> geometric_mean([1.0, 4.0])
    2.0
    """
    return math.exp(sum(map(math.log, values)) / len(values))


def reference_of(results: Iterable[Result]) -> str | None:
    """Return the candidate that most results are compared with."""
    names = [each.reference for each in results if each.reference is not None]
    return max(names, key=names.count, default=None)


def standings(results: Sequence[Result]) -> tuple[Standing, ...]:
    """Return what the results say of each candidate, in their order."""
    if not results:
        return ()
    reference = reference_of(results)
    return tuple(_standing(name, results, reference) for name in results[0].outcomes)


def _standing(name: str, results: Sequence[Result], reference: str | None) -> Standing:
    outcomes = [(each, each.outcomes[name]) for each in results]
    found = [(each, got) for each, got in outcomes if isinstance(got, Measured)]
    shares = [(got.share.median, each.task) for each, got in found]
    ratios = [
        (got.ratio.median, each.task)
        for each, got in found
        if each.reference == reference and name != reference
    ]
    values = [value for value, _ in shares]
    return Standing(
        name,
        len(found),
        sum(isinstance(got, Skipped) for _, got in outcomes),
        sum(isinstance(got, Wrong) for _, got in outcomes),
        sum(got.share.noisy for _, got in found),
        geometric_mean(values) if values else None,
        spread(values) if values else None,
        _least(shares),
        _beside(ratios),
        max((got.compiled for _, got in found), default=0.0),
    )


def _beside(ratios: list[tuple[float, Task]]) -> Beside | None:
    least = _least(ratios)
    if least is None:
        return None
    values = [value for value, _ in ratios]
    wins = sum(value > 1 for value in values)
    return Beside(geometric_mean(values), wins, len(values), least)


def worst(results: Sequence[Result], count: int) -> list[Extreme]:
    """Return the least shares of the reference, from the least on, with their tasks."""
    reference = reference_of(results)
    found = [
        Extreme(got.share.median, each.task)
        for each in results
        if isinstance(got := each.outcomes.get(reference or ""), Measured)
    ]
    return sorted(found, key=lambda each: each.value)[:count]


def _least(numbers: list[tuple[float, Task]]) -> Extreme | None:
    found = min(numbers, key=lambda each: each[0], default=None)
    return None if found is None else Extreme(*found)


@dataclass(frozen=True, slots=True)
class Group:
    """Results of one case and element type, all shapes and both directions, as means.

    Attributes:
        title: of the case.
        dtype: of its elements.
        tasks: how many.
        shares: geometric means of the shares, by candidate; only of those measured somewhere.
        ratios: geometric means of the times over those of the reference, in the same way.
    """

    title: str
    dtype: str
    tasks: int
    shares: dict[str, float]
    ratios: dict[str, float]


def grouped(results: Sequence[Result]) -> tuple[Group, ...]:
    """Return the results by case and element type, in the order in which they were first met."""
    keys = dict.fromkeys((each.task.title, each.task.dtype) for each in results)
    return tuple(
        _group(*key, [each for each in results if (each.task.title, each.task.dtype) == key])
        for key in keys
    )


def _group(title: str, dtype: str, results: list[Result]) -> Group:
    found: dict[str, list[Measured]] = {}
    for each in results:
        for name, outcome in each.outcomes.items():
            if isinstance(outcome, Measured):
                found.setdefault(name, []).append(outcome)
    shares = {
        name: geometric_mean([each.share.median for each in measured])
        for name, measured in found.items()
    }
    ratios = {
        name: geometric_mean([each.ratio.median for each in measured])
        for name, measured in found.items()
    }
    return Group(title, dtype, len(results), shares, ratios)


def reasons(results: Iterable[Result]) -> dict[tuple[str, str], list[Task]]:
    """Return why candidates were skipped, with the tasks, by candidate and reason."""
    return _by_reason(results, Skipped)


def faults(results: Iterable[Result]) -> dict[tuple[str, str], list[Task]]:
    """Return what was wrong, in the same way."""
    return _by_reason(results, Wrong)


def _by_reason(
    results: Iterable[Result], kind: type[Skipped] | type[Wrong]
) -> dict[tuple[str, str], list[Task]]:
    found: dict[tuple[str, str], list[Task]] = {}
    for each in results:
        for name, outcome in each.outcomes.items():
            if isinstance(outcome, kind):
                found.setdefault((name, _reason(outcome)), []).append(each.task)
    return found


def _reason(outcome: Outcome) -> str:
    assert isinstance(outcome, Skipped | Wrong)
    return outcome.reason
