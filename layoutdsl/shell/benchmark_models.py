"""``bench --propagate``: how many transforms are left in models, beside onnxruntime's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from layoutdsl.shell.exits import Exit
from layoutdsl.shell.output import error, say, say_json
from layoutdsl.shell.propagating import failing, needed

if TYPE_CHECKING:
    from layoutdsl.commands.bench.graphs import Planned, Row

HEADS = ("model", "alone, MB", "NHWC, MB", "ORT in+out", "blocked, MB", "Transposes", "time")
_WIDTHS = (22, 13, 11, 12, 12, 14, 11)


def bench_models(written: Sequence[str], threads: int, rounds: int, form: str) -> int:
    """Measure models, those that the package onnx brings along where none is named.

    Args:
        written: files.
        threads: that a model may run in.
        rounds: of times, at most.
        form: `plain`, `json` or `markdown`.

    Raises:
        Failure: a file is no model, or a package is missing.
    """
    needed()
    rows: list[Row] = []
    if form == "plain":
        say(_line(HEADS))
    try:
        for each in _measured(written, threads, rounds):
            rows.append(each)
            if form == "plain":
                say(_line(_cells(each)))
    except KeyboardInterrupt:
        error(f"interrupted after {len(rows)} models")
        return Exit.INTERRUPTED
    match form:
        case "json":
            say_json({"status": "ok", "threads": threads, "models": rows})
        case "markdown":
            say(_markdown(rows))
        case _:
            say(_ending(rows))
    return Exit.OK


def _measured(written: Sequence[str], threads: int, rounds: int) -> Iterator[Row]:
    from layoutdsl.commands.bench.graphs import light, row_of
    from layoutdsl.commands.bench.measure import Rounds

    limits = Rounds(most=rounds, seconds=20, fewest=min(rounds, 5))
    for place in tuple(map(Path, written)) or light():
        with failing(str(place)):
            yield row_of(place, threads, limits)


def _cells(row: Row) -> tuple[str, ...]:
    from layoutdsl.commands.bench.graphs import Ratio

    peer = row.peer
    reorders, theirs = ("-", "-")
    if not isinstance(peer, str):
        reorders, theirs = f"{peer.inward}+{peer.outward}", str(peer.transposes)
    took = "-"
    if isinstance(row.ratio, Ratio):
        took = f"{row.ratio.least:.2f} / {row.ratio.rounds.median:.2f}"
    return (
        row.model,
        f"{row.last.alone} ({_megabytes(row.last.alone_bytes)})",
        _left(row.last),
        reorders,
        _left(row.blocked),
        f"{row.transposes}, {theirs}, {row.plain}",
        took,
    )


def _left(planned: Planned) -> str:
    amount = f" ({_megabytes(planned.bytes)})" if planned.left else ""
    return f"{planned.left}{amount}{'' if planned.minimal else ' ?'}"


def _megabytes(number: int) -> str:
    if 0 < number < 50_000:
        return "~0"
    return f"{number / 1e6:.1f}" if number < 50_000_000 else f"{number / 1e6:.0f}"


def _line(cells: Sequence[str]) -> str:
    shown = (f"{cell:<{width}}" for cell, width in zip(cells, _WIDTHS, strict=True))
    return "".join(shown).rstrip()


def _markdown(rows: Sequence[Row]) -> str:
    lines = [HEADS, ("---",) * len(HEADS), *map(_cells, rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _ending(rows: Sequence[Row]) -> str:
    from layoutdsl.commands.bench.graphs import middle

    minimal = sum(each.last.minimal and each.blocked.minimal for each in rows)
    lines = ["", f"{minimal} of {len(rows)} models with certificates of the minimum"]
    ratios = middle(rows)
    if ratios is not None:
        lines.append(f"time beside onnxruntime: {ratios.median:.2f} in the middle of all models")
    reasons = {each.ratio for each in rows if isinstance(each.ratio, str)}
    lines += [f"no time: {each}" for each in sorted(reasons)]
    return "\n".join(lines)
