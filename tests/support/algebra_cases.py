"""Drawn layouts with an operation of the algebra each, and what the result has to be.

The oracle is plain integers: `Layout.offset_at` of the drawn layouts, at indices that Python
computes. Nothing of the algebra is used to know what is right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice, product
from math import prod
from random import Random
from typing import Literal

import layoutdsl
from layoutdsl import Layout, algebra
from layoutdsl.language.integers.expr import Constant, Extent
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.shapes import small, telling

Ragged = Literal["part", "whole", "padded"]
RAGGED: tuple[Ragged, ...] = ("part", "whole", "padded")
Values = dict[str, int]
Want = Callable[[Values, Values], int | None]
"""The offset of an element of the result, or nothing where it has none, from values and index."""


@dataclass(frozen=True)
class Case:
    """An operation on drawn layouts.

    Attributes:
        text: the layouts and the operation.
        run: the operation.
        check: what is wrong with its result, in words; empty if nothing is.
    """

    text: str
    run: Callable[[], Layout]
    check: Callable[[Layout], str]


def drawn(random: Random, name: str = "A", letters: str = "nchw", most: int = 4) -> Layout:
    """A layout of digits in any order: blocks, nested blocks, pitches, gaps, fixed extents."""
    axes = random.sample(letters, random.randint(1, most))
    digits, heads = list[list[str]](), list[str]()
    for axis in axes:
        extent = axis.upper()
        if random.random() < 0.15:
            extent = str(random.choice([3, 4, 8, 16, 24]))
            heads.append(f"{axis}: {extent}")
        else:
            heads.append(axis)
        block, kind = random.choice([2, 3, 4, 8, 16]), random.random()
        if kind < 0.35:
            digits.append([axis])
        elif kind < 0.75:
            digits.append([f"{axis}/{block}", f"{axis}%{block}"])
        elif kind < 0.9:
            outer = block * random.choice([2, 4])
            middle = f"{axis}/{block}%{outer // block}"
            digits.append([f"{axis}/{outer}", middle, f"{axis}%{block}"])
        else:
            digits.append([f"{axis} : roundup({extent}, {block * 2})"])
    if random.random() < 0.7:
        flat = [each for one in digits for each in one]
        random.shuffle(flat)
    else:
        flat = [one[0] for one in digits] + [each for one in digits for each in one[1:]]
    if random.random() < 0.15:
        flat.append("0 : 2")
    return layoutdsl.parse(f"layout {name}({', '.join(heads)}) = [{', '.join(flat)}]")[name]


def shapes(layout: Layout, most: int = 12, elements: int = 1500) -> list[Values]:
    """Shapes at the borders of the numbers in a layout, and small ones."""
    found: list[Values] = []
    every = chain(islice(telling(layout, (), 3000), 300), islice(small(layout, 60), 60))
    for values in every:
        if values not in found and prod(layout.shape_of(values)) <= elements:
            found.append(values)
    random = Random(1)
    return found if len(found) <= most else found[:3] + random.sample(found[3:], most - 3)


def wrong(result: Layout, want: Want) -> str:
    """The first index at which a result is not what is wanted."""
    for values in shapes(result):
        names = [axis.name for axis in result.axes]
        for index in product(*map(range, result.shape_of(values))):
            at = {**values, **dict(zip(names, index, strict=True))}
            got = result.offset_at(at) if result.holds(at) else None
            wanted = want(values, at)
            if got != wanted:
                return f"{result} at {at}: {got}, not {wanted}"
    return ""


def extent_of(layout: Layout, name: str, values: Mapping[str, int]) -> int:
    axis = next(each for each in layout.axes if each.name == name)
    return evaluate(axis.extent, values)


def draw(random: Random) -> Case:
    """An operation on a layout, or on two."""
    makers = (_fix, _slice, _tile, _tile, _merge, _split, _permute, _product, _inverse)
    more = (_complement, _coalesce, _compose, _compose)
    a = drawn(random)
    return random.choice([*makers, *more])(random, a)


def _case(a: Layout, said: str, run: Callable[[], Layout], want: Want) -> Case:
    return Case(f"{a}; {said}", run, lambda result: wrong(result, want))


def _fix(random: Random, a: Layout) -> Case:
    axis, number = random.choice(a.axes).name, random.choice([0, 1, 3, 5])
    run = lambda: algebra.fix(a, **{axis: number})  # noqa: E731
    return _case(
        a, f"fix {axis}={number}", run, lambda v, at: a.offset_at({**v, **at, axis: number})
    )


def _slice(random: Random, a: Layout) -> Case:
    axis, first = random.choice(a.axes).name, random.choice([0, 1, 4, 8, 16])
    count: int | str = random.choice([2, "K", "K"])
    run = lambda: algebra.slice(a, **{axis: (first, count)})  # noqa: E731
    want: Want = lambda v, at: a.offset_at({**v, **at, axis: at[axis] + first})  # noqa: E731
    return _case(a, f"slice {axis} from {first}, {count}", run, want)


def _tile(random: Random, a: Layout) -> Case:
    how: Ragged = random.choice(RAGGED)
    names = [axis.name for axis in a.axes]
    cut = random.sample(names, min(len(names), random.choice([1, 1, 2])))
    sizes = {name: random.choice([2, 3, 4, 8, 16]) for name in cut}

    def want(values: Values, at: Values) -> int | None:
        known = dict(values)
        for axis in a.axes:
            if isinstance(axis.extent, Extent) and axis.extent.name not in values:
                known[axis.extent.name] = sizes[axis.name] * values[f"{axis.name}1".upper()]
        index = {
            name: at[f"{name}1"] * sizes[name] + at[f"{name}0"] if name in sizes else at[name]
            for name in names
        }
        if how == "part" and any(index[name] >= extent_of(a, name, known) for name in names):
            return None
        return a.offset_at({**known, **index})

    return _case(a, f"tile {how} {sizes}", lambda: algebra.tile(a, how, **sizes), want)


def _merge(random: Random, a: Layout) -> Case:
    names = [axis.name for axis in a.axes]
    pair = random.sample(names, min(2, len(names)))
    run = lambda: algebra.merge(a, p=pair)  # noqa: E731

    def want(values: Values, at: Values) -> int:
        index, left = dict(at), at["p"]
        for name in reversed(pair):
            extent = extent_of(a, name, values)
            left, index[name] = divmod(left, extent)
        return a.offset_at({**values, **index})

    return _case(a, f"merge {pair}", run, want)


def _split(random: Random, a: Layout) -> Case:
    axis, size = random.choice(a.axes).name, random.choice([2, 4, 8])
    run = lambda: algebra.split(a, **{axis: {"s": None, "t": size}})  # noqa: E731

    def want(values: Values, at: Values) -> int:
        known = {axis.upper(): size * values["S"], **values} if "S" in values else values
        return a.offset_at({**known, **at, axis: at["s"] * size + at["t"]})

    return _case(a, f"split {axis} by {size}", run, want)


def _permute(random: Random, a: Layout) -> Case:
    order = random.sample([axis.name for axis in a.axes], len(a.axes))
    return _case(
        a,
        f"permute {order}",
        lambda: algebra.permute(a, order),
        lambda v, at: a.offset_at({**v, **at}),
    )


def _product(random: Random, a: Layout) -> Case:
    b = drawn(random, "B", "xyz", 2)

    def want(values: Values, at: Values) -> int:
        own = {name: values[name] for name in a.symbols}
        return b.offset_at({**values, **at}) * a.size(own) + a.offset_at({**values, **at})

    return _case(a, f"product with {b}", lambda: algebra.product(a, b), want)


def _compose(random: Random, a: Layout) -> Case:
    b = drawn(random, "B", "xyz", 3)
    if len(b.coordinates) != a.rank and random.random() < 0.6:
        other = drawn(random, "A", "uvwabcd"[: len(b.coordinates)], len(b.coordinates))
        a = other if other.rank == len(b.coordinates) else a
    by_slot = not _meets(a, b)
    opened = [axis.name for axis in a.axes if isinstance(axis.extent, Extent)]
    if by_slot and isinstance(a.axes[0].extent, Constant):
        shape = {name: random.choice([4, 8, 16]) for name in opened}
    else:
        shape = {name: random.choice([4, 8, 16]) for name in opened[1:]} if by_slot else {}

    def want(values: Values, at: Values) -> int:
        slot = b.offset_at({**values, **at})
        box = b.box({name: values[name] for name in b.symbols})
        sizes: list[int | None] = [
            shape.get(x.name) if isinstance(x.extent, Extent) else x.extent.value for x in a.axes
        ]
        pairs = [(size, have) for size, have in zip(sizes, box, strict=False) if size is not None]
        if not by_slot and not shape and all(size == have for size, have in pairs):
            sizes = list(box)
        rest = prod(size for size in sizes if size is not None)
        known, index = dict[str, int](), dict[str, int]()
        for axis, size in reversed(list(zip(a.axes, sizes, strict=True))):
            extent = -(-prod(box) // rest) if size is None else size
            slot, index[axis.name] = divmod(slot, extent)
            if isinstance(axis.extent, Extent):
                known[axis.extent.name] = extent
        assert slot == 0, "outside"
        return a.offset_at({**known, **index})

    run = lambda: algebra.compose(a, b, shape or None)  # noqa: E731
    return _case(a, f"compose with {b}, {shape}", run, want)


def _meets(a: Layout, b: Layout) -> bool:
    """Whether each coordinate of `b` can be an index of `a`."""
    pairs = [(x.extent, p.extent) for x, p in zip(a.axes, b.coordinates, strict=False)]
    numbers = [(x, p) for x, p in pairs if isinstance(x, Constant) and isinstance(p, Constant)]
    return len(a.axes) == len(b.coordinates) and all(x == p for x, p in numbers)


def _inverse(random: Random, a: Layout) -> Case:
    del random
    return Case(f"{a}; inverse", lambda: algebra.inverse(a), lambda result: _inverted(a, result))


def unflattened(number: int, box: tuple[int, ...]) -> tuple[int, ...]:
    found = []
    for extent in reversed(box):
        number, digit = divmod(number, extent)
        found.append(digit)
    return tuple(reversed(found))


def _values_of(result: Layout, values: Values, box: tuple[int, ...]) -> Values:
    """The extents of an inverse: those of the layout, and of its coordinates."""
    found = {name: values[name] for name in result.symbols if name in values}
    for axis, extent in zip(result.axes, box, strict=True):
        if isinstance(axis.extent, Extent):
            found.setdefault(axis.extent.name, extent)
    return found


def _inverted(a: Layout, result: Layout) -> str:
    names, ours = [axis.name for axis in a.axes], [axis.name for axis in result.axes]
    for values in shapes(a, 8, 600):
        box = a.box(values)
        known = _values_of(result, values, box)
        there = result.box(known)
        for index in product(*map(range, a.shape_of(values))):
            slot = a.offset_at({**values, **dict(zip(names, index, strict=True))})
            at = {**known, **dict(zip(ours, unflattened(slot, box), strict=True))}
            if not result.holds(at):
                return f"{result} has no element at {at}"
            if unflattened(result.offset_at(at), there) != index:
                return f"{result} at {at} is not {index}"
        for each in product(*map(range, result.shape_of(known))):
            at = {**known, **dict(zip(ours, each, strict=True))}
            if result.holds(at):
                back = unflattened(result.offset_at(at), there)
                slot = a.offset_at({**values, **dict(zip(names, back, strict=True))})
                if unflattened(slot, box) != each:
                    return f"{result}: slot {each} comes back as {unflattened(slot, box)}"
    return ""


def _complement(random: Random, a: Layout) -> Case:
    del random
    return Case(f"{a}; complement", lambda: algebra.complement(a), lambda rest: _met(a, rest))


def _met(a: Layout, rest: Layout) -> str:
    """Each slot is met at most once, and none outside the buffer."""
    names, ours = [axis.name for axis in a.axes], [axis.name for axis in rest.axes]
    for values in shapes(a, 8, 300):
        known = dict(values)
        for each in rest.where:
            if isinstance(each.left, Extent):
                known.setdefault(each.left.name, evaluate(each.right, known))
        steps = [
            rest.offset_at({**known, **dict(zip(ours, index, strict=True))})
            for index in product(*map(range, rest.shape_of(known)))
        ]
        inside = [
            a.offset_at({**values, **dict(zip(names, index, strict=True))})
            for index in product(*map(range, a.shape_of(values)))
        ]
        both = [one + two for one in inside for two in steps]
        if len(set(both)) < len(both) or max(both) >= a.size(values):
            return f"{rest} at {values}"
    return ""


def _coalesce(random: Random, a: Layout) -> Case:
    del random
    return Case(f"{a}; coalesce", lambda: algebra.coalesce(a), lambda result: _joined(a, result))


def _joined(a: Layout, result: Layout) -> str:
    """Elements in row-major order have the same offsets; axes of one name are merged."""
    names, ours = [axis.name for axis in a.axes], [axis.name for axis in result.axes]
    for values in shapes(a, 8, 600):
        known = dict(values)
        for axis in result.axes:
            if isinstance(axis.extent, Extent) and axis.extent.name not in values:
                parts = [name for name in names if name in axis.name]
                known[axis.extent.name] = prod(extent_of(a, name, values) for name in parts)
        for name in result.symbols:
            known.setdefault(name, prod(extent_of(a, each.lower(), values) for each in name))
        known = {name: known[name] for name in result.symbols}
        one, two = (
            [
                layout.offset_at({**at, **dict(zip(axes, index, strict=True))})
                for index in product(*map(range, layout.shape_of(at)))
            ]
            for layout, at, axes in ((a, values, names), (result, known, ours))
        )
        if one != two or a.size(values) != result.size(known):
            return f"{result} at {values}"
    return ""


def cases(seed: int, count: int) -> Iterator[Case]:
    random = Random(seed)
    return (draw(random) for _ in range(count))
