"""Faults of the kind that were there once, put in again: the campaign has to notice each."""

from __future__ import annotations

from collections.abc import Callable

from layoutdsl.files.pieces import moves, output, runs, tensors
from layoutdsl.files.pieces.packing import Packing
from layoutdsl.files.pieces.unpacking import Unpacking
from layoutdsl.files.places import Identity


def _believing() -> None:
    """What an earlier run says it has finished is not looked at."""
    for each in (Packing, Unpacking):
        each.agrees = lambda *_: True  # type: ignore[method-assign]


def _reading_only() -> None:
    """Only the input is looked at, and not what lies in the output."""

    def agrees(moving: Packing, piece: object, arena: moves.Arena, sums: object) -> bool:
        arena.clear()
        return moving.sum_up(moving._tensor(piece, arena)) == sums.read  # type: ignore

    Packing.agrees = agrees  # type: ignore[method-assign, assignment]


def _blind() -> None:
    """The input is not looked at again."""
    for room in (tensors, runs):
        room.identity = lambda _: Identity(1, 1, 1, 1)  # type: ignore[attr-defined]


def _greedy() -> None:
    """Whatever lies beside the output is taken for ours."""
    output._refuse_strange = lambda *_: None  # type: ignore[assignment]
    real = output.Output._left

    def left(found: output.Output, noted: object) -> int:
        try:
            return real(found, noted)  # type: ignore[arg-type]
        except output.OccupiedError:
            return output._own(found.part)

    output.Output._left = left  # type: ignore[method-assign]


def _hasty() -> None:
    """The output is in its place before it is whole."""
    real = output.Output.begin

    def begin(found: output.Output, room: int) -> None:
        real(found, room)
        found.place.unlink(missing_ok=True)
        found.place.hardlink_to(found.part)

    output.Output.begin = begin  # type: ignore[method-assign]


def _forgetful() -> None:
    """A run that is killed once every piece is done leaves nothing that says whose it is."""
    real = output.Output._add

    def add(found: output.Output, line: dict[str, object]) -> None:
        if "whole" not in line:
            real(found, line)

    output.Output._add = add  # type: ignore[method-assign]


PLANTED: dict[str, Callable[[], None]] = {
    "believing": _believing,
    "reading only": _reading_only,
    "blind": _blind,
    "greedy": _greedy,
    "hasty": _hasty,
    "forgetful": _forgetful,
}
