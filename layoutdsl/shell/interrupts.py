"""A key that interrupts: once, and what is under way is finished; twice, and the process ends."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from layoutdsl.shell.progress import Progress

FINISHING = "finishing the pieces under way; once more leaves at once"


@contextmanager
def watched(progress: Progress) -> Iterator[None]:
    """Let pieces under way be finished at the first interrupt; the second ends the process.

    What is left is then what a killed run leaves, with which the next one goes on. Where interrupts
    are ignored, as under `nohup`, they stay so. At the end no line of progress is left.
    """
    before = signal.getsignal(signal.SIGINT)

    def once(*_: Any) -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        progress.interrupt(FINISHING)
        raise KeyboardInterrupt

    usual = before is signal.default_int_handler
    ours = usual and threading.current_thread() is threading.main_thread()
    try:
        if ours:
            signal.signal(signal.SIGINT, once)
        yield
    finally:
        if ours:
            signal.signal(signal.SIGINT, before)
        progress.clear()
