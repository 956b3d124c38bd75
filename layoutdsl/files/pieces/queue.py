"""The tensors of one output, and the pieces of all of them, numbered through."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import prod
from typing import Protocol

from layoutdsl.files.pieces.cut import Piece, TooLargeError
from layoutdsl.files.pieces.moves import Moving
from layoutdsl.files.pieces.sums import Sum, unsummed


class Cut(Protocol):
    """Pieces by number: those of a tensor, or a share of them."""

    @property
    def count(self) -> int:
        """How many there are."""

    @property
    def largest(self) -> Piece:
        """One that no other is larger than."""

    def piece(self, number: int) -> Piece:
        """Return a piece by its number, from 0 on."""


class Division(Cut, Protocol):
    """The pieces of a tensor, which somebody else may cut again."""

    @property
    def units(self) -> tuple[int, ...]:
        """Numbers by which the same tensor is cut as it is here."""


@dataclass(frozen=True, slots=True)
class Part:
    """One tensor of an output.

    Attributes:
        name: as messages call it.
        cut: from the bytes that a piece may take to the pieces; raises `TooLargeError`.
        moving: from the handle of the output, and what gives checksums, to what moves pieces.
        again: from the `units` of a cut to that cut; raises `ValueError` where it has none such.
    """

    name: str
    cut: Callable[[int], Division]
    moving: Callable[[int, Sum], Moving]
    again: Callable[[tuple[int, ...]], Division]

    def cut_to(self, room: int) -> tuple[Division, TooLargeError | None]:
        """Return pieces of so many bytes, or the smallest there are, and why they are larger."""
        try:
            return self.cut(room), None
        except TooLargeError as smallest:
            return self.cut(smallest.needed), smallest


@dataclass(frozen=True, slots=True)
class Queue:
    """All pieces of an output, tensor by tensor.

    Attributes:
        parts: the tensors.
        cuts: the pieces of each.
        firsts: the number of the first piece of each.
        count: how many pieces there are.
    """

    parts: tuple[Part, ...]
    cuts: tuple[Division, ...]
    firsts: tuple[int, ...]
    count: int

    def find(self, number: int) -> tuple[int, Piece]:
        """Return the tensor that a piece is of, by its place in the queue, and the piece."""
        part = bisect_right(self.firsts, number) - 1
        return part, self.cuts[part].piece(number - self.firsts[part])

    @property
    def size(self) -> int:
        """The memory of a job."""
        pairs = zip(self.parts, self.cuts, strict=True)
        return max((_largest(part, cut) for part, cut in pairs), default=0)


def _largest(part: Part, cut: Cut) -> int:
    largest = cut.largest
    return part.moving(-1, unsummed).cost(prod(largest.extents), largest.slots)


def queue(parts: Sequence[Part], room: int) -> tuple[Queue, tuple[TooLargeError | None, ...]]:
    """Return the pieces of all tensors, and of each why its pieces take more than the room."""
    found = [each.cut_to(room) for each in parts]
    cuts = tuple(cut for cut, _ in found)
    ends = tuple(accumulate((each.count for each in cuts), initial=0))
    return Queue(tuple(parts), cuts, ends[:-1], ends[-1]), tuple(why for _, why in found)
