"""Shapes in the order in which a counterexample is looked for: the smallest volume first.

`small` goes through every shape by volume; `telling` through shapes that sit at the borders of the
numbers in a layout, where a block of 16 shows at 16 and 17. Both stay within the range.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice, product
from math import isqrt, prod

from layoutdsl.language.integers.expr import (
    CeilDiv,
    Constant,
    Expr,
    Extent,
    FloorDiv,
    Mod,
    Mul,
    extents,
    walk,
)
from layoutdsl.language.integers.expr import indices as indices_of
from layoutdsl.language.meaning.model import Condition, Layout

Values = dict[str, int]

CANDIDATES = 100_000
"""Shapes, in the range or not, that `small` looks at."""


def in_range(layout: Layout, values: Mapping[str, int]) -> bool:
    """Return whether a shape satisfies the ``where`` clause."""
    return all(condition.holds(values) for condition in layout.where)


def volume(layout: Layout, values: Mapping[str, int]) -> int:
    """Return the elements of a shape."""
    return prod(layout.shape_of(values))


def bind_index(layout: Layout, values: Values, index: tuple[int, ...]) -> dict[str, int]:
    """Return the value of every extent and every index."""
    return {**values, **{axis.name: i for axis, i in zip(layout.axes, index, strict=True)}}


def indices(layout: Layout, values: Mapping[str, int]) -> Iterator[tuple[int, ...]]:
    """Yield every index of a shape that the layout holds, the last axis fastest."""
    every = product(*(range(extent) for extent in layout.shape_of(values)))
    if not layout.domain:
        return every
    names = [axis.name for axis in layout.axes]
    return (
        index for index in every if layout.holds({**values, **dict(zip(names, index, strict=True))})
    )


def small(layout: Layout, most: int) -> Iterator[Values]:
    """Yield every shape of the range whose extents have a product of up to ``most``, by product."""
    names = layout.symbols
    largest = ceilings(layout)
    if len(largest) == len(names):
        most = min(most, prod(largest.values()))
    shapes = (shape for total in range(1, most + 1) for shape in _with_product(total, len(names)))
    for shape in islice(shapes, CANDIDATES):
        values = dict(zip(names, shape, strict=True))
        if in_range(layout, values):
            yield values


def _with_product(total: int, count: int) -> Iterator[tuple[int, ...]]:
    if count <= 1:
        if count or total == 1:
            yield (total,) * count
        return
    for first in _divisors(total):
        for rest in _with_product(total // first, count - 1):
            yield (first, *rest)


@cache
def _divisors(number: int) -> tuple[int, ...]:
    low = [each for each in range(1, isqrt(number) + 1) if number % each == 0]
    return tuple(dict.fromkeys((*low, *(number // each for each in reversed(low)))))


def telling(layout: Layout, exprs: tuple[Expr, ...], most: int) -> Iterator[Values]:
    """Yield shapes of the range at the borders of the numbers that cut each axis, smallest first.

    Args:
        layout: gives the extents and the range.
        exprs: further expressions whose numbers count.
        most: candidate shapes to look at.
    """
    names = layout.symbols
    borders = _borders(layout, exprs)
    wide = max(3, int((16 * most) ** (1 / max(len(names), 1))))
    choices = [sorted(borders[name])[:wide] for name in names]
    boxes = islice(product(*choices), 32 * most)
    candidates = sorted((prod(shape), shape) for shape in boxes)
    for _, shape in candidates[:most]:
        values = dict(zip(names, shape, strict=True))
        if in_range(layout, values):
            yield values


def spikes(layout: Layout, exprs: tuple[Expr, ...]) -> Iterator[Values]:
    """Yield shapes of the range with one long axis, at each border of its numbers and one beyond.

    The other extents are 1, 2 or 3. A capacity that a long axis exceeds, such as 64 pages of 16, is
    found so, however many axes there are.
    """
    cuts, strides = _numbers(layout, exprs), _strides(layout, exprs)
    for other in (1, 2, 3):
        for name in layout.symbols:
            for number in sorted(_around(cuts[name] | strides[name])):
                values = {**dict.fromkeys(layout.symbols, other), name: number}
                if number > other and in_range(layout, values):
                    yield values


def _strides(layout: Layout, exprs: tuple[Expr, ...]) -> dict[str, set[int]]:
    """For each extent the numbers that its axis is multiplied with, or another in the same sum."""
    extents_ = {a.name: a.extent.name for a in layout.axes if isinstance(a.extent, Extent)}
    found: dict[str, set[int]] = {name: set() for name in layout.symbols}
    for expr in (*exprs, *(each.value for each in layout.coordinates)):
        numbers = {
            side.value
            for each in walk(expr)
            if isinstance(each, Mul)
            for side in (each.left, each.right)
            if isinstance(side, Constant)
        }
        for name in indices_of(expr) & extents_.keys():
            found[extents_[name]] |= numbers
    return found


def _borders(layout: Layout, exprs: tuple[Expr, ...]) -> dict[str, set[int]]:
    """For each extent the small numbers, and those around what its axis is cut or compared by."""
    return {name: _around(found) for name, found in _numbers(layout, exprs).items()}


def _numbers(layout: Layout, exprs: tuple[Expr, ...]) -> dict[str, set[int]]:
    """For each extent the numbers that its axis is cut or compared by."""
    numbers: dict[str, set[int]] = {name: set() for name in layout.symbols}
    extent_of = {axis.name: axis.extent for axis in layout.axes}
    spoken = [*exprs, layout.start]
    spoken += [side for each in layout.domain for side in (each.left, each.right)]
    for coordinate in layout.coordinates:
        spoken += [coordinate.value, coordinate.extent]
    for expr in spoken:
        for each in walk(expr):
            if isinstance(each, FloorDiv | Mod | CeilDiv) and isinstance(each.right, Constant):
                through = {extent_of[name] for name in indices_of(each.left)}
                names = extents(each.left) | {e.name for e in through if isinstance(e, Extent)}
                for name in names & numbers.keys():
                    numbers[name].add(each.right.value)
    for condition in (*layout.where, *layout.domain):
        sides = (condition.left, condition.right)
        constants = {e.value for side in sides for e in walk(side) if isinstance(e, Constant)}
        for name in (extents(sides[0]) | extents(sides[1])) & numbers.keys():
            numbers[name] |= constants
    return numbers


def _around(numbers: set[int]) -> set[int]:
    products = {one * other for one in numbers for other in numbers if one * other < 1 << 20}
    near = {number + step for number in numbers | products for step in (-1, 0, 1)}
    return {number for number in near | {1, 2, 3} if number >= 1}


def ceilings(layout: Layout) -> dict[str, int]:
    """Return the largest value of each extent that the range bounds by a number on its own."""
    found: dict[str, int] = {}
    for condition in layout.where:
        for extent, most in _upper_bounds(condition):
            found[extent] = min(found.get(extent, most), most)
    return found


def size_is_bounded(layout: Layout) -> bool:
    """Return whether the range bounds every extent that the size of the buffer depends on."""
    spoken = (layout.start, *(each.extent for each in layout.coordinates))
    return {name for each in spoken for name in extents(each)} <= set(ceilings(layout))


def _upper_bounds(condition: Condition) -> Iterator[tuple[str, int]]:
    match condition:
        case Condition(Extent(name), "<=" | "==", Constant(most)):
            yield name, most
        case Condition(Extent(name), "<", Constant(most)):
            yield name, most - 1
        case Condition(Constant(most), ">=" | "==", Extent(name)):
            yield name, most
        case Condition(Constant(most), ">", Extent(name)):
            yield name, most - 1
