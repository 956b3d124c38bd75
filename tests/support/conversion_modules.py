"""Modules that convert, held against plain integers, and wrong ones held against right ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from random import Random
from types import ModuleType

import numpy as np
from converting_cases import meant, offsets, over_same_axes
from emitted_fuzz.modules import executed, limits
from random_layouts import line, some_axes
from views_modules import MOST_SLOTS, outcome, raw, shapes_of

import layoutdsl
from layoutdsl import Layout, LayoutError, prove

Layouts = tuple[Layout, Layout]
MOST_ELEMENTS = 2_000


def drawn_pair(random: Random) -> Layouts:
    """Two proved layouts over the same axes, of one type, often with common digits."""
    while True:
        axes = some_axes(random)
        blocks = random.choice(((2, 3, 4, 6), (2, 4, 8), (2, 4)))
        try:
            lines = [line(random, axes, blocks) for _ in range(2)]
            source, target = (layoutdsl.parse(each)["Drawn"] for each in lines)
            if None not in (source.element, target.element) and source.element != target.element:
                continue
            pair = over_same_axes(source, target)
        except (LayoutError, ValueError):
            continue
        if all(prove(each).checked[0].status == "proved" for each in pair):
            return pair


def pair_shapes(pair: Layouts, random: Random, count: int) -> Iterator[tuple[int, ...]]:
    """Shapes of both layouts, at and beside the ends of blocks."""
    for shape in shapes_of(pair[1], random, 4 * count):
        fits = prod(shape) <= MOST_ELEMENTS and pair[0].size(shape) <= MOST_SLOTS
        if fits and count:
            count -= 1
            yield shape


def buffer_of(layout: Layout, shape: tuple[int, ...], random: Random) -> np.ndarray:
    """A buffer whose elements are values of their type, and its padding any."""
    dtype = np.dtype("i4" if layout.element is None else "{}{}".format(*layout.element.item))
    low, high = limits(layout, dtype)
    drawn = np.random.default_rng(random.randrange(2**32))
    size = layout.size(shape)
    padding = drawn.integers(0, 2 if dtype.kind == "b" else 120, size)
    values = drawn.integers(low, min(high, 2**31), size, endpoint=True)
    held = list(offsets(layout, shape).values())
    padding[held] = values[held]
    return padding.astype(dtype).reshape(layout.physical_shape(shape))


def check(text: str, pair: Layouts, shapes: Sequence[tuple[int, ...]]) -> None:
    """Run a module at some shapes, and compare with plain integers."""
    module, random = executed(text), Random(7)
    for shape in shapes:
        buffer = buffer_of(pair[0], shape, random)
        before = buffer.copy()
        found = module.convert(buffer, shape, fill=1)
        assert np.array_equal(found, meant(pair, shape, buffer, 1, 1)), (text, shape)
        room = np.zeros_like(found)
        assert module.convert(buffer.reshape(-1), list(shape), room, fill=1) is room
        assert np.array_equal(room, meant(pair, shape, buffer, 1, 0)), (text, shape)
        assert np.array_equal(buffer, before)


def outcomes(module: ModuleType, pair: Layouts, shapes: Sequence[tuple[int, ...]]) -> list[object]:
    """What the functions of a module return or raise, for shapes and for what is no shape."""
    found, random = list[object](), Random(5)
    convert = module.convert
    for shape in shapes:
        buffer = buffer_of(pair[0], shape, random)
        turned = np.ascontiguousarray(buffer.T).T
        wide = np.full(buffer.shape, 77, buffer.dtype)
        box = pair[1].physical_shape(shape)
        room, other = np.full(box, 1, buffer.dtype), np.full(box, 1, "f8")
        calls = (
            lambda b=buffer, s=shape: convert(b, s, fill=1),
            lambda b=turned, s=shape: convert(b, s),
            lambda b=buffer, s=shape: convert(b.reshape(-1), list(s), fill=0),
            lambda b=buffer, s=shape, room=room: convert(b, s, room),
            lambda b=buffer, s=shape, room=room: convert(b, s, room.copy(), fill=0),
            lambda b=buffer, s=shape, other=other: convert(b, s, other),
            lambda b=wide, s=shape: convert(b, s),
            lambda b=buffer, s=shape: convert(b, s, b),
            lambda b=buffer, s=shape: convert(b, s, b.reshape(-1)[: b.size]),
            lambda b=buffer, s=shape: convert(b[..., None, None], s),
            lambda b=buffer, s=shape: convert(b.astype(object), s),
            lambda b=buffer, s=shape: convert(b, s, fill=10**30),
            lambda b=buffer, s=shape: convert(b, s, fill=77),
            lambda b=buffer, s=shape: convert(b, (*s, 1)),
            lambda b=buffer, s=shape: convert(b, [-each for each in s]),
        )
        found += [raw(each) for each in calls]
        found += [
            outcome(lambda s=shape: module.physical_shapes(s)),
            outcome(lambda s=shape: module.physical_shapes([0 for _ in s])),
            outcome(lambda s=shape: module.physical_shapes([each + 1 for each in s])),
        ]
    return found
