"""A file of weights made of another, tensor by tensor, in pieces of bounded memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import Literal

from layoutdsl.files.ownership import overwriting
from layoutdsl.files.pieces.cutting import cut_to
from layoutdsl.files.pieces.files import Stored, Target, named
from layoutdsl.files.pieces.output import Output
from layoutdsl.files.pieces.queue import Part, Queue
from layoutdsl.files.pieces.runs import Asked, Filled, Limits, Made, Watchers, complete
from layoutdsl.files.pieces.tensors import refuse_outputs
from layoutdsl.files.places import replaceable, widest_mode
from layoutdsl.files.weights.bounds import MOST_HEADER
from layoutdsl.files.weights.faults import Problem, UnfitError, reading
from layoutdsl.files.weights.form import Arranged, Form
from layoutdsl.files.weights.moved import Move
from layoutdsl.files.weights.opened import Weights, opened_weights
from layoutdsl.files.weights.said import About, check_of, read, written
from layoutdsl.files.whole import replacing


@dataclass(frozen=True, slots=True)
class Making:
    """What is made.

    Attributes:
        source: what it is made of.
        target: the place of the result.
        form: its format.
        moves: how each of its tensors is moved there.
        about: from the pieces to the account of the file, and from them, the checksums of each and
            their token likewise; `None` where the file gets no account.
        verb: what is done: it tells a run from another.
        moved: how many of its tensors a layout has moved; the others are kept.
    """

    source: Weights
    target: Path
    form: Form
    moves: tuple[Move, ...]
    about: Callable[[Queue, Filled | None], About | None]
    verb: str
    moved: int

    @property
    def order(self) -> Literal["<", ">"]:
        """Of the bytes of items that are written: another format has one order."""
        contents = self.source.contents
        return contents.order if self.form.name == contents.form else "<"


@dataclass(frozen=True, slots=True)
class Laid:
    """A file that is to be made: where everything in it goes.

    Attributes:
        making: what is made.
        pieces: of its tensors.
        said: its account, without checksums; empty where it gets none.
        arranged: its bytes then.
        data: the file that tensors lie in.
        beside: the file for what is said of it, where it has no room for that itself.
        stale: files that speak of other data, which are taken away before these are in their place.
    """

    making: Making
    pieces: Queue
    said: str
    arranged: Arranged
    data: Path
    beside: Path
    stale: tuple[Path, ...]

    @property
    def replaces_ours(self) -> bool:
        """Whether the file in the way is a packed one, and so are those that belong to it.

        An account that lies beside the data says nothing about who wrote these.
        """
        form, place = self.making.form, self.making.target
        if self.arranged.beside is not None or form.name in ("npy", "raw"):
            return False
        try:
            with opened_weights(place, form) as found:
                return found.contents.said is not None
        except (ValueError, OSError):
            return False

    def queue(self, kind: type[Stored]) -> Queue:
        """Return the pieces as they are written, by arrays of a kind."""
        target = Target(self.data, kind, self.making.order)
        parts = _parts(self.making, target, self.arranged.starts)
        return replace(self.pieces, parts=parts)

    @property
    def texts(self) -> dict[str, Path]:
        """Where that goes which is written last, by what it is."""
        return texts_of(self.making.target, self.data)

    @property
    def digest(self) -> str:
        """The hash of all that is known of it before anything is moved."""
        moves = [each.wanted for each in self.making.moves]
        tensors = [[each.name, each.type, each.native, each.shape, each.size] for each in moves]
        places = [self.arranged.size, self.arranged.starts, self.arranged.data]
        return _hash(json.dumps([self.said, tensors, places]))


def texts_of(place: Path, data: Path) -> dict[str, Path]:
    """Return where that goes which is written last, by what it is: both names of one file."""
    beside = {"beside": place.with_name(f"{place.name}.json")}
    return beside if place == data else {**beside, "model": place}


def lay_out(making: Making, pieces: Queue) -> Laid:
    """Return where everything goes.

    Raises:
        UnfitError: the format cannot hold it, or something is in the way.
        OccupiedError: it would take the place of what it is made of.
    """
    place, about = making.target, making.about(pieces, None)
    said = "" if about is None else written(about)
    arranged = _arranged(making, said)
    data, beside = _places(place, arranged)
    stale = _stale(place, data, beside, arranged)
    for each in making.source.given:
        for one in dict.fromkeys((place, data, beside)):
            refuse_outputs(each, one)
    laid = Laid(making, pieces, said, arranged, data, beside, stale)
    with overwriting(laid.replaces_ours):
        for one in dict.fromkeys((place, data)):
            with named(one):
                replaceable(one)
    return laid


class Ended:
    """What a file holds besides its tensors, once these are in it."""

    def __init__(self, laid: Laid) -> None:
        self._laid, self._last = laid, laid.arranged

    def fixed(self, filled: Filled, /) -> Iterator[tuple[int, bytes]]:
        """Return its other bytes, with checksums, and take away what speaks of other data."""
        laid = self._laid
        self._last = _checked(laid.making, laid.making.about(laid.pieces, filled))
        assert (self._last.size, self._last.starts) == (laid.arranged.size, laid.arranged.starts)
        for each in laid.stale:
            _remove(each)  # what speaks of other data must not lie beside these
        yield from self._last.fixed  # is written before a form reads what it says of it
        if self._last.finish is not None:
            yield from self._last.finish(filled.read)

    def texts(self) -> dict[str, bytes]:
        """Return what goes to other files when it is in its place, by what it is."""
        found = {} if self._last.beside is None else {"beside": self._last.beside}
        if self._last.model is not None:
            found["model"] = self._last.model(self._laid.data.name)
        return found


def make(making: Making, limits: Limits, watchers: Watchers) -> Made:
    """Make a file, from the start or from where an earlier run was.

    Raises:
        UnfitError: the format cannot hold it, or a file that is read has changed.
        TooLittleError: the memory is too small.
        OccupiedError: the output is in use, is not ours, or is a source.
        OSError: a file cannot be read or written; its name is in it.
    """
    done = complete_laid(*lay_out_pieces(making, limits, watchers), limits, watchers)
    try:
        done.publish()
    finally:
        done.output.close()
    return done.made


def lay_out_pieces(making: Making, limits: Limits, watchers: Watchers) -> tuple[Laid, int]:
    """Return where everything goes, and the bytes that a piece may take; nothing is written.

    It raises what `make` does.
    """
    pieces, room = cut_to(parts_of(making), limits, watchers.tell)
    return lay_out(making, pieces), room


@dataclass(frozen=True, slots=True)
class Complete:
    """A file that is whole, and not yet in its place.

    Attributes:
        laid: where everything goes.
        output: its data, as yet under another name.
        made: how many pieces it has.
        ended: what it holds besides its tensors.
        widest: the permissions at most of each text that follows the data.
        ours: whether it replaces a packed file; noted before stale texts, which say so, went.
    """

    laid: Laid
    output: Output
    made: Made
    ended: Ended
    widest: Mapping[str, int]
    ours: bool

    def publish(self) -> None:
        """Put the data in their place, and then the texts that speak of them.

        Raises:
            OccupiedError: something else has come to lie there meanwhile.
            OSError: it cannot be put there.
        """
        with overwriting(self.ours):
            with named(self.laid.data):
                self.output.publish()
            for what, data in self.ended.texts().items():
                _write(self.laid.texts[what], data, self.widest[what])


def complete_laid(
    laid: Laid, room: int, limits: Limits, watchers: Watchers, *, waits: bool = False
) -> Complete:
    """Make a file that is whole, and not yet in its place; the caller publishes and closes it.

    It raises what `make` does. ``waits`` says that it is published after others, as of
    `runs.complete`.
    """
    making, size, fixed = laid.making, laid.arranged.size, laid.arranged.fixed
    ended, name = Ended(laid), making.form.name
    work = {"verb": making.verb, "layout": _hash(laid.said), "form": name, "room": room}
    given, queued = making.source.given, laid.queue(Stored)
    asked = Asked(queued, room, given, laid.data, size, fixed, work, ended.fixed)
    inputs = widest_mode(each.handle for each in given)
    # Texts that are stale are removed before the data take their place; what comes after them is
    # no more readable than they were.
    widest = {what: inputs & widest_mode([place]) for what, place in laid.texts.items()}
    ours = laid.replaces_ours
    with overwriting(ours), reading(making.source.place):
        output, made = complete(asked, limits, watchers, waits=waits)
    return Complete(laid, output, made, ended, widest, ours)


def parts_of(making: Making) -> tuple[Part, ...]:
    """Return the tensors; that they begin where the file does is as good while pieces are cut."""
    return _parts(making, Target(making.target, order=making.order), [0] * len(making.moves))


def _parts(making: Making, target: Target, starts: Sequence[int]) -> tuple[Part, ...]:
    return tuple(move.part(target, at) for move, at in zip(making.moves, starts, strict=True))


def _arranged(making: Making, said: str) -> Arranged:
    wanted = [each.wanted for each in making.moves]
    try:
        return making.form.arrange(making.source.contents, wanted, said)
    except ValueError as unfit:
        message = f"`{making.target}` cannot be written: {unfit}"
        raise UnfitError((Problem("tensor", message),)) from None


def _checked(making: Making, about: About | None) -> Arranged:
    """Arrange the file with the checksum of its account and header in the account."""
    if about is None:
        return _arranged(making, "")
    # Nothing moves when the checksum takes the place of zeros: both have the same length.
    heads = _arranged(making, written(about)).heads
    check = check_of(about, making.order, heads)
    found = _arranged(making, written(replace(about, check=check)))
    assert found.heads == heads
    return found


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
    with named(place), overwriting(True):  # `lay_out` has asked, and `_stale` knows our accounts
        found, old = replaceable(place)
        if old is not None:
            found.unlink()


def _write(place: Path, data: bytes, widest: int) -> None:
    with named(place), replacing(place, widest) as file:
        file.write(data)


def _hash(said: str) -> str:
    return sha256(said.encode()).hexdigest()


def stretches(move: Move, queue: Queue, number: int) -> tuple[int, ...]:
    """Return how many bytes of a tensor each of its pieces writes, in the order of the file."""
    cut = queue.cuts[number]
    firsts = [int(move.width * cut.piece(each).first) for each in range(cut.count)]
    last = cut.piece(cut.count - 1)
    lead = move.size - ceil(move.width * (last.first + last.slots))
    starts = [0, *(lead + each for each in firsts[1:]), move.size]
    return tuple(end - start for start, end in pairwise(starts))


def written_sums(filled: Filled, number: int) -> tuple[str, ...]:
    """Return the checksum of what each piece of a tensor has written."""
    queue = filled.queue
    first = queue.firsts[number]
    return tuple(filled.sums[first + each].written for each in range(queue.cuts[number].count))
