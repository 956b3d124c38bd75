"""The default cases as tasks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from layoutdsl.commands import parse
from layoutdsl.commands.bench.cases import CASES, PAIRS
from layoutdsl.commands.bench.moves import Task
from layoutdsl.language.meaning.model import Layout


def default_tasks() -> Iterator[Task]:
    """Yield packing and unpacking of every case, and every conversion."""
    for case in CASES:
        layout = _layout(case.text)
        yield Task(case.name, None, layout, case.shape, case.dtype)
        yield Task(case.name, layout, None, case.shape, case.dtype)
    for pair in PAIRS:
        source, target = _layout(pair.source), _layout(pair.target)
        yield Task(pair.name, source, target, pair.shape, pair.dtype)


@cache
def _layout(text: str) -> Layout:
    return list(parse(text).layouts.values())[-1]
