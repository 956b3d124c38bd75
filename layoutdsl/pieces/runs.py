"""One output made in pieces: begun, or gone on with where it can be, and put in its place."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from layoutdsl.files.npy import UnreadableError, header
from layoutdsl.files.places import Identity, identity
from layoutdsl.meaning.model import Layout
from layoutdsl.pieces.amount import Amount, counted
from layoutdsl.pieces.cut import Pieces, TooLargeError, cut
from layoutdsl.pieces.files import Stored, named
from layoutdsl.pieces.moves import Look, Moving
from layoutdsl.pieces.output import Output
from layoutdsl.pieces.sums import Sum, summing, unsummed
from layoutdsl.pieces.work import agreeing, run

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


@dataclass(frozen=True, slots=True)
class Done:
    """What was done: from which array to which, in how many pieces, and how many were there."""

    source: tuple[int, ...]
    result: tuple[int, ...]
    dtype: np.dtype[Any]
    pieces: int
    found: int


class TooLittleError(ValueError):
    """The memory is too small for a piece.

    Attributes:
        needed: bytes that would do for as many jobs.
        reason: why there is no smaller piece.
    """

    def __init__(self, layout: Layout, limits: Limits, cause: TooLargeError) -> None:
        self.needed, self.reason = cause.needed * limits.jobs, cause.reason
        jobs = "" if limits.jobs == 1 else f" for {limits.jobs} jobs"
        super().__init__(
            f"{limits.memory} bytes are too few{jobs}: the smallest piece of `{layout.name}` takes "
            f"{cause.needed}, as {cause.reason}"
        )


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be made.

    Attributes:
        layout: by which pieces are cut.
        source: what is read.
        before: what its file was when it was opened.
        target: where the result goes.
        shape: of the tensor.
        result: the shape of what is written.
        moving: what moves pieces to the array that starts there in the file of that handle.
        work: plain values that tell this work from others.
    """

    layout: Layout
    source: Stored
    before: Identity
    target: Path
    shape: tuple[int, ...]
    result: tuple[int, ...]
    moving: Callable[[int, int, Sum], Moving]
    work: dict[str, Any]

    @property
    def head(self) -> bytes:
        """The bytes before the result."""
        return b"" if self.work["raw"] else header(self.source.dtype, self.result)

    @property
    def size(self) -> int:
        """The bytes of the whole output."""
        return len(self.head) + prod(self.result) * self.source.dtype.itemsize

    def cost(self, elements: int, slots: int) -> int:
        """Return the bytes that a piece takes while it is moved."""
        return self.moving(-1, 0, unsummed).cost(elements, slots)

    def identified(self) -> dict[str, Any]:
        """Return what tells this work, and this input, from others, as JSON has it."""
        return {
            **self.work,
            "shape": list(self.shape),
            "type": self.source.dtype.str,
            "path": os.path.realpath(self.source.place),
            "input": asdict(self.before),
        }


def run_asked(asked: Asked, limits: Limits, watchers: Watchers) -> Done:
    """Make an output, from the start or from where an earlier run was.

    Raises:
        TooLittleError: the memory is too small.
        UnreadableError: the source is not what it has to be, or was changed meanwhile.
        OccupiedError: the output is in use, or not ours.
        OSError: a file cannot be read or written; its name is in it.
    """
    pieces, room = _cut(asked, limits, watchers.tell)
    with named(asked.target):
        output = Output(asked.target, asked.identified(), asked.head, asked.size)
        try:
            if not output.resume(limits.memory // limits.jobs, watchers.tell):
                output.begin(room)
            elif output.room != room:
                pieces = cut(asked.layout, asked.shape, output.room, asked.cost)
            found = _moved(asked, pieces, output, limits.jobs, watchers)
            output.finish()
        finally:
            output.close()
    source = asked.source
    return Done(source.shape, asked.result, source.dtype, pieces.count, found)


def _moved(asked: Asked, pieces: Pieces, output: Output, jobs: int, watchers: Watchers) -> int:
    """Move what is not done yet; returns how many pieces were."""
    sum_up = summing(output.token) if pieces.count > 1 else unsummed
    moving = asked.moving(output.handle, len(asked.head), sum_up)
    progress = counted(asked.layout.name, asked.size - len(asked.head), watchers.progress)
    try:
        if output.claimed:
            wrong = agreeing(pieces, moving, output, jobs, progress)
            words = f"going on: {len(output.claimed)} of {pieces.count} pieces are done"
            again = f"; {wrong} that no longer agree with input or output are done again"
            watchers.tell(f"{words}{again if wrong else ''}")
        found = len(output.claimed)
        run(pieces, moving, output, jobs, progress)
        if identity(asked.source.handle) != asked.before:
            raise UnreadableError("has changed while it was read")
    except BaseException as failure:
        if not (output.is_noted and isinstance(failure, KEPT)):
            output.discard()
        raise
    return found


def _cut(asked: Asked, limits: Limits, tell: Tell) -> tuple[Pieces, int]:
    """The pieces, and the bytes that each may take."""
    layout, shape, cost = asked.layout, asked.shape, asked.cost
    most = limits.memory // limits.jobs
    usual = min(most, USUAL)
    try:
        return cut(layout, shape, usual, cost), usual
    except TooLargeError as smallest:
        needed = smallest.needed
        if needed > most:
            raise TooLittleError(layout, limits, smallest) from None
        reason = smallest.reason
    pieces = cut(layout, shape, needed, cost)
    if pieces.count == 1:
        tell(f"`{layout.name}` is one piece: {reason}")
    return pieces, needed
