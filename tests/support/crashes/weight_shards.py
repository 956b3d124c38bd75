"""Plans of weights whose shares are killed at any call of the system, done at once, and done again.

What may come of it is what `weights_killed.py` says of a single run; and once every share was done,
the file is there with all that belongs to it, and nothing else.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Any

import weights_killed
from weights_drawn import TEXT

import layoutdsl
from layoutdsl import pack_weights, verify_weights
from layoutdsl.commands import finish_plan, load_plan, plan_weights, run_share
from layoutdsl.files.pieces import shards

from . import shards as plans
from .campaign import MEMORY
from .killed import FAULT, Death
from .shards import PLAN, outcome, started


@dataclass
class Played(weights_killed.Played):
    """Draws what happens, and remembers it."""

    draw: Random
    log: list[str] = field(default_factory=list)
    outcomes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        weights_killed.Played.__init__(self, self.draw)
        self.jobs, self.of = self.draw.randint(1, 3), self.draw.choice((1, 2, 3, 5))
        self.packed = Path(f"packed{self.out.suffix}")

    def faults(self) -> Iterator[str]:
        """Play it through, in a folder with the inputs."""
        rules = layoutdsl.parse(TEXT + self.cases[1].rules)
        if self.unpacks:
            pack_weights(self.sources[1], self.packed, rules, target="numpy")
        if self.draw.random() < 0.5:
            self.pack(0)
        old, inputs = self.content(), {each.name for each in Path().iterdir()}
        yield from self.planned()
        for _ in range(self.draw.randint(0, 2 * self.of + 2)):
            several = self.draw.choice((1, 1, 2, 3))
            shares = [self.share() for _ in range(several)]
            yield from self.together(shares, self.death, old)
        for number in self.draw.sample(range(self.of), self.of):
            yield from self.together([(number, self.of)], lambda: None, old)
        yield from self.ended(inputs)

    def planned(self) -> Iterator[str]:
        """The plan, drawn up by somebody who may be killed, and then again."""
        for death in (self.death(), None):
            found = outcome(started(self.plan, death))
            self.note(found, f"plan {self.out} {'back' if self.unpacks else ''} {death or ''}")
            if found == "fault":
                yield Path(FAULT).read_text()
            if PLAN.exists() and found != "killed":
                return
            PLAN.unlink(missing_ok=True)
            for part in Path().glob("*.part"):  # what it is told to do
                rmtree(part)

    def plan(self) -> int:
        how: dict[str, Any] = {"mem": 1 << 16, "shards": self.of, "target": "numpy"}
        if self.unpacks:
            plan_weights("unpack", self.packed, self.out, PLAN, **how)
        else:
            rules = layoutdsl.parse(TEXT + self.cases[1].rules)
            plan_weights("pack", self.sources[1], self.out, PLAN, rules, **how)
        return 0

    def share(self) -> tuple[int, int]:
        of = self.draw.randint(1, 5) if self.draw.random() < 0.3 else self.of
        return self.draw.randrange(of), of

    def death(self) -> Death | None:
        if self.draw.random() < 0.3:
            return None
        call = min(int(self.draw.expovariate(1 / 25)) + 1, 300)
        return Death(call, self.draw.choice(("before", "within", "after")), None)

    def together(
        self,
        shares: list[tuple[int, int]],
        death: Callable[[], Death | None],
        old: tuple[bytes, ...] | None,
    ) -> Iterator[str]:
        """Some shares at once, and all that can be said of them."""
        deaths = [death() for _ in shares]
        pairs = zip(shares, deaths, strict=True)
        children = [started(lambda s=s: self.run(*s), d) for s, d in pairs]
        found = [outcome(each) for each in children]
        for each, share, deadly in zip(found, shares, deaths, strict=True):
            self.note(each, f"{share} {deadly or ''}")
        if "fault" in found:
            yield Path(FAULT).read_text() if Path(FAULT).exists() else "ended by a signal"
        if "refused" in found:
            yield "a plan was refused that nobody has changed"
        if "occupied" in found and (len(shares) == 1 or set(found) == {"occupied"}):
            yield "it was said to be in use, and is not"
        if "placed" in found and not self.is_new():
            yield "it is said to be in its place, and is not"
        yield from self.standing(old)

    def run(self, number: int, of: int) -> int:
        standing = run_share(load_plan(PLAN), number, of, jobs=self.jobs, target="numpy")
        return 1 if standing.placed else 0

    def ended(self, inputs: set[str]) -> Iterator[str]:
        """All shares are done."""
        if self.outcomes[-1] != "placed" or not finish_plan(load_plan(PLAN)).placed:
            yield "all is done, and the output is not in its place"
            return
        if not self.is_new():
            yield "it is not what it has to be"
        elif not self.unpacks and verify_weights(self.out).fault is not None:
            yield "what it says of itself is not so"
        known = inputs | {f"{self.out}{end}" for end in ("", ".data", ".json")} | {PLAN.name}
        left = {each.name for each in Path().iterdir()} - known
        left = {each for each in left if not each.endswith(".tmp")}  # of a file half written
        if left:
            yield f"{', '.join(sorted(left))} is left behind"

    def note(self, found: str, words: str) -> None:
        self.outcomes.append(found)
        self.log.append(f"{found}: {words}")


def case(seed: int) -> tuple[list[str], Played]:
    """Play a case; returns its faults, and what happened."""
    draw, here = Random(seed), Path.cwd()
    warnings.simplefilter("ignore")  # some layouts are moved element by element
    with TemporaryDirectory(dir=MEMORY if Path(MEMORY).is_dir() else None) as folder:
        os.chdir(folder)
        try:
            played = Played(draw)
            return list(played.faults()), played
        finally:
            os.chdir(here)


def _forgetful() -> None:
    """What goes to other files is lost where whoever had to put it there was killed."""
    shards.cleared = lambda *_: None  # type: ignore[assignment]


PLANTED: dict[str, Callable[[], None]] = {
    "hopeful": plans.PLANTED["hopeful"],
    "forgetful": _forgetful,
}
"""Faults that this has to notice."""
