"""One case: runs that are killed, what is done to their files, and a last run that may go on.

What may come of it: the output that the whole in memory gives for the input as it is then; or a
refusal that has touched nothing. A run that nobody has meddled with is not refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np

from .killed import FAULT, Death, Outcome, Stopped, ended
from .meddling import CONTENT, JOURNAL, PART, PRECIOUS, SOURCE, TARGET, flip, meddle, removed
from .works import Work, changed, drawn

MEMORY = "/dev/shm"
"""Where flushing takes no time."""

DONE = ("done", "resumed")

Files = dict[str, tuple[int, bytes]]


@dataclass
class Case:
    """Draws what happens, and remembers it; ``blind``, where no file seems to have changed."""

    draw: Random
    work: Work
    blind: bool
    log: list[str] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    meddled: set[str] = field(default_factory=set)

    def faults(self) -> Iterator[str]:
        """Play it through, in an empty folder."""
        SOURCE.write_bytes(self.work.content(1))
        PRECIOUS.write_bytes(CONTENT)
        if self.draw.random() < 0.4:
            TARGET.write_bytes(b"as it was")
        for _ in range(self.draw.randint(1, 3)):
            yield from self.round(self.death())
            if self.draw.random() < 0.15:
                self.work = changed(self.work, self.draw)
                self.log.append(f"now {self.work}")
                if self.work.want(SOURCE.read_bytes()) is None:
                    SOURCE.write_bytes(self.work.content(2))
            touched = meddle(self.work, self.draw)
            self.log.append(f"meddled with {touched}")
            self.meddled |= touched
        yield from self.round(None)
        if self.outcomes[-1] == "occupied":
            for each in (PART, JOURNAL):
                removed(each, self.draw)
            yield from self.round(None)
        if self.outcomes[-1] not in DONE:
            yield f"it ended as {self.outcomes[-1]}"
        if PART.exists() or JOURNAL.exists():
            yield "something is left behind"

    def death(self) -> Death:
        call = min(int(self.draw.expovariate(1 / 40)) + 1, 400)
        moment = self.draw.choice(("before", "within", "after"))
        return Death(call, moment, self.draw.choice((*(None,) * 5, self.draw.randrange(2**32))))

    def round(self, death: Death | None) -> Iterator[str]:
        """One run, and all that can be said of it."""
        may_write = not self.blind
        hand = Hand(self.draw, may_write) if death and self.draw.random() < 0.2 else None
        before, old, want = files(), content(TARGET), self.work.want(SOURCE.read_bytes())
        assert self.work.mem  # worked out once, and not in every process
        look = (lambda _: None) if hand is None else hand.look
        deadly = death if hand is None else None
        found = ended(lambda: self.work.run(look), deadly, blind=self.blind)
        self.outcomes.append(found)
        self.log.append(f"{found}: {self.work} {deadly or hand or ''}{' blind' * self.blind}")
        new = content(TARGET)
        if found == "fault":
            yield Path(FAULT).read_text() if Path(FAULT).exists() else "it was ended by a signal"
        if found in DONE and (new is None or new != want):
            yield "the output is not that of the input"
        if found == "killed" and new not in (old, want):
            yield "a part of an output is in its place"
        if found not in (*DONE, "killed") and new != old:
            yield "the output has changed, and is not done"
        if found == "occupied":
            yield from self.refused(before)
        yield from self.watched(found, hand, SOURCE.read_bytes() == before["in"][1], want)
        if PRECIOUS.read_bytes() != CONTENT:
            yield "what is precious has been touched"
        if deadly is not None and deadly.power is not None and found == "killed":
            self.meddled |= {"part", "journal"}

    def refused(self, before: Files) -> Iterator[str]:
        """What has to hold of a refusal."""
        if not {"part", "journal"} & self.meddled:
            yield "it was refused, and nobody has meddled with it"
        touched = {name for name, _ in before.items() ^ files().items()}
        if touched:
            yield f"it was refused, and has touched {', '.join(sorted(touched))}"

    def watched(
        self, found: Outcome, hand: Hand | None, same: bool, want: bytes | None
    ) -> Iterator[str]:
        """What has to hold of inputs that change, and of those that do not."""
        if found in DONE and not same:
            yield "the input has changed while it was read, and nothing was said"
        if found == "unreadable" and same and want is not None:
            yield "it was said to be unreadable"
        if found == "stopped" and (hand is None or hand.writes):
            yield "nobody has stopped it"


class Hand:
    """Somebody who stops a run, or writes to its input meanwhile."""

    def __init__(self, draw: Random, may_write: bool) -> None:
        self.after, self.writes = draw.randint(1, 20), may_write and draw.random() < 0.5
        self._looks = 0

    def look(self, _: np.ndarray) -> None:
        self._looks += 1
        if self._looks == self.after and self.writes:
            flip(SOURCE, Random(self.after))
        elif self._looks == self.after:
            raise Stopped

    def __str__(self) -> str:
        return f"{'written to' if self.writes else 'stopped'} after {self.after} looks"


def content(place: Path) -> bytes | None:
    return place.read_bytes() if place.is_file() else None


def files() -> Files:
    """What is there: kinds and contents."""
    found: Files = {}
    for each in sorted(Path().iterdir()):
        status = each.lstat()
        is_file = each.is_file() and not each.is_symlink()
        found[each.name] = (status.st_mode, each.read_bytes() if is_file else b"")
    return found


def case(seed: int) -> tuple[list[str], Case]:
    """Play a case; returns its faults, and what happened."""
    draw = Random(seed)
    here = Path.cwd()
    with TemporaryDirectory(dir=MEMORY if Path(MEMORY).is_dir() else None) as folder:
        os.chdir(folder)
        try:
            played = Case(draw, drawn(draw), draw.random() < 0.5)
            return list(played.faults()), played
        finally:
            os.chdir(here)
