"""One output made in pieces: begun, or gone on with where it can be, and put in its place."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from layoutdsl.files.npy import UnreadableError
from layoutdsl.files.pieces.amount import Amount, counted
from layoutdsl.files.pieces.cut import TooLargeError
from layoutdsl.files.pieces.files import named
from layoutdsl.files.pieces.moves import Look
from layoutdsl.files.pieces.output import Fixed, Output
from layoutdsl.files.pieces.queue import Queue, queue
from layoutdsl.files.pieces.sums import Sums, summing, unsummed
from layoutdsl.files.pieces.work import Progress, Several, agreeing, run
from layoutdsl.files.places import Identity, identity, widest_mode

USUAL = 8 << 20
"""Bytes that a piece takes, where more are allowed but not needed: more is no faster."""

KEPT = (OSError, MemoryError, KeyboardInterrupt)
"""After these failures the next run can go on; after others the work itself is wrong."""

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may use.

    Attributes:
        memory: bytes of all pieces that are under way; the program itself comes on top of it.
        jobs: pieces at a time.
    """

    memory: int
    jobs: int


@dataclass(frozen=True, slots=True)
class Watchers:
    """Who is told.

    Attributes:
        progress: how far it has come.
        tell: in words, what else is worth knowing.
        look: at every tensor; raises `UnreadableError` where it holds what it must not.
    """

    progress: Callable[[Amount], None]
    tell: Tell
    look: Look


class TooLittleError(ValueError):
    """The memory is too small for a piece.

    Attributes:
        name: of what is taken apart.
        needed: bytes that would do for as many jobs.
        reason: why there is no smaller piece.
    """

    def __init__(self, name: str, limits: Limits, cause: TooLargeError) -> None:
        self.name, self.needed, self.reason = name, cause.needed * limits.jobs, cause.reason
        jobs = "" if limits.jobs == 1 else f" for {limits.jobs} jobs"
        super().__init__(
            f"{limits.memory} bytes are too few{jobs}: the smallest piece of `{name}` takes "
            f"{cause.needed}, as {cause.reason}"
        )


@dataclass(frozen=True, slots=True)
class Given:
    """A file that is read: open, and what it was before it was read."""

    place: Path
    handle: int
    before: Identity

    def refuse_changed(self) -> None:
        """Fail where it is no longer what it was.

        Raises:
            UnreadableError: it was written meanwhile.
        """
        if identity(self.handle) != self.before:
            raise UnreadableError("has changed while it was read")


@dataclass(frozen=True, slots=True)
class Filled:
    """An output that holds every piece, and is not yet in its place.

    Attributes:
        queue: the pieces.
        sums: the checksums of each, by its number.
        token: that they were made with.
        read: from a place in the output, and how many, to bytes of it.
    """

    queue: Queue
    sums: Mapping[int, Sums]
    token: str
    read: Callable[[int, int], bytes]


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be made.

    Attributes:
        queue: its tensors, and their pieces.
        room: bytes that a piece may take, where it can be as small.
        given: the files that are read.
        target: where the result goes.
        size: bytes of it.
        fixed: those that are of no tensor.
        work: plain values that tell this work from others.
        ending: what of the fixed bytes is only known when all is moved; each is written before the
            next is asked for.
    """

    queue: Queue
    room: int
    given: tuple[Given, ...]
    target: Path
    size: int
    fixed: Fixed
    work: Mapping[str, Any]
    ending: Callable[[Filled], Iterable[tuple[int, bytes]]] | None = None

    def identified(self) -> dict[str, Any]:
        """Return what tells this work, and these inputs, from others, as JSON has it."""
        return {
            **self.work,
            "path": [os.path.realpath(each.place) for each in self.given],
            "input": [asdict(each.before) for each in self.given],
        }


@dataclass(frozen=True, slots=True)
class Made:
    """How many pieces an output was made of, and how many of them were there."""

    pieces: int
    found: int


def run_asked(asked: Asked, limits: Limits, watchers: Watchers) -> Made:
    """Make an output, from the start or from where an earlier run was.

    Raises:
        TooLittleError: the memory is too small.
        UnreadableError: a source is not what it has to be, or was changed meanwhile.
        OccupiedError: the output is in use, or not ours.
        OSError: a file cannot be read or written; its name is in it.
    """
    output, made = complete(asked, limits, watchers)
    with named(asked.target):
        try:
            output.publish()
        finally:
            output.close()
    return made


def complete(
    asked: Asked, limits: Limits, watchers: Watchers, *, waits: bool = False
) -> tuple[Output, Made]:
    """Make an output that is whole, and not yet in its place; the caller publishes and closes it.

    It raises what `run_asked` does.

    Args:
        asked: what is to be made.
        limits: memory and jobs.
        watchers: who is told.
        waits: whether the output waits for others before it is published. Then the journal lists
            every piece, so that a run that goes on finds all of them.
    """
    pieces = asked.queue
    with named(asked.target):
        widest = widest_mode(each.handle for each in asked.given)
        output = Output(asked.target, asked.identified(), asked.fixed, asked.size, widest)
        try:
            if not output.resume(limits.memory // limits.jobs, watchers.tell):
                output.begin(asked.room)
            elif output.room != asked.room:
                pieces, _ = queue(pieces.parts, output.room)
            found, sums = _moved(asked, pieces, output, limits.jobs, watchers)
            if waits:
                output.note(sums)
            output.complete()
        except BaseException:
            output.close()
            raise
    return output, Made(pieces.count, found)


def _moved(
    asked: Asked, pieces: Queue, output: Output, jobs: int, watchers: Watchers
) -> tuple[int, Mapping[int, Sums]]:
    """Move what is not done yet; returns how many pieces were, and the checksums of all."""
    summed = pieces.count > 1 or asked.ending is not None
    sum_up = summing(output.token) if summed else unsummed
    task = Several(pieces, tuple(each.moving(output.handle, sum_up) for each in pieces.parts))
    total = asked.size - sum(len(data) for _, data in asked.fixed)
    progress = amounts(task, total, watchers.progress)
    try:
        if output.claimed:
            wrong = agreeing(task, output, jobs, progress)
            words = f"going on: {len(output.claimed)} of {pieces.count} pieces are done"
            again = f"; {wrong} that no longer agree with input or output are done again"
            watchers.tell(f"{words}{again if wrong else ''}")
        found = len(output.claimed)
        sums = run(task, output, jobs, progress)
        for each in asked.given:
            each.refuse_changed()
        if asked.ending is not None:
            output.write(asked.ending(Filled(pieces, sums, output.token, output.read)))
    except BaseException as failure:
        if not (output.is_noted and isinstance(failure, KEPT)):
            output.discard()
        raise
    return found, sums


def amounts(task: Several, total: int, told: Callable[[Amount], None], which: str = "") -> Progress:
    """Return who tells how far it has come: pieces of a single tensor, or which is under way.

    Args:
        task: the tensors.
        total: bytes that are written of them.
        told: is told.
        which: share it is, after a name.
    """
    parts = task.queue.parts
    name = f"{parts[0].name}{which}" if parts else ""
    if len(parts) <= 1:
        return counted(name, total, told)

    def of_tensors(amount: Amount) -> None:
        part, _ = task.queue.find(task.latest)
        name = f"{parts[part].name}{which}"
        told(replace(amount, name=name, number=part + 1, count=len(parts)))

    return counted(name, total, of_tensors)
