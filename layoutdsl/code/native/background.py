"""Work that nobody waits for, such as a compiler's: one thread does it, one thing after the other.

It is left undone when the process ends: the programs that run are ended, and what they began to
write is removed.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Event, ExceptHookArgs, Lock, Thread, excepthook

from layoutdsl.code.native.compilers import end_running

SECONDS_TO_END = 2.0


class _Worker:
    """A thread that is started when there is work; a process that was forked has none yet."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._work: SimpleQueue[Callable[[], object]] = SimpleQueue()
        self._thread: Thread | None = None
        self._ended = False

    def add(self, work: Callable[[], object]) -> bool:
        """Do something soon; returns whether it will be done."""
        with self._lock:
            if self._ended:
                return False
            if self._thread is None:
                self._thread = Thread(target=self._loop, name="layoutdsl-compiles", daemon=True)
                try:
                    self._thread.start()
                except RuntimeError:  # no thread can be started
                    self._thread = None
                    return False
            self._work.put(work)
            return True

    def end(self) -> None:
        """Begin nothing more, and end what runs."""
        with self._lock:
            self._ended = True
        if self._thread is not None:
            self._work.put(lambda: None)
            end_running()
            self._thread.join(SECONDS_TO_END)

    def _loop(self) -> None:
        while not self._ended:
            work = self._work.get()
            try:
                work()
            except Exception as fault:  # a fault of ours, which is printed as any thread's
                told = ExceptHookArgs((type(fault), fault, fault.__traceback__, self._thread))
                with suppress(Exception):  # sys.stderr is closed; `finish` waits for this thread
                    excepthook(told)


_worker = _Worker()


def later(work: Callable[[], object]) -> bool:
    """Do something in another thread, which catches its own errors; whether it will be done."""
    return _worker.add(work)


def finish() -> None:
    """Wait until all that was to be done later is done."""
    done = Event()
    if later(done.set):
        done.wait()


def _forked() -> None:
    global _worker  # noqa: PLW0603  (threads are not copied, and a lock may have been held)
    _worker = _Worker()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


@atexit.register
def _end() -> None:
    _worker.end()
