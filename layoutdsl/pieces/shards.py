"""A share of a plan done, and the output put in its place once every share is.

Which pieces there are follows from the plan alone, and each is written to its own stretch of the
output. So shares are done in any order, anywhere, twice by mistake or again after a kill.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from layoutdsl.files.npy import UnreadableError, header
from layoutdsl.files.places import identity
from layoutdsl.pieces.amount import counted
from layoutdsl.pieces.cut import Piece, Pieces, cut_by
from layoutdsl.pieces.files import Divided, Stored, named
from layoutdsl.pieces.journal import Noted
from layoutdsl.pieces.moves import Code, Moving
from layoutdsl.pieces.plan import Plan, PlanError
from layoutdsl.pieces.planning import moving_for
from layoutdsl.pieces.runs import Given, Watchers
from layoutdsl.pieces.share import Log, Share
from layoutdsl.pieces.shared import GoneError, Shared, cleared
from layoutdsl.pieces.sums import Sums, summing
from layoutdsl.pieces.tensors import Raw, opened, physical, stored_in
from layoutdsl.pieces.work import Single, agreeing, run

REPLAN = "remove the unfinished output, and plan again"


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a plan has come.

    Attributes:
        missing: the shares that are not done; none where all are.
        placed: whether the output is in its place.
    """

    missing: tuple[Share, ...]
    placed: bool


@dataclass(frozen=True, slots=True)
class _Some:
    """Some of the pieces, side by side."""

    whole: Pieces
    numbers: range

    @property
    def count(self) -> int:
        return len(self.numbers)

    @property
    def largest(self) -> Piece:
        return self.whole.largest  # the first of a share may be a smaller one

    def piece(self, number: int) -> Piece:
        return self.whole.piece(self.numbers[number])


@dataclass(frozen=True, slots=True)
class _Work:
    """A share of a plan that is under way."""

    plan: Plan
    code: Code
    stored: Stored
    shared: Shared
    log: Log
    mine: _Some

    def moving(self, watchers: Watchers) -> Moving:
        """What moves its pieces."""
        plan, dtype = self.plan, self.stored.dtype
        result = physical(self.code, plan.shape) if plan.verb == "pack" else plan.shape
        head = b"" if plan.raw == "raw" else header(dtype, result)
        into = Divided(Path(plan.target), self.shared.handle, len(head), dtype, result)
        sum_up = summing(self.log.token)
        fill, look = plan.fill_number, watchers.look
        return moving_for(plan.verb, self.code, self.stored, into, plan.shape, fill, look, sum_up)

    @property
    def done_by_others(self) -> dict[int, Sums]:
        """The pieces that are in shares of another number of shares, which are done."""
        left = _left(self.shared.noted(), self.mine.whole.count)
        numbers = enumerate(self.mine.numbers)
        return {place: Sums("", "") for place, number in numbers if not left[number]}

    @property
    def size(self) -> int:
        """The bytes that it writes."""
        pieces = map(self.mine.piece, range(self.mine.count))
        packs = self.plan.verb == "pack"
        items = sum(each.slots if packs else prod(each.extents) for each in pieces)
        return items * self.stored.dtype.itemsize


def run_share(plan: Plan, code: Code, share: Share, jobs: int, watchers: Watchers) -> Standing:
    """Do a share of a plan, or what is left of it; whoever is last puts the output in its place.

    Args:
        plan: what is done.
        code: what moves pieces, of the layout of the plan.
        share: which pieces are done.
        jobs: pieces at a time.
        watchers: who is told.

    Raises:
        PlanError: the plan does not fit what it is about.
        UnreadableError: the source holds what it must not, or has changed meanwhile.
        OccupiedError: another run does this share, or the output is not ours.
        OSError: a file cannot be read or written; its name is in it.
    """
    pieces = _pieces(plan, code)
    try:
        with _sharing(plan) as shared, _source(plan, code) as (given, stored):
            log = Log(share, shared.part, shared.folder, shared.handle)
            try:
                mine = _Some(pieces, share.pieces(pieces.count))
                _do(_Work(plan, code, stored, shared, log, mine), given, share, jobs, watchers)
            finally:
                log.close()
            return _standing(plan, shared, pieces.count, (share.of,))
    except GoneError:
        return _gone(plan)


