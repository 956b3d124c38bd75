"""oneDNN: a reorder from the tag of one buffer to that of the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from string import ascii_lowercase

from layoutdsl.commands.bench.moves import Move
from layoutdsl.commands.bench.peers import dnnl
from layoutdsl.commands.bench.peers.peer import CannotError, Run, fastest, how_to_install
from layoutdsl.commands.bench.sides import Side


@dataclass(frozen=True, slots=True)
class Onednn:
    """A reorder by libdnnl, through ctypes; its padding is 0."""

    name: str = "onednn"
    says: str = "a libdnnl reorder between two tags, the faster of two types"
    package: str | None = "onednn-cpu-gomp"

    def missing(self) -> str | None:
        """The library may not be installed."""
        if dnnl.shared_library() is not None:
            return None
        return how_to_install("onednn-cpu-gomp")

    def cannot(self, move: Move) -> str | None:
        """What has no tag, or another fill."""
        if isinstance(move.sides, str):
            return move.sides
        if move.read.array.dtype.str[1:] not in dnnl.KINDS:
            return f"it has no type for {move.task.dtype}"
        for each in move.sides:
            if tag(each) is None:
                return "no tag says it: an inner digit lies before the outermost of another axis"
        if move.sides[1].is_padded and move.compared is None and move.fill != 0:
            return f"it fills with 0, not with {move.fill}"
        return None

    def prepare(self, move: Move, threads: int) -> Run:  # noqa: ARG002  set before it loads
        """Return the reorder, in the type of this width that is fastest.

        It has no fast one for each: between float16 a hundred times slower than between bfloat16.
        """
        assert not isinstance(move.sides, str)
        tags = tuple(tag(each) or "" for each in move.sides)
        reasons, ways = list[str](), list[Run]()
        for kind in dnnl.KINDS[move.read.array.dtype.str[1:]]:
            try:
                reorder = dnnl.Reorder(dnnl.library(), kind, move.task.shape, (tags[0], tags[1]))
                reorder.between(move.read.array, move.write.array)
                reorder()
            except CannotError as reason:
                reasons.append(str(reason))
            else:
                ways.append(reorder)
        if not ways:
            raise CannotError(reasons[0])
        right = [each for each in ways if _is_right(move, each)]
        return fastest(right or ways)


def _is_right(move: Move, run: Run) -> bool:
    """Whether bits survive: numbers that are none in a type may be changed in it."""
    move.write.poison()
    run()
    return move.fault(None) is None


def tag(side: Side) -> str | None:
    """Return the tag of a buffer: the outermost digit of every axis, then blocks.

    >>> tag(Side((20, 3), ((2, 16), (3,)), (0, 2, 1)))
    'Ab16a'
    """
    if len(side.shape) > dnnl.MOST_DIMENSIONS:
        return None
    outermost, inner = side.order[: len(side.shape)], side.order[len(side.shape) :]
    firsts = list(_firsts(side))
    if sorted(outermost) != firsts:
        return None
    axes = [axis for axis, _ in side.owners]
    letters = [ascii_lowercase[axes[number]] for number in outermost]
    cut = {axis for axis, digits in enumerate(side.digits) if len(digits) > 1}
    named = [
        letter.upper() if axes[number] in cut else letter
        for letter, number in zip(letters, outermost, strict=True)
    ]
    blocks = [f"{side.split[number]}{ascii_lowercase[axes[number]]}" for number in inner]
    return "".join([*named, *blocks]) if _minor_last(side) else None


def _firsts(side: Side) -> Iterator[int]:
    """The number of the outermost digit of each axis."""
    number = 0
    for digits in side.digits:
        yield number
        number += len(digits)


def _minor_last(side: Side) -> bool:
    """Whether the digits of every axis lie most major first, as blocks of a tag do."""
    axes = [axis for axis, _ in side.owners]
    for axis in range(len(side.shape)):
        lying = [number for number in side.order if axes[number] == axis]
        if lying != sorted(lying):
            return False
    return True
