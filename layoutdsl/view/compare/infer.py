"""``infer``: the layout of somebody's function, found by calling it, as a text of the language.

The function is called at shapes of our choice: first one axis at a time, which says which extents
it takes; then with one axis long, which says where that is cut; then with all axes long enough for
every digit to take a step, which says how strides grow. The text that has these strides is read
back and held against every shape that was seen, and against more that are drawn. A shape that says
otherwise joins those that the text is made from. What comes out was tested, and is not proved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from random import Random

import numpy as np

from layoutdsl.language.meaning.elements import FillValue
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.offsets.arrays import offsets
from layoutdsl.language.offsets.one_by_one import size
from layoutdsl.language.texts.values import said
from layoutdsl.view.compare.crossings import Crossings, crossings, runs, straightened
from layoutdsl.view.compare.digits_seen import (
    apart,
    differing,
    digits_of,
    divisors,
    joined,
    strides,
)
from layoutdsl.view.compare.guess import Frame, Sample, Stuck, guess
from layoutdsl.view.compare.taken import Taken, last, small, taken
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


MOST_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Inferred:
    """What was found of a function; this is a test, and no proof.

    Attributes:
        layout: what it does, if that was found, and its ``text``.
        reason: why no layout was found; the function may be none, or one that was not understood.
        lost: whether the reason is that it is no layout: an element goes nowhere or twice, say.
        doubts: shapes in the range of the layout at which the function does something else.
        refused: for each axis what happens at extents that the layout leaves out.
        tried: for each axis the smallest and the largest extent at which the layout was held
            against the function.
        shapes, drawn, calls: at how many shapes, how many of them drawn, with how many calls.
        padding: constants that were found in slots without an element.
        steady: whether there was nothing else.
        raised: what the function raised at the first shape, if it did.
    """

    layout: Layout | None
    text: str | None = None
    reason: str | None = None
    lost: bool = False
    doubts: tuple[str, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    tried: tuple[tuple[str, int, int], ...] = ()
    shapes: int = 0
    drawn: int = 0
    calls: int = 0
    padding: tuple[float, ...] = ()
    steady: bool = True
    raised: BaseException | None = None

    def __bool__(self) -> bool:
        """Return whether a layout was found, and fits the function at every shape in its range."""
        return self.layout is not None and not self.doubts

    def __repr__(self) -> str:
        return said(self, self.text or self.reason or "")


def infer(
    watch: Watch, name: str, base: Extents, read: Callable[[str], Layout], seed: int = 0
) -> Inferred:
    """Return the layout that a function packs by, or why none was found.

    Args:
        watch: the function, with names for its axes.
        name: of the layout.
        base: a shape that the function takes.
        read: reads a text of the language.
        seed: of the shapes that are drawn in the end.
    """
    first = watch.at(base)
    if isinstance(first, Lost):
        words = f"at shape {_shape(watch, base)} {first.sentence}"
        return Inferred(
            None, reason=words, lost=True, calls=watch.calls, shapes=1, raised=first.raised
        )
    where = small(watch, base)
    own = tuple(taken(watch, where, axis) for axis in range(len(base)))
    search = Search(watch, name, own, read, dict.fromkeys(range(len(base)), (1,)))
    try:
        text, layout = _settled(search)
    except Stuck as reason:
        return Inferred(None, reason=str(reason), calls=watch.calls, shapes=len(watch.seen))
    drawn = drawn_shapes(search, Random(seed))  # noqa: S311  (cases, and no secrets)
    for extents in drawn:
        wrong = _wrong(search, layout, watch.at(extents))
        if wrong is not None:
            search.more.append(extents)
            try:
                text, layout = _settled(search)
            except Stuck as reason:
                return Inferred(None, reason=str(reason), calls=watch.calls, shapes=len(watch.seen))
    return _found(search, text, layout, len(drawn))


def _found(search: Search, text: str, layout: Layout, drawn: int) -> Inferred:
    watch = search.watch
    doubts = [
        f"at shape {_shape(watch, extents)} {seen.sentence}"
        for extents, seen in watch.seen.items()
        if isinstance(seen, Lost) and not seen.large and _within(search.taken, extents)
    ]
    refused = [
        (name, f"at shape {_shape(watch, own.refused.extents)} {own.refused.sentence}")
        for name, own in zip(watch.names, search.taken, strict=True)
        if own.refused is not None
    ]
    inside = [each for each in watch.watched if _within(search.taken, each.extents)]
    sides = list(zip(*(each.extents for each in inside), strict=True))
    tried = [(name, min(each), max(each)) for name, each in zip(watch.names, sides, strict=True)]
    padding = sorted({value for each in inside for value in each.padding})
    return Inferred(
        layout,
        text,
        doubts=tuple(doubts),
        refused=tuple(refused),
        tried=tuple(tried),
        shapes=len(inside),
        drawn=drawn,
        calls=watch.calls,
        padding=tuple(padding[:8]),
        steady=all(each.steady for each in inside),
    )


def _shape(watch: Watch, extents: Sequence[int]) -> str:
    return " ".join(f"{n.upper()}={e}" for n, e in zip(watch.names, extents, strict=True))


def _within(taken: Iterable[Taken], extents: Extents) -> bool:
    return all(own.near(extent) == extent for own, extent in zip(taken, extents, strict=True))


def _settled(search: Search) -> tuple[str, Layout]:
    """Return a text, and its layout, that does what was seen at every shape.

    Raises:
        Stuck: none was found.
    """
    for _ in range(MOST_ROUNDS):
        samples = _samples(search)
        frame = Frame(search.name, search.watch.names, search.taken, _fill(search.watch.watched))
        digits = tuple(samples[0].strides)
        text = guess(frame, digits, runs(search.crossings), samples)
        layout = search.read(text)
        wrong = _first_wrong(search, layout)
        if wrong is None:
            return text, layout
        words, extents = wrong
        if extents in search.more:
            break
        search.more.append(extents)
    raise Stuck(words)


def _first_wrong(search: Search, layout: Layout) -> tuple[str, Extents] | None:
    inside = [each for each in search.watch.watched if _within(search.taken, each.extents)]
    for seen in sorted(inside, key=lambda each: prod(each.extents)):
        words = _wrong(search, layout, seen)
        if words is not None:
            return words, seen.extents
    return None


def _wrong(search: Search, layout: Layout, seen: Watched | Lost) -> str | None:
    """Return what a function does otherwise than a layout at a shape that it takes."""
    if isinstance(seen, Lost):
        return None
    values = layout.bind(seen.extents)
    at = f"at shape {_shape(search.watch, seen.extents)}"
    expected = offsets(layout, values)
    wrong = np.flatnonzero(expected != seen.places)
    if wrong.size:
        number = int(wrong[0])
        index = search.watch.index_text(number, seen.extents)
        put, told = seen.places.flat[number], expected.flat[number]
        return f"{at} element {index} goes to offset {put}, the layout closest to it says {told}"
    if size(layout, values) != seen.slots:
        size_told = size(layout, values)
        return f"{at} the buffer has {seen.slots} slots, the layout closest to it says {size_told}"
    fill = layout.fill
    if not isinstance(fill, FillValue):
        return None
    kept = seen.steady and all(each == fill.value for each in seen.padding)
    return None if kept else f"{at} padding holds {seen.padding}, and not {fill.value} alone"


def _fill(seen: Sequence[Watched]) -> str:
    """Return what padding holds, as a clause; none where there was no padding."""
    values = {value for each in seen for value in each.padding}
    if all(each.steady and not each.padding for each in seen):
        return ""
    if len(values) != 1 or not all(each.steady for each in seen):
        return "fill any"
    (value,) = values
    if not np.isfinite(value):
        return "fill any"
    return f"fill {int(value)}" if value == int(value) else f"fill {value}"


def _samples(search: Search) -> list[Sample]:
    """Return shapes at which every digit takes a step, once it is known where axes are cut.

    Raises:
        Stuck: offsets are no sums of digits, or the function takes no such shape.
    """
    before: Mapping[int, object] = {}
    while search.cuts != before:
        before = dict(search.cuts)
        for extents in long_shapes(search):
            _cut(search, extents)
    for extents in search.more:
        _cut(search, extents)
    digits = [
        each
        for each in digits_of(search.cuts)
        if not (own := search.taken[each.axis]).fixed or each.divisor < own.least
    ]
    found: list[Sample] = []
    for extents in (*long_shapes(search), *general_shapes(search), *search.more):
        seen = _straight(search, search.watch.at(extents))
        if seen is None:
            continue
        number = differing(seen, digits)
        if number is not None:
            raise Stuck(_bent(search, seen, number))
        steps = strides(seen, digits)
        if len(steps) == len(digits):
            found.append(Sample(seen, steps))
    if not found:
        raise Stuck("no shape that it takes has more elements along each axis than its blocks")
    return found


def _bent(search: Search, seen: Watched, number: int) -> str:
    index = search.watch.index_text(number, seen.extents)
    at = _shape(search.watch, seen.extents)
    offset = search.watch.seen[seen.extents]
    put = offset.places.flat[number] if isinstance(offset, Watched) else "?"
    return f"at shape {at} element {index} goes to offset {put}, which is no sum of digits"


def _cut(search: Search, extents: Extents) -> None:
    """Note where axes are cut at a shape.

    Raises:
        Stuck: they are not cut into digits there, or elsewhere than at other shapes.
    """
    seen = _straight(search, search.watch.at(extents))
    if seen is None:
        return
    for axis in range(len(extents)):
        found = divisors(seen.along(axis))
        whole = None if found is None else joined(search.cuts[axis], found)
        if whole is None:
            where = f"along `{search.watch.names[axis]}` at shape {_shape(search.watch, extents)}"
            raise Stuck(f"{where} offsets are no digits, or others than at other shapes")
        search.cuts[axis] = whole


def _straight(search: Search, seen: Watched | Lost) -> Watched | None:
    """Return a shape without its swizzles; look for them where offsets are no sum over axes."""
    if isinstance(seen, Lost):
        return None
    plain = straightened(seen, search.crossings)
    if plain is None:
        return None
    number = apart(plain)
    if number is None:
        return plain
    found = None if search.crossings else crossings(search.watch, search.taken)
    if not found:
        raise Stuck(_bent(search, seen, number))
    search.crossings = found
    search.cuts = dict.fromkeys(search.cuts, (1,))  # what was seen through swizzles is void
    for run in runs(found):
        digit = run.moved
        assert digit.radix is not None
        ends = (digit.divisor, digit.divisor * digit.radix)
        whole = joined(search.cuts[digit.axis], ends)
        if whole is None:
            raise Stuck(_bent(search, seen, number))
        search.cuts[digit.axis] = whole
    return _straight(search, seen)
