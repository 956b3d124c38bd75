"""Runs in processes of their own, which end at some call of the system, or within it."""

from __future__ import annotations

import os
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Literal

from layoutdsl import OccupiedError, UnreadableError
from layoutdsl.files.pieces import runs, tensors, work
from layoutdsl.files.pieces.moves import Moved
from layoutdsl.files.pieces.output import Output
from layoutdsl.files.pieces.tensors import Done
from layoutdsl.files.places import Identity

CALLS = ("open", "pwrite", "fsync", "ftruncate", "fchmod", "posix_fallocate", "replace", "unlink")
Outcome = Literal["done", "resumed", "killed", "occupied", "unreadable", "stopped", "fault"]
CODES: dict[int, Outcome] = {
    0: "done",
    1: "resumed",
    9: "killed",
    10: "occupied",
    11: "unreadable",
    12: "stopped",
    13: "fault",
}
FAULT = "fault.txt"


class Stopped(KeyboardInterrupt):
    """Somebody pressed a key."""


@dataclass(frozen=True)
class Death:
    """At which of the calls, and whether before, within or after it; or the power went out."""

    call: int
    moment: Literal["before", "within", "after"]
    power: int | None
    """A seed, where what was not flushed may be lost: it is zeros then."""


def ended(task: Callable[[], Done], death: Death | None, *, blind: bool) -> Outcome:
    """Return how a task ends in a process of its own.

    Args:
        task: what is done; where it goes on with an earlier run, it has resumed.
        death: when the process ends.
        blind: as if a file that has changed could not be told from what it was.
    """
    child = os.fork()
    if child == 0:
        _run(task, death, blind)
    status = os.waitpid(child, 0)[1]
    return CODES.get(os.waitstatus_to_exitcode(status), "fault")


def _run(task: Callable[[], Done], death: Death | None, blind: bool) -> None:
    outcome, leave = "fault", os._exit
    try:
        _note_every_other()
        if blind:
            for room in (tensors, runs):
                room.identity = lambda _: Identity(1, 1, 1, 1)  # type: ignore[attr-defined]
        if death is not None:
            _Armed(death).arm()
        outcome = "resumed" if task().found else "done"
    except OccupiedError:
        outcome = "occupied"
    except UnreadableError:
        outcome = "unreadable"
    except Stopped:
        outcome = "stopped"
    except BaseException:
        Path(FAULT).write_text(traceback.format_exc())
    finally:
        leave(next(code for code, each in CODES.items() if each == outcome))


def _is_torn(data: bytes | memoryview) -> bool:
    """Whether a signal may come between two halves: not in the page where a file begins or ends."""
    return len(data) > 32 and b'"format"' not in bytes(data)


def _note_every_other() -> None:
    """Every other piece is noted at once, and not whenever there is time for it."""
    add, run, lock, outputs = work._Done.add, work.run, threading.Lock(), list[Output]()
    work.PAUSE, work.GLANCE = 1e9, 0.001

    def noting(done: work._Done, number: int, moved: Moved) -> None:
        with lock:
            add(done, number, moved)
            if number % 2:
                done.note(outputs[-1])

    def running(*given: Any) -> Any:
        outputs.append(given[1])
        return run(*given)

    work._Done.add = noting  # type: ignore[method-assign]
    runs.run = running  # type: ignore[attr-defined]


class _Armed:
    """Stands before the calls of the system, and counts them."""

    def __init__(self, death: Death) -> None:
        self._death, self._count = death, 0
        self._write = os.pwrite
        self._loose: list[tuple[int, int, int]] = []

    def arm(self) -> None:
        for name in CALLS:
            setattr(os, name, self._counted(name, getattr(os, name)))

    def _counted(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*given: Any, **more: Any) -> Any:
            self._count += 1
            now = self._count == self._death.call
            if now and self._death.moment == "before":
                self._die()
            if now and self._death.moment == "within" and name == "pwrite" and _is_torn(given[1]):
                handle, data, place = given
                self._loose.append((handle, place, len(data) // 2))
                call(handle, data[: len(data) // 2], place)
                self._die()
            if name == "pwrite":
                self._loose.append((given[0], given[2], len(given[1])))
            found = call(*given, **more)
            if name == "fsync":
                self._loose = [each for each in self._loose if each[0] != given[0]]
            if now:
                self._die()
            return found

        return counted

    def _die(self) -> None:
        if self._death.power is not None:
            draw = Random(self._death.power)
            for handle, place, length in self._loose:
                if draw.random() < 0.5:
                    self._write(handle, bytes(length), place)
        os._exit(9)
