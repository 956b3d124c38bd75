"""Which extents somebody's function takes: any, multiples of a number, or a single one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import gcd

from layoutdsl.view.compare.watching import Extents, Lost, Watch, Watched

SMALL = 1 << 14
"""Slots of a buffer at which extents are tried one by one."""

MOST_WITHOUT = 2
"""Extents between others that a layout leaves out."""

MOST_PARTS = 4096
"""Below which divisors of an extent are tried."""


@dataclass(frozen=True, slots=True)
class Taken:
    """The extents of one axis, as far as they were tried.

    Attributes:
        step: extents are multiples of it.
        least, most: the smallest and the largest; ``most`` is ``None`` where none was found.
        without: some between them that are not taken.
        refused: what happens at another extent; nothing where there is none.
    """

    step: int = 1
    least: int = 1
    most: int | None = None
    without: tuple[int, ...] = ()
    refused: Lost | None = None

    @property
    def fixed(self) -> bool:
        """Whether there is one extent alone."""
        return self.least == self.most

    def near(self, extent: int) -> int:
        """Return an extent that is taken, the next from ``extent`` upwards where there is one."""
        found = max(self.least, -(-extent // self.step) * self.step)
        while found in self.without:
            found += self.step
        return found if self.most is None else min(found, self.most)

    def conditions(self, name: str) -> Iterator[str]:
        """Yield what a layout says of the extent ``name``, which is open."""
        if self.step > 1:
            yield f"{name} % {self.step} == 0"
        if self.least > self.step:
            yield f"{name} >= {self.least}"
        if self.most is not None:
            yield f"{name} <= {self.most}"
        yield from (f"{name} != {each}" for each in self.without)


def small(watch: Watch, base: Extents) -> Extents:
    """Return a shape that is small enough to try many like it, the same where there is none."""
    found, seen = list(base), watch.at(base)
    for axis in sorted(range(len(base)), key=lambda each: -base[each]):
        for extent in (3, 4, 8, 16, 32, 64, 128):
            if not isinstance(seen, Watched) or seen.slots <= SMALL or extent >= found[axis]:
                break
            tried = [*found[:axis], extent, *found[axis + 1 :]]
            if isinstance(watch.at(tried), Watched):
                found, seen = tried, watch.at(tried)
    return tuple(found)


def taken(watch: Watch, base: Extents, axis: int) -> Taken:
    """Return which extents of an axis a function takes, the others as in ``base``."""

    def refused(extents: Sequence[int]) -> dict[int, Lost]:
        tried = {each: watch.at((*base[:axis], each, *base[axis + 1 :])) for each in extents}
        return {each: found for each, found in tried.items() if isinstance(found, Lost)}

    own = base[axis]
    parts = {each for each in range(1, min(own, MOST_PARTS)) if own % each == 0}
    tries = {1, 2, 3, 4, 5, 6, 7, own - 1, own, 2 * own, 2 * own + 1, 3 * own} - {0}
    tries |= parts | {own + each for each in parts | {1}}
    others = refused(sorted(tries))
    if not others:
        return Taken()
    accepted = tries - others.keys()
    example = others[min(others)]
    if accepted == {own}:
        return Taken(1, own, own, refused=example)
    step = gcd(*accepted)
    more = {step * each for each in range(1, 7)} - tries
    others |= refused(sorted(more))
    accepted |= more - others.keys()
    least, most = min(accepted), max(accepted)
    multiples = sorted(each for each in accepted | others.keys() if each % step == 0)
    without = [each for each in multiples if least < each < most and each in others]
    if len(without) > MOST_WITHOUT:
        return Taken(1, own, own, refused=example)
    ends = multiples[-1] > most
    if ends:
        most = last(watch, base, axis, most, multiples[-1], step)
    return Taken(step, least, most if ends else None, tuple(without), example)


def last(watch: Watch, base: Extents, axis: int, good: int, bad: int, step: int) -> int:
    """Return the largest extent that is taken, of those from ``good`` to below ``bad``."""
    while bad - good > step:
        middle = (good + bad) // (2 * step) * step
        if isinstance(watch.at((*base[:axis], middle, *base[axis + 1 :])), Watched):
            good = middle
        else:
            bad = middle
    return good
