"""Seams tried in plain integers: shapes where pieces overlap, or an element lies elsewhere.

What is found here is a counterexample that anyone can work out again by `Layout.offset`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, product
from math import lcm, prod

from layoutdsl.code.seams import Seam, extent_of, spans
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.counterexample import Counterexample, Point
from layoutdsl.language.meaning.model import Layout

Values = dict[str, int]

A_FEW, MANY = 500, 20_000
"""Elements of all shapes that are looked at: before a proof is tried, and where there is none."""


def counterexample(layout: Layout, seam: Seam, most: int) -> Counterexample | None:
    """Return a small shape at which a seam of a flat layout does not hold, if one was found."""
    left = most
    for values in _shapes(layout, seam):
        left -= prod(layout.shape_of(values))
        if left < 0:
            return None
        for units in (1, 2):
            found = _wrong(layout, seam, values, units)
            if found is not None:
                sentence = (
                    f"`{layout.name}` cannot be taken apart every {seam.unit} of axis `{seam.axis}`"
                )
                return Counterexample(sentence, tuple(values.items()), found)
    return None


def _shapes(layout: Layout, seam: Seam) -> Iterator[Values]:
    """Shapes of several units, ragged and not, the smallest first."""
    name = extent_of(layout, seam.axis).name
    choices = []
    for symbol in layout.symbols:
        if symbol == name:
            rests = {0, 1, seam.unit // 2, seam.unit - 1}
            ends = {seam.unit * count + rest for count in range(4) for rest in rests}
            choices.append(sorted(ends - {0}))
        else:
            choices.append(sorted({1, 2, 3, lcm(*spans(layout, symbol))}))
    shapes = sorted(islice(product(*choices), 20_000), key=prod)
    for shape in shapes:
        values = dict(zip(layout.symbols, shape, strict=True))
        box = [evaluate(each.extent, values) for each in layout.coordinates]
        if set(box[: seam.coordinate]) <= {1} and all(each.holds(values) for each in layout.where):
            yield values


def _wrong(layout: Layout, seam: Seam, values: Values, units: int) -> tuple[Point, ...] | None:
    """What is wrong where a shape is cut into pieces of so many units."""
    name, length = extent_of(layout, seam.axis).name, units * seam.unit
    box = [evaluate(each.extent, values) for each in layout.coordinates]
    block, end = prod(box[seam.coordinate + 1 :]), 0
    for start in range(0, values[name], length):
        own = values | {name: min(length, values[name] - start)}
        if not all(each.holds(own) for each in layout.where):
            where = next(each for each in layout.where if not each.holds(own))
            return (_point(seam, start, f"a piece of {own[name]} is not in the range: {where}"),)
        inside = [evaluate(each.extent, own) for each in layout.coordinates]
        first = start // seam.unit * seam.blocks * block
        if first != end:
            words = f"the piece from here fills slots from {first}, the one before it up to {end}"
            return (_point(seam, start, words),)
        end = first + prod(inside)
        found = _elsewhere(layout, seam, (values, own), start, first)
        if found is not None:
            return found
    last = prod(box)
    words = f"the last piece fills slots up to {end}, and there are {last}"
    return None if end == last else (_point(seam, values[name] - 1, words),)


def _elsewhere(
    layout: Layout, seam: Seam, shapes: tuple[Values, Values], start: int, first: int
) -> tuple[Point, ...] | None:
    """An element that does not lie where its piece puts it."""
    whole, own = shapes
    begins = first - evaluate(layout.start, own) + evaluate(layout.start, whole)
    for index in product(*map(range, layout.shape_of(own))):
        at: Mapping[str, int] = dict(zip((a.name for a in layout.axes), index, strict=True))
        moved = {**at, seam.axis: at[seam.axis] + start}
        slot, placed = layout.offset_at({**whole, **moved}), layout.offset_at({**own, **at})
        if slot != begins + placed:
            words = f"-> offset {slot}, where its piece would put it at {begins + placed}"
            return (Point(tuple(moved.items()), words),)
    return None


def _point(seam: Seam, start: int, words: str) -> Point:
    return Point(((seam.axis, start),), words)
