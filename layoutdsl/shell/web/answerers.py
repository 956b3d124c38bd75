"""Processes that answer, one line of JSON for another; each can be ended while it is at it.

It knows nothing of what is asked. A process that has answered is kept for the next question.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from threading import Lock, Semaphore, Thread

MOST = 4
"""Processes at a time; further questions wait."""

SECONDS = 60.0
"""After which an answer is given up."""

GLANCE = 0.05
"""Seconds between two looks at whether anybody still waits."""


class Stopped(Exception):  # noqa: N818  no fault: somebody asked for it
    """There is no answer; says why."""


class Answerers:
    """Processes that answer, started when they are needed.

    Args:
        command: starts one that reads a line and writes a line, again and again.
        environment: its variables.
        seconds: after which an answer is given up.
    """

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], seconds: float = SECONDS
    ) -> None:
        self._command, self._environment, self._seconds = command, environment, seconds
        self._places, self._lock = Semaphore(MOST), Lock()
        self._idle: list[subprocess.Popen[bytes]] = []
        self._all: list[subprocess.Popen[bytes]] = []
        self._closed = False

    def ask(self, question: bytes, gone: Callable[[], bool]) -> bytes:
        """Return the line that answers a line.

        Args:
            question: without an end of line.
            gone: whether nobody waits for the answer any more.

        Raises:
            Stopped: nobody waits for it, it took too long, or the process died.
        """
        until = time.monotonic() + self._seconds
        while not self._places.acquire(timeout=GLANCE):
            _refuse_vain(gone, until, self._seconds)
        try:
            process = self._taken()
            try:
                answer = self._answered(process, question, gone, until)
            except BaseException:
                self._end(process)
                raise
            with self._lock:
                self._idle.append(process)
            return answer
        finally:
            self._places.release()

    def close(self) -> None:
        """End all of them, and start no more."""
        with self._lock:
            self._closed = True
            left = list(self._all)
        for each in left:
            self._end(each)

    def _taken(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._closed:
                raise Stopped("the server has ended")
            while self._idle:
                process = self._idle.pop()
                if process.poll() is None:
                    return process
                self._all.remove(process)
            try:
                process = subprocess.Popen(  # noqa: S603  ours
                    self._command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env=self._environment,
                    start_new_session=True,  # it is ended with all that it started
                )
            except OSError as failure:
                raise Stopped(f"no process can be started: {failure.strerror}") from None
            self._all.append(process)
            return process

    def _answered(
        self,
        process: subprocess.Popen[bytes],
        question: bytes,
        gone: Callable[[], bool],
        until: float,
    ) -> bytes:
        found: list[bytes] = []
        reader = Thread(target=_talk, args=(process, question, found), daemon=True)
        reader.start()
        while True:
            reader.join(GLANCE)
            if not reader.is_alive():
                break
            _refuse_vain(gone, until, self._seconds)
        if not found or not found[0].endswith(b"\n"):
            raise Stopped("the process that was at it died")
        return found[0]

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        with suppress(ProcessLookupError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        with self._lock, suppress(ValueError):
            self._all.remove(process)


def _talk(process: subprocess.Popen[bytes], question: bytes, found: list[bytes]) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(OSError, ValueError):  # it died, or was ended
        process.stdin.write(question + b"\n")
        process.stdin.flush()
        found.append(process.stdout.readline())


def _refuse_vain(gone: Callable[[], bool], until: float, seconds: float) -> None:
    if gone():
        raise Stopped("nobody waits for it any more")
    if time.monotonic() > until:
        raise Stopped(f"there was no answer within {seconds:g} seconds, and it was stopped")
