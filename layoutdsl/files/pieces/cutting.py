"""The tensors of one output cut into pieces, which are as large as is usual and allowed."""

from __future__ import annotations

from collections.abc import Sequence

from layoutdsl.files.pieces import runs
from layoutdsl.files.pieces.queue import Part, Queue, queue
from layoutdsl.files.pieces.runs import Limits, Tell, TooLittleError


def cut_to(parts: Sequence[Part], limits: Limits, tell: Tell) -> tuple[Queue, int]:
    """Return the pieces of tensors, and the bytes that each may take where it can be as small.

    Raises:
        TooLittleError: the memory is too small for one of them.
    """
    most = limits.memory // limits.jobs
    room = min(most, runs.USUAL)
    pieces, larger = queue(parts, room)
    for part, cut, why in zip(parts, pieces.cuts, larger, strict=True):
        if why is not None and why.needed > most:
            raise TooLittleError(part.name, limits, why)
        if why is not None and cut.count == 1:
            tell(f"`{part.name}` is one piece: {why.reason}")
    return pieces, room


def cut_among(parts: Sequence[Part], limits: Limits, shares: int) -> Queue:
    """Return the pieces of tensors: as large as is usual, or smaller, so that every share has some.

    Raises:
        TooLittleError: the memory is too small for one of them.
    """
    found, room = cut_to(parts, limits, lambda _: None)
    while found.count < shares and room > 1:
        room //= 2
        found, larger = queue(parts, room)
        if None not in larger:
            break  # no piece can be smaller
    return found
