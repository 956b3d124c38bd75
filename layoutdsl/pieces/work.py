"""Pieces moved by several jobs, with a note of what is done from time to time.

Jobs are threads: compiled code and large copies of numpy run beside each other in one process. A
job that fails stops the others; what they finished is noted, so that the next run goes on there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import prod
from time import monotonic

from layoutdsl.pieces.cut import Pieces
from layoutdsl.pieces.moves import Arena, Moving
from layoutdsl.pieces.output import Output

PAUSE = 1.0
"""Seconds between two notes of what is done."""

Progress = Callable[[int, int, int], None]
"""Is told how many pieces of how many are done, and the bytes that this run has written."""


@dataclass(slots=True)
class _Shared:
    """What the jobs have in common."""

    numbers: Iterator[int]
    done: set[int]
    written: int = 0
    failure: BaseException | None = None
    stop: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def next(self) -> int | None:
        with self.lock:
            return None if self.stop else next(self.numbers, None)

    def finished(self, number: int, written: int) -> None:
        with self.lock:
            self.done.add(number)
            self.written += written

    def failed(self, failure: BaseException) -> None:
        with self.lock:
            self.failure, self.stop = self.failure or failure, True


def run(pieces: Pieces, moving: Moving, output: Output, jobs: int, progress: Progress) -> None:
    """Move every piece that is not done.

    Raises:
        KeyboardInterrupt: after the pieces under way, and a note of what is done.
        Exception: what the first job that failed raised, likewise.
    """
    left = [number for number in range(pieces.count) if number not in output.done]
    shared = _Shared(iter(left), set(output.done))
    largest = pieces.piece(0)  # only the last along an axis is smaller
    size = moving.cost(prod(largest.extents), largest.slots)
    progress(len(shared.done), pieces.count, 0)
    _one(pieces, moving, Arena(size), shared)  # alone, for what is prepared once
    if shared.failure is not None:
        raise shared.failure
    threads = [
        threading.Thread(target=_job, args=(pieces, moving, size, shared), daemon=True)
        for _ in range(min(jobs, len(left) - 1))
    ]
    try:
        for thread in threads:
            thread.start()
        _watch(threads, shared, output, pieces.count, progress)
    finally:
        shared.stop = True
        for thread in threads:
            if thread.ident is not None:
                thread.join()
        if shared.done != output.done and len(shared.done) < pieces.count:
            output.note(shared.done)
    progress(len(shared.done), pieces.count, shared.written)
    if shared.failure is not None:
        raise shared.failure


def _one(pieces: Pieces, moving: Moving, arena: Arena, shared: _Shared) -> bool:
    """Move the next piece; returns whether there was one."""
    number = shared.next()
    if number is None:
        return False
    try:
        shared.finished(number, moving.move(pieces.piece(number), arena))
    except BaseException as failure:
        shared.failed(failure)
        return False
    return True


def _job(pieces: Pieces, moving: Moving, size: int, shared: _Shared) -> None:
    try:
        arena = Arena(size)
        while _one(pieces, moving, arena, shared):
            pass
    except BaseException as failure:
        shared.failed(failure)


def _watch(
    threads: list[threading.Thread],
    shared: _Shared,
    output: Output,
    count: int,
    progress: Progress,
) -> None:
    noted = monotonic()
    while any(thread.is_alive() for thread in threads):
        for thread in threads:
            thread.join(0.05)
        with shared.lock:
            done, written = set(shared.done), shared.written
        progress(len(done), count, written)
        if monotonic() - noted > PAUSE and done != output.done:
            output.note(done)
            noted = monotonic()
