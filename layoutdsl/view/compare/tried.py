"""The shapes that ``infer`` calls a function at: long along one axis, along all, or drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from math import prod
from random import Random

from layoutdsl.language.meaning.model import Layout
from layoutdsl.view.compare.crossings import Crossings
from layoutdsl.view.compare.taken import Taken, last
from layoutdsl.view.compare.watching import Extents, Lost, Watch, Watched

LONG = (2053, 1031, 521, 263, 131, 67, 37)
"""Extents at which one axis is looked for cuts, the first that the function takes."""

MOST_ELEMENTS = 1 << 16
DRAWN = 24
"""Elements of a tensor that is made, and how many shapes are drawn to hold a text against."""


@dataclass
class Search:
    """What is known of a function so far."""

    watch: Watch
    name: str
    taken: tuple[Taken, ...]
    read: Callable[[str], Layout]
    cuts: dict[int, tuple[int, ...]]
    crossings: Crossings = field(default_factory=dict)
    more: list[Extents] = field(default_factory=list)


def _enough(search: Search, axis: int, blocks: int, rest: int = 1) -> int:
    """Return an extent of so many of the largest blocks that are known, and some more."""
    return search.taken[axis].near(blocks * max(search.cuts[axis]) + rest)


def long_shapes(search: Search) -> Iterator[Extents]:
    """Yield shapes with one axis long, for each axis; note where an axis ends before that."""
    for axis in range(len(search.taken)):
        least = [_enough(search, other, 1, 2) for other in range(len(search.taken))]
        refused: int | None = None
        for length in LONG:
            least[axis] = search.taken[axis].near(max(length, 2 * max(search.cuts[axis]) + 1))
            if prod(least) > MOST_ELEMENTS and length != LONG[-1]:
                continue
            seen = search.watch.at(least)
            if isinstance(seen, Watched):
                yield _ended(search, tuple(least), axis, refused)
                break
            refused = refused if seen.large else least[axis]
        else:
            if refused is not None:
                least[axis] = search.taken[axis].least
                yield _ended(search, tuple(least), axis, refused)


def _ended(search: Search, extents: Extents, axis: int, refused: int | None) -> Extents:
    """Note the largest extent of an axis where longer ones are refused; return it as a shape."""
    if refused is None:
        return extents
    own = search.taken[axis]
    most = last(search.watch, extents, axis, extents[axis], refused, own.step)
    beyond = search.watch.at((*extents[:axis], most + own.step, *extents[axis + 1 :]))
    example = own.refused or (beyond if isinstance(beyond, Lost) else None)
    ended = replace(own, most=most, refused=example)
    search.taken = (*search.taken[:axis], ended, *search.taken[axis + 1 :])
    return (*extents[:axis], most, *extents[axis + 1 :])


def general_shapes(search: Search) -> Iterator[Extents]:
    """Yield shapes with all axes longer than their blocks, each by another number of them."""
    random = Random(1)  # noqa: S311  (cases, and no secrets)
    for _ in range(4):
        extents = []
        for axis in range(len(search.taken)):
            block = max(search.cuts[axis])
            rest = random.randint(1, max(1, block - 1)) if block > 1 else random.randint(1, 9)
            extents.append(_enough(search, axis, random.randint(1, 3), rest))
        while prod(extents) > MOST_ELEMENTS and any(each > 2 for each in extents):
            axis = max(range(len(extents)), key=lambda each: extents[each])
            shorter = search.taken[axis].near(extents[axis] // 2)
            if shorter == extents[axis]:
                break
            extents[axis] = shorter
        yield tuple(extents)


def drawn_shapes(search: Search, random: Random) -> list[Extents]:
    """Return shapes to hold a text against, some of them near the ends of blocks."""
    found: dict[Extents, None] = {}
    for _ in range(8 * DRAWN):
        extents = []
        for axis, own in enumerate(search.taken):
            block = random.choice(search.cuts[axis])
            near = block * random.randint(1, 3) + random.randint(-1, 1)
            most = 40 if own.step < 4 else 12 * own.step
            extents.append(own.near(max(1, random.choice((near, random.randint(1, most))))))
        if prod(extents) <= MOST_ELEMENTS >> 3 and tuple(extents) not in search.watch.seen:
            found[tuple(extents)] = None
        if len(found) == DRAWN:
            break
    return list(found)
