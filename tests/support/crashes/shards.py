"""Plans whose shares are killed at any call of the system, done twice at once, and done again.

What may come of it: nothing at all, or the output that the whole in memory gives. Whatever happens
on the way, no other output is ever in its place; and once every share was done, it is there.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Any

from layoutdsl import OccupiedError
from layoutdsl.commands import finish_plan, load_plan, plan_file, run_share
from layoutdsl.files.pieces import shards
from layoutdsl.files.pieces import work as jobs
from layoutdsl.files.pieces.journal import WHOLE, pieces_line
from layoutdsl.files.pieces.plan import PlanError
from layoutdsl.files.pieces.share import Log
from layoutdsl.files.pieces.sources import Source
from layoutdsl.files.pieces.sums import Sums

from . import killed
from .campaign import MEMORY, content
from .killed import FAULT, Death
from .meddling import CONTENT, PRECIOUS, SOURCE, TARGET
from .works import Work, drawn

CODES = {0: "done", 1: "placed", 9: "killed", 10: "occupied", 11: "refused", 13: "fault"}
PLAN, PART = Path("plan.json"), Path("out.part")


def started(task: Callable[[], int], death: Death | None) -> int:
    """Start a process that does a task, and dies; returns its number."""
    child = os.fork()
    if child == 0:
        code, leave = 13, os._exit
        try:
            jobs.PAUSE, jobs.GLANCE = 0.0, 0.001
            if death is not None:
                killed.CALLS = (*killed.CALLS, "rename", "rmdir", "mkdir", "link")  # type: ignore[assignment]
                killed._Armed(death).arm()
            code = task()
        except OccupiedError:
            code = 10
        except PlanError:
            code = 11
        except BaseException:
            Path(FAULT).write_text(traceback.format_exc())
        finally:
            leave(code)
    return child


def outcome(child: int) -> str:
    return CODES.get(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), "fault")


@dataclass
class Played:
    """Draws what happens, and remembers it."""

    draw: Random
    work: Work
    log: list[str] = field(default_factory=list)
    outcomes: list[str] = field(default_factory=list)

    def faults(self) -> Iterator[str]:
        """Play it through, in an empty folder."""
        SOURCE.write_bytes(self.work.content(1))
        PRECIOUS.write_bytes(CONTENT)
        if self.draw.random() < 0.4:
            TARGET.write_bytes(b"as it was")
        assert self.work.mem  # worked out once, and not in every process
        self.of = self.draw.choice((1, 2, 2, 3, 4, 7))
        # A piece is then written twice, the same bytes: what was flushed is no more lost in truth.
        self.mixed = self.draw.random() < 0.5
        yield from self.planned()
        for _ in range(self.draw.randint(0, 2 * self.of + 2)):
            several = self.draw.choice((1, 1, 2, 3))
            yield from self.together([self.share() for _ in range(several)], self.death)
        if self.draw.random() < 0.1:
            yield from self.changed()
            return
        for number in self.draw.sample(range(self.of), self.of):
            yield from self.together([(number, self.of)], lambda: None)
        yield from self.ended()

    def share(self) -> tuple[int, int]:
        of = self.draw.randint(1, 5) if self.mixed and self.draw.random() < 0.3 else self.of
        return self.draw.randrange(of), of

    def death(self) -> Death | None:
        if self.draw.random() < 0.3:
            return None
        call = min(int(self.draw.expovariate(1 / 30)) + 1, 300)
        moment = self.draw.choice(("before", "within", "after"))
        power = self.draw.choice((*(None,) * 3, self.draw.randrange(2**32)))
        return Death(call, moment, None if self.mixed else power)

    def planned(self) -> Iterator[str]:
        """The plan, drawn up by somebody who may be killed, and then again."""
        for death in (self.death(), None):
            found = outcome(started(self.plan, death))
            self.note(found, f"plan {self.work} {death or ''}")
            if found == "fault":
                yield Path(FAULT).read_text()
            if PLAN.exists() and found != "killed":
                return
            PLAN.unlink(missing_ok=True)
            if PART.exists():  # what it is told to do
                rmtree(PART)

    def plan(self) -> int:
        work, how = self.work, dict[str, Any]()
        if work.verb == "pack":
            how = {"fill": work.fill}
        if work.raw or work.verb == "unpack":
            how["shape"] = work.shape
        how["raw"] = work.dtype if work.raw else None
        memory = work.mem // work.jobs
        plan_file(
            work.verb, work.layout, SOURCE, TARGET, PLAN,
            mem=memory, shards=self.of, target="numpy", force=True, **how,
        )  # fmt: skip
        return 0

    def together(
        self, shares: list[tuple[int, int]], death: Callable[[], Death | None]
    ) -> Iterator[str]:
        """Some shares at once, and all that can be said of them."""
        deaths = [death() for _ in shares]
        old, want = content(TARGET), self.work.want(SOURCE.read_bytes())
        pairs = zip(shares, deaths, strict=True)
        children = [started(lambda s=s: self.run(*s), d) for s, d in pairs]
        found = [outcome(each) for each in children]
        for each, share, deadly in zip(found, shares, deaths, strict=True):
            self.note(each, f"{share} {deadly or ''}")
        new = content(TARGET)
        if "fault" in found:
            yield Path(FAULT).read_text() if Path(FAULT).exists() else "ended by a signal"
        if new not in (old, want):
            yield "something else is in the place of the output"
        if "placed" in found and new != want:
            yield "it is said to be in its place, and is not"
        if "refused" in found:
            yield "a plan was refused that nobody has changed"
        if "occupied" in found and (len(shares) == 1 or set(found) == {"occupied"}):
            yield "it was said to be in use, and is not"
        if PRECIOUS.read_bytes() != CONTENT:
            yield "what is precious has been touched"

    def run(self, number: int, of: int) -> int:
        planned = load_plan(PLAN)
        standing = run_share(planned, number, of, jobs=self.work.jobs, target="numpy")
        return 1 if standing.placed else 0

    def changed(self) -> Iterator[str]:
        """Somebody writes another input: then nothing is done any more."""
        before = content(TARGET)
        placed = before == self.work.want(SOURCE.read_bytes())
        SOURCE.write_bytes(self.work.content(2))
        for number in range(self.of):
            found = outcome(started(lambda n=number: self.run(n, self.of), None))
            self.note(found, f"{number} of another input")
            if found != ("placed" if placed else "refused"):
                yield f"the input is another one, and a share was {found}"
        if content(TARGET) != before:
            yield "the input is another one, and there is an output"

    def ended(self) -> Iterator[str]:
        """All shares are done."""
        if self.outcomes[-1] != "placed":
            yield "all is done, and the output is not in its place"
        if not finish_plan(load_plan(PLAN)).placed:
            yield "it is in its place, and that is not said"
        left = {each.name for each in Path().iterdir()} - {"in", "out", "precious", "plan.json"}
        left = {each for each in left if not each.startswith(".plan.json.")}  # of a killed `plan`
        if left:
            yield f"{', '.join(left)} is left behind"

    def note(self, found: str, words: str) -> None:
        self.outcomes.append(found)
        self.log.append(f"{found}: {words}")


def case(seed: int) -> tuple[list[str], Played]:
    """Play a case; returns its faults, and what happened."""
    draw, here = Random(seed), Path.cwd()
    with TemporaryDirectory(dir=MEMORY if Path(MEMORY).is_dir() else None) as folder:
        os.chdir(folder)
        try:
            played = Played(draw, drawn(draw))
            return list(played.faults()), played
        finally:
            os.chdir(here)


def _hopeful() -> None:
    """Whoever has done a share thinks that all are."""
    shards.missing_of = lambda *_: ()  # type: ignore[assignment]


def _hasty() -> None:
    """A share is said to be done before it is on the disk."""

    def complete(log: Log, sums: Mapping[int, Sums]) -> None:
        log._add(pieces_line(sums))
        log._add(WHOLE)
        log.whole = True

    Log.complete = complete  # type: ignore[method-assign]


def _trusting() -> None:
    """A plan is followed whatever has become of its input."""
    Source.is_still = lambda *_: True  # type: ignore[method-assign]


PLANTED: dict[str, Callable[[], None]] = {
    each.__name__.removeprefix("_"): each for each in (_hopeful, _hasty, _trusting)
}
"""Faults that this has to notice."""
