"""A share of a plan done, and the output put in its place once every share is.

Which pieces there are follows from the plan alone, and each is written to its own stretch of the
output. So shares are done in any order, anywhere, twice by mistake or again after a kill. Of which
tensors they are, and what else stands in the output, whoever opens the work of a plan says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from layoutdsl.files.pieces.files import named
from layoutdsl.files.pieces.folder import GoneError, cleared
from layoutdsl.files.pieces.plan import PlanError, Planned
from layoutdsl.files.pieces.queue import Queue
from layoutdsl.files.pieces.runs import Filled, Given, Watchers, amounts
from layoutdsl.files.pieces.share import Log, Share
from layoutdsl.files.pieces.shared import Shared
from layoutdsl.files.pieces.standing import Standing, missing_of, sums_of
from layoutdsl.files.pieces.sums import Sums, summing
from layoutdsl.files.pieces.work import Portion, Progress, Several, agreeing, run

REPLAN = "remove the unfinished output, and plan again"


class Ending(Protocol):
    """What an output holds besides its pieces."""

    def fixed(self, filled: Filled, /) -> Iterable[tuple[int, bytes]]:
        """Return bytes with their places; each is written before the next is asked for."""

    def texts(self) -> Mapping[str, bytes]:
        """Return what goes to other files then, by the names that the plan has for them."""


@dataclass(frozen=True, slots=True)
class Work:
    """What a plan asks for, with its inputs open.

    Attributes:
        queue: the tensors, cut as the plan says; written apart from what others write.
        sizes: the bytes of each in the output.
        given: the files that are read.
        ending: what is written when every piece is in.
    """

    queue: Queue
    sizes: tuple[int, ...]
    given: tuple[Given, ...]
    ending: Ending


Opening = AbstractContextManager[Work]
"""Opens what is read, and looks whether it is what was planned for."""


def run_share(
    plan: Planned, opening: Opening, share: Share, jobs: int, watchers: Watchers
) -> Standing:
    """Do a share of a plan, or what is left of it; whoever is last puts the output in its place.

    Args:
        plan: what is done.
        opening: of it.
        share: which pieces are done.
        jobs: pieces at a time.
        watchers: who is told.

    Raises:
        PlanError: the plan does not fit what it is about.
        UnreadableError: the source holds what it must not, or has changed meanwhile.
        OccupiedError: another run does this share, or the output is not ours.
        OSError: a file cannot be read or written; its name is in it.
    """
    try:
        with _sharing(plan) as shared, opening as work:
            log = Log(share, shared.part, shared.folder, shared.handle, plan.token)
            try:
                _do(work, plan, shared, log, share, jobs, watchers)
            finally:
                log.close()
            return _standing(plan, work, shared, (share.of,))
    except GoneError:
        return _gone(plan)


def finish(plan: Planned, opening: Opening) -> Standing:
    """Put the output in its place, if every share is done.

    Raises:
        PlanError: the plan does not fit what it is about.
        OccupiedError: the output is not ours.
        OSError: a file cannot be read or written; its name is in it.
    """
    try:
        with _sharing(plan) as shared, opening as work:
            return _standing(plan, work, shared, ())
    except GoneError:
        return _gone(plan)


@contextmanager
def _sharing(plan: Planned) -> Iterator[Shared]:
    with named(plan.part):
        shared = Shared(plan.part, plan.digest, plan.size, plan.texts)
    try:
        yield shared
    finally:
        shared.close()


def refuse_other(plan: Planned, given: tuple[Given, ...]) -> None:
    """Fail where open files are no longer those that were planned for.

    Raises:
        PlanError: one has changed since.
    """
    paths = [str(each.place.absolute()) for each in given]
    if paths != [each.path for each in plan.sources]:
        raise PlanError(f"is of other files than `{plan.sources[0].path}` names now", REPLAN)
    for source, each in zip(plan.sources, given, strict=True):
        if not source.is_still(each):
            raise PlanError(f"was drawn up before `{source.path}` was changed", REPLAN)


def _do(
    work: Work,
    plan: Planned,
    shared: Shared,
    log: Log,
    share: Share,
    jobs: int,
    watchers: Watchers,
) -> None:
    """Move the pieces that are not done; then the share is, if the input was what it is."""
    if log.whole:
        return
    queue, numbers = work.queue, share.pieces(work.queue.count)
    sum_up, sums = summing(plan.token), dict[int, Sums]()
    if numbers:
        moving = tuple(each.moving(shared.handle, sum_up) for each in queue.parts)
        todo = Portion(Several(queue, moving), numbers)
        told = _told(work, todo, share, watchers)
        if log.claimed:
            wrong = agreeing(todo, log, jobs, told)
            words = f"going on: {len(log.claimed)} of {todo.count} pieces are done"
            again = f"; {wrong} that no longer agree with input or output are done again"
            watchers.tell(f"{words}{again if wrong else ''}")
        log.claimed = {**log.claimed, **_done_by_others(shared, plan, queue.count, numbers)}
        sums = run(todo, log, jobs, told)
    try:
        for each in work.given:
            each.refuse_changed()
    except BaseException:
        log.forget()
        raise
    log.complete(sums)


def _told(work: Work, todo: Portion, share: Share, watchers: Watchers) -> Progress:
    """Tell how far the share has come; its bytes are those of its part of each tensor."""
    total, queue, numbers = 0, work.queue, todo.numbers
    for size, first, cut in zip(work.sizes, queue.firsts, queue.cuts, strict=True):
        mine = min(numbers.stop, first + cut.count) - max(numbers.start, first)
        total += size * max(mine, 0) // cut.count
    return amounts(todo.whole, total, watchers.progress, f" {share}")


def _done_by_others(shared: Shared, plan: Planned, count: int, numbers: range) -> dict[int, Sums]:
    """The pieces of a share, by their places in it, that are in shares which are done."""
    sums = sums_of(shared.noted(plan.token), count)
    return {place: sums[number] for place, number in enumerate(numbers) if number in sums}


def _standing(plan: Planned, work: Work, shared: Shared, more: Iterable[int]) -> Standing:
    """What is missing; where nothing is, the output is put in its place."""
    count = work.queue.count
    missing = missing_of(shared.noted(plan.token), count, more)
    if missing:
        return Standing(missing, placed=False)
    with shared.alone() as alone:
        if not alone:
            return Standing((), placed=False)
        if not shared.is_there():
            return _gone(plan)  # by somebody who is done with it by now, or was killed
        sums = sums_of(shared.noted(plan.token), count)
        shared.write(work.ending.fixed(Filled(work.queue, sums, plan.token, shared.read)))
        shared.leave(work.ending.texts())
        shared.place(Path(plan.target), plan.mode)
    return Standing((), placed=True)


def _is_placed(plan: Planned) -> bool:
    try:
        found = Path(plan.target).stat()
    except FileNotFoundError:
        return False
    return (found.st_ino, found.st_size) == (plan.inode, plan.size)


def _gone(plan: Planned) -> Standing:
    """What is so where there is no unfinished output."""
    if not _is_placed(plan):
        raise PlanError(f"has no unfinished output any more: `{plan.part}` is gone")
    cleared(plan.part, plan.texts, plan.mode)
    return Standing((), placed=True)
