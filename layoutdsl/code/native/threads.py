"""Threads that are kept from call to call: one pool for the process, made when it is first asked.

The thread that calls works too. The others only take what is left, so a call is never late for
want of them: where none is free, or none can be started, it does everything itself.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from threading import Lock
from typing import Any

MOST_THREADS = 256


class _Pool:
    """A pool that starts threads when they are needed; a process that was forked has none yet."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._made: ThreadPoolExecutor | None = None

    def submit(self, work: Callable[[], int]) -> Future[int]:
        """Hand over work.

        Raises:
            RuntimeError: no thread can be started, or the interpreter ends.
        """
        with self._lock:
            if self._made is None:
                self._made = ThreadPoolExecutor(MOST_THREADS - 1, "layoutdsl")
            return self._made.submit(work)


_pool = _Pool()


def _forked() -> None:
    global _pool  # noqa: PLW0603  (threads are not copied, and a lock may have been held)
    _pool = _Pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def shared(work: Callable[[Any], int], parts: Iterable[Any], threads: int) -> int:
    """Return the largest of what the parts return.

    Args:
        work: does one part.
        parts: of the work.
        threads: how many may work at once, this one included.
    """
    left = deque(parts)

    def some() -> int:
        failed = 0
        while True:
            try:
                part = left.popleft()
            except IndexError:
                return failed
            failed = max(failed, work(part))

    others = list[Future[int]]()
    try:
        with suppress(RuntimeError):
            for _ in range(threads - 1):
                others.append(_pool.submit(some))
        failed = some()
    finally:
        left.clear()  # nothing is written after this call ends, however it ends
        done = [each.result() for each in others if not each.cancel()]
    return max(failed, *done, 0)
