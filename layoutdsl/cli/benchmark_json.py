"""What ``bench --json`` prints, as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from layoutdsl.bench.limits import machine
from layoutdsl.bench.measure import Spread
from layoutdsl.bench.peers.peer import version_of
from layoutdsl.bench.run import Measured, Outcome, Plan, Result, Skipped, Wrong
from layoutdsl.bench.summary import Extreme, Standing, reference_of, standings
from layoutdsl.meaning.model import Layout
from layoutdsl.show.declaration import declaration


def report_json(
    plan: Plan, results: Sequence[Result], missing: dict[str, str], status: str
) -> dict[str, Any]:
    """Return all that was measured."""
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
            {"moves": word, **_standing(each)}
            for word, some in (("pack and unpack", moved), ("convert", converted))
            for each in standings(some)
        ],
    }


def _move(result: Result) -> dict[str, Any]:
    task = result.task
    return {
        "case": task.title,
        "verb": task.verb,
        "source": _text(task.source),
        "target": _text(task.target),
        "type": task.dtype,
        "shape": list(task.shape),
        "bytes": task.bytes,
        "rounds": result.rounds,
        "reference": result.reference,
        "floor": _spread(result.floor),
        "candidates": [{"name": name, **_outcome(each)} for name, each in result.outcomes.items()],
    }


def _text(layout: Layout | None) -> str | None:
    return None if layout is None else declaration(layout)


def _outcome(outcome: Outcome) -> dict[str, Any]:
    match outcome:
        case Measured(seconds, share, ratio, compiled):
            return {
                "status": "measured",
                "reason": None,
                "seconds": _spread(seconds),
                "share": _spread(share),
                "ratio": _spread(ratio),
                "noisy": share.noisy,
                "compiled": compiled,
            }
        case Skipped(reason):
            return {"status": "skipped", "reason": reason}
        case Wrong(reason):
            return {"status": "wrong", "reason": reason}


def _spread(each: Spread) -> dict[str, float]:
    return {"low": each.low, "median": each.median, "high": each.high}


def _standing(each: Standing) -> dict[str, Any]:
    beside = each.beside
    return {
        "name": each.name,
        "measured": each.measured,
        "skipped": each.skipped,
        "wrong": each.wrong,
        "noisy": each.noisy,
        "share": each.share,
        "shares": None if each.shares is None else _spread(each.shares),
        "worst": _extreme(each.worst),
        "ratio": None if beside is None else beside.mean,
        "wins": None if beside is None else beside.wins,
        "compared": None if beside is None else beside.count,
        "least": None if beside is None else _extreme(beside.least),
        "compiled": each.compiled,
    }


def _extreme(each: Extreme | None) -> dict[str, Any] | None:
    return None if each is None else {"value": each.value, "move": str(each.task)}
