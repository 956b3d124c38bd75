"""A file of weights made of another, tensor by tensor, in pieces of bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

from layoutdsl.files.places import replaceable
from layoutdsl.files.whole import replacing
from layoutdsl.pieces.files import named
from layoutdsl.pieces.queue import Part, Queue
from layoutdsl.pieces.runs import Asked, Filled, Limits, Made, Watchers, cut_to, run_asked
from layoutdsl.pieces.tensors import refuse_outputs
from layoutdsl.weights.bounds import MOST_HEADER
from layoutdsl.weights.faults import Problem, UnfitError, reading
from layoutdsl.weights.form import Arranged, Form
from layoutdsl.weights.moved import Move
from layoutdsl.weights.opened import Weights
from layoutdsl.weights.said import read


@dataclass(frozen=True, slots=True)
class Making:
    """What is made.

    Attributes:
        source: what it is made of.
        target: the place of the result.
        form: its format.
        moves: how each of its tensors is moved there.
        said: from the pieces to what the file says of itself, and from them, the checksums of each
            and their token likewise; both are of one length.
        verb: what is done: it tells a run from another.
    """

    source: Weights
    target: Path
    form: Form
    moves: tuple[Move, ...]
    said: Callable[[Queue, Filled | None], str]
    verb: str


def make(making: Making, limits: Limits, watchers: Watchers) -> Made:
    """Make a file, from the start or from where an earlier run was.

    Raises:
        UnfitError: the format cannot hold it, or a file that is read has changed.
        TooLittleError: the memory is too small.
        OccupiedError: the output is in use, is not ours, or is a source.
        OSError: a file cannot be read or written; its name is in it.
    """
    place = making.target
    pieces, room = cut_to(_parts(making, place, None), limits, watchers.tell)
    said = making.said(pieces, None)
    arranged = _arranged(making, said)
    data, beside = _places(place, arranged)
    stale = _stale(place, data, beside, arranged)
    for each in making.source.given:
        for one in dict.fromkeys((place, data, beside)):
            refuse_outputs(each, one)
    queued = Queue(_parts(making, data, arranged.starts), pieces.cuts, pieces.firsts, pieces.count)
    last: list[Arranged] = [arranged]

    def ending(filled: Filled) -> Iterator[tuple[int, bytes]]:
        last[0] = _arranged(making, making.said(pieces, filled))
        assert (last[0].size, last[0].starts) == (arranged.size, arranged.starts)
        for each in stale:
            _remove(each)  # what speaks of other data must not lie beside these
        yield from last[0].fixed  # is written before a form reads what it says of it
        if last[0].finish is not None:
            yield from last[0].finish(filled.read)

    work = {"verb": making.verb, "layout": _hash(said), "form": making.form.name, "room": room}
    given, size = making.source.given, arranged.size
    asked = Asked(queued, room, given, data, size, arranged.fixed, work, ending)
    with reading(making.source.place):
        made = run_asked(asked, limits, watchers)
    if last[0].beside is not None:
        _write(beside, last[0].beside)
    if last[0].model is not None:
        _write(place, last[0].model(data.name))
    return made


def _parts(making: Making, place: Path, starts: Sequence[int] | None) -> tuple[Part, ...]:
    """The tensors; that they begin where the file does is as good while pieces are counted."""
    given = [0] * len(making.moves) if starts is None else starts
    return tuple(move.part(place, at) for move, at in zip(making.moves, given, strict=True))


def _arranged(making: Making, said: str) -> Arranged:
    wanted = [each.wanted for each in making.moves]
    try:
        return making.form.arrange(making.source.contents, wanted, said)
    except ValueError as unfit:
        message = f"`{making.target}` cannot be written: {unfit}"
        raise UnfitError((Problem("tensor", message),)) from None


def _places(place: Path, arranged: Arranged) -> tuple[Path, Path]:
    """Where the tensors go, and what is said besides."""
    return place.with_name(place.name + arranged.data), place.with_name(f"{place.name}.json")


def _stale(place: Path, data: Path, beside: Path, arranged: Arranged) -> tuple[Path, ...]:
    """What would speak of other data once these are in their place.

    Raises:
        UnfitError: what is said of the data would take the place of something else.
    """
    found = [] if place == data else [place]
    if beside.exists():
        if _is_said(beside):
            found.append(beside)
        elif arranged.beside is not None:
            message = f"`{beside}` is there, and layoutdsl has not written it"
            raise UnfitError((Problem("file", message, "move it away, or write to another file"),))
    return tuple(found)


def _is_said(place: Path) -> bool:
    """Whether a file is what layoutdsl says of another."""
    try:
        with named(place), place.open("rb") as file:
            read(file.read(MOST_HEADER + 1).decode())
    except ValueError:
        return False
    return True


def _remove(place: Path) -> None:
    with named(place):
        found, old = replaceable(place)
        if old is not None:
            found.unlink()


def _write(place: Path, data: bytes) -> None:
    with named(place), replacing(place) as file:
        file.write(data)


def _hash(said: str) -> str:
    return sha256(said.encode()).hexdigest()


def stretches(move: Move, queue: Queue, number: int) -> tuple[int, ...]:
    """Return how many bytes of a tensor each of its pieces writes, in the order of the file."""
    cut = queue.cuts[number]
    firsts = [move.width * cut.piece(each).first for each in range(cut.count)]
    last = cut.piece(cut.count - 1)
    lead = move.size - move.width * (last.first + last.slots)
    starts = [0, *(lead + each for each in firsts[1:]), move.size]
    return tuple(end - start for start, end in pairwise(starts))


def written_sums(filled: Filled, number: int) -> tuple[str, ...]:
    """Return the checksum of what each piece of a tensor has written."""
    queue = filled.queue
    first = queue.firsts[number]
    return tuple(filled.sums[first + each].written for each in range(queue.cuts[number].count))