def finish(plan: Plan, code: Code) -> Standing:
    """Put the output in its place, if every share is done.

    Raises:
        PlanError: the plan does not fit what it is about.
        OccupiedError: the output is not ours.
        OSError: a file cannot be read or written; its name is in it.
    """
    count = _pieces(plan, code).count
    try:
        with _sharing(plan) as shared, _source(plan, code):
            return _standing(plan, shared, count, ())
    except GoneError:
        return _gone(plan)


def _pieces(plan: Plan, code: Code) -> Pieces:
    try:
        physical(code, plan.shape)
        return cut_by(code.layout, plan.shape, plan.cuts)
    except (ValueError, TypeError) as unfit:
        raise PlanError(f"does not fit its layout: {unfit}") from None


@contextmanager
def _sharing(plan: Plan) -> Iterator[Shared]:
    with named(plan.part):
        shared = Shared(plan.part, plan.digest, plan.size)
    try:
        yield shared
    finally:
        shared.close()


@contextmanager
def _source(plan: Plan, code: Code) -> Iterator[tuple[Given, Stored]]:
    """The input, open, where it is still what was planned for."""
    result = physical(code, plan.shape)
    with opened(Path(plan.source), Path(plan.target)) as given:
        if (given.before.size, given.before.modified) != (plan.source_size, plan.source_modified):
            raise PlanError(f"was drawn up before `{plan.source}` was changed", REPLAN)
        shape = plan.shape if plan.verb == "pack" else result
        stored = stored_in(given, None if plan.raw == "npy" else Raw(plan.item, shape))
        flat = plan.verb == "unpack" and not stored.fortran and len(stored.shape) == 1
        fits = stored.shape == shape or (flat and stored.shape == (prod(shape),))
        if stored.dtype.str != plan.dtype or not fits:
            raise PlanError(f"is of another array than `{plan.source}` holds", REPLAN)
        yield given, stored


def _do(work: _Work, given: Given, share: Share, jobs: int, watchers: Watchers) -> None:
    """Move the pieces that are not done; then the share is, if the input was what it is."""
    log, count = work.log, work.mine.count
    if log.whole:
        return
    if count:
        name = f"{work.code.layout.name} {share}"
        told = counted(name, work.size, watchers.progress)
        todo = Single(work.mine, work.moving(watchers))
        if log.claimed:
            wrong = agreeing(todo, log, jobs, told)
            words = f"going on: {len(log.claimed)} of {count} pieces are done"
            again = f"; {wrong} that no longer agree with input or output are done again"
            watchers.tell(f"{words}{again if wrong else ''}")
        log.claimed = {**log.claimed, **work.done_by_others}
        run(todo, log, jobs, told)
    if identity(given.handle) != given.before:
        log.forget()
        raise UnreadableError("has changed while it was read")
    log.complete()


def _standing(plan: Plan, shared: Shared, count: int, more: Iterable[int]) -> Standing:
    """What is missing; where nothing is, the output is put in its place."""
    missing = _missing(shared, count, more)
    if missing:
        return Standing(missing, placed=False)
    with shared.alone() as alone:
        if alone:
            shared.place(Path(plan.target), plan.mode)
    return Standing((), _is_placed(plan))


def _missing(shared: Shared, count: int, more: Iterable[int]) -> tuple[Share, ...]:
    """The shares that are not done, in the most shares that anybody speaks of."""
    noted = shared.noted()
    left = _left(noted, count)
    of = max([1, *more, *(each.of for each in noted)])
    shares = (Share(number, of) for number in range(of if left.any() else 0))
    return tuple(each for each in shares if left[_slice(each, count)].any())


def _left(noted: Mapping[Share, Noted], count: int) -> NDArray[np.bool_]:
    """Which pieces are in no share that is done."""
    left = np.ones(count, bool)
    for share, each in noted.items():
        if each.whole:
            left[_slice(share, count)] = False
    return left


def _slice(share: Share, count: int) -> slice:
    numbers = share.pieces(count)
    return slice(numbers.start, numbers.stop)


def _is_placed(plan: Plan) -> bool:
    try:
        found = Path(plan.target).stat()
    except FileNotFoundError:
        return False
    return (found.st_ino, found.st_size) == (plan.inode, plan.size)


def _gone(plan: Plan) -> Standing:
    """What is so where there is no unfinished output."""
    if not _is_placed(plan):
        raise PlanError(f"has no unfinished output any more: `{plan.part}` is gone")
    cleared(plan.part)
    return Standing((), placed=True)
