"""Where two layouts differ: shapes in the order in which they tell most, and what is found there.

What is found here is a hint: a difference is replayed in plain integers before it is reported, and
that there is none is proved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, combinations, cycle, islice

from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.shapes import Values, ceilings, in_range, small, telling, volume
from layoutdsl.language.offsets.axes import Paired
from layoutdsl.language.offsets.cuts import numbers_of
from layoutdsl.language.offsets.maps import COST, first_difference
from layoutdsl.language.offsets.one_by_one import size
from layoutdsl.language.texts.values import said

ELEMENTS = 400_000
"""Elements that are compared in search of a difference, in each of two rounds."""

A_SHAPE = 200
"""What looking at one more shape costs, in elements."""

LARGEST_SHAPE = 1 << 24
"""Elements of the smallest shape of a layout, up to which it is looked at."""

RAGGED = 60_000
"""Elements of the largest shape that is looked at for a hint."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Where two layouts differ: at an element, or in nothing but the sizes of their buffers.

    Attributes:
        shape: every extent and parameter with its value.
        index: the first element in row-major order that lies elsewhere; ``None`` if none does.
        offsets: of that element, in either layout; ``None`` where one holds no such element.
        sizes: elements of either buffer.
    """

    shape: tuple[tuple[str, int], ...]
    index: tuple[tuple[str, int], ...] | None
    offsets: tuple[int | None, int | None] | None
    sizes: tuple[int, int]

    def __repr__(self) -> str:
        shape = " ".join(f"{name}={value}" for name, value in self.shape)
        index = ", ".join(f"{name}={value}" for name, value in self.index or ())
        where = f"offsets {self.offsets} of ({index})" if self.index else f"sizes {self.sizes}"
        return said(self, f"at {shape}: {where}")


def same(one: Layout, other: Layout, values: Values) -> bool:
    """Return whether two layouts over the same axes agree at a shape, as far as can be seen."""
    if size(one, values) != size(other, values):
        return False
    return first_difference(one, other, values, LARGEST_SHAPE) is None


def mismatch(
    one: Layout, other: Layout, values: Values, most: int = LARGEST_SHAPE
) -> Mismatch | None:
    """Return where two layouts differ at a shape, replayed in plain integers.

    All elements are looked at, or some, where there are more than ``most``.
    """
    sizes = size(one, values), size(other, values)
    shape = tuple(values.items())
    found = first_difference(one, other, values, most)
    if found is not None:
        names = (axis.name for axis in one.axes)
        index = dict(zip(names, found, strict=True))
        both = tuple(_slot(each, {**values, **index}) for each in (one, other))
        if both[0] != both[1]:
            return Mismatch(shape, tuple(index.items()), (both[0], both[1]), sizes)
    return Mismatch(shape, None, None, sizes) if sizes[0] != sizes[1] else None


def _slot(layout: Layout, values: Mapping[str, int]) -> int | None:
    return layout.offset_at(values) if layout.holds(values) else None


def common(pair: Paired) -> Layout:
    """Return a layout whose shapes are those of both: their extents and ranges."""
    return replace(
        pair.one,
        coordinates=(*pair.one.coordinates, *pair.other.coordinates),
        where=pair.where,
    )


def shapes(pair: Paired) -> Iterator[Values]:
    """Yield shapes of both layouts, the smallest first, as far as the budget goes."""
    both, most = common(pair), ELEMENTS // COST
    for round_ in (small(both, most), telling(both, (), most // A_SHAPE)):
        left = max(most, min(LARGEST_SHAPE, _least(both) + A_SHAPE))
        for values in round_:
            left -= volume(both, values) + A_SHAPE
            if left < 0:
                break
            yield values


def _least(layout: Layout) -> int:
    """Return the elements of any shape: fixed extents make a smallest one large."""
    return volume(layout, dict.fromkeys(layout.symbols, 1))


def first_mismatch(pair: Paired) -> Mismatch | None:
    """Return where two layouts differ at the smallest shape at which they do."""
    found = (mismatch(pair.one, pair.other, values) for values in shapes(pair))
    return next(filter(None, found), None)


def ragged(pair: Paired, most: int = 20) -> Iterator[Values]:
    """Yield a few telling shapes of both layouts, with different extents above one first."""
    both = common(pair)
    found = (
        values
        for values in chain(_uneven(both), telling(both, (), 4000))
        if volume(both, values) <= RAGGED and in_range(both, values)
    )
    return islice(found, most)


def telling_shapes(pair: Paired) -> Iterator[Values]:
    """Yield what `ragged` does, and where each of those shapes is too large, the smallest."""
    found = False
    for values in ragged(pair):
        found = True
        yield values
    if not found:
        yield from islice(telling(common(pair), (), 4000), 3)


def _uneven(layout: Layout) -> Iterator[Values]:
    """Yield shapes of small primes, and shapes of more than two blocks along two axes or all.

    Layouts that differ in the order of blocks only are alike where axes have but one.
    """
    names, cuts, most = layout.symbols, numbers_of(layout), ceilings(layout)
    primes = dict(zip(names, cycle((2, 3, 5, 7, 4, 9, 11, 13)), strict=False))
    blocks = {name: 2 * max(cuts[name], default=0) or primes[name] for name in names}
    large = {name: blocks[name] + primes[name] for name in names}
    shapes = [primes, large, blocks]
    for one, other in combinations(names, 2):
        shapes.append({**dict.fromkeys(names, 2), one: large[one], other: large[other]})
    for values in shapes:
        yield {name: min(value, most.get(name, value)) for name, value in values.items()}
