"""Pieces moved by several jobs, with a note of what is done from time to time.

Jobs are threads: compiled code and large copies of numpy run beside each other in one process. All
read from one handle and write to another, so it is the same two files that they see. A job that
fails stops the others; what they finished is noted, so that the next run goes on there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Protocol, TypeAlias

from layoutdsl.files.pieces.moves import Arena, Moved, Moving
from layoutdsl.files.pieces.queue import Queue
from layoutdsl.files.pieces.sums import Sums

PAUSE = 1.0
"""Seconds between two notes of what is done."""

GLANCE = 0.05
"""Seconds between two looks at the jobs."""

Progress = Callable[[int, int, int], None]
"""Is told how many pieces of how many are done, and the bytes that this run has written."""

Step = Callable[[int, Arena], None]
"""What is to be done of a piece, by its number."""


class Notes(Protocol):
    """What is known of pieces that are done.

    Attributes:
        claimed: those that earlier runs have finished, by their numbers.
    """

    claimed: Mapping[int, Sums]

    def note(self, done: Mapping[int, Sums]) -> None:
        """Take note of more of them."""


@dataclass(slots=True)
class _Jobs:
    """What the jobs have in common."""

    numbers: Iterator[int]
    step: Step
    size: int
    failure: BaseException | None = None
    stop: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def next(self) -> int | None:
        with self.lock:
            return None if self.stop else next(self.numbers, None)

    def failed(self, failure: BaseException) -> None:
        with self.lock:
            self.failure, self.stop = self.failure or failure, True


@dataclass(slots=True)
class _Done:
    """What was done so far, and what of it is not noted yet."""

    count: int
    written: int = 0
    sums: dict[int, Sums] = field(default_factory=dict)
    fresh: dict[int, Sums] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, number: int, moved: Moved) -> None:
        with self.lock:
            self.count, self.written = self.count + 1, self.written + moved.written
            self.fresh[number] = self.sums[number] = moved.sums

    def note(self, output: Notes) -> None:
        with self.lock:
            fresh, self.fresh = self.fresh, {}
        if fresh:
            output.note(fresh)


@dataclass(slots=True)
class Several:
    """Pieces of several tensors, what moves those of each, and which was begun last."""

    queue: Queue
    moving: tuple[Moving, ...]
    latest: int = 0

    @property
    def count(self) -> int:
        """How many there are."""
        return self.queue.count

    @property
    def size(self) -> int:
        """The memory of a job."""
        return self.queue.size

    def move(self, number: int, arena: Arena) -> Moved:
        """Move a piece by its number."""
        self.latest = number
        part, piece = self.queue.find(number)
        return self.moving[part].move(piece, arena)

    def agrees(self, number: int, arena: Arena, sums: Sums) -> bool:
        """Return whether a piece is what it was when it was moved."""
        part, piece = self.queue.find(number)
        return self.moving[part].agrees(piece, arena, sums)


@dataclass(frozen=True, slots=True)
class Portion:
    """Some pieces of several tensors, side by side."""

    whole: Several
    numbers: range

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.numbers)

    @property
    def size(self) -> int:
        """The memory of a job."""
        return self.whole.size

    def move(self, number: int, arena: Arena) -> Moved:
        """Move a piece by its number among them."""
        return self.whole.move(self.numbers[number], arena)

    def agrees(self, number: int, arena: Arena, sums: Sums) -> bool:
        """Return whether a piece is what it was when it was moved."""
        return self.whole.agrees(self.numbers[number], arena, sums)


Task: TypeAlias = Several | Portion


def agreeing(task: Task, output: Notes, jobs: int, progress: Progress) -> int:
    """Look at every piece that an earlier run says it has finished; return how many disagree.

    Pieces whose input or output is not what it was are no longer claimed.

    Raises:
        Exception: what the first job that failed raised.
    """
    count = task.count
    claimed = {n: sums for n, sums in output.claimed.items() if 0 <= n < count}
    agreed: dict[int, Sums] = {}

    def look(number: int, arena: Arena) -> None:
        if task.agrees(number, arena, claimed[number]):
            agreed[number] = claimed[number]

    def watch() -> None:
        progress(len(agreed), count, 0)

    _each(len(claimed), _Jobs(iter(claimed), look, task.size), jobs, watch)
    output.claimed = agreed
    return len(claimed) - len(agreed)


def run(task: Task, output: Notes, jobs: int, progress: Progress) -> dict[int, Sums]:
    """Move every piece that is not done; return the checksums of all.

    Raises:
        KeyboardInterrupt: after the pieces under way, and a note of what is done.
        Exception: what the first job that failed raised, likewise.
    """
    count = task.count
    left = [number for number in range(count) if number not in output.claimed]
    done, noted = _Done(len(output.claimed), sums=dict(output.claimed)), monotonic()

    def move(number: int, arena: Arena) -> None:
        done.add(number, task.move(number, arena))

    def watch() -> None:
        nonlocal noted
        progress(done.count, count, done.written)
        if monotonic() - noted > PAUSE and done.count < count:
            done.note(output)
            noted = monotonic()

    try:
        _each(len(left), _Jobs(iter(left), move, task.size), jobs, watch)
    finally:
        if done.count < count:
            done.note(output)
    progress(done.count, count, done.written)
    return done.sums


def _each(count: int, shared: _Jobs, jobs: int, watch: Callable[[], None]) -> None:
    """Do a task of every piece, and look at it from time to time; ends with the last job."""
    watch()
    _one(shared, Arena(shared.size))  # alone, for what is prepared once
    if shared.failure is not None:
        raise shared.failure
    threads = [
        threading.Thread(target=_job, args=(shared,), daemon=True)
        for _ in range(min(jobs, count - 1))
    ]
    try:
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            for thread in threads:
                thread.join(GLANCE)
            watch()
    finally:
        shared.stop = True
        for thread in threads:
            if thread.ident is not None:
                thread.join()
    if shared.failure is not None:
        raise shared.failure


def _one(shared: _Jobs, arena: Arena) -> bool:
    """Do the task of the next piece; returns whether there was one."""
    number = shared.next()
    if number is None:
        return False
    try:
        shared.step(number, arena)
    except BaseException as failure:
        shared.failed(failure)
        return False
    return True


def _job(shared: _Jobs) -> None:
    try:
        arena = Arena(shared.size)
        while _one(shared, arena):
            pass
    except BaseException as failure:
        shared.failed(failure)
